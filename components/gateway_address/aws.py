"""Elastic IPs of a region's gateway: a network load balancer takes one a zone."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.gateway_address.contract import GatewayAddress, GatewayAddressArgs


def slots(zones: tuple[str, ...]) -> tuple[str, ...]:
    """Return one slot a zone."""
    return zones


class AwsGatewayAddress(GatewayAddress):
    """One Elastic IP a zone."""

    token: ClassVar[str] = "outlast:gateway_address:AwsGatewayAddress"

    def __init__(self, name: str, args: GatewayAddressArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        labels = names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction)
        eips = {
            zone: aws.ec2.Eip(
                f"{name}-{zone}",
                region=place.provider_region,
                domain="vpc",
                tags=labels | {"Name": names.resource(place.fleet, place.region, f"gateway-{zone}")},
                opts=self.child(protect=place.protect),
            )
            for zone in slots(place.zones)
        }
        self.addresses = {zone: eip.public_ip for zone, eip in eips.items()}
        self.bindings = {zone: eip.allocation_id for zone, eip in eips.items()}
        self.register()
