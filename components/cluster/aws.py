"""A region's cluster on EKS."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.base import Place
from components.cluster.contract import Cluster, ClusterArgs, kubeconfig
from components.provider import aws as provider

ADD_ONS_BEFORE_NODES = ("eks-pod-identity-agent", "kube-proxy", "vpc-cni")
"""What a node needs before it is ready."""
CONFIGURATION: Mapping[str, object] = MappingProxyType({"vpc-cni": {"enableNetworkPolicy": "true"}})
"""Add-on -> its configuration, where the default does not serve: network policies are not enforced unless asked for."""
_NETWORK_ADD_ON = "vpc-cni"
_NETWORK_ACCOUNT = "aws-node"
_LOGS = ["api", "audit", "authenticator", "controllerManager", "scheduler"]
_LOG_DAYS = 90
_HTTPS = 443
_PACKED = "nvidia.com/gpu"
"""The resource of which nodes are filled one after the other, so that whole nodes stay free for large replicas."""
_POLICIES = {
    "admin": "AmazonEKSClusterAdminPolicy",
    "operator": "AmazonEKSEditPolicy",
    "viewer": "AmazonEKSViewPolicy",
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
        self._tags = provider.labels(place)
        role = provider.role(
            self, name, place, "cluster", service="eks.amazonaws.com", boundary=args.permissions_boundary
        )
        attachment = provider.attach(self, name, role, "AmazonEKSClusterPolicy")
        physical = names.cluster(place.fleet, place.region)
        # The name is the service's; EKS would otherwise create the group itself, and keep logs for ever.
        logs = aws.cloudwatch.LogGroup(
            name,
            region=place.provider_region,
            name=f"/aws/eks/{physical}/cluster",
            retention_in_days=_LOG_DAYS,
            kms_key_id=args.key,
            deletion_protection_enabled=place.protect,
            tags=self._tags,
            opts=self.child(protect=place.protect),
        )
        # The attachment must outlive the cluster, or EKS cannot remove its network interfaces; so must the ways out, by
        # which the control plane calls.
        cluster = self._cluster(physical, role, [logs, attachment, args.network])
        self._access(cluster)
        self._add_ons(cluster)
        self._resource, self._group = cluster, place.account
        self.cluster_name = cluster.name
        ca = cluster.certificate_authority.apply(lambda authority: authority.data)
        token = token_command(place, physical)
        self.kubeconfig = pulumi.Output.all(cluster.endpoint, ca).apply(
            lambda parts: kubeconfig(physical, parts[0], parts[1], token)
        )
        self.register()

    def _cluster(self, physical: str, role: aws.iam.Role, after: list[pulumi.Resource]) -> aws.eks.Cluster:
        args, place = self._args, self._args.place
        strategy = aws.eks.ClusterKubeSchedulerConfigNodeResourcesFitScoringStrategyArgs(
            type="MostAllocated",
            resources=[
                aws.eks.ClusterKubeSchedulerConfigNodeResourcesFitScoringStrategyResourceArgs(name=_PACKED, weight=100)
            ],
        )
        return aws.eks.Cluster(
            self._name,
            region=place.provider_region,
            name=physical,
            version=args.kubernetes,
            role_arn=role.arn,
            vpc_config=aws.eks.ClusterVpcConfigArgs(
                subnet_ids=list(args.network.api_subnets),
                security_group_ids=[self._callers().id],
                endpoint_private_access=True,
                endpoint_public_access=not args.private,
                public_access_cidrs=None if args.private else list(args.allow),
                # What the control plane calls, it calls through the region's own network, where it is written down.
                control_plane_egress_mode="CUSTOMER_ROUTED",
            ),
            access_config=aws.eks.ClusterAccessConfigArgs(
                authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
            ),
            encryption_config=aws.eks.ClusterEncryptionConfigArgs(
                provider=aws.eks.ClusterEncryptionConfigProviderArgs(key_arn=args.key), resources=["secrets"]
            ),
            kube_scheduler_config=aws.eks.ClusterKubeSchedulerConfigArgs(
                node_resources_fit=aws.eks.ClusterKubeSchedulerConfigNodeResourcesFitArgs(scoring_strategy=strategy)
            ),
            upgrade_policy=aws.eks.ClusterUpgradePolicyArgs(support_type="STANDARD"),
            zonal_shift_config=aws.eks.ClusterZonalShiftConfigArgs(enabled=True),
            enabled_cluster_log_types=_LOGS,
            bootstrap_self_managed_addons=False,
            deletion_protection=place.protect,
            tags=self._tags,
            opts=self.child(depends_on=after, protect=place.protect),
        )

    def _callers(self) -> aws.ec2.SecurityGroup:
        """Declare the group whose members reach the API server from inside the network, such as a runner of CI.

        Nodes need no rule: EKS puts them and the control plane into a group of its own.
        """
        place, name = self._args.place, f"{self._name}-callers"
        tags = self._tags | {"Name": names.resource(place.fleet, place.region, "api-callers")}
        group = aws.ec2.SecurityGroup(
            name,
            region=place.provider_region,
            name=names.resource(place.fleet, place.region, "api-callers"),
            description="Members reach the API server of the cluster",
            vpc_id=self._args.network.network_id,
            tags=tags,
            opts=self.child(),
        )
        aws.vpc.SecurityGroupIngressRule(
            name,
            region=place.provider_region,
            security_group_id=group.id,
            description="From members",
            ip_protocol="tcp",
            from_port=_HTTPS,
            to_port=_HTTPS,
            referenced_security_group_id=group.id,
            tags=tags,
            opts=self.child(),
        )
        return group

    def _access(self, cluster: aws.eks.Cluster) -> None:
        """Let principals in; one that holds several ranks has one entry, as EKS wants it."""
        region = self._args.place.provider_region
        ranks = [(rank, principal) for rank, found in self._args.access.items() for principal in found]
        entries = {
            principal: aws.eks.AccessEntry(
                f"{self._name}-{names.digest(principal)}",
                region=region,
                cluster_name=cluster.name,
                principal_arn=principal,
                type="STANDARD",
                tags=self._tags,
                opts=self.child(),
            )
            for principal in dict.fromkeys(principal for _, principal in ranks)
        }
        for rank, principal in ranks:
            aws.eks.AccessPolicyAssociation(
                f"{self._name}-{rank}-{names.digest(principal)}",
                region=region,
                cluster_name=cluster.name,
                principal_arn=principal,
                policy_arn=f"arn:aws:eks::aws:cluster-access-policy/{_POLICIES[rank]}",
                access_scope=aws.eks.AccessPolicyAssociationAccessScopeArgs(type="cluster"),
                opts=self.child(depends_on=[entries[principal]]),
            )

    def _add_ons(self, cluster: aws.eks.Cluster) -> None:
        """Declare what nodes need; the one that gives pods addresses has a role of its own, so that nodes need none."""
        args, name = self._args, self._name
        role = provider.role(
            self,
            f"{name}-{_NETWORK_ADD_ON}",
            args.place,
            _NETWORK_ADD_ON,
            service=provider.PODS,
            boundary=args.permissions_boundary,
        )
        attachment = provider.attach(self, name, role, "AmazonEKS_CNI_Policy")
        identity = aws.eks.AddonPodIdentityAssociationArgs(role_arn=role.arn, service_account=_NETWORK_ACCOUNT)
        for add_on in ADD_ONS_BEFORE_NODES:
            networked = add_on == _NETWORK_ADD_ON
            aws.eks.Addon(
                f"{name}-{add_on}",
                region=args.place.provider_region,
                cluster_name=cluster.name,
                addon_name=add_on,
                addon_version=args.add_ons.get(add_on),
                configuration_values=configuration(add_on),
                pod_identity_associations=[identity] if networked else None,
                resolve_conflicts_on_create="OVERWRITE",
                resolve_conflicts_on_update="PRESERVE",
                tags=self._tags,
                opts=self.child(depends_on=[attachment] if networked else None),
            )


def configuration(add_on: str) -> str | None:
    """Return an add-on's configuration as JSON that is the same in every run; None if its default serves."""
    return json.dumps(CONFIGURATION[add_on], sort_keys=True) if add_on in CONFIGURATION else None
