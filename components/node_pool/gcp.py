"""A GKE node pool in one zone, and what all node pools of a cluster have in common.

GKE itself divides cards, installs their driver and keeps others off the nodes by a taint. It upgrades nodes by itself
too, once the control plane has moved: a version here would fight that.

Pools of a cluster do not wait for each other: the provider starts their operations one by one and repeats what GKE
finds in the way of another, and in a chain one pool without capacity would hold back all behind it.
https://github.com/GoogleCloudPlatform/magic-modules/pull/12488
"""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.identity.contract import Identity
from components.node_pool.contract import NodePool, NodePoolArgs, node_labels, tags
from components.provider.gcp import labels
from outlast.errors import ConfigError, Problem
from outlast.intent.partitions import MIG, is_sliced, parts_of_card, profile_of

_ROOT_GIB = 200


class GcpNodePool(NodePool):
    """One node pool in one zone; GKE itself adds the taint of a node with GPUs and refuses it twice."""

    token: ClassVar[str] = "outlast:node_pool:GcpNodePool"

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        elastic = args.scaling == "elastic"
        pool = gcp.container.NodePool(
            name,
            project=place.account,
            location=place.provider_region,
            cluster=args.cluster.cluster_name,
            name=names.node_pool(args.key),
            node_locations=[args.zone],
            node_count=None if elastic else args.nodes_min,
            initial_node_count=args.nodes_min if elastic else None,
            autoscaling=gcp.container.NodePoolAutoscalingArgs(
                total_min_node_count=args.nodes_min, total_max_node_count=args.nodes_max, location_policy="ANY"
            )
            if elastic
            else None,
            node_config=_node_config(args),
            # The initial count is fixed at birth: a change of it would replace the pool.
            opts=self.child(
                depends_on=[args.cluster, args.identity, args.network],
                ignore_changes=["nodeCount", "initialNodeCount"] if elastic else None,
            ),
            # A reservation has no node to spare: end one before starting the next.
            **upkeep(surge=args.capacity != "reserved"),
        )
        self.node_pool_id = pool.id
        self.register()


def upkeep(*, surge: bool) -> dict[str, object]:
    """Return how a pool's nodes are repaired, upgraded and drained, and that none has a public address.

    Args:
        surge: whether an upgrade may have a node more; otherwise it has one less.
    """
    return {
        "network_config": gcp.container.NodePoolNetworkConfigArgs(enable_private_nodes=True),
        "management": gcp.container.NodePoolManagementArgs(auto_repair=True, auto_upgrade=True),
        "upgrade_settings": gcp.container.NodePoolUpgradeSettingsArgs(
            strategy="SURGE", max_surge=int(surge), max_unavailable=int(not surge)
        ),
        "node_drain_configs": [gcp.container.NodePoolNodeDrainConfigArgs(respect_pdb_during_node_pool_deletion=True)],
    }


def shielding(identity: Identity) -> dict[str, object]:
    """Return who nodes are, what they start from, and that workloads see no credentials of theirs."""
    return {
        "image_type": "COS_CONTAINERD",
        "service_account": identity.principal,
        "oauth_scopes": ["https://www.googleapis.com/auth/cloud-platform"],
        "gvnic": gcp.container.NodePoolNodeConfigGvnicArgs(enabled=True),
        "shielded_instance_config": gcp.container.NodePoolNodeConfigShieldedInstanceConfigArgs(
            enable_secure_boot=True, enable_integrity_monitoring=True
        ),
        "workload_metadata_config": gcp.container.NodePoolNodeConfigWorkloadMetadataConfigArgs(mode="GKE_METADATA"),
    }


def _node_config(args: NodePoolArgs) -> gcp.container.NodePoolNodeConfigArgs:
    affinity = gcp.container.NodePoolNodeConfigReservationAffinityArgs
    return gcp.container.NodePoolNodeConfigArgs(
        machine_type=args.machine_type,
        disk_type="pd-balanced",
        disk_size_gb=_ROOT_GIB,
        spot=args.capacity == "spot",
        labels=node_labels(args),
        resource_labels=labels(args.place) | tags(args),
        guest_accelerators=[_guest_accelerator(args)],
        # Whole images before the start: a replica that runs must not need its registry.
        gcfs_config=gcp.container.NodePoolNodeConfigGcfsConfigArgs(enabled=False),
        local_nvme_ssd_block_config=gcp.container.NodePoolNodeConfigLocalNvmeSsdBlockConfigArgs(
            local_ssd_count=args.nvme_disks
        )
        if args.nvme_disks
        else None,
        reservation_affinity=affinity(
            consume_reservation_type="SPECIFIC_RESERVATION",
            key="compute.googleapis.com/reservation-name",
            values=[args.reservation],
        )
        if args.reservation
        else affinity(consume_reservation_type="NO_RESERVATION"),
        **shielding(args.identity),
    )


def _guest_accelerator(args: NodePoolArgs) -> gcp.container.NodePoolNodeConfigGuestAcceleratorArgs:
    sharing = gcp.container.NodePoolNodeConfigGuestAcceleratorGpuSharingConfigArgs
    return gcp.container.NodePoolNodeConfigGuestAcceleratorArgs(
        type=args.accelerator_type,
        count=args.node_gpus,
        # Set from the first day: adding it later replaces the pool.
        # https://github.com/hashicorp/terraform-provider-google/issues/23248
        gpu_driver_installation_config=gcp.container.NodePoolNodeConfigGuestAcceleratorGpuDriverInstallationConfigArgs(
            gpu_driver_version="DEFAULT"
        ),
        gpu_partition_size=partition_size(args.key, args.partition, fills_card=args.fills_card),
        gpu_sharing_config=sharing(
            gpu_sharing_strategy="TIME_SHARING", max_shared_clients_per_gpu=parts_of_card(args.partition)
        )
        if is_sliced(args.partition)
        else None,
    )


def partition_size(key: str, partition: str, *, fills_card: bool) -> str | None:
    """Return the profile of the instances that a card is divided into; None if it is not.

    Raises:
        ConfigError: the division leaves a part of the card free, which the cloud cannot express.
    """
    if not partition.startswith(MIG):
        return None
    if not fills_card:
        what, do = "GKE fills a card with instances of one profile", "Divide the card into as many as it holds"
        raise ConfigError(Problem(where=f"node pool '{key}', partition", what=what, got=partition, do=do))
    return profile_of(partition)
