"""Says what each GPU of a lock pays for, by plain arithmetic, layer upon layer.

The layers of a pool in a region, each the smallest count that holds it and all layers before it, less what was there:

    own demand     its own peak hour, nothing lost, at the normal occupancy
    replica loss   one replica lost in normal times; of a packed pool a node with all it holds
    zone loss      the fullest zone lost, at the occupancy in failure, the moved part with cold caches
    region loss    the lost region and hour whose demand needs most, at the shares of the lock
    minimum        the fewest replicas of a pool in use
    canary         replicas that hold a new version and do not count, and what the zones then need more
    more           what the lock holds beyond: a count that costs no more, or a raise that is not settled
    stranded       GPUs of its nodes that no replica uses

The order is fixed and part of the answer: a replica that two layers need is paid for by the first one. Layers sum to
the replicas of the pool and to the GPUs and the price of its nodes; GPUs of nodes that pools share go by their use.
Several accelerators of a model share its demand by their goodput, time-slices only what is at home.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from outlast.intent import Intent
from outlast.lock import Lock, LockNodePool, LockPool, LockRegion
from outlast.planner.arrays import Arrays, CellKey, to_arrays
from outlast.planner.money import node_usd_h
from outlast.planner.needs import TOLERANCE, Shares, moved_in

NOTHING = "none"
"""Stands for the region lost where none is."""
NO_POOL = "no pool"
"""Stands for the pool of nodes that hold no replica."""


@dataclass(frozen=True)
class Paid:
    """What some replicas and GPUs of a pool in a region are there for."""

    region: str
    pool: str
    accelerator: str
    layer: str
    lost: str
    """``none``, ``replica``, ``zone``, or the lost region that sets the layer."""
    hour: int | None
    """The hour of the week that sets it; None where no hour does."""
    replicas: int
    gpus: float
    usd_h: float


@dataclass(frozen=True)
class _Step:
    layer: str
    replicas: int
    """They hold this layer and those before it."""
    lost: str = NOTHING
    hour: int | None = None


def attribution(intent: Intent, lock: Lock) -> tuple[Paid, ...]:
    """Return the layers of every pool and region of a lock, without those that are empty.

    Raises:
        PlanError: the fleet cannot be planned.
    """
    arrays = to_arrays(intent)
    return tuple(
        paid
        for region, block in lock.regions.items()
        for paid in (*_pools(arrays, lock.shares, region, block), *_empty_nodes(intent, region, block))
        if paid.replicas or abs(paid.gpus) > TOLERANCE
    )


def _pools(arrays: Arrays, shares: Shares, region: str, block: LockRegion) -> Iterator[Paid]:
    in_use = _gpus_in_use(block)
    for pool in block.pools.values():
        own = {row: _gpus_on(block, row, pool) for row, count in pool.places.items() if count}
        rows = {row: block.node_pools[row] for row in own}
        gpus = sum(_gpus(rows[row]) * own[row] / in_use[row] for row in rows)
        usd_h = sum(_usd_h(arrays.intent, region, rows[row]) * own[row] / in_use[row] for row in rows)
        each, before = sum(own.values()) / max(1, pool.replicas.planned), 0
        for step in _steps(arrays, shares, region, block, pool):
            count = max(before, min(step.replicas, pool.replicas.planned))
            yield _paid(region, pool, step, count - before, (count - before) * each, usd_h / gpus if gpus else 0.0)
            before = count
        stranded = gpus - sum(own.values())
        yield _paid(region, pool, _Step("stranded", 0), 0, stranded, usd_h / gpus if gpus else 0.0)


def _paid(region: str, pool: LockPool, step: _Step, replicas: int, gpus: float, gpu_usd_h: float) -> Paid:
    return Paid(region, pool.pool, pool.accelerator, step.layer, step.lost, step.hour, replicas, gpus, gpus * gpu_usd_h)


def _empty_nodes(intent: Intent, region: str, block: LockRegion) -> Iterator[Paid]:
    in_use = _gpus_in_use(block)
    for key, row in block.node_pools.items():
        if not in_use[key]:
            usd_h = _usd_h(intent, region, row)
            yield Paid(region, NO_POOL, row.accelerator, "stranded", NOTHING, None, 0, _gpus(row), usd_h)


def _steps(arrays: Arrays, shares: Shares, region: str, block: LockRegion, pool: LockPool) -> Iterator[_Step]:
    """Yield the counts that hold one layer more and more; the last one is the lock's.

    A pool that is leaving, because its model or accelerator is declared no more, is there for no layer.
    """
    key, most = (region, pool.pool), pool.replicas.planned
    lane = arrays.lanes.get((*key, pool.accelerator))
    if lane is None:
        yield _Step("more", most)
        return
    cell, part = arrays.cells[key], _part(arrays, region, block, pool, sliced=True)
    normal, failure = lane.goodput * arrays.normal, lane.goodput * arrays.failure
    own = arrays.base(key, "none") * part
    count = _whole(own.max() / normal)
    yield _Step("own demand", count, NOTHING, int(own.argmax()))
    kept = arrays.base(key, "replica") * part
    at_once = min(lane.node_replicas, max(pool.places.values(), default=0)) if cell.loses_nodes else 1
    if arrays.is_survived(key, "replica") and kept.any():
        count = max(count, _whole(kept.max() / normal) + at_once)
    loss = "node" if cell.loses_nodes else "replica"
    yield _Step(f"{loss} loss", count, loss, int(kept.argmax()))
    in_zones = arrays.base(key, "zone") * part
    zones = len({block.node_pools[row].zone for row, held in pool.places.items() if held})
    zone_need = float(in_zones.max()) / failure if arrays.is_survived(key, "zone") and zones > 1 else 0.0
    count = _with_zones(count, 0, zones, zone_need, arrays.surge, most)
    yield _Step("zone loss", count, "zone", int(in_zones.argmax()))
    moved = _part(arrays, region, block, pool, sliced=False)
    lost, hour, need = _worst_loss(arrays, key, shares, part, moved)
    count = max(count, _whole(need / failure))
    yield _Step("region loss", count, lost, hour)
    count = max(count, cell.minimum)
    yield _Step("minimum", count)
    canary = pool.replicas.canary
    yield _Step("canary", _with_zones(count + canary, canary, zones, zone_need, arrays.surge, most))
    yield _Step("more", most)


def _worst_loss(
    arrays: Arrays, key: CellKey, shares: Shares, part: float, moved_part: float
) -> tuple[str, int | None, float]:
    """Return the lost region, its hour and the need that ask most; nothing lost where no loss asks anything."""
    worst: tuple[str, int | None, float] = (NOTHING, None, 0.0)
    base = arrays.base(key, "region") * part
    for lost in arrays.lost_regions:
        moved = moved_in(arrays, key, lost, shares) if lost != key[0] else None
        if moved is None:
            continue
        need = base + arrays.surge * moved * moved_part
        if need.max() > worst[2]:
            worst = lost, int(need.argmax()), float(need.max())
    return worst


def _part(arrays: Arrays, region: str, block: LockRegion, pool: LockPool, *, sliced: bool) -> float:
    """Return the part of its model's demand that a pool carries: that of its goodput among the model's accelerators.

    Args:
        arrays: the fleet's needs.
        region: where.
        block: the region's counts.
        pool: one accelerator of the model.
        sliced: whether time-slices carry a part, as of demand at home.
    """
    held: dict[str, float] = {}
    for other in block.pools.values():
        lane = arrays.lanes.get((region, other.pool, other.accelerator))
        if other.pool == pool.pool and lane is not None and (sliced or not lane.is_sliced):
            held[other.accelerator] = other.replicas.planned * lane.goodput
    mine = held.get(pool.accelerator, 0.0)
    return mine / sum(held.values()) if mine else 0.0


def _with_zones(count: int, canary: int, zones: int, need: float, surge: float, most: int) -> int:
    """Return the smallest count from ``count`` to ``most`` that holds the loss of its fullest zone.

    Args:
        count: where to begin.
        canary: replicas that do not count.
        zones: zones that replicas are spread over.
        need: demand, in replicas at the occupancy in failure.
        surge: how much dearer the part is that moves out of the zone.
        most: where to end.
    """
    if not need:
        return count
    for planned in range(count, most):
        gone = -(-planned // zones)
        if planned - gone - canary >= need * (1 + (surge - 1) * gone / max(1, planned)) * (1 - TOLERANCE):
            return planned
    return max(count, most)


def _whole(replicas: float) -> int:
    return math.ceil(replicas * (1 - TOLERANCE))


def _gpus_in_use(block: LockRegion) -> dict[str, float]:
    used = dict.fromkeys(block.node_pools, 0.0)
    for pool in block.pools.values():
        for row in pool.places:
            used[row] += _gpus_on(block, row, pool)
    return used


def _gpus_on(block: LockRegion, key: str, pool: LockPool) -> float:
    """Return the GPUs that a pool uses of a row's nodes; of a divided card the parts it takes."""
    return pool.places[key] * pool.gpus_on(block.node_pools[key])


def _gpus(row: LockNodePool) -> float:
    return row.nodes.max * row.node_gpus


def _usd_h(intent: Intent, region: str, row: LockNodePool) -> float:
    return row.nodes.expected * node_usd_h(intent, region, row.machine_type, row.capacity)
