"""Plans a fleet in two steps: a raise holds what runs and what is wanted, a settle only lowers.

A raise can be deployed in any order of regions, because no stack holds less than before; routing follows, then the
settle. Planning again from either with unchanged inputs returns the same lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from outlast.errors import BrokenLock, PlanError, Problem, StaleLock, listed
from outlast.intent import Intent, region_stack, routing_stack
from outlast.lock import (
    LOCK_FILE,
    AppliedFile,
    Lock,
    LockNodePool,
    LockPool,
    LockRegion,
    Nodes,
    Solver,
    check_lock,
    counts_of,
    freshness,
    input_digests,
    lock_digest,
    zoneless,
)
from outlast.planner.arrays import Arrays, to_arrays
from outlast.planner.blocks import block_of, finished, higher_pool, staged
from outlast.planner.money import block_usd_h
from outlast.planner.scale import Progress, silent
from outlast.planner.shortage import check_held, short_of
from outlast.planner.solve import Limits, solver_version
from outlast.planner.target import Target, find_beside, find_target

UNLIMITED = Limits()
Step = Literal["raise", "settle"]


@dataclass(frozen=True)
class Planned:
    """The result of planning."""

    lock: Lock
    """What to commit; the lock in force itself where nothing changes."""
    changed: bool
    """Whether ``lock`` differs from the lock in force."""
    target: Lock
    """What the lock leads to once settled: the optimum."""


def plan(intent: Intent, in_force: Lock | None, limits: Limits = UNLIMITED, progress: Progress = silent) -> Planned:
    """Return the raise from the lock in force to the optimum.

    Every row holds the larger of both counts. The lock's ``usd_h`` prices all its nodes, those about to leave included;
    its bound and gap are those of the optimum it leads to.

    Raises:
        PlanError: something is not planned yet, has no price, or does not fit.
        InfeasiblePlan: no plan exists, or old and new do not fit side by side.
    """
    arrays = to_arrays(intent)
    _check_places_kept(intent, in_force)
    target = find_target(arrays, in_force, limits, progress)
    target, settled = _reachable(arrays, target, in_force, limits)
    if in_force is None:
        return Planned(settled.model_copy(update={"step": "raise"}), changed=True, target=settled)
    blocks = _beside(arrays, settled, in_force, target)
    lock = _lock(arrays, blocks, target, in_force, "raise", settled.solver.gap_pct)
    if _says_the_same(lock, in_force):
        return Planned(in_force, changed=False, target=settled)
    check_held(arrays, blocks)
    return Planned(lock, changed=True, target=settled)


def settle(
    intent: Intent,
    in_force: Lock,
    applied: AppliedFile | None,
    limits: Limits = UNLIMITED,
    progress: Progress = silent,
) -> Planned:
    """Return the lock that follows a raise: the optimum, everything else gone. A settled lock may only be lowered.

    Raises:
        StaleLock: inputs changed since the raise.
        PlanError: the lock in force is no raise to this optimum, or lowers counts that are not known to be deployed.
    """
    where = f"{intent.name}/{LOCK_FILE}"
    if stale := freshness(in_force, intent).stale:
        what = f"the raise was planned from other inputs (changed: {listed(stale)})"
        raise StaleLock(Problem(where=where, what=what, do=f"Run 'outlast plan {intent.name}' and deploy it first"))
    arrays = to_arrays(intent)
    target = find_target(arrays, in_force, limits, progress)
    _, lock = _reachable(arrays, target, in_force, limits)
    if in_force.step == "settle" and _says_the_same(lock, in_force):
        return Planned(in_force, changed=False, target=lock)
    if problem := _beyond(lock, in_force, where):
        raise PlanError(problem)
    if _lowers(lock, in_force) and (problems := _not_applied(in_force, applied)):
        raise PlanError(problems)
    return Planned(lock, changed=True, target=lock)


def settled_lock(intent: Intent) -> Lock:
    """Return the settled lock of a fleet that is planned from nothing: what the first plan and settle lead to."""
    return settle(intent, plan(intent, None).lock, None).lock


def _check_places_kept(intent: Intent, in_force: Lock | None) -> None:
    gone = [region for region in (in_force.regions if in_force else {}) if region not in intent.regions]
    if gone:
        raise PlanError(
            Problem(
                where=f"{intent.name}/regions.yaml, regions",
                what=f"the lock in force holds {listed(gone)}, which the file no longer declares",
                do="Put the region back; removing one is not planned yet",
            )
        )
    if in_force and (problems := list(zoneless(in_force, intent))):
        raise PlanError(problems)


def _reachable(arrays: Arrays, target: Target, in_force: Lock | None, limits: Limits) -> tuple[Target, Lock]:
    """Return the target and its settled lock; where it does not fit beside what runs, the best that does.

    If none does, the target stays, and the raise says what is short.
    """
    settled = _settled(arrays, target, in_force)
    if in_force is None:
        return target, settled
    full = [
        region for region in short_of(arrays, _beside(arrays, settled, in_force, target)) if region in in_force.regions
    ]
    fitting = find_beside(arrays, target, in_force, full, limits) if full else None
    return (fitting, _settled(arrays, fitting, in_force)) if fitting else (target, settled)


def _beside(arrays: Arrays, settled: Lock, in_force: Lock, target: Target) -> dict[str, LockRegion]:
    """Return what runs and what is planned together, by region."""
    return {
        region: _raised(arrays, region, in_force.regions.get(region), block, target, in_force.step)
        for region, block in settled.regions.items()
    }


def _settled(arrays: Arrays, target: Target, in_force: Lock | None) -> Lock:
    old = in_force.regions if in_force else {}
    blocks = {region: block_of(arrays, region, target, old.get(region)) for region in arrays.intent.regions}
    check_held(arrays, blocks)
    usd_h = sum(block_usd_h(arrays.intent, region, block) for region, block in blocks.items())
    packing_pct = 100 * (usd_h - target.bound_usd_h) / target.bound_usd_h if target.bound_usd_h > 0 else 0.0
    return _lock(arrays, blocks, target, in_force, "settle", max(target.gap_pct, packing_pct))


def _lock(
    arrays: Arrays,
    blocks: dict[str, LockRegion],
    target: Target,
    in_force: Lock | None,
    step: Step,
    gap_pct: float,
) -> Lock:
    intent = arrays.intent
    usd_h = sum(block_usd_h(intent, region, block) for region, block in blocks.items())
    lock = Lock(
        lock="outlast/1",
        fleet=intent.name,
        inputs=input_digests(intent),
        against=lock_digest(in_force) if in_force else None,
        step=step,
        solver=Solver(
            name="highs",
            version=solver_version(),
            router=intent.fleet.router,
            usd_h=round(usd_h, 2),
            bound_usd_h=min(round(target.bound_usd_h, 2), round(usd_h, 2)),
            gap_pct=round(gap_pct, 2),
            stopped="running" if target.is_beside else "optimal" if target.is_proven else "limit",
        ),
        regions=blocks,
        homes={
            residency: {origin: dict(regions) for origin, regions in origins.items()}
            for residency, origins in intent.homes.items()
            if origins
        },
        shares={
            residency: {lost: dict(regions) for lost, regions in rows.items()}
            for residency, rows in target.shares.items()
        },
    )
    if problems := list(check_lock(lock, f"{intent.name}/{LOCK_FILE}")):
        raise BrokenLock(problems)
    return lock


def _raised(
    arrays: Arrays, region: str, old: LockRegion | None, new: LockRegion, target: Target, old_step: Step
) -> LockRegion:
    """Return the larger of two blocks, row by row."""
    if old is None:
        old = LockRegion(node_pools={}, pools={})
    rows: dict[str, LockNodePool] = {}
    for key in (*new.node_pools, *(key for key in old.node_pools if key not in new.node_pools)):
        before, after = old.node_pools.get(key), new.node_pools.get(key)
        if before is None and after is not None:
            rows[key] = after.model_copy(update={"state": "arriving"})
        elif after is None and before is not None:
            rows[key] = before.model_copy(update={"state": "leaving"})
        elif before is not None and after is not None:
            still_arriving = old_step == "raise" and before.state == "arriving"
            rows[key] = _larger(arrays, before, after, "arriving" if still_arriving else "serving")
    pools: dict[str, LockPool] = {}
    for key in (*new.pools, *(key for key in old.pools if key not in new.pools)):
        pool, held = new.pools.get(key) or old.pools[key], old.pools.get(key)
        places = dict(pool.places)
        for row, replicas in (held.places if held else {}).items():
            places[row] = max(places.get(row, 0), replicas)
        pools[key] = higher_pool(pool, held, places) if held else pool
    return finished(arrays, region, rows, pools, target.shares)


def _larger(
    arrays: Arrays, before: LockNodePool, after: LockNodePool, state: Literal["arriving", "serving"]
) -> LockNodePool:
    count = max(before.nodes.max, after.nodes.max)
    stage, stage_gib = staged(arrays, (*after.stage, *before.stage))
    least, expected = max(before.nodes.min, after.nodes.min), max(before.nodes.expected, after.nodes.expected)
    nodes = Nodes(min=count if after.scaling == "fixed" else least, expected=expected, max=count)
    return after.model_copy(update={"state": state, "nodes": nodes, "stage": stage, "stage_gib": stage_gib})


def _says_the_same(lock: Lock, in_force: Lock) -> bool:
    """Whether two locks ask for the same, however they were found."""
    parts = ("fleet", "inputs", "regions", "homes", "shares")
    return all(getattr(lock, part) == getattr(in_force, part) for part in parts)


def _beyond(lock: Lock, in_force: Lock, where: str) -> Problem | None:
    """Return the problem of a settle that would raise, or move traffic: then it is not the raise's settle."""
    beyond = [
        f"{region} {key}"
        for region, block in lock.regions.items()
        for key in _above(block, in_force.regions.get(region, LockRegion(node_pools={}, pools={})))
    ]
    if lock.shares != in_force.shares:
        beyond.append("shares")
    if not beyond:
        return None
    do = f"Run 'outlast plan {lock.fleet}' and deploy it first"
    return Problem(where=where, what=f"the raise does not hold what the plan needs ({listed(beyond)})", do=do)


def _above(block: LockRegion, held: LockRegion) -> Iterator[str]:
    """Yield the rows and pools of a block that hold more than the same ones of another."""
    for key, row in block.node_pools.items():
        if key not in held.node_pools or row.nodes.min > held.node_pools[key].nodes.min:
            yield key
    for key, pool in block.pools.items():
        places = held.pools[key].places if key in held.pools else {}
        if any(replicas > places.get(row, 0) for row, replicas in pool.places.items()):
            yield key


def _lowers(lock: Lock, in_force: Lock) -> bool:
    return any(counts_of(lock.regions[region]) != counts_of(block) for region, block in in_force.regions.items())


def _not_applied(in_force: Lock, applied: AppliedFile | None) -> list[Problem]:
    """Return one problem for each stack that is not known to have deployed the raise."""
    fleet = in_force.fleet
    if applied is None:
        return [
            Problem(
                where=f"{fleet}/{LOCK_FILE}",
                what="settling lowers counts, and what is deployed is not known",
                do=f"Deploy the raise, run 'outlast applied {fleet}', then settle",
            )
        ]
    problems = []
    for region, block in in_force.regions.items():
        stack = region_stack(fleet, region)
        entry = applied.get(stack)
        if entry is None or entry.counts != counts_of(block):
            got = "nothing" if entry is None else f"lock {entry.lock_digest}"
            do = f"Run 'pulumi up -s {stack}', then 'outlast applied {fleet}'"
            problems.append(Problem(where=f"stack {stack}", what="the raise is not deployed", got=got, do=do))
    stack = routing_stack(fleet)
    routing = applied.get(stack)
    if routing is None or routing.counts.shares != in_force.shares or routing.counts.homes != in_force.homes:
        got = "nothing" if routing is None else f"lock {routing.lock_digest}"
        do = f"Run 'pulumi up -s {stack}', then 'outlast applied {fleet}'"
        problems.append(Problem(where=f"stack {stack}", what="the raise's shares are not deployed", got=got, do=do))
    return problems
