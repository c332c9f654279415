"""The address of a region's gateway on Azure: one, in all zones."""

from __future__ import annotations

from typing import ClassVar

import pulumi

from components.gateway_address.contract import GatewayAddress, GatewayAddressArgs
from components.provider.azure import grant, public_address, resource_group

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
