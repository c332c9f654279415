"""What a preflight looks at and what a check finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Literal

from outlast.errors import Problem
from outlast.intent import Intent
from outlast.lock import AppliedFile, Lock

Verdict = Literal["passed", "warning", "failed"]
HORIZON_DAYS = 30
"""Days that a reservation must still last, unless said otherwise."""


@dataclass(frozen=True)
class Situation:
    """A fleet right before a deployment."""

    intent: Intent
    lock: Lock
    applied: AppliedFile | None
    """What every stack has deployed; None if unknown."""
    today: date
    horizon_days: int = HORIZON_DAYS
    accounts: tuple[tuple[str, str], ...] = ()
    """(region, account that the credentials at hand belong to), where somebody said so."""

    def capacity(self, region: str) -> str:
        """Return where a region's holdings stand in the files."""
        return f"{self.intent.name}/capacity.yaml, regions.{region}"

    def declared(self, region: str) -> str:
        """Return where a region stands in the files."""
        return f"{self.intent.name}/regions.yaml, regions.{region}"


@dataclass(frozen=True)
class Finding:
    """The outcome of one check in one region."""

    check: str
    region: str
    verdict: Verdict
    problem: Problem | None = None
    """What is wrong; None where the check passed."""


@dataclass(frozen=True)
class Check:
    """One claim that must hold before anything is created."""

    name: str
    claim: str
    find: Callable[[Situation, str], Iterator[tuple[Verdict, Problem]]]
    """Yields what speaks against the claim in a region, as ``warning`` or ``failed``."""
