"""What replicas a fleet holds at every hour, from a lock or from what stacks applied; plain counts, no demand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from outlast.intent import HOURS, Intent, region_stack
from outlast.intent.models import COLD
from outlast.intent.partitions import is_sliced
from outlast.lock import AppliedFile, AppliedPool, Counts, Lock, counts_of, floor_at, nodes_for


@dataclass(frozen=True)
class PoolHeld:
    """Replicas of one pool in one region on one accelerator."""

    pool: str
    accelerator: str
    serving: tuple[int, ...]
    """Replicas at each of 168 hours: the floor in force, within the nodes kept; canary included."""
    canary: int
    """Replicas among them that run another revision and do not count."""
    zone_parts: Mapping[str, Fraction]
    """Zone -> part of the planned replicas that lie there."""
    node_replicas: int = 1
    """Most replicas that one node may hold, lost with it."""
    is_sliced: bool = False
    """On time-slices: serves its own demand, and nothing that moves in."""

    def usable(self, hour: int) -> int:
        """Return the replicas that count at an hour."""
        return max(0, self.serving[hour] - self.canary)

    def usable_without(self, zone: str, hour: int) -> int:
        """Return the replicas that count when a zone is lost; its part is rounded up."""
        gone = math.ceil(self.serving[hour] * self.zone_parts.get(zone, Fraction(0)))
        return max(0, self.serving[hour] - gone - self.canary)


Held = Mapping[str, Mapping[str, PoolHeld]]
"""Region -> pool key -> replicas."""


def held_of_lock(lock: Lock) -> Held:
    """Return what the lock would hold when every stack has deployed it."""
    return {region: _region(counts_of(block)) for region, block in lock.regions.items()}


def held_of_applied(applied: AppliedFile, intent: Intent) -> dict[str, Mapping[str, PoolHeld]]:
    """Return what the regions of a fleet have deployed; one that has deployed nothing holds nothing."""
    stacks = {region: applied.get(region_stack(intent.name, region)) for region in intent.regions}
    return {region: _region(entry.counts) if entry else {} for region, entry in stacks.items()}


def _region(counts: Counts) -> Mapping[str, PoolHeld]:
    fitting = _replicas_that_fit(counts)
    held: dict[str, PoolHeld] = {}
    for key, pool in counts.pools.items():
        places = fitting[key]
        total = sum(places.values())
        zones: dict[str, int] = {}
        for node_pool, replicas in places.items():
            zone = counts.node_pools[node_pool].zone
            zones[zone] = zones.get(zone, 0) + replicas
        held[key] = PoolHeld(
            pool=pool.pool,
            accelerator=pool.accelerator,
            serving=tuple(min(_started(pool, hour), total) for hour in range(HOURS)),
            canary=pool.replicas.canary,
            zone_parts={zone: Fraction(count, total) for zone, count in zones.items() if total},
            node_replicas=max(
                (
                    min(count, counts.node_pools[key].node_devices // pool.replica_devices)
                    for key, count in places.items()
                ),
                default=0,
            ),
            is_sliced=any(is_sliced(counts.node_pools[key].partition) for key in places),
        )
    return held


def _started(pool: AppliedPool, hour: int) -> int:
    """Return the replicas that are there at an hour, or that a cold start brings inside the allowed outage."""
    if pool.tier == COLD:
        return pool.replicas.planned
    return floor_at(pool.replicas, pool.floors, hour)


def _replicas_that_fit(counts: Counts) -> Mapping[str, Mapping[str, int]]:
    """Return pool key -> node pool key -> replicas that the kept nodes hold, taking away from the last pool first."""
    left = {key: dict(pool.places) for key, pool in counts.pools.items()}
    for node_pool, row in counts.node_pools.items():
        users = [key for key, pool in counts.pools.items() if pool.places.get(node_pool)]
        cold = bool(users) and all(counts.pools[key].tier == COLD for key in users)
        nodes = row.nodes_max if cold else row.nodes_min
        while users and _nodes_needed(counts, left, node_pool, row.node_devices) > nodes:
            key = users[-1]
            left[key][node_pool] -= 1
            if left[key][node_pool] == 0:
                users.pop()
    for places in left.values():
        for node_pool in [name for name in places if name not in counts.node_pools]:
            del places[node_pool]
    return left


def _nodes_needed(counts: Counts, places: Mapping[str, Mapping[str, int]], node_pool: str, node_devices: int) -> int:
    sizes: Counter[int] = Counter()
    for key, pool in counts.pools.items():
        sizes[pool.replica_devices] += places[key].get(node_pool, 0)
    return nodes_for(sizes, node_devices)
