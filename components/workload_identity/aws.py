"""EKS Pod Identity: a role that the cluster's agent hands to one service account."""

from __future__ import annotations

import json
from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components.provider import aws as provider
from components.workload_identity.contract import WorkloadIdentity, WorkloadIdentityArgs


class AwsWorkloadIdentity(WorkloadIdentity):
    """A role that may read the weights of its own region, and its association with the service account."""

    token: ClassVar[str] = "outlast:workload_identity:AwsWorkloadIdentity"

    def __init__(self, name: str, args: WorkloadIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        policy = pulumi.Output.from_input(args.key).apply(lambda key: read_policy(args.weights, key))
        role = provider.role(
            self,
            name,
            place,
            args.service_account,
            service=provider.PODS,
            boundary=args.permissions_boundary,
            inline_policies=[aws.iam.RoleInlinePolicyArgs(name="read-weights", policy=policy)],
        )
        aws.eks.PodIdentityAssociation(
            name,
            region=place.provider_region,
            cluster_name=args.cluster.cluster_name,
            namespace=args.namespace,
            service_account=args.service_account,
            role_arn=role.arn,
            tags=provider.labels(place),
            opts=self.child(depends_on=[args.cluster]),
        )
        self.annotations = {}
        self.register()


def read_policy(bucket: str, key: str) -> str:
    """Return the policy that lets a pod read one bucket and use one key to decrypt it."""
    arn = f"arn:aws:s3:::{bucket}"
    statements = [
        {"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": [arn, f"{arn}/*"]},
        {"Effect": "Allow", "Action": ["kms:Decrypt"], "Resource": [key]},
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)
