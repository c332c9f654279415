"""Nodes for the cluster's own needs on EKS, and the add-ons that need a node before they are healthy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.provider import aws as provider
from components.system_pool.contract import SystemPool, SystemPoolArgs

ADD_ONS_AFTER_NODES = ("aws-ebs-csi-driver", "coredns", "eks-node-monitoring-agent", "metrics-server")
_DISK_ADD_ON = "aws-ebs-csi-driver"
_DISK_ACCOUNT = "ebs-csi-controller-sa"
_DISK_POLICY = "AmazonEBSCSIDriverEKSClusterScopedPolicy"
"""Disks of this cluster only; clusters of other regions share the account. Source: AWS Managed Policy Reference."""
_MACHINE_TYPE = "m6i.xlarge"
_ROOT_GIB = 100


class AwsSystemPool(SystemPool):
    """One managed node group a zone, so that each zone has its nodes, and one launch template for all."""

    token: ClassVar[str] = "outlast:system_pool:AwsSystemPool"

    def __init__(self, name: str, args: SystemPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        self._args, self._name = args, name
        self._labels = provider.labels(place)
        template = provider.launch_template(
            self, name, place, "system", tags=self._labels, root={"volume_size": _ROOT_GIB}
        )
        groups = [self._group(zone, template) for zone in place.zones]
        self._add_ons(groups)
        self.node_pool_id = pulumi.Output.all(*(group.id for group in groups)).apply(",".join)
        self.register()

    def _group(self, zone: str, template: aws.ec2.LaunchTemplate) -> aws.eks.NodeGroup:
        args, place, name = self._args, self._args.place, f"{self._name}-{zone}"
        group = aws.eks.NodeGroup(
            name,
            region=place.provider_region,
            cluster_name=args.cluster.cluster_name,
            node_group_name=names.node_pool("system", zone),
            node_role_arn=args.identity.principal,
            subnet_ids=[args.network.node_subnets[zone]],
            ami_type="AL2023_x86_64_STANDARD",
            instance_types=[_MACHINE_TYPE],
            launch_template=aws.eks.NodeGroupLaunchTemplateArgs(
                id=template.id, version=template.latest_version.apply(str)
            ),
            version=args.kubernetes,
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(
                min_size=args.zone_nodes, desired_size=args.zone_nodes, max_size=args.zone_nodes
            ),
            update_config=aws.eks.NodeGroupUpdateConfigArgs(max_unavailable=1),
            node_repair_config=aws.eks.NodeGroupNodeRepairConfigArgs(enabled=True),
            labels=self._labels,
            tags=self._labels,
            opts=self.child(depends_on=[args.cluster, args.identity, args.network]),
        )
        provider.tag_machines(self, name, place, group)
        return group

    def _add_ons(self, groups: Sequence[aws.eks.NodeGroup]) -> None:
        args = self._args
        name, place = self._name, args.place
        # One service account may make disks for pods, and no node.
        role = provider.role(
            self, f"{name}-disks", place, "disks", service=provider.PODS, boundary=args.permissions_boundary
        )
        attachment = provider.attach(self, name, role, _DISK_POLICY)
        identity = aws.eks.AddonPodIdentityAssociationArgs(role_arn=role.arn, service_account=_DISK_ACCOUNT)
        for add_on in ADD_ONS_AFTER_NODES:
            holds_disks = add_on == _DISK_ADD_ON
            aws.eks.Addon(
                f"{name}-{add_on}",
                region=place.provider_region,
                cluster_name=args.cluster.cluster_name,
                addon_name=add_on,
                addon_version=args.add_ons.get(add_on),
                pod_identity_associations=[identity] if holds_disks else None,
                resolve_conflicts_on_create="OVERWRITE",
                resolve_conflicts_on_update="PRESERVE",
                tags=self._labels,
                opts=self.child(depends_on=[*groups, attachment] if holds_disks else groups),
            )
