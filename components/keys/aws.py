"""A region's key in KMS."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.keys.contract import Keys, KeysArgs

_DELETION_DAYS = 30
"""The longest that KMS waits before it destroys a key."""


class AwsKeys(Keys):
    """A key of one region only: a multi-region key would be readable wherever it has a replica."""

    token: ClassVar[str] = "outlast:keys:AwsKeys"

    def __init__(self, name: str, args: KeysArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        key = aws.kms.Key(
            name,
            region=place.provider_region,
            description=f"Data of {place.fleet} {place.region}",
            multi_region=False,
            enable_key_rotation=True,
            deletion_window_in_days=_DELETION_DAYS,
            tags=names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction),
            opts=self.child(protect=place.protect),
        )
        aws.kms.Alias(
            name,
            region=place.provider_region,
            name=names.key_alias(place.fleet, place.region),
            target_key_id=key.key_id,
            opts=self.child(protect=place.protect),
        )
        self.key = key.arn
        self.register()
