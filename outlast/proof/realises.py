"""Whether the resources of a region stack are what the lock says: each row once, where, what and as many as it says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from outlast.intent import region_stack
from outlast.intent.partitions import MIG, profile_of
from outlast.lock import Lock, LockNodePool, LockPool
from outlast.view import UNKNOWN, NodePool, Value, View, Workload, stack_of


@dataclass(frozen=True)
class Mismatch:
    """One difference between resources and lock."""

    urn: str
    """Resource at fault; empty if it is missing."""
    row: str
    """``node_pools.<key>`` or ``pools.<key>`` of the region's block."""
    field: str
    found: str
    expected: str
    is_undecidable: bool = False
    """The deployment does not say the value before it runs."""
    is_extra: bool = False
    """A node pool that the lock does not know: reported, and refused only where its class may not be."""


def realises(
    view: View, lock: Lock, region: str, subnets: Mapping[str, str] = MappingProxyType({})
) -> tuple[Mismatch, ...]:
    """Compare the resources of one region's stack with its block of the lock; empty means equal.

    Args:
        view: the resources.
        lock: what they are to be.
        region: our region.
        subnets: zone -> subnet that exists there, as regions.yaml says; nothing here can know better.
    """
    block = lock.regions[region]
    stack = region_stack(lock.fleet, region)
    node_pools = [pool for pool in view.node_pools if stack_of(pool.urn) == stack]
    workloads = [load for load in view.workloads if stack_of(load.urn) == stack]
    return (
        *_node_pools(block.node_pools, [_zoned(pool, subnets) for pool in node_pools], view),
        *_pools(block.pools, workloads),
    )


def _zoned(pool: NodePool, subnets: Mapping[str, str]) -> NodePool:
    """Return a node pool with the zone of the subnets it names, where one zone alone has them."""
    zones = {zone for zone, subnet in subnets.items() if subnet in pool.subnets}
    named = {subnet for zone, subnet in subnets.items() if zone in zones}
    is_known = len(zones) == 1 and named == set(pool.subnets)
    return replace(pool, zone=zones.pop()) if pool.zone is UNKNOWN and is_known else pool


def _node_pools(rows: Mapping[str, LockNodePool], found: list[NodePool], view: View) -> Iterator[Mismatch]:
    by_key: dict[Value, list[NodePool]] = defaultdict(list)
    for pool in found:
        by_key[pool.key].append(pool)
    for key, row in rows.items():
        where = f"node_pools.{key}"
        if len(by_key[key]) != 1:
            yield Mismatch(
                by_key[key][0].urn if by_key[key] else "", where, "resources", str(len(by_key[key])), "exactly 1"
            )
        for pool in by_key[key][:1]:
            yield from _node_pool(where, row, pool)
    for label, pools in by_key.items():
        for pool in pools:
            has_accelerators = label is not None or (pool.cloud, pool.machine_type) in view.facts.machine_types
            if label not in rows and has_accelerators:
                yield Mismatch(
                    pool.urn, f"node_pools.{label}", "resources", "1", "none: the lock has no such row", is_extra=True
                )


def _node_pool(where: str, row: LockNodePool, pool: NodePool) -> Iterator[Mismatch]:
    expected: dict[str, tuple[Value, Value]] = {
        "zone": (pool.zone, row.zone),
        "machine_type": (pool.machine_type, row.machine_type),
        "capacity": (pool.capacity, row.capacity),
        "reservation": (pool.reservation, row.reservation),
        "partition": (_partition(pool, row), row.partition),
        "nodes.min": (pool.nodes_min, row.nodes.min),
        "nodes.max": (pool.nodes_max, row.nodes.max),
        "scaling": ("elastic" if pool.count_ignored else "fixed", row.scaling),
    }
    for field, (found, wanted) in expected.items():
        if found != wanted:
            yield Mismatch(pool.urn, where, field, _text(found), _text(wanted), is_undecidable=found is UNKNOWN)


def _partition(pool: NodePool, row: LockNodePool) -> Value:
    """Return how the cards are divided, in the row's words if they are the same to the cloud.

    A cloud that names the profile alone fills every card with its instances; one that names slices alone makes of each
    number of them the instances that fill the card.
    """
    same = {f"{MIG}{profile_of(row.partition)}", row.partition.partition(".")[0]}
    return row.partition if row.partition.startswith(MIG) and pool.partition in same else pool.partition


def _pools(rows: Mapping[str, LockPool], found: list[Workload]) -> Iterator[Mismatch]:
    by_key: dict[Value, list[Workload]] = defaultdict(list)
    for load in found:
        by_key[load.pool].append(load)
    for key, row in rows.items():
        where = f"pools.{key}"
        if len(by_key[key]) != 1:
            yield Mismatch(
                by_key[key][0].urn if by_key[key] else "", where, "workloads", str(len(by_key[key])), "exactly 1"
            )
        for load in by_key[key][:1]:
            expected: dict[str, tuple[Value, Value]] = {
                "replicas": (load.replicas, row.born),
                "gpus of a replica": (load.gpus, row.replica_devices),
                "node pools": (load.node_pools, tuple(sorted(row.places))),
            }
            for field, (value, wanted) in expected.items():
                if value != wanted:
                    yield Mismatch(load.urn, where, field, _text(value), _text(wanted), is_undecidable=value is UNKNOWN)
    for label, loads in by_key.items():
        for load in loads if label not in rows else ():
            if load.gpus not in (None, 0):
                found_gpus = f"{_text(load.gpus)} GPUs a replica"
                yield Mismatch(
                    load.urn, f"pools.{_text(label)}", "workloads", found_gpus, "none: the lock has no such pool"
                )


def _text(value: Value) -> str:
    if value is None:
        return "none"
    return ", ".join(str(part) for part in value) if isinstance(value, tuple) else str(value)
