"""Says what each GPU of a lock pays for, by plain arithmetic, layer upon layer.

The layers of a pool in a region, each the smallest count that holds it and all layers before it, less what was there:

    own demand     its own peak hour, nothing lost, at the normal occupancy
    replica loss   one replica lost in normal times
    zone loss      the fullest zone lost, at the occupancy in failure, the moved part with cold caches
    region loss    the lost region and hour whose demand needs most, at the shares of the lock
    minimum        the fewest replicas of a dedicated pool in use
    canary         replicas that hold a new version and do not count, and what the zones then need more
    more           what the lock holds beyond: a count that costs no more, or a raise that is not settled
    stranded       GPUs of its nodes that no replica uses

The order is fixed and part of the answer: a replica that two layers need is paid for by the first one. Layers sum to
the replicas of the pool and to the GPUs and the price of its nodes; GPUs of nodes that pools share go by their use,
demand that several accelerators of a model share goes by their goodput.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from outlast.intent import HOURS, Intent
from outlast.lock import Lock, LockNodePool, LockPool, LockRegion
from outlast.planner.money import node_usd_h

Hours: TypeAlias = NDArray[np.float64]
CellKey: TypeAlias = tuple[str, str]
"""(pool, region)."""
MINIMUM = 2
"""Usable replicas of a dedicated pool in a region in use."""
TOLERANCE = 1e-9
"""Relative slack, for the rounding of floating-point sums only."""
NO_DEMAND: Hours = np.zeros(HOURS)
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


@dataclass(frozen=True)
class _Needs:
    """What is asked of each pool in each region."""

    intent: Intent
    shares: Mapping[str, Mapping[str, Mapping[str, int]]]
    """Class -> lost region -> survivor -> per cent."""
    demand: Mapping[CellKey, Mapping[str, Hours]]
    """(pool, region) -> class -> demand at home there."""

    def base(self, key: CellKey, loss: str) -> Hours:
        """Return the demand at home of the classes that survive a kind of loss. Shape: hour."""
        return sum((hours for name, hours in self.demand.get(key, {}).items() if self._counts(name, loss)), NO_DEMAND)

    def worst_loss(self, key: CellKey) -> tuple[str, int | None, float]:
        """Return the lost region, its hour and the need that ask most; nothing lost where no loss asks anything."""
        worst: tuple[str, int | None, float] = (NOTHING, None, 0.0)
        pool, region = key
        base, surge = self.base(key, "region"), self.intent.guardrails.prefill_surge.value
        for lost in self.intent.regions if self.intent.guardrails.losses.region else ():
            parts = [
                hours * share / 100
                for name, hours in self.demand.get((pool, lost), {}).items()
                if (share := self.shares.get(name, {}).get(lost, {}).get(region, 0)) and self._counts(name, "region")
            ]
            if lost == region or not parts:
                continue
            need = base + surge * sum(parts, NO_DEMAND)
            if need.max() > worst[2]:
                worst = lost, int(need.argmax()), float(need.max())
        return worst

    def _counts(self, residency: str, loss: str) -> bool:
        return loss == NOTHING or loss in self.intent.tenants_file.classes[residency].survive


def _needs(intent: Intent, lock: Lock) -> _Needs:
    demand: dict[CellKey, dict[str, Hours]] = {}
    for (pool, residency, region), hours in intent.home_demand.items():
        demand.setdefault((pool, region), {})[residency] = np.asarray(hours, dtype=np.float64)
    return _Needs(intent, lock.shares, demand)


def attribution(intent: Intent, lock: Lock) -> tuple[Paid, ...]:
    """Return the layers of every pool and region of a lock, without those that are empty."""
    needs = _needs(intent, lock)
    return tuple(
        paid
        for region, block in lock.regions.items()
        for paid in (*_pools(needs, region, block), *_empty_nodes(intent, region, block))
        if paid.replicas or abs(paid.gpus) > TOLERANCE
    )


def _pools(needs: _Needs, region: str, block: LockRegion) -> Iterator[Paid]:
    intent, in_use = needs.intent, _gpus_in_use(block)
    for pool in block.pools.values():
        parts = {row: count * pool.replica_gpus / in_use[row] for row, count in pool.places.items() if count}
        gpus = sum(_gpus(block.node_pools[row]) * part for row, part in parts.items())
        usd_h = sum(_usd_h(intent, region, block.node_pools[row]) * part for row, part in parts.items())
        left, before = gpus, 0
        for step in _steps(needs, region, block, pool):
            count = max(before, min(step.replicas, pool.replicas.planned))
            used = float((count - before) * pool.replica_gpus)
            yield _paid(region, pool, step, count - before, used, usd_h / gpus if gpus else 0.0)
            left, before = left - used, count
        yield _paid(region, pool, _Step("stranded", 0), 0, left, usd_h / gpus if gpus else 0.0)


def _paid(region: str, pool: LockPool, step: _Step, replicas: int, gpus: float, gpu_usd_h: float) -> Paid:
    return Paid(region, pool.pool, pool.accelerator, step.layer, step.lost, step.hour, replicas, gpus, gpus * gpu_usd_h)


def _empty_nodes(intent: Intent, region: str, block: LockRegion) -> Iterator[Paid]:
    in_use = _gpus_in_use(block)
    for key, row in block.node_pools.items():
        if not in_use[key]:
            usd_h = _usd_h(intent, region, row)
            yield Paid(region, NO_POOL, row.accelerator, "stranded", NOTHING, None, 0, _gpus(row), usd_h)


def _steps(needs: _Needs, region: str, block: LockRegion, pool: LockPool) -> Iterator[_Step]:
    """Yield the counts that hold one layer more and more; the last one is the lock's.

    A pool that is leaving, because its model or accelerator is declared no more, is there for no layer.
    """
    rules, key, most = needs.intent.guardrails, (pool.pool, region), pool.replicas.planned
    goodput = _goodput(needs.intent, pool)
    if goodput is None:
        yield _Step("more", most)
        return
    goodput /= _part(needs.intent, block, pool)
    normal, failure = goodput * rules.occupancy.normal, goodput * rules.occupancy.failure
    own, once_less, in_zones = (needs.base(key, loss) for loss in (NOTHING, "replica", "zone"))
    count = _whole(own.max() / normal)
    yield _Step("own demand", count, NOTHING, int(own.argmax()))
    if rules.losses.replica and once_less.any():
        count = max(count, _whole(once_less.max() / normal) + 1)
    yield _Step("replica loss", count, "replica", int(once_less.argmax()))
    zones = len({block.node_pools[row].zone for row, held in pool.places.items() if held})
    zone_need = float(in_zones.max()) / failure if rules.losses.zone and zones > 1 else 0.0
    surge = rules.prefill_surge.value
    count = _with_zones(count, 0, zones, zone_need, surge, most)
    yield _Step("zone loss", count, "zone", int(in_zones.argmax()))
    lost, hour, need = needs.worst_loss(key)
    count = max(count, _whole(need / failure))
    yield _Step("region loss", count, lost, hour)
    count = max(count, MINIMUM if pool.tier == "dedicated" else 1)
    yield _Step("minimum", count)
    canary = pool.replicas.canary
    yield _Step("canary", _with_zones(count + canary, canary, zones, zone_need, surge, most))
    yield _Step("more", most)


def _goodput(intent: Intent, pool: LockPool) -> float | None:
    """Return what one replica of a pool sustains, in the model's unit; None if it is declared no more."""
    model = intent.models.get(pool.pool)
    how = model.accelerators.get(pool.accelerator) if model else None
    return how.goodput.value if how else None


def _part(intent: Intent, block: LockRegion, pool: LockPool) -> float:
    """Return the part of its model's demand that a pool carries: that of its goodput among the model's accelerators."""
    held = {
        other.accelerator: other.replicas.planned * (_goodput(intent, other) or 0.0)
        for other in block.pools.values()
        if other.pool == pool.pool
    }
    return held[pool.accelerator] / sum(held.values()) if held[pool.accelerator] else 1.0


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


def _gpus_in_use(block: LockRegion) -> dict[str, int]:
    used = dict.fromkeys(block.node_pools, 0)
    for pool in block.pools.values():
        for row, count in pool.places.items():
            used[row] += count * pool.replica_gpus
    return used


def _gpus(row: LockNodePool) -> float:
    return row.nodes.max * row.node_gpus


def _usd_h(intent: Intent, region: str, row: LockNodePool) -> float:
    return row.nodes.max * node_usd_h(intent, region, row.machine_type, row.capacity)
