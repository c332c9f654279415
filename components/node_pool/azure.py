"""An AKS node pool in one zone.

AKS adds no taint to nodes with GPUs, and its own one to spot nodes, which the serving layer's overlay tolerates.
Reserved nodes need the cluster's identity to hold Contributor on the reservation group: our clusters are granted it
before they are born, one that was there before us by its owner.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

import pulumi
import pulumi_azure_native as azure

from components import names
from components.node_pool.contract import NodePool, NodePoolArgs, node_labels, operator_labels, taint
from components.node_pool.contract import tags as claims
from components.provider.azure import tags, zone_number
from outlast.errors import ConfigError, Problem, listed
from outlast.facts.models import Capacity
from outlast.intent.partitions import MIG, is_sliced

_ROOT_GIB = 200
_DRAIN_MIN = 60
_NVIDIA = "nvidia.com/"
_PROFILES: Mapping[str, str] = MappingProxyType(
    {"7x1g": "MIG1g", "3x2g": "MIG2g", "2x3g": "MIG3g", "1x4g": "MIG4g", "1x7g": "MIG7g"}
)
"""Instances of a card and their slices -> AKS's word. Source: AKS documentation, multi-instance GPU node pools."""


class AzureNodePool(NodePool):
    """One agent pool in one zone; its disks stay raw for the cache, because the system is on a managed one."""

    token: ClassVar[str] = "outlast:node_pool:AzureNodePool"

    def __init__(self, name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place, aks = args.place, azure.containerservice
        elastic = args.scaling == "elastic"
        is_nvidia = args.gpu_resource.startswith(_NVIDIA)
        pool = aks.AgentPool(
            name,
            resource_group_name=args.cluster.group,
            resource_name_=args.cluster.cluster_name,
            agent_pool_name=names.agent_pool(args.key),
            availability_zones=[zone_number(args.zone)],
            vm_size=args.machine_type,
            mode="User",
            type="VirtualMachineScaleSets",
            count=args.nodes_min,
            enable_auto_scaling=elastic,
            orchestrator_version=args.kubernetes,
            vnet_subnet_id=args.network.node_subnets[args.zone],
            os_type="Linux",
            os_sku="Ubuntu",
            # An ephemeral one would take an NVMe disk and lose the rest of it.
            os_disk_type="Managed",
            os_disk_size_gb=_ROOT_GIB,
            gpu_profile=aks.GPUProfileArgs(driver="Install" if is_nvidia else "None"),
            gpu_instance_profile=partition_size(args.key, args.partition, fills_card=args.fills_card),
            node_labels=node_labels(args) | _sharing_labels(args),
            node_taints=[str(taint(args))],
            upgrade_settings=aks.AgentPoolUpgradeSettingsArgs(
                drain_timeout_in_minutes=_DRAIN_MIN, undrainable_node_behavior="Cordon", **_surge(args.capacity)
            ),
            security_profile=aks.AgentPoolSecurityProfileArgs(
                ssh_access="Disabled",
                # The firmware would refuse a driver that an operator builds: nobody it trusts has signed it.
                enable_secure_boot=False,
            ),
            tags=tags(place) | claims(args),
            opts=self.child(
                depends_on=[args.cluster, args.identity, args.network],
                ignore_changes=["count"] if elastic else None,
            ),
            **_capacity(args),
        )
        self.node_pool_id = pool.id
        self.register()


def _capacity(args: NodePoolArgs) -> dict[str, object]:
    """Return how nodes are bought, and between what limits an autoscaler keeps them."""
    found: dict[str, object] = {}
    if args.scaling == "elastic":
        found |= {"min_count": args.nodes_min, "max_count": args.nodes_max}
    if args.capacity == "reserved":
        found["capacity_reservation_group_id"] = args.reservation
    if args.capacity == "spot":
        found |= {"scale_set_priority": "Spot", "scale_set_eviction_policy": "Delete", "spot_max_price": -1}
    return found


def _surge(capacity: Capacity) -> dict[str, str]:
    """Return how an upgrade makes room; a reservation has no node to spare, and a surge would be bought beside it.

    AKS decides it for spot nodes, and refuses to be told.
    Source: hashicorp/terraform-provider-azurerm issue 19355.
    """
    if capacity == "spot":
        return {}
    return (
        {"max_surge": "0", "max_unavailable": "1"}
        if capacity == "reserved"
        else {"max_surge": "1", "max_unavailable": "0"}
    )


def _sharing_labels(args: NodePoolArgs) -> dict[str, str]:
    """Return the label for time-slices alone: AKS has a field for instances, and makes them itself."""
    return operator_labels(args) if is_sliced(args.partition) else {}


def partition_size(key: str, partition: str, *, fills_card: bool) -> str | None:
    """Return AKS's word for the instances that every card is divided into; None if it is not.

    Raises:
        ConfigError: the division leaves a part of the card free or has other memory, which the cloud cannot express.
    """
    if not partition.startswith(MIG):
        return None
    word = _PROFILES.get(partition.removeprefix(MIG).partition(".")[0])
    if word is None or not fills_card or "+" in partition:
        what = "AKS fills a card with the instances of one size"
        do = "Divide the card into as many as it holds"
        where, allowed = f"node pool '{key}', partition", listed(_PROFILES)
        raise ConfigError(Problem(where=where, what=what, got=partition, allowed=allowed, do=do))
    return word
