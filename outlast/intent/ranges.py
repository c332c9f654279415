"""How a region's address range is cut: for components, which declare it, and for checks, which ask whether it holds."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

_NODES_SHARE = 4
"""Bits by which a zone's range for nodes is longer than the region's prefix: a sixteenth, /20 of a /16."""
_ENTRY_PREFIX = 24
NARROWEST_PREFIX = 16
"""Longest prefix of a region: shorter ranges hold no useful number of nodes."""
MOST_ZONES = 2 ** (_NODES_SHARE - 1) - 2
"""Zones that a range is cut for."""


@dataclass(frozen=True, kw_only=True)
class Ranges:
    """A region's range, cut."""

    nodes: Mapping[str, str]
    """Zone -> range of its nodes."""
    entry: Mapping[str, str]
    """Zone -> range of its load balancers."""
    services: str
    pods: str


def cut(cidr: str, zones: tuple[str, ...]) -> Ranges:
    """Cut a range; a zone added at the end of the list moves no other.

    The upper half is for pods; of the lower half, a sixteenth of the range goes to each zone's nodes in order, the last
    but one to services, and the last is cut into /24 for load balancers.

    Raises:
        ValueError: there are more than ``MOST_ZONES`` zones.
    """
    network = ipaddress.IPv4Network(cidr)
    lower, upper = network.subnets(1)
    blocks = list(lower.subnets(new_prefix=network.prefixlen + _NODES_SHARE))
    if len(zones) > MOST_ZONES:
        raise ValueError(zones)  # the loader refuses such a region
    entries = blocks[-1].subnets(new_prefix=_ENTRY_PREFIX)
    return Ranges(
        nodes={zone: str(block) for zone, block in zip(zones, blocks, strict=False)},
        entry={zone: str(block) for zone, block in zip(zones, entries, strict=False)},
        services=str(blocks[-2]),
        pods=str(upper),
    )
