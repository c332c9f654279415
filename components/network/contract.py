"""What a region's network promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import pulumi

from components.base import Place, PlatformComponent, class_of


@dataclass(frozen=True, kw_only=True)
class NetworkArgs:
    """A region's own network."""

    place: Place
    cidr: str
    """Range of the region, /16 or larger; no two regions of a fleet share addresses."""
    nat: Literal["regional", "zonal"] = "regional"
    """One way out for the region, or one a zone."""
    key: pulumi.Input[str]
    """Id of the region's key; it encrypts what is written down of the traffic."""
    buckets: tuple[str, ...]
    """Names of the region's buckets that its nodes read."""


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


def declare(name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> Network:
    """Declare the network on the region's cloud."""
    return class_of(Network, args.place.cloud)(name, args, opts)
