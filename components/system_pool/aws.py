"""Nodes for the cluster's own needs on EKS, and the add-ons that need a node before they are healthy."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.system_pool.contract import SystemPool, SystemPoolArgs

ADD_ONS_AFTER_NODES = ("coredns", "eks-node-monitoring-agent")
_MACHINE_TYPE = "m6i.xlarge"


class AwsSystemPool(SystemPool):
    """One managed node group over all zones."""

    token: ClassVar[str] = "outlast:system_pool:AwsSystemPool"

    def __init__(self, name: str, args: SystemPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        labels = names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction)
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
            version=args.kubernetes,
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(min_size=nodes, desired_size=nodes, max_size=nodes),
            update_config=aws.eks.NodeGroupUpdateConfigArgs(max_unavailable=1),
            labels=labels,
            tags=labels,
            opts=self.child(depends_on=[args.cluster, args.identity, args.network]),
        )
        for add_on in ADD_ONS_AFTER_NODES:
            aws.eks.Addon(
                f"{name}-{add_on}",
                region=place.provider_region,
                cluster_name=args.cluster.cluster_name,
                addon_name=add_on,
                addon_version=args.add_ons.get(add_on),
                resolve_conflicts_on_create="OVERWRITE",
                resolve_conflicts_on_update="PRESERVE",
                tags=labels,
                opts=self.child(depends_on=[group]),
            )
        self.node_pool_id = group.id
        self.register()
