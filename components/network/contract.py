"""What a region's network promises, and how its address range is cut."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from components.base import Place, PlatformComponent, class_of

_NODES_PREFIX = 20
_ENTRY_PREFIX = 24


@dataclass(frozen=True, kw_only=True)
class NetworkArgs:
    """A region's own network."""

    place: Place
    cidr: str
    """Range of the region, /16 or larger; no two regions of a fleet share addresses."""


class Network(PlatformComponent):
    """A region's network."""

    network_id: pulumi.Output[str]
    node_subnets: Mapping[str, pulumi.Output[str]]
    """Zone -> subnet of its nodes; several zones may share one."""


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

    The upper half is for pods; of the lower half, /20 blocks go to the zones' nodes in order, the last but one to
    services, and the last is cut into /24 for load balancers.
    """
    lower, upper = ipaddress.IPv4Network(cidr).subnets(1)
    blocks = list(lower.subnets(new_prefix=_NODES_PREFIX))
    entries = blocks[-1].subnets(new_prefix=_ENTRY_PREFIX)
    return Ranges(
        nodes={zone: str(block) for zone, block in zip(zones, blocks[:-2], strict=False)},
        entry={zone: str(block) for zone, block in zip(zones, entries, strict=False)},
        services=str(blocks[-2]),
        pods=str(upper),
    )


def declare(name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> Network:
    """Declare the network on the region's cloud."""
    return class_of(Network, args.place.cloud)(name, args, opts)
