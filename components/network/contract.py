"""What a region's network promises, and how its address range is cut."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

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
    nat: Literal["regional", "zonal"] = "regional"
    """One way out for the region, or one a zone."""


class Network(PlatformComponent):
    """A region's network."""

    network_id: pulumi.Output[str]
    node_subnets: Mapping[str, pulumi.Output[str]]
    """Zone -> subnet of its nodes; several zones may share one."""
    api_subnets: Sequence[pulumi.Output[str]]
    """Subnets that the control plane reaches nodes from; none where the cloud wants none."""


@dataclass(frozen=True, kw_only=True)
class ExistingNetworkArgs:
    """A network that somebody else made, as regions.yaml names it."""

    place: Place
    network_id: str
    subnets: Mapping[str, str]
    """Zone -> subnet of its nodes."""
    api_subnets: tuple[str, ...]


class ExistingNetwork(Network):
    """A network that is used as it is; nothing is declared."""

    token: ClassVar[str] = "outlast:network:ExistingNetwork"

    def __init__(self, name: str, args: ExistingNetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.network_id = pulumi.Output.from_input(args.network_id)
        # Zones that share a subnet share its output, so that what is done once a subnet is done once.
        nodes = {subnet: pulumi.Output.from_input(subnet) for subnet in args.subnets.values()}
        self.node_subnets = {zone: nodes[subnet] for zone, subnet in args.subnets.items()}
        self.api_subnets = [pulumi.Output.from_input(subnet) for subnet in args.api_subnets]
        self.register()


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
