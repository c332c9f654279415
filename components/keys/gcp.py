"""A region's key in Cloud KMS."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.keys.contract import Keys, KeysArgs
from outlast.errors import ConfigError, Problem

_ROTATION = "7776000s"
"""90 days."""
_USE = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
_AGENTS = {
    "clusters": "container-engine-robot",
    "buckets": "gs-project-accounts",
    "images": "gcp-sa-artifactregistry",
}
"""What the key locks -> domain of the service agent that uses it for us.

Source: GKE, Cloud Storage and Artifact Registry documentation, Customer-managed encryption keys.
"""


class GcpKeys(Keys):
    """A key ring in one location with one key, which the services that store things may use."""

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
        grants = [
            gcp.kms.CryptoKeyIAMMember(
                f"{name}-{what}",
                crypto_key_id=key.id,
                role=_USE,
                member=agent(place.region, args.account_number, domain),
                opts=self.child(),
            )
            for what, domain in _AGENTS.items()
        ]
        # Whoever reads the key waits until it may be used.
        self.key = pulumi.Output.all(key.id, *(grant.id for grant in grants)).apply(lambda ids: str(ids[0]))
        self.register()


def agent(region: str, account_number: str | None, domain: str) -> str:
    """Return the service agent of a project, as grants name it.

    Raises:
        ConfigError: the project's number is not known.
    """
    if account_number is None:
        what, do = "service agents are named by the project's number", "Enter the number of the project"
        raise ConfigError(Problem(where=f"regions.yaml, regions.{region}.account_number", what=what, do=do))
    return f"serviceAccount:service-{account_number}@{domain}.iam.gserviceaccount.com"
