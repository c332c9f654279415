"""A managed node group with its launch template.

How cards are divided is said in labels, which the GPU operator reads: EKS has no field for it. What an autoscaler needs
to know of nodes that do not exist yet is said in tags of the group behind the node group. The image of a node is the
one that EKS recommends when the node group is born; it changes with the Kubernetes version or a new generation only.
"""

from __future__ import annotations

import base64
from typing import ClassVar, cast

import pulumi
import pulumi_aws as aws

from components import names
from components.node_pool.contract import DISKS, NodePool, NodePoolArgs, node_labels, operator_labels, tags, taint
from components.provider import aws as provider
from outlast.errors import ConfigError, Problem

_ROOT_GIB = 200
_ROOT_MIB_S = 250
_NO_SCHEDULE = "NO_SCHEDULE"
"""The contract's effect in the words of EKS."""
_REPLACED = ("NvidiaXID64Error", "NvidiaXID79Error")
"""Faults that a reboot brings back: memory that cannot be mapped away, a card that has left its bus.

Source: NVIDIA XID error documentation; EKS would reboot the node for both.
"""
_REPAIR_MINUTES = 10
_BOUNDARY = "==OUTLAST=="
_NODE_CONFIG = f"""apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance:
    localStorage:
      strategy: RAID0
      mountPath: {DISKS}
"""
"""Joins a node's NVMe disks at ``0`` below the path. Source: nodeadm API reference, LocalStorageOptions."""


class AwsNodePool(NodePool):
    """One managed node group in the subnet of one zone."""

    token: ClassVar[str] = "outlast:node_pool:AwsNodePool"

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        template = self._template(name, args)
        elastic = args.scaling == "elastic"
        group = aws.eks.NodeGroup(
            name,
            region=place.provider_region,
            cluster_name=args.cluster.cluster_name,
            node_group_name=names.node_pool(args.key),
            node_role_arn=args.identity.principal,
            subnet_ids=[args.network.node_subnets[args.zone]],
            ami_type="AL2023_x86_64_NVIDIA",
            capacity_type=_capacity_type(args),
            # A block is bought with its machine type, which then stands in the template and in no second place.
            instance_types=None if args.block else [args.machine_type],
            launch_template=aws.eks.NodeGroupLaunchTemplateArgs(
                id=template.id, version=template.latest_version.apply(str)
            ),
            version=args.kubernetes,
            scaling_config=aws.eks.NodeGroupScalingConfigArgs(
                min_size=args.nodes_min, desired_size=args.nodes_min, max_size=args.nodes_max
            ),
            update_config=aws.eks.NodeGroupUpdateConfigArgs(
                # A reservation has no node to spare: end one before starting the next.
                max_unavailable=1,
                update_strategy="MINIMAL" if args.capacity == "reserved" else "DEFAULT",
            ),
            node_repair_config=_repair(),
            labels=node_labels(args) | operator_labels(args) | _autoscaler_labels(args),
            taints=[aws.eks.NodeGroupTaintArgs(key=taint(args).key, value=taint(args).value, effect=_NO_SCHEDULE)],
            tags=tags(args),
            opts=self.child(
                depends_on=[args.cluster, args.identity, args.network],
                ignore_changes=_ignored(args),
            ),
        )
        provider.tag_machines(self, name, place, group)
        if elastic:
            self._scale_from_zero(name, args, group)
        self.node_pool_id = group.id
        self.register()

    def _scale_from_zero(self, name: str, args: NodePoolArgs, group: aws.eks.NodeGroup) -> None:
        """Tell an autoscaler what a node would offer while there is none to look at.

        Source: Cluster Autoscaler on AWS, auto-discovery setup.
        """
        keeps_off = taint(args)
        offers = {
            "label": ("label/outlast-node-pool", args.key),
            "taint": (f"taint/{keeps_off.key}", f"{keeps_off.value}:{keeps_off.effect}"),
            "device": (f"resources/{args.device}", str(args.node_devices)),
        }
        for kind, (key, value) in offers.items():
            tag = (f"k8s.io/cluster-autoscaler/node-template/{key}", value)
            provider.scaling_tag(self, f"{name}-{kind}", args.place, group, tag, reaches_machines=False)

    def _template(self, name: str, args: NodePoolArgs) -> aws.ec2.LaunchTemplate:
        return provider.launch_template(
            self,
            name,
            args.place,
            args.key,
            tags=tags(args),
            root={"volume_size": _ROOT_GIB, "throughput": _ROOT_MIB_S},
            user_data=user_data() if args.nvme_disks else None,
            **_reserved(args),
            **_interfaces(args),
        )


def _ignored(args: NodePoolArgs) -> list[str] | None:
    """Return what stays as it was born.

    A group in a block is upgraded only while it has no nodes; a new version is a new block.
    Source: Amazon EKS User Guide, Create a managed node group with Capacity Blocks for ML.
    """
    found = ["scalingConfig.desiredSize"] if args.scaling == "elastic" else []
    return found + (["version", "launchTemplate"] if args.block else []) or None


def _capacity_type(args: NodePoolArgs) -> str:
    if args.block:
        return "CAPACITY_BLOCK"
    return "SPOT" if args.capacity == "spot" else "ON_DEMAND"


def _repair() -> aws.eks.NodeGroupNodeRepairConfigArgs:
    """Return how sick nodes are mended: one at a time, so that a fault of many is looked at by people."""
    return aws.eks.NodeGroupNodeRepairConfigArgs(
        enabled=True,
        max_parallel_nodes_repaired_count=1,
        node_repair_config_overrides=[
            aws.eks.NodeGroupNodeRepairConfigNodeRepairConfigOverrideArgs(
                node_monitoring_condition="AcceleratedHardwareReady",
                node_unhealthy_reason=reason,
                min_repair_wait_time_mins=_REPAIR_MINUTES,
                repair_action="Replace",
            )
            for reason in _REPLACED
        ],
    )


def _reserved(args: NodePoolArgs) -> dict[str, object]:
    """Return what makes nodes start in their reservation and nowhere else.

    Absent blocks are left out: an empty one shows as a change for ever.
    https://github.com/pulumi/pulumi-eks/issues/980
    """
    if args.capacity != "reserved":
        return {}
    target = aws.ec2.LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
        capacity_reservation_id=args.reservation
    )
    if not args.block:
        specification = aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs(
            capacity_reservation_preference="capacity-reservations-only", capacity_reservation_target=target
        )
        return {"capacity_reservation_specification": specification}
    return {
        "capacity_reservation_specification": aws.ec2.LaunchTemplateCapacityReservationSpecificationArgs(
            capacity_reservation_target=target
        ),
        "instance_market_options": aws.ec2.LaunchTemplateInstanceMarketOptionsArgs(market_type="capacity-block"),
        "instance_type": args.machine_type,
    }


def _interfaces(args: NodePoolArgs) -> dict[str, object]:
    """Return a network interface for each card by which nodes speak to each other; none where none is asked for.

    The first one carries addresses too; the others only speak to their like, so that they use up no addresses. EKS
    puts nodes into the cluster's group only where a template names no interfaces; that group lets its members speak
    to each other in every way, as the cards want it.
    Source: Amazon EC2 User Guide, EFA configuration for P5 instances.
    """
    if not args.interconnect_cards:
        return {}
    cluster = args.cluster.resource
    if cluster is None:  # the loader refuses it, and the lock may be older
        what = "network cards for each other need a cluster of ours"
        raise ConfigError(Problem(where=f"node pool {args.key}", what=what, do="Remove interconnect"))
    group = cast("aws.eks.Cluster", cluster).vpc_config.cluster_security_group_id
    return {
        "network_interfaces": [
            aws.ec2.LaunchTemplateNetworkInterfaceArgs(
                network_card_index=card,
                device_index=1 if card else 0,
                interface_type="efa-only" if card else "efa",
                security_groups=[group],
                delete_on_termination="true",
            )
            for card in range(args.interconnect_cards)
        ]
    }


def _autoscaler_labels(args: NodePoolArgs) -> dict[str, str]:
    """Return the label by which an autoscaler tells nodes with cards, and which, from others.

    Source: Cluster Autoscaler on AWS, GPU node groups.
    """
    return {"k8s.amazonaws.com/accelerator": args.accelerator}


def user_data() -> str:
    """Return user data, base64, that joins a node's NVMe disks into one; EKS adds what the cluster needs."""
    lines = [
        "MIME-Version: 1.0",
        f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"',
        "",
        f"--{_BOUNDARY}",
        "Content-Type: application/node.eks.aws",
        "",
        _NODE_CONFIG,
        f"--{_BOUNDARY}--",
        "",
    ]
    return base64.b64encode("\n".join(lines).encode()).decode()
