"""The role of a region's nodes on AWS."""

from __future__ import annotations

from typing import ClassVar

import pulumi

from components.identity.contract import Identity, IdentityArgs
from components.provider import aws as provider

_POLICIES = ("AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
"""Addresses of pods are not theirs to give: the add-on that does has a role of its own."""


class AwsIdentity(Identity):
    """An IAM role that may join the cluster and pull images."""

    token: ClassVar[str] = "outlast:identity:AwsIdentity"

    def __init__(self, name: str, args: IdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        role = provider.role(
            self, name, args.place, "nodes", service="ec2.amazonaws.com", boundary=args.permissions_boundary
        )
        for policy in _POLICIES:
            provider.attach(self, name, role, policy)
        self.principal = role.arn
        self.ids = {}
        self.register()
