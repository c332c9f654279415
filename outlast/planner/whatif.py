"""Compares plans of a fleet under other choices: variants, another router."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from outlast.intent import Intent
from outlast.planner.trials import Size, Trials

ROUTERS = ("static", "even")
"""Routers that can be deployed."""
BASE = "as it is"
"""The row that the others are compared with."""


@dataclass(frozen=True)
class Choice:
    """The plan of a fleet under one choice."""

    name: str
    size: Size | None
    """None where there is no plan."""
    more: Size | None
    """What it holds more than the fleet as it is; None where either has no plan."""
    gap_pct: float | None
    why_not: tuple[str, ...]
    """What is in the way of a plan."""


def with_router(intent: Intent, router: str) -> Intent:
    """Return the fleet with another one of ``ROUTERS``."""
    return replace(intent, fleet=intent.fleet.model_copy(update={"router": router}))


def compare(base: Intent, others: Mapping[str, Intent], trials: Trials) -> tuple[Choice, ...]:
    """Return the plan of the fleet as it is, then of each other choice in its order."""
    held = trials(base).size
    choices = []
    for name, intent in {BASE: base, **others}.items():
        trial = trials(intent)
        more = trial.size - held if trial.size and held else None
        gap = trial.lock.solver.gap_pct if trial.lock else None
        why_not = tuple(str(problem) for problem in trial.problems)
        choices.append(Choice(name, trial.size, more, gap, why_not))
    return tuple(choices)
