"""The role of a region's nodes on AWS."""

from __future__ import annotations

import json
from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.identity.contract import Identity, IdentityArgs

_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
"""Addresses of pods are not theirs to give: the add-on that does has a role of its own."""


class AwsIdentity(Identity):
    """An IAM role that may join the cluster and pull images."""

    token: ClassVar[str] = "outlast:identity:AwsIdentity"

    def __init__(self, name: str, args: IdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        role = aws.iam.Role(
            name,
            name=names.role(place.fleet, place.region, "nodes"),
            assume_role_policy=trust("ec2.amazonaws.com"),
            permissions_boundary=args.permissions_boundary,
            tags=names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction),
            opts=self.child(),
        )
        for policy_name in _POLICIES:
            aws.iam.RolePolicyAttachment(
                f"{name}-{policy_name}",
                role=role.name,
                policy_arn=f"arn:aws:iam::aws:policy/{policy_name}",
                opts=self.child(),
            )
        self.principal = role.arn
        self.ids = {}
        self.register()


def trust(service: str) -> str:
    """Return the trust policy of a role that a service assumes."""
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, sort_keys=True)
