"""What the addresses of a region's gateway promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import pulumi

from components.base import Place, PlatformComponent, class_of, module_of
from components.cluster.contract import Cluster


@dataclass(frozen=True, kw_only=True)
class GatewayAddressArgs:
    """Static addresses that DNS holds and the gateway's load balancer takes."""

    place: Place
    cluster: Cluster
    """Whose load balancer takes them."""


class GatewayAddress(PlatformComponent):
    """A region's addresses, by slot."""

    addresses: Mapping[str, pulumi.Output[str]]
    """Slot -> IPv4 address."""
    bindings: Mapping[str, pulumi.Output[str]]
    """Slot -> what a load balancer of the cloud takes to bind the address."""


def slots(cloud: str, zones: tuple[str, ...]) -> tuple[str, ...]:
    """Return the slots of a region's addresses: its zones where addresses are zonal, else one for the region."""
    return cast("tuple[str, ...]", module_of("gateway_address", cloud).slots(zones))


def declare(name: str, args: GatewayAddressArgs, opts: pulumi.ResourceOptions | None = None) -> GatewayAddress:
    """Declare the addresses on the region's cloud."""
    return class_of(GatewayAddress, args.place.cloud)(name, args, opts)
