"""Nodes for the cluster's own needs on EKS, and the add-ons that need a node before they are healthy."""

from __future__ import annotations

import json
from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.system_pool.contract import SystemPool, SystemPoolArgs

ADD_ONS_AFTER_NODES = ("aws-ebs-csi-driver", "coredns", "eks-node-monitoring-agent", "metrics-server")
_DISK_ADD_ON = "aws-ebs-csi-driver"
_DISK_ACCOUNT = "ebs-csi-controller-sa"
_DISK_POLICY = "AmazonEBSCSIDriverEKSClusterScopedPolicy"
"""Disks of this cluster only; clusters of other regions share the account. Source: AWS Managed Policy Reference."""
_MACHINE_TYPE = "m6i.xlarge"
_ROOT_GIB = 100


class AwsSystemPool(SystemPool):
    """One managed node group over all zones, with its launch template."""

    token: ClassVar[str] = "outlast:system_pool:AwsSystemPool"

    def __init__(self, name: str, args: SystemPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        self._args, self._name = args, name
        self._labels = names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction)
        template = self._template()
        nodes = args.zone_nodes * len(place.zones)
        group = aws.eks.NodeGroup(
            name,
            region=place.provider_region,
            cluster_name=args.cluster.cluster_name,
            node_group_name=names.node_pool("system"),
            node_role_arn=args.identity.principal,
            subnet_ids=list(args.network.node_subnets.values()),
            ami_type="AL2023_x86_64_STANDARD",
            instance_types=[_MACHINE_TYPE],
            launch_template=aws.eks.NodeGroupLaunchTemplateArgs(
                id=template.id, version=template.latest_version.apply(str)
            ),
            version=args.kubernetes,
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(min_size=nodes, desired_size=nodes, max_size=nodes),
            update_config=aws.eks.NodeGroupUpdateConfigArgs(max_unavailable=1),
            node_repair_config=aws.eks.NodeGroupNodeRepairConfigArgs(enabled=True),
            labels=self._labels,
            tags=self._labels,
            opts=self.child(depends_on=[args.cluster, args.identity, args.network]),
        )
        self._add_ons(group)
        self.node_pool_id = group.id
        self.register()

    def _template(self) -> aws.ec2.LaunchTemplate:
        place = self._args.place
        return aws.ec2.LaunchTemplate(
            self._name,
            region=place.provider_region,
            name=names.resource(place.fleet, place.region, "system"),
            metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(
                http_tokens="required", http_put_response_hop_limit=1
            ),
            block_device_mappings=[
                aws.ec2.LaunchTemplateBlockDeviceMappingArgs(
                    device_name="/dev/xvda",
                    ebs=aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
                        volume_type="gp3", volume_size=_ROOT_GIB, encrypted="true", delete_on_termination="true"
                    ),
                )
            ],
            tag_specifications=[
                aws.ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=self._labels)
                for kind in ("instance", "volume")
            ],
            tags=self._labels,
            opts=self.child(),
        )

    def _add_ons(self, group: aws.eks.NodeGroup) -> None:
        args = self._args
        role, attachment = self._disk_role()
        identity = aws.eks.AddonPodIdentityAssociationArgs(role_arn=role.arn, service_account=_DISK_ACCOUNT)
        for add_on in ADD_ONS_AFTER_NODES:
            holds_disks = add_on == _DISK_ADD_ON
            aws.eks.Addon(
                f"{self._name}-{add_on}",
                region=args.place.provider_region,
                cluster_name=args.cluster.cluster_name,
                addon_name=add_on,
                addon_version=args.add_ons.get(add_on),
                pod_identity_associations=[identity] if holds_disks else None,
                resolve_conflicts_on_create="OVERWRITE",
                resolve_conflicts_on_update="PRESERVE",
                tags=self._labels,
                opts=self.child(depends_on=[group, attachment] if holds_disks else [group]),
            )

    def _disk_role(self) -> tuple[aws.iam.Role, aws.iam.RolePolicyAttachment]:
        """Declare who may make disks for pods: one service account, and no node."""
        place, name = self._args.place, f"{self._name}-disks"
        role = aws.iam.Role(
            name,
            name=names.role(place.fleet, place.region, "disks"),
            assume_role_policy=trust("pods.eks.amazonaws.com"),
            permissions_boundary=self._args.permissions_boundary,
            tags=self._labels,
            opts=self.child(),
        )
        attachment = aws.iam.RolePolicyAttachment(
            f"{self._name}-{_DISK_POLICY}",
            role=role.name,
            policy_arn=f"arn:aws:iam::aws:policy/{_DISK_POLICY}",
            opts=self.child(),
        )
        return role, attachment


def trust(service: str) -> str:
    """Return the trust policy of a role that the cluster's agent assumes for a pod."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": ["sts:AssumeRole", "sts:TagSession"],
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, sort_keys=True)
