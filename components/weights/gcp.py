"""A region's bucket of weights on Cloud Storage."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.base import Place
from components.weights.contract import Weights, WeightsArgs


def bucket_name(place: Place) -> str:
    """Return the name of a region's bucket."""
    return names.bucket(place.fleet, place.region, "weights", place.account)


class GcpWeights(Weights):
    """A versioned bucket in one region, encrypted with the region's key, closed to the public."""

    token: ClassVar[str] = "outlast:weights:GcpWeights"

    def __init__(self, name: str, args: WeightsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        bucket = gcp.storage.Bucket(
            name,
            name=bucket_name(place),
            project=place.account,
            location=place.provider_region,
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            versioning=gcp.storage.BucketVersioningArgs(enabled=True),
            encryption=gcp.storage.BucketEncryptionArgs(default_kms_key_name=args.key),
            force_destroy=not place.protect,
            deletion_policy="PREVENT" if place.protect else "DELETE",
            labels=names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction),
            opts=self.child(protect=place.protect),
        )
        self.bucket = bucket.name
        self.register()
