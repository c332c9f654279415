"""How full a plan runs: by pool at its peak, by hour when a region is lost, and against what queues allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from outlast.intent import Intent
from outlast.intent.models import Arrivals
from outlast.lock import Lock, LockPool
from outlast.planner.arrays import Arrays, Cell, CellKey, Floats, Lane
from outlast.planner.needs import moved_in
from outlast.replica import WaitTarget, memory_of, replica_of, usable_occupancy

DAY = 24


@dataclass(frozen=True)
class Fullness:
    """How full a pool runs in a region. Ratios are parts of goodput, not of the ceiling planned for."""

    region: str
    pool: str
    own_replicas: int
    """Replicas that its own peak alone would need at the normal occupancy."""
    peak_ratio: float
    """At its fullest hour with nothing lost."""
    mean_ratio: float
    """On average over the week with nothing lost."""
    worst_ratio: float
    """At its fullest hour when a region is lost, surge included; 0 where none moves in."""


@dataclass(frozen=True)
class Strip:
    """The fullest pool of a survivor by the hour of the day, when a region is lost."""

    region: str
    lost: str
    pool: str
    ratios: tuple[float, ...]
    """Part of the goodput, surge included; of each hour the fullest day. Shape: hour of day."""


@dataclass(frozen=True)
class Crowded:
    """A pool that is planned fuller than its queue allows."""

    region: str
    pool: str
    replicas: int
    sequences: int
    """Sequences that a replica serves at once."""
    planned_ratio: float
    allowed_ratio: float
    arrivals: Arrivals
    is_failure: bool


def fullness(arrays: Arrays, lock: Lock) -> Iterator[Fullness]:
    """Yield how full every pool runs, in the fixed order."""
    for key, cell in arrays.cells.items():
        capacity = _goodput(cell, lock)
        if not capacity:
            continue
        base = arrays.base(key, "none")
        best = max(lane.goodput for lane in cell.lanes) * arrays.normal
        worst = [float(load.max()) / capacity for _, load in _losses(arrays, key, lock)]
        yield Fullness(
            region=cell.region,
            pool=cell.pool,
            own_replicas=int(np.ceil(base.max() / best)),
            peak_ratio=float(base.max()) / capacity,
            mean_ratio=float(base.mean()) / capacity,
            worst_ratio=max(worst, default=0.0),
        )


def strips(arrays: Arrays, lock: Lock) -> Iterator[Strip]:
    """Yield one strip for each survivor of each lost region, in the fixed order."""
    for lost in arrays.lost_regions:
        for region in (name for name in arrays.intent.regions if name != lost):
            found: list[Strip] = []
            for key, cell in arrays.cells.items():
                capacity = _goodput(cell, lock)
                loads = dict(_losses(arrays, key, lock)) if cell.region == region and capacity else {}
                if lost in loads:
                    days = loads[lost].reshape(-1, DAY).max(axis=0) / capacity
                    found.append(Strip(region, lost, cell.pool, tuple(float(ratio) for ratio in days)))
            if found:
                yield max(found, key=lambda strip: max(strip.ratios))


def crowded(arrays: Arrays, lock: Lock) -> Iterator[Crowded]:
    """Yield the pools whose planned occupancy makes requests wait longer than their model allows.

    Source: Kimura's and Hayward's approximations, see `outlast.replica.queueing`.
    """
    for full in fullness(arrays, lock):
        cell = arrays.cells[full.region, full.pool]
        arrivals = arrays.intent.models[full.pool].arrivals
        lanes = [(lane, pool) for lane in cell.lanes if (pool := _pool(lane, lock)) is not None]
        if arrivals is None or len(lanes) != 1:
            continue
        [(lane, pool)] = lanes
        usable = pool.replicas.planned - pool.replicas.canary
        sequences = sequences_of(arrays.intent, lane)
        target = WaitTarget(service_s=arrivals.service, wait_s=arrivals.wait_p99, peakedness=arrivals.peakedness)
        allowed = usable_occupancy(usable, sequences, target) if usable else 0.0
        for ratio, is_failure in ((full.peak_ratio, False), (full.worst_ratio, True)):
            if ratio > allowed:
                place = (full.region, full.pool, usable, sequences)
                yield Crowded(*place, ratio, allowed, arrivals, is_failure)
                break


def sequences_of(intent: Intent, lane: Lane) -> int:
    """Return the sequences that a replica serves at once: as declared, else as memory allows."""
    declared = intent.models[lane.pool].accelerators[lane.accelerator].sequences
    return declared or max(1, memory_of(replica_of(intent, lane.pool, lane.accelerator)).sequences() or 1)


def _losses(arrays: Arrays, key: CellKey, lock: Lock) -> Iterator[tuple[str, Floats]]:
    """Yield (lost region, load by hour) of a cell for every region whose loss moves something in."""
    base = arrays.base(key, "region")
    for lost in arrays.lost_regions:
        moved = moved_in(arrays, key, lost, lock.shares) if lost != key[0] else None
        if moved is not None:
            yield lost, np.asarray(base + arrays.surge * moved)


def _goodput(cell: Cell, lock: Lock) -> float:
    """Return the goodput of a cell's replicas, canaries left out."""
    pools: Mapping[Lane, LockPool | None] = {lane: _pool(lane, lock) for lane in cell.lanes}
    return sum(
        (pool.replicas.planned - pool.replicas.canary) * lane.goodput
        for lane, pool in pools.items()
        if pool is not None
    )


def _pool(lane: Lane, lock: Lock) -> LockPool | None:
    block = lock.regions.get(lane.region)
    return block.pools.get(f"{lane.pool}-{lane.short}") if block else None
