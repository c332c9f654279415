"""Finds the target of a fleet: shares for all regions together, then the counts of each region for them.

Small fleets are solved whole, as one mixed-integer programme; large ones take their shares from
`outlast.planner.scale`. Even shares and those in force are always tried as well, so that a plan is never dearer than
either, and shares change only if that pays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from outlast.errors import InfeasiblePlan
from outlast.lock import Lock
from outlast.planner.arrays import Arrays, LaneKey
from outlast.planner.counts import Counts, RegionCounts, define_model, find_counts
from outlast.planner.needs import Shares
from outlast.planner.objective import CENTS, cost_stages, shift_stage
from outlast.planner.scale import Progress, silent, static_plan
from outlast.planner.scaling import shares_of, shares_pct, to_scale
from outlast.planner.shortage import shortages
from outlast.planner.solve import Limits, optimise
from outlast.planner.variables import SplitKey, even_shares, is_free, to_shares

EXACT_CELLS = 40
"""Cells up to which a fleet is solved as one programme."""


@dataclass(frozen=True)
class Target:
    """The counts that a plan leads to."""

    replicas: Mapping[LaneKey, int]
    """Planned replicas of every lane, canaries included; 0 where it is not in use."""
    split: Mapping[SplitKey, int]
    shares: Shares
    """Without zeros."""
    bound_usd_h: float
    """No plan under these rules, with as few replicas if that is the objective, costs less."""
    gap_pct: float
    """How far the first stage's total may be above the smallest one."""
    is_proven: bool
    is_beside: bool = False
    """Some region's counts are the best that fit beside what runs there, not the best of all."""


@dataclass(frozen=True)
class Bound:
    """Shares that a search came up with, and what no plan goes below."""

    shares: Shares | None
    totals: Mapping[str, float]
    """Cost stage -> bound."""
    is_proven: bool


def find_target(arrays: Arrays, in_force: Lock | None, limits: Limits, progress: Progress = silent) -> Target:
    """Return the best shares and counts, least growth and fixed order deciding among equals.

    Raises:
        InfeasiblePlan: what is held does not allow any plan.
    """
    progress("shares", 0.0)
    bound = find_bound(arrays, in_force, limits, progress)
    shares = _cheapest_shares(arrays, in_force, limits, bound)
    regions = dict.fromkeys(region for region, _ in arrays.cells)
    found: dict[str, Counts] = {}
    for number, region in enumerate(regions):
        progress("counts", number / len(regions))
        counts = find_counts(arrays, region, shares, in_force, limits)
        if counts is None:
            raise AssertionError(region)  # the cheapest shares have counts in every region
        found[region] = counts
    return _target(shares, found, bound)


def find_beside(
    arrays: Arrays, target: Target, in_force: Lock, regions: Iterable[str], limits: Limits
) -> Target | None:
    """Return a target with other counts in some regions: the best that fit beside what runs; None if none do."""
    replicas, split = dict(target.replicas), dict(target.split)
    for region in regions:
        running = in_force.regions[region]
        counts = find_counts(arrays, region, target.shares, in_force, limits, beside=running)
        if counts is None:
            return None
        replicas |= counts.replicas
        split |= counts.split
    return replace(target, replicas=replicas, split=split, is_beside=True)


def find_bound(arrays: Arrays, in_force: Lock | None, limits: Limits, progress: Progress = silent) -> Bound:
    """Return shares of the best plan found, and what none goes below.

    Raises:
        InfeasiblePlan: what is held does not allow any plan.
    """
    regions = tuple(dict.fromkeys(region for region, _ in arrays.cells))
    if not any(is_free(arrays, move) for move in arrays.moves):
        return Bound(None, {}, is_proven=True)
    if len(arrays.cells) > EXACT_CELLS:
        return _scaled(arrays, in_force, progress)
    model = define_model(arrays, regions, None, {})
    stages = cost_stages(arrays, model.variables)
    reference = in_force.shares if in_force else _even(arrays)
    stages.append(shift_stage(model.program, model.variables, reference))
    optimum = optimise(model.program, stages, list(model.variables.share.values()), limits)
    if optimum is None:
        raise InfeasiblePlan(shortages(arrays, model.program, model.variables, limits))
    shares = to_shares(model.variables, optimum.values)
    bounds = {stage.name: optimum.stages[stage.name].bound for stage in cost_stages(arrays, model.variables)}
    return Bound(shares, bounds, is_proven=all(optimum.stages[name].is_proven for name in bounds))


def _scaled(arrays: Arrays, in_force: Lock | None, progress: Progress) -> Bound:
    """Return shares and bound of the fleet as arrays, which know neither nodes nor hosted routes."""
    kept = _in_force(arrays, in_force)
    found = static_plan(to_scale(arrays), None if kept is None else shares_pct(arrays, kept), progress=progress)
    is_bound = all(cell.hosted is None for cell in arrays.cells.values())
    totals: dict[str, float] = {arrays.intent.fleet.objective: found.bound} if is_bound else {}
    return Bound(shares_of(arrays, found.shares_pct), totals, is_proven=False)


def _cheapest_shares(arrays: Arrays, in_force: Lock | None, limits: Limits, bound: Bound) -> Shares:
    """Return the cheapest of the shares in force, those found and even ones; the first of equals."""
    counts = RegionCounts(arrays, limits)
    candidates = [_in_force(arrays, in_force), bound.shares, _even(arrays)]
    regions = tuple(dict.fromkeys(region for region, _ in arrays.cells))
    best: tuple[tuple[float, ...], Shares] | None = None
    for shares in candidates:
        if shares is None:
            continue
        held = [counts.cheapest(region, shares) for region in regions]
        if any(found is None for found in held):
            continue
        names = list(held[0].totals) if held and held[0] else []
        totals = tuple(round(sum(found.totals[name] for found in held if found) / CENTS) * CENTS for name in names)
        if best is None or totals < best[0]:
            best = (totals, shares)
    if best is None:
        model = define_model(arrays, regions, _even(arrays) if bound.shares is None else bound.shares, {})
        raise InfeasiblePlan(shortages(arrays, model.program, model.variables, limits))
    return best[1]


def _even(arrays: Arrays) -> Shares:
    found: dict[str, dict[str, dict[str, int]]] = {}
    for move in arrays.moves:
        shares = {survivor: share for survivor, share in even_shares(move.survivors).items() if share}
        found.setdefault(move.residency, {})[move.lost] = shares
    return found


def _in_force(arrays: Arrays, in_force: Lock | None) -> Shares | None:
    """Return the shares in force if they are what this fleet needs; None if they are not, or not free to choose."""
    if in_force is None or arrays.intent.fleet.router == "even":
        return None
    kept: dict[str, dict[str, dict[str, int]]] = {}
    for move in arrays.moves:
        row = in_force.shares.get(move.residency, {}).get(move.lost, {})
        if sum(row.values()) != 100 or not set(row) <= set(move.survivors):
            return None
        kept.setdefault(move.residency, {})[move.lost] = {name: row[name] for name in move.survivors if row.get(name)}
    return kept


def _target(shares: Shares, found: Mapping[str, Counts], bound: Bound) -> Target:
    names = list(next(iter(found.values())).totals) if found else ["money"]
    totals = {name: sum(counts.totals[name] for counts in found.values()) for name in names}
    own = {name: sum(counts.bounds[name] for counts in found.values()) for name in names}
    bounds = {name: bound.totals.get(name, own[name] if bound.is_proven else 0.0) for name in names}
    first = names[0]
    gap_pct = 100 * (totals[first] - bounds[first]) / bounds[first] if bounds[first] > 0 else 0.0
    return Target(
        replicas={key: count for counts in found.values() for key, count in counts.replicas.items()},
        split={key: count for counts in found.values() for key, count in counts.split.items()},
        shares=shares,
        bound_usd_h=bounds["money"],
        gap_pct=max(0.0, gap_pct),
        is_proven=bound.is_proven and all(counts.is_proven for counts in found.values()),
    )
