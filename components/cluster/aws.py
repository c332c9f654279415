"""A region's cluster on EKS."""

from __future__ import annotations

import json
from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.base import Place
from components.cluster.contract import Cluster, ClusterArgs, kubeconfig

ADD_ONS_BEFORE_NODES = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent")
_LOGS = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
_LOG_DAYS = 90
_POLICIES = {
    "admin": "AmazonEKSClusterAdminPolicy",
    "operator": "AmazonEKSEditPolicy",
    "viewer": "AmazonEKSAdminViewPolicy",
}


def token_command(place: Place, cluster: str) -> list[str]:
    """Return the command that prints a token for a cluster's API server."""
    return ["aws", "eks", "get-token", "--cluster-name", cluster, "--region", place.provider_region]


def group_of(place: Place, cluster_id: str) -> str:  # noqa: ARG001  (one signature for all clouds)
    """Return the account that holds a cluster."""
    return place.account


class AwsCluster(Cluster):
    """An EKS cluster with access entries, and the add-ons that nodes need before they can join."""

    token: ClassVar[str] = "outlast:cluster:AwsCluster"

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        self._args, self._name = args, name
        self._tags = names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction)
        role, attachment = self._role()
        physical = names.cluster(place.fleet, place.region)
        # The name is the service's; EKS would otherwise create the group itself, and keep logs for ever.
        logs = aws.cloudwatch.LogGroup(
            name,
            region=place.provider_region,
            name=f"/aws/eks/{physical}/cluster",
            retention_in_days=_LOG_DAYS,
            deletion_protection_enabled=place.protect,
            tags=self._tags,
            opts=self.child(protect=place.protect),
        )
        # The attachment must outlive the cluster, or EKS cannot remove its network interfaces.
        cluster = self._cluster(physical, role, [logs, attachment])
        self._access(cluster)
        for add_on in ADD_ONS_BEFORE_NODES:
            aws.eks.Addon(
                f"{name}-{add_on}",
                region=place.provider_region,
                cluster_name=cluster.name,
                addon_name=add_on,
                addon_version=args.add_ons.get(add_on),
                resolve_conflicts_on_create="OVERWRITE",
                resolve_conflicts_on_update="PRESERVE",
                tags=self._tags,
                opts=self.child(),
            )
        self._resource, self._group = cluster, place.account
        self.cluster_name = cluster.name
        ca = cluster.certificate_authority.apply(lambda authority: authority.data)
        token = token_command(place, physical)
        self.kubeconfig = pulumi.Output.all(cluster.endpoint, ca).apply(
            lambda parts: kubeconfig(physical, parts[0], parts[1], token)
        )
        self.register()

    def _role(self) -> tuple[aws.iam.Role, aws.iam.RolePolicyAttachment]:
        place = self._args.place
        statement = {
            "Effect": "Allow",
            "Principal": {"Service": "eks.amazonaws.com"},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
        }
        role = aws.iam.Role(
            self._name,
            name=names.role(place.fleet, place.region, "cluster"),
            assume_role_policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]}, sort_keys=True),
            permissions_boundary=self._args.permissions_boundary,
            tags=self._tags,
            opts=self.child(),
        )
        attachment = aws.iam.RolePolicyAttachment(
            f"{self._name}-AmazonEKSClusterPolicy",
            role=role.name,
            policy_arn="arn:aws:iam::aws:policy/AmazonEKSClusterPolicy",
            opts=self.child(),
        )
        return role, attachment

    def _cluster(self, physical: str, role: aws.iam.Role, after: list[pulumi.Resource]) -> aws.eks.Cluster:
        args, place = self._args, self._args.place
        return aws.eks.Cluster(
            self._name,
            region=place.provider_region,
            name=physical,
            version=args.kubernetes,
            role_arn=role.arn,
            vpc_config=aws.eks.ClusterVpcConfigArgs(
                subnet_ids=list(args.network.api_subnets),
                endpoint_private_access=True,
                endpoint_public_access=not args.private,
                public_access_cidrs=None if args.private else list(args.allow),
            ),
            access_config=aws.eks.ClusterAccessConfigArgs(
                authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
            ),
            encryption_config=aws.eks.ClusterEncryptionConfigArgs(
                provider=aws.eks.ClusterEncryptionConfigProviderArgs(key_arn=args.key), resources=["secrets"]
            ),
            upgrade_policy=aws.eks.ClusterUpgradePolicyArgs(support_type="STANDARD"),
            enabled_cluster_log_types=_LOGS,
            bootstrap_self_managed_addons=False,
            deletion_protection=place.protect,
            tags=self._tags,
            opts=self.child(depends_on=after, protect=place.protect),
        )

    def _access(self, cluster: aws.eks.Cluster) -> None:
        region = self._args.place.provider_region
        for rank, principals in self._args.access.items():
            for principal in principals:
                stable = f"{self._name}-{rank}-{names.digest(principal)}"
                entry = aws.eks.AccessEntry(
                    stable,
                    region=region,
                    cluster_name=cluster.name,
                    principal_arn=principal,
                    type="STANDARD",
                    tags=self._tags,
                    opts=self.child(),
                )
                aws.eks.AccessPolicyAssociation(
                    stable,
                    region=region,
                    cluster_name=cluster.name,
                    principal_arn=principal,
                    policy_arn=f"arn:aws:eks::aws:cluster-access-policy/{_POLICIES[rank]}",
                    access_scope=aws.eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
                    opts=self.child(depends_on=[entry]),
                )
