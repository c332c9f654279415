"""Node lines: what each node pool costs, the same from a lock and from the resources of a preview."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from outlast.intent import Intent, region_stack
from outlast.lock import Lock
from outlast.spend.rates import Rate, rate
from outlast.view import UNKNOWN, NodePool, Value, View, name_of, stack_of


@dataclass(frozen=True)
class Range:
    """Minimum, expected and maximum; None where unknown."""

    min: float | None
    expected: float | None
    max: float | None

    def times(self, factor: float | None) -> Range:
        """Return the range multiplied; unknown stays unknown."""
        return Range(*(None if value is None or factor is None else value * factor for value in self.all))

    def plus(self, other: Range) -> Range:
        """Return the sum; unknown parts count nothing here, they are counted by name elsewhere."""
        return Range(*((a or 0.0) + (b or 0.0) for a, b in zip(self.all, other.all, strict=True)))

    @property
    def all(self) -> tuple[float | None, float | None, float | None]:
        """All three."""
        return (self.min, self.expected, self.max)


NONE = Range(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class NodeLine:
    """One node pool on one side of a change."""

    region: str
    key: str
    """Node pool key of the lock."""
    zone: str
    machine_type: str
    capacity: str
    accelerator: str
    node_gpus: float
    nodes: Range
    rate: Rate

    @property
    def usd_h(self) -> Range:
        """US dollars per hour."""
        return self.nodes.times(self.rate.usd_h)

    @property
    def gpus(self) -> Range:
        """GPUs."""
        return self.nodes.times(self.node_gpus)

    @property
    def unknown(self) -> str:
        """Why the line has no money; empty if it has."""
        if self.rate.unknown:
            return self.rate.unknown
        return "the count of nodes is not known before the deployment" if None in self.nodes.all else ""


def lines_of_lock(lock: Lock, intent: Intent) -> tuple[NodeLine, ...]:
    """Return the node lines of a lock; a region the fleet no longer has is left out."""
    return tuple(
        NodeLine(
            region=region,
            key=key,
            zone=row.zone,
            machine_type=row.machine_type,
            capacity=row.capacity,
            accelerator=row.accelerator,
            node_gpus=row.node_gpus,
            nodes=Range(row.nodes.min, row.nodes.expected, row.nodes.max),
            rate=rate(intent, region, row.machine_type, row.capacity),
        )
        for region, block in sorted(lock.regions.items())
        if region in intent.regions
        for key, row in sorted(block.node_pools.items())
    )


def lines_of_view(view: View, intent: Intent, lock: Lock | None = None) -> tuple[NodeLine, ...]:
    """Return the node lines of resources; node pools without accelerators are left out.

    Args:
        view: the resources.
        intent: the fleet.
        lock: says how many nodes to expect where an autoscaler owns the count, which resources cannot; None: as born.
    """
    return tuple(sorted(_lines(view.node_pools, intent, lock), key=lambda line: (line.region, line.key)))


def _lines(node_pools: Iterable[NodePool], intent: Intent, lock: Lock | None) -> Iterator[NodeLine]:
    regions = {region_stack(intent.name, region): region for region in intent.regions}
    for pool in node_pools:
        region = regions.get(stack_of(pool.urn))
        machine = intent.facts.machine_types.get((pool.cloud, str(pool.machine_type)))
        if region is None or (machine is None and pool.key is None):
            continue
        capacity = str(pool.capacity)
        rows = lock.regions[region].node_pools if lock and region in lock.regions else {}
        row = rows.get(pool.key) if pool.count_ignored and isinstance(pool.key, str) else None
        expected = row.nodes.expected if row else _count(pool.nodes_desired)
        yield NodeLine(
            region=region,
            key=pool.key if isinstance(pool.key, str) else name_of(pool.urn),
            zone=str(pool.zone),
            machine_type=str(pool.machine_type),
            capacity=capacity,
            accelerator=machine.accelerator if machine else "unknown",
            node_gpus=machine.node_gpus if machine else 0.0,
            nodes=Range(_count(pool.nodes_min), expected, _count(pool.nodes_max)),
            rate=rate(intent, region, str(pool.machine_type), capacity),
        )


def _count(value: Value) -> float | None:
    return None if value is UNKNOWN or not isinstance(value, (int, float)) else float(value)
