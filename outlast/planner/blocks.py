"""Turns counts into a region's block of the lock: node pool rows, pools, what nodes stage, quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from string import ascii_lowercase

from outlast.errors import PlanError, Problem
from outlast.intent.models import COLD, WHOLE
from outlast.intent.partitions import profile_of
from outlast.lock import (
    Binding,
    LockNodePool,
    LockPool,
    LockQuota,
    LockRegion,
    Nodes,
    Replicas,
    Slices,
    Window,
    nodes_for,
    overstaged,
    quota_needs,
)
from outlast.planner.arrays import Arrays, CellKey, Lane, LaneKey
from outlast.planner.beside import lasts
from outlast.planner.floors import floors_of, replicas_by_hour, to_floors, to_rollout
from outlast.planner.needs import Shares, binding_case
from outlast.planner.objective import duty
from outlast.planner.target import Target


def block_of(arrays: Arrays, region: str, target: Target, in_force: LockRegion | None) -> LockRegion:
    """Return the block of a region that holds a target's counts, every row serving.

    Generations are those of the lock in force where it has the same row.

    Raises:
        PlanError: artifacts do not fit the disks of a node.
    """
    lanes = [lane for lane in arrays.lanes.values() if lane.region == region and target.replicas.get(lane.key)]
    old_rows = in_force.node_pools if in_force else {}
    places: dict[LaneKey, dict[str, int]] = {lane.key: {} for lane in lanes}
    rows: dict[str, LockNodePool] = {}
    for node_pool, declared in arrays.intent.regions[region].node_pools.items():
        for number, zone in enumerate(declared.zones, start=1):
            held = {lane.key: _held(lane, target, node_pool, zone) for lane in lanes}
            running = [lane for lane in lanes if held[lane.key]]
            if not running:
                continue
            key, row = _named(f"{node_pool}-{number}", _row(arrays, node_pool, zone, running, held), old_rows)
            rows[key] = row
            for lane in running:
                places[lane.key][key] = held[lane.key]
    pools = {f"{lane.pool}-{lane.short}": _pool(arrays, lane, places[lane.key]) for lane in lanes}
    pools = {key: _with_floors(arrays, region, rows, pool, target.shares) for key, pool in pools.items()}
    return finished(arrays, region, rows, pools, target.shares)


def finished(
    arrays: Arrays, region: str, rows: Mapping[str, LockNodePool], pools: Mapping[str, LockPool], shares: Shares
) -> LockRegion:
    """Return a block with what follows from its rows and places: nodes, binding cases, quotas, stranded GPUs.

    A pool that the plan cannot place here, because it is leaving, keeps its binding case.
    """
    rows = {key: _holding(arrays, region, key, row, pools.values()) for key, row in rows.items()}
    used = sum(replicas * pool.gpus_on(rows[key]) for pool in pools.values() for key, replicas in pool.places.items())
    return LockRegion(
        node_pools=rows,
        pools=_bound(arrays, region, rows, pools, shares),
        quotas=_quotas(arrays, region, rows),
        stranded_gpus=round(sum(row.node_gpus * row.nodes.max for row in rows.values()) - used, 3),
    )


def counted(
    tier: str, places: Mapping[str, int], canary: int, floors: tuple[int, tuple[Window, ...]] | None = None
) -> tuple[Replicas, tuple[Window, ...]]:
    """Return the counts of a pool and the windows of its floor; without floors all its replicas, all the time."""
    planned = sum(places.values())
    floor, windows = floors or (0 if tier == COLD else planned, ())
    return Replicas(floor=floor, planned=planned, max=planned, canary=canary), windows


def staged(arrays: Arrays, artifacts: Iterable[str]) -> tuple[tuple[str, ...], float]:
    """Return artifacts without repeats and their size in GiB; one that is released no more is not staged."""
    released = arrays.intent.artifacts.models | arrays.intent.artifacts.adapters
    names = tuple(name for name in dict.fromkeys(artifacts) if name in released)
    return names, round(sum(released[name].size for name in names), 3)


def artifacts_of(arrays: Arrays, region: str, pool: str) -> Iterator[str]:
    """Yield what a pool's nodes stage in a region: base weights, and the adapters whose owners may be there."""
    intent = arrays.intent
    model = intent.models[pool]
    yield model.artifact
    for name, variant in model.variants.items():
        if intent.may_hold(intent.class_of(variant.owner), region):
            yield variant.artifact or name


def _held(lane: Lane, target: Target, node_pool: str, zone: str) -> int:
    """Return the replicas of a lane on a node pool in a zone."""
    if node_pool not in lane.zone_pools.get(zone, ()):
        return 0
    split = target.split.get((lane.key, node_pool, zone))
    return split if split is not None else lane.places(target.replicas[lane.key])[zone]


def _row(arrays: Arrays, node_pool: str, zone: str, running: list[Lane], held: Mapping[LaneKey, int]) -> LockNodePool:
    region = running[0].region
    place = arrays.intent.regions[region]
    declared = place.node_pools[node_pool]
    machine = arrays.intent.facts.machine_types[place.cloud, declared.machine_type]
    names, size_gib = staged(arrays, (name for lane in running for name in artifacts_of(arrays, region, lane.pool)))
    where = f"{arrays.intent.name}/regions.yaml, regions.{region}.node_pools.{node_pool}"
    if problem := overstaged(where, size_gib, machine.disk_gib, machine.machine_type):
        raise PlanError(replace(problem, what=f"{problem.what} ({', '.join(names)})"))
    row = LockNodePool(
        id=node_pool,
        zone=zone,
        generation="a",
        state="serving",
        machine_type=declared.machine_type,
        accelerator=machine.accelerator,
        node_gpus=machine.node_gpus,
        partition=declared.partition,
        capacity=declared.capacity,
        reservation=declared.reservation,
        block=arrays.intent.is_block(region, declared.reservation),
        interconnect=declared.interconnect,
        scaling=declared.scaling,
        nodes=Nodes(min=0, expected=0, max=0),
        stage=names,
        stage_gib=size_gib,
        disk_gib=machine.disk_gib,
    )
    sizes: Counter[int] = Counter()
    for lane in running:
        sizes[lane.replica_devices] += held[lane.key]
    return row.model_copy(update={"nodes": _nodes(arrays, region, row, nodes_for(sizes, row.node_devices))})


def _nodes(arrays: Arrays, region: str, row: LockNodePool, count: int) -> Nodes:
    """Return the nodes of a row that holds ``count`` at the most."""
    if row.scaling == "fixed":
        return Nodes(min=count, expected=float(count), max=count)
    declared = row.id in arrays.intent.regions[region].node_pools
    busy = duty(arrays, (region, row.id, row.zone)) if declared else 1.0
    return Nodes(min=0, expected=round(count * busy, 2), max=count)


def _named(stem: str, row: LockNodePool, old: Mapping[str, LockNodePool]) -> tuple[str, LockNodePool]:
    """Return the row under the generation of an old row like it, else under the first one that is free."""
    keys = {f"{stem}-{generation}": generation for generation in ascii_lowercase}
    alike = [key for key in keys if key in old and lasts(old[key], row.model_dump())]
    free = [key for key in keys if key not in old]
    if not alike and not free:
        raise PlanError(Problem(where=stem, what="every generation from a to z is in use", do="Settle the plan first"))
    key = (alike or free)[0]
    return key, row.model_copy(update={"generation": keys[key]})


def _pool(arrays: Arrays, lane: Lane, places: dict[str, int]) -> LockPool:
    model = arrays.intent.models[lane.pool]
    replicas, windows = counted(model.tier, places, arrays.cells[lane.region, lane.pool].canary)
    return LockPool(
        pool=lane.pool,
        model=model.artifact,
        tier=model.tier,
        accelerator=lane.accelerator,
        replica_gpus=lane.replica_gpus,
        replica_slices=Slices(profile=profile_of(lane.partition)) if lane.partition != WHOLE else None,
        places=places,
        replicas=replicas,
        floors=windows,
        binding=Binding(lost="none", hour=0, need_tok_s=0),
    )


def _with_floors(
    arrays: Arrays, region: str, rows: Mapping[str, LockNodePool], pool: LockPool, shares: Shares
) -> LockPool:
    """Return a pool with its floors and rollout windows; all its replicas always, where accelerators share the pool."""
    key = (region, pool.pool)
    cell = arrays.cells[key]
    if cell.tier == COLD or len(cell.lanes) > 1:
        return pool
    zones = _zones(rows, pool)
    needed = replicas_by_hour(arrays, key, cell.lanes[0], zones, shares)
    replicas, windows = counted(cell.tier, pool.places, cell.canary, to_floors(needed))
    rollout = to_rollout(needed, replicas.planned)
    return pool.model_copy(update={"replicas": replicas, "floors": windows, "rollout": rollout})


def higher_pool(pool: LockPool, held: LockPool, places: dict[str, int]) -> LockPool:
    """Return the pool on both its places and those held, with a floor that neither falls below at any hour.

    Where places differ all replicas stay up until the plan settles: floors are made for their own spread over zones.
    Canaries are those of the pool, as many as its floors allow for; rollouts are free where its own floors are kept.
    """
    canary, planned, known = pool.replicas.canary, sum(places.values()), (held, pool)
    if pool.places == held.places:
        hours = [max(pair) for pair in zip(*(floors_of(p.replicas, p.floors) for p in known), strict=True)]
        kept = [(p.replicas.floor, p.floors) for p in known if floors_of(p.replicas, p.floors) == hours]
        floors = kept[0] if kept else to_floors(hours)
    else:
        floors = (0 if pool.tier == COLD else planned, ())
    replicas, windows = counted(pool.tier, places, canary, floors)
    is_own = places == pool.places and floors_of(replicas, windows) == floors_of(pool.replicas, pool.floors)
    update = {"places": places, "replicas": replicas, "floors": windows, "rollout": pool.rollout if is_own else ()}
    return pool.model_copy(update=update)


def _zones(rows: Mapping[str, LockNodePool], pool: LockPool) -> dict[str, int]:
    zones: Counter[str] = Counter()
    for row, replicas in pool.places.items():
        zones[rows[row].zone] += replicas
    return dict(sorted(zones.items()))


def _holding(arrays: Arrays, region: str, key: str, row: LockNodePool, pools: Iterable[LockPool]) -> LockNodePool:
    """Return the row with at least the nodes that hold its replicas."""
    sizes: Counter[int] = Counter()
    for pool in pools:
        sizes[pool.replica_devices] += pool.places.get(key, 0)
    count = max(row.nodes.max, nodes_for(sizes, row.node_devices))
    return row.model_copy(update={"nodes": _nodes(arrays, region, row, count)})


def _bound(
    arrays: Arrays, region: str, rows: Mapping[str, LockNodePool], pools: Mapping[str, LockPool], shares: Shares
) -> dict[str, LockPool]:
    """Return the pools, each with the case that binds its cell."""
    bound = dict(pools)
    for cell in (cell for cell in arrays.cells.values() if cell.region == region):
        key: CellKey = (region, cell.pool)
        held = {lane: f"{lane.pool}-{lane.short}" for lane in cell.lanes if f"{lane.pool}-{lane.short}" in pools}
        if not held:
            continue
        placed = {lane.key: _zones(rows, pools[name]) for lane, name in held.items()}
        case = binding_case(arrays, key, placed, shares)
        binding = Binding(lost=case.lost, hour=case.hour, need_tok_s=round(case.need_tok_s, 3))
        bound |= {name: pools[name].model_copy(update={"binding": binding}) for name in held.values()}
    return bound


def _quotas(arrays: Arrays, region: str, rows: Mapping[str, LockNodePool]) -> dict[str, LockQuota]:
    """Return what a block needs of every quota: ``min`` without rows that are leaving, ``peak`` with them."""
    intent = arrays.intent
    granted = intent.holdings(region).quotas
    units = {quota.quota_code: quota.unit for quota in intent.facts.quotas}
    least = quota_needs((row for row in rows.values() if row.state != "leaving"), intent, region, at="min")
    return {
        code: LockQuota(
            unit=units[code],
            granted=granted[code].granted if code in granted else 0,
            min=least.get(code, 0.0),
            peak=peak,
        )
        for code, peak in quota_needs(rows.values(), intent, region).items()
    }
