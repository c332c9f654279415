"""A GKE node pool in one zone.

GKE itself divides cards, installs their driver and keeps others off the nodes by a taint. It upgrades nodes by itself
too, once the control plane has moved: a version here would fight that.
"""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.node_pool.contract import NodePool, NodePoolArgs, node_labels, tags
from outlast.errors import ConfigError, FactError, Problem, listed
from outlast.intent.partitions import MIG, is_sliced, parts_of_card, profile_of

_ACCELERATOR_TYPES = {"h100-sxm-80": "nvidia-h100-80gb", "l4-24": "nvidia-l4"}
"""Our accelerator -> Compute Engine's accelerator type. Source: Compute Engine, GPU machine types."""
_ROOT_GIB = 200


class GcpNodePool(NodePool):
    """One node pool in one zone; GKE itself adds the taint of a node with GPUs and refuses it twice."""

    token: ClassVar[str] = "outlast:node_pool:GcpNodePool"

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        elastic = args.scaling == "elastic"
        reserved = args.capacity == "reserved"
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
            network_config=gcp.container.NodePoolNetworkConfigArgs(enable_private_nodes=True),
            management=gcp.container.NodePoolManagementArgs(auto_repair=True, auto_upgrade=True),
            # A reservation has no node to spare: end one before starting the next.
            upgrade_settings=gcp.container.NodePoolUpgradeSettingsArgs(
                strategy="SURGE", max_surge=0 if reserved else 1, max_unavailable=1 if reserved else 0
            ),
            node_drain_configs=[gcp.container.NodePoolNodeDrainConfigArgs(respect_pdb_during_node_pool_deletion=True)],
            node_config=_node_config(args),
            # The initial count is fixed at birth: a change of it would replace the pool.
            opts=self.child(
                depends_on=[args.cluster, args.identity, args.network],
                ignore_changes=["nodeCount", "initialNodeCount"] if elastic else None,
            ),
        )
        self.node_pool_id = pool.id
        self.register()


def _node_config(args: NodePoolArgs) -> gcp.container.NodePoolNodeConfigArgs:
    affinity = gcp.container.NodePoolNodeConfigReservationAffinityArgs
    return gcp.container.NodePoolNodeConfigArgs(
        machine_type=args.machine_type,
        image_type="COS_CONTAINERD",
        disk_type="pd-balanced",
        disk_size_gb=_ROOT_GIB,
        service_account=args.identity.principal,
        oauth_scopes=["https://www.googleapis.com/auth/cloud-platform"],
        spot=args.capacity == "spot",
        labels=node_labels(args),
        resource_labels=tags(args),
        guest_accelerators=[_guest_accelerator(args)],
        gvnic=gcp.container.NodePoolNodeConfigGvnicArgs(enabled=True),
        # Whole images before the start: a replica that runs must not need its registry.
        gcfs_config=gcp.container.NodePoolNodeConfigGcfsConfigArgs(enabled=False),
        shielded_instance_config=gcp.container.NodePoolNodeConfigShieldedInstanceConfigArgs(
            enable_secure_boot=True, enable_integrity_monitoring=True
        ),
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
        workload_metadata_config=gcp.container.NodePoolNodeConfigWorkloadMetadataConfigArgs(mode="GKE_METADATA"),
    )


def _guest_accelerator(args: NodePoolArgs) -> gcp.container.NodePoolNodeConfigGuestAcceleratorArgs:
    sharing = gcp.container.NodePoolNodeConfigGuestAcceleratorGpuSharingConfigArgs
    return gcp.container.NodePoolNodeConfigGuestAcceleratorArgs(
        type=accelerator_type(args.accelerator),
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


def accelerator_type(accelerator: str) -> str:
    """Return the cloud's word for an accelerator.

    Raises:
        FactError: the cloud does not sell it.
    """
    if accelerator not in _ACCELERATOR_TYPES:
        allowed = listed(_ACCELERATOR_TYPES)
        raise FactError(
            Problem(where=f"accelerator '{accelerator}'", what="not sold on gcp", allowed=allowed, do="Use one that is")
        )
    return _ACCELERATOR_TYPES[accelerator]
