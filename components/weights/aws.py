"""A region's bucket of weights on S3; what guards the bucket is protected with it."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.base import Place
from components.provider import aws as provider
from components.weights.contract import Weights, WeightsArgs


def bucket_name(place: Place) -> str:
    """Return the name of a region's bucket."""
    return names.bucket(place.fleet, place.region, "weights", place.account)


class AwsWeights(Weights):
    """A versioned bucket, encrypted with the region's key, closed to the public."""

    token: ClassVar[str] = "outlast:weights:AwsWeights"

    def __init__(self, name: str, args: WeightsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        region = place.provider_region
        bucket = aws.s3.Bucket(
            name,
            region=region,
            bucket=bucket_name(place),
            force_destroy=not place.protect,
            tags=provider.labels(place),
            opts=self.child(protect=place.protect),
        )
        aws.s3.BucketVersioning(
            name,
            region=region,
            bucket=bucket.id,
            versioning_configuration=aws.s3.BucketVersioningVersioningConfigurationArgs(status="Enabled"),
            opts=self.child(protect=place.protect),
        )
        provider.closed(self, name, place, bucket)
        provider.encrypted(self, name, place, bucket, args.key)
        self.bucket = bucket.bucket
        self.register()
