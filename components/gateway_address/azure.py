"""The address of a region's gateway on Azure: one, in all zones."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_azure_native as azure

from components import names
from components.base import Place, PlatformComponent
from components.gateway_address.contract import GatewayAddress, GatewayAddressArgs
from components.provider.azure import grant, resource_group, tags

REGIONAL = "regional"


def slots(zones: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG001  (addresses do not depend on zones here)
    """Return the one slot."""
    return (REGIONAL,)


class AzureGatewayAddress(GatewayAddress):
    """One public address that outlives a zone; the cluster may bind it to its load balancer."""

    token: ClassVar[str] = "outlast:gateway_address:AzureGatewayAddress"

    def __init__(self, name: str, args: GatewayAddressArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        group = resource_group(self, name, place, "gateway")
        address = public_address(self, name, place, group, place.zones, purpose="gateway", protect=place.protect)
        # A cluster that was there before us has an identity that only its owner knows, and grants this to.
        if "principal" in args.cluster.ids:
            grant(
                self, name, place, role="Network Contributor", scope=group.id, principal=args.cluster.ids["principal"]
            )
        self.addresses = {REGIONAL: address.ip_address.apply(lambda found: found or "")}
        self.bindings = {REGIONAL: pulumi.Output.concat(group.name, "/", address.name)}
        self.register()


def zone_number(zone: str) -> str:
    """Return what the API calls a zone: ``1`` for ``polandcentral-1``, which is what nodes say."""
    return zone.rpartition("-")[2]


def public_address(
    component: PlatformComponent,
    name: str,
    place: Place,
    group: azure.resources.ResourceGroup,
    zones: tuple[str, ...],
    *,
    purpose: str,
    protect: bool | None = None,
) -> azure.network.PublicIPAddress:
    """Declare a static IPv4 address in some zones; their set can never be changed."""
    return azure.network.PublicIPAddress(
        name,
        resource_group_name=group.name,
        public_ip_address_name=names.resource(place.fleet, place.region, purpose),
        location=place.provider_region,
        sku=azure.network.PublicIPAddressSkuArgs(name="Standard", tier="Regional"),
        public_ip_allocation_method="Static",
        public_ip_address_version="IPv4",
        zones=[zone_number(zone) for zone in zones],
        tags=tags(place),
        opts=component.child(protect=protect),
    )
