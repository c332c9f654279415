"""A region's key in Cloud KMS."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.keys.contract import Keys, KeysArgs

_ROTATION = "7776000s"
"""90 days."""


class GcpKeys(Keys):
    """A key ring in one location with one key."""

    token: ClassVar[str] = "outlast:keys:GcpKeys"

    def __init__(self, name: str, args: KeysArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        ring = gcp.kms.KeyRing(
            name,
            project=place.account,
            location=place.provider_region,
            name=names.key_ring(place.fleet, place.region),
            opts=self.child(protect=place.protect),
        )
        key = gcp.kms.CryptoKey(
            name,
            key_ring=ring.id,
            name=names.key(),
            purpose="ENCRYPT_DECRYPT",
            rotation_period=_ROTATION,
            labels=names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction),
            deletion_policy="PREVENT" if place.protect else "DELETE",
            opts=self.child(protect=place.protect),
        )
        self.key = key.id
        self.register()
