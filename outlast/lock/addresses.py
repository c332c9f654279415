"""Whether the ranges that a region's network is cut into hold the nodes of a lock, and their pods.

Networks that were there before us are not judged: nobody here knows their ranges.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping

from outlast.errors import Problem
from outlast.facts import NetworkFact
from outlast.intent import Intent
from outlast.intent.ranges import cut
from outlast.lock.models import Lock, LockRegion

SYSTEM_ZONE_NODES = 1
"""Nodes for a cluster's own needs in each zone."""
_ALL = ""
"""Stands for all zones together, where they share a range."""


def short_ranges(lock: Lock, intent: Intent, regions: Iterable[str] | None = None) -> Iterator[Problem]:
    """Yield every range of a region's network that does not hold the lock's nodes at their most.

    Args:
        lock: how many nodes there are.
        intent: the fleet, with its regions' ranges.
        regions: the regions to look at; None: all.
    """
    for name in lock.regions if regions is None else regions:
        region, block = intent.regions.get(name), lock.regions.get(name)
        if region is None or block is None or region.network.existing is not None:
            continue
        use, prefix = intent.facts.networks[region.cloud], ipaddress.IPv4Network(region.cidr).prefixlen
        peaks = node_peaks(block, region.zones)
        fitting = [p for p in range(prefix, use.widest_prefix - 1, -1) if not _short(_widened(p), peaks, use)]
        for zone, (nodes, held) in _short(region.cidr, peaks, use).items():
            of_zone = f" of {zone}" if zone else ""
            yield Problem(
                where=f"{intent.name}/regions.yaml, regions.{name}.cidr",
                what=f"too small for the nodes{of_zone} and their pods at their most",
                got=f"{region.cidr}, which holds {held:,} nodes{of_zone}",
                allowed=f"a range that holds {nodes:,}",
                do=f"Widen it to /{fitting[0]}"
                if fitting
                else f"Use more zones or regions, or a network of your own: {region.cloud} takes no range wide enough",
            )


def node_peaks(block: LockRegion, zones: tuple[str, ...]) -> Mapping[str, int]:
    """Return zone -> nodes at their most: those of every node pool, one more while it is updated, and the system's."""
    peaks = dict.fromkeys(zones, SYSTEM_ZONE_NODES)
    for row in block.node_pools.values():
        if row.zone in peaks:  # that it is declared, another check says
            peaks[row.zone] += row.nodes.max + 1
    return peaks


def _short(cidr: str, peaks: Mapping[str, int], use: NetworkFact) -> Mapping[str, tuple[int, int]]:
    """Return zone, or all together -> nodes wanted and nodes held, where fewer are held."""
    together = sum(peaks.values())
    wanted = dict(peaks) if use.node_range == "zone" else {_ALL: together}
    ranges = cut(cidr, tuple(wanted))
    held = {zone: (_size(ranges.nodes[zone]) - use.reserved_addresses) // use.node_addresses for zone in wanted}
    short = {zone: (nodes, held[zone]) for zone, nodes in wanted.items() if nodes > held[zone]}
    if use.pod_prefix is not None:
        pods = 2 ** (use.pod_prefix - (use.pod_range or ipaddress.IPv4Network(ranges.pods)).prefixlen)
        short |= {_ALL: (together, pods)} if together > pods else {}
    return short


def _size(cidr: str) -> int:
    return ipaddress.IPv4Network(cidr).num_addresses


def _widened(prefix: int) -> str:
    """Return any range of that prefix: only its size matters."""
    return f"0.0.0.0/{prefix}"
