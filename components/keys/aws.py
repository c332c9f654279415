"""A region's key in KMS."""

from __future__ import annotations

import json
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
            policy=key_policy(place.provider_region, place.account),
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


def key_policy(region: str, account: str) -> str:
    """Return who may use the key: whom the account's own policies allow, and the services that write its logs.

    Sources: Amazon CloudWatch Logs User Guide, Encrypt log data in CloudWatch Logs using KMS; Amazon VPC User Guide,
    Publish flow logs to Amazon S3: key policy for use with SSE-KMS.
    """
    use = ["kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "kms:DescribeKey"]
    logs = f"arn:aws:logs:{region}:{account}:"
    statements = [
        {
            "Sid": "Account",
            "Effect": "Allow",
            "Principal": {"AWS": f"arn:aws:iam::{account}:root"},
            "Action": "kms:*",
            "Resource": "*",
        },
        {
            "Sid": "LogGroups",
            "Effect": "Allow",
            "Principal": {"Service": f"logs.{region}.amazonaws.com"},
            "Action": use,
            "Resource": "*",
            "Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": f"{logs}log-group:*"}},
        },
        {
            "Sid": "FlowLogs",
            "Effect": "Allow",
            "Principal": {"Service": "delivery.logs.amazonaws.com"},
            "Action": use,
            "Resource": "*",
            "Condition": {"StringEquals": {"aws:SourceAccount": account}, "ArnLike": {"aws:SourceArn": f"{logs}*"}},
        },
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)
