"""The address of a region's gateway on Google Cloud: one, regional."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.gateway_address.contract import GatewayAddress, GatewayAddressArgs

REGIONAL = "regional"


def slots(zones: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG001  (addresses do not depend on zones here)
    """Return the one slot."""
    return (REGIONAL,)


class GcpGatewayAddress(GatewayAddress):
    """One regional external address."""

    token: ClassVar[str] = "outlast:gateway_address:GcpGatewayAddress"

    def __init__(self, name: str, args: GatewayAddressArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        address = gcp.compute.Address(
            name,
            project=place.account,
            region=place.provider_region,
            name=names.resource(place.fleet, place.region, "gateway"),
            address_type="EXTERNAL",
            network_tier="PREMIUM",
            ip_version="IPV4",
            labels=names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction),
            opts=self.child(protect=place.protect),
        )
        self.addresses = {REGIONAL: address.address}
        self.bindings = {REGIONAL: address.name}
        self.register()
