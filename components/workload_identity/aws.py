"""EKS Pod Identity: a role that the cluster's agent hands to one service account."""

from __future__ import annotations

import json
from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.workload_identity.contract import WorkloadIdentity, WorkloadIdentityArgs


class AwsWorkloadIdentity(WorkloadIdentity):
    """A role that may read the weights of its own region, and its association with the service account."""

    token: ClassVar[str] = "outlast:workload_identity:AwsWorkloadIdentity"

    def __init__(self, name: str, args: WorkloadIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        labels = names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction)
        policy = pulumi.Output.from_input(args.key).apply(lambda key: read_policy(args.weights, key))
        role = aws.iam.Role(
            name,
            name=names.role(place.fleet, place.region, args.service_account),
            assume_role_policy=trust("pods.eks.amazonaws.com"),
            permissions_boundary=args.permissions_boundary,
            inline_policies=[aws.iam.RoleInlinePolicyArgs(name="read-weights", policy=policy)],
            tags=labels,
            opts=self.child(),
        )
        aws.eks.PodIdentityAssociation(
            name,
            region=place.provider_region,
            cluster_name=args.cluster.cluster_name,
            namespace=args.namespace,
            service_account=args.service_account,
            role_arn=role.arn,
            tags=labels,
            opts=self.child(depends_on=[args.cluster]),
        )
        self.annotations = {}
        self.register()


def trust(service: str) -> str:
    """Return the trust policy of a role that the cluster's agent assumes for a pod."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": ["sts:AssumeRole", "sts:TagSession"],
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, sort_keys=True)


def read_policy(bucket: str, key: str) -> str:
    """Return the policy that lets a pod read one bucket and use one key to decrypt it."""
    arn = f"arn:aws:s3:::{bucket}"
    statements = [
        {"Effect": "Allow", "Action": ["s3:GetObject", "s3:ListBucket"], "Resource": [arn, f"{arn}/*"]},
        {"Effect": "Allow", "Action": ["kms:Decrypt"], "Resource": [key]},
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)
