"""How a region's address range is cut: for components, which declare it, and for checks, which ask whether it holds."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_NODES_SHARE = 4
"""Bits by which a zone's range for nodes is longer than the region's prefix: a sixteenth, /20 of a /16."""
_ENTRY_PREFIX = 24
_ENDPOINTS_PREFIX = 27
_API_PREFIX = 28
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
    endpoints: Mapping[str, str]
    """Zone -> range of private doors to the cloud's own services."""
    api: Mapping[str, str]
    """Zone -> range from which the control plane reaches nodes."""
    services: str
    pods: str


def cut(cidr: str, zones: tuple[str, ...]) -> Ranges:
    """Cut a range; a zone added at the end of the list moves no other, any other change moves those after it.

    The upper half is for pods; of the lower half, a sixteenth of the range goes to each zone's nodes in order, the last
    but one to services, and the last is cut into /24: load balancers from the front, the last for the control plane,
    the last but one for endpoints.

    Raises:
        ValueError: there are more than ``MOST_ZONES`` zones.
    """
    network = ipaddress.IPv4Network(cidr)
    lower, upper = network.subnets(1)
    blocks = list(lower.subnets(new_prefix=network.prefixlen + _NODES_SHARE))
    if len(zones) > MOST_ZONES:
        raise ValueError(zones)  # the loader refuses such a region
    *entries, endpoints, api = blocks[-1].subnets(new_prefix=_ENTRY_PREFIX)
    return Ranges(
        nodes=_by_zone(zones, blocks),
        entry=_by_zone(zones, entries),
        endpoints=_by_zone(zones, endpoints.subnets(new_prefix=_ENDPOINTS_PREFIX)),
        api=_by_zone(zones, api.subnets(new_prefix=_API_PREFIX)),
        services=str(blocks[-2]),
        pods=str(upper),
    )


def _by_zone(zones: tuple[str, ...], blocks: Iterable[ipaddress.IPv4Network]) -> dict[str, str]:
    return {zone: str(block) for zone, block in zip(zones, blocks, strict=False)}
