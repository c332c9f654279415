"""Finds published figures again: by planning the fleet's variants, by bounds, and by the arithmetic of memory."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from outlast.intent import Intent
from outlast.intent.comparison import PublishedMemory, PublishedOptimum, PublishedPlan
from outlast.lock import Lock
from outlast.planner.arrays import to_arrays
from outlast.planner.fractions import fewest_with_fractions
from outlast.planner.scale import hourly_bound, static_bound
from outlast.planner.scaling import to_scale
from outlast.planner.trials import Trials
from outlast.replica import memory_of, replica_of

_BOUND_DIGITS = 0.006
"""Distance of a bound published with two decimals, the third rounded or cut."""


@dataclass(frozen=True)
class Figure:
    """One published figure beside what is found here."""

    kind: str
    """``demand``, ``plan``, ``optimum`` or ``memory``."""
    says: str
    what: str
    published: str
    found: str
    is_same: bool


def compare_published(intent: Intent, variants: Mapping[str, Intent], trials: Trials) -> tuple[Figure, ...]:
    """Return every published figure of a fleet with the one found.

    Args:
        intent: the fleet.
        variants: its variants, by name.
        trials: plans each of them once.

    Raises:
        PlanError: a variant has no plan.
    """
    file = intent.published
    return (
        *_demand(intent),
        *(figure for row in file.plans for figure in _plan(row, trials(_of(intent, variants, row.variant)).must())),
        *(figure for row in file.optima for figure in _optimum(row, _of(intent, variants, row.variant), trials)),
        *(figure for row in file.memory for figure in _memory(intent, row)),
    )


def _of(intent: Intent, variants: Mapping[str, Intent], name: str | None) -> Intent:
    return intent if name is None else variants[name]


def _demand(intent: Intent) -> Iterator[Figure]:
    said = intent.published.demand
    if said is None:
        return
    curves = np.array([curve.hours_in(intent.models[intent.base_of[curve.model]].unit) for curve in _curves(intent)])
    together = curves.sum(axis=0)
    hour = int(together.argmax()) % 24
    says = "all origins"
    yield _whole("demand", says, "sum of peaks, tok/s", said.sum_of_peaks, curves.max(axis=1).sum())
    yield _whole("demand", says, "peak of the sum, tok/s", said.peak_of_sum, together.max())
    yield _whole("demand", says, "its hour, UTC", said.utc_hour, hour)


def _curves(intent: Intent) -> tuple:  # type: ignore[type-arg]
    return intent.demand_file.demand


def _plan(row: PublishedPlan, lock: Lock) -> Iterator[Figure]:
    by_region = {
        region: sum(pool.replicas.planned for pool in block.pools.values()) for region, block in lock.regions.items()
    }
    gpus = sum(
        pool.replicas.planned * pool.replica_gpus for block in lock.regions.values() for pool in block.pools.values()
    )
    yield _whole("plan", row.says, "replicas", row.replicas, sum(by_region.values()))
    yield _whole("plan", row.says, "GPUs", row.gpus, gpus)
    if row.by_region:
        said, found = (", ".join(map(str, counts)) for counts in (row.by_region, by_region.values()))
        yield Figure("plan", row.says, "by region", said, found, said == found)


def _optimum(row: PublishedOptimum, intent: Intent, trials: Trials) -> Iterator[Figure]:
    arrays = to_arrays(intent)
    whole, fractions = to_scale(arrays), to_scale(arrays, whole=False)
    if row.static is not None:
        deployable = sum(
            pool.replicas.planned for block in trials(intent).must().regions.values() for pool in block.pools.values()
        )
        found = fewest_with_fractions(intent)
        figure = _whole("optimum", row.says, "static shares", row.static, found)
        yield figure if deployable == found else replace(figure, found=f"{found} ({deployable} in whole per cent)")
    if row.static_bound is not None:
        yield _bound(row.says, "static bound", row.static_bound, static_bound(fractions, covers=False).total)
    if row.hourly is not None:
        hourly = hourly_bound(whole, integer=True)
        yield _whole("optimum", row.says, "hourly shares", row.hourly, hourly.total)
    if row.hourly_bound is not None:
        yield _bound(row.says, "hourly bound", row.hourly_bound, hourly_bound(fractions).total)


def _memory(intent: Intent, row: PublishedMemory) -> Iterator[Figure]:
    replica = replica_of(
        intent,
        row.model,
        row.accelerator,
        gpus=row.gpus,
        kv_precision=row.kv_precision,
        context_tokens=row.context,
        accounting="nominal",
    )
    memory = memory_of(replica)
    figures = (
        ("bytes a token", row.bytes_per_token, memory.kv.token_bytes),
        ("KV budget, GB", row.budget_gb, memory.kv_budget_bytes / 1e9),
        ("tokens", row.tokens, memory.tokens),
        ("sequences", row.sequences, memory.sequences()),
    )
    for what, said, found in figures:
        if said is not None and found is not None:
            same = _in_its_digits(float(found), float(said)) == float(said)
            yield Figure("memory", row.says, what, f"{said:,.0f}", f"{found:,.0f}", same)


def _in_its_digits(value: float, said: float) -> float:
    """Return a value rounded to the digits that a published one has, its closing zeros taken for rounding."""
    zeros = len(f"{said:.0f}") - len(f"{said:.0f}".rstrip("0"))
    return float(round(value / 10**zeros) * 10**zeros)


def _whole(kind: str, says: str, what: str, said: float, found: float) -> Figure:
    return Figure(kind, says, what, f"{said:,.0f}", f"{found:,.0f}", round(said) == round(found))


def _bound(says: str, what: str, said: float, found: float) -> Figure:
    same = math.isclose(said, found, abs_tol=_BOUND_DIGITS)
    return Figure("optimum", says, what, f"{said:g}", f"{found:.3f}", same)
