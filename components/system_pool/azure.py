"""Nodes for the cluster's own needs on AKS, which has no cluster without."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_azure_native as azure

from components import names
from components.base import Place
from components.network.contract import Network
from components.provider.azure import resource_id, tags, zone_number
from components.system_pool.contract import SystemPool, SystemPoolArgs

_NAME, _MACHINE_TYPE = "system", "Standard_D4s_v5"


class AzureSystemPool(SystemPool):
    """The pool that the cluster is born with, over all zones; nothing more is declared."""

    token: ClassVar[str] = "outlast:system_pool:AzureSystemPool"

    def __init__(self, name: str, args: SystemPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        kind = "Microsoft.ContainerService/managedClusters"
        self.node_pool_id = args.cluster.cluster_name.apply(
            lambda cluster: f"{resource_id(args.place, 'cluster', kind, cluster)}/agentPools/{_NAME}"
        )
        self.register()


def system_profile(
    place: Place, network: Network, zone_nodes: int
) -> azure.containerservice.ManagedClusterAgentPoolProfileArgs:
    """Return the pool as the cluster holds it; a version of its own would block every upgrade of the others.

    https://github.com/pulumi/pulumi-azure-native/issues/2094
    """
    aks = azure.containerservice
    return aks.ManagedClusterAgentPoolProfileArgs(
        name=_NAME,
        mode="System",
        type="VirtualMachineScaleSets",
        vm_size=_MACHINE_TYPE,
        count=zone_nodes * len(place.zones),
        availability_zones=[zone_number(zone) for zone in place.zones],
        vnet_subnet_id=network.node_subnets[place.zones[0]],
        os_type="Linux",
        os_sku="Ubuntu",
        os_disk_type="Managed",
        node_labels=names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction),
        upgrade_settings=aks.AgentPoolUpgradeSettingsArgs(max_surge="1"),
        security_profile=aks.AgentPoolSecurityProfileArgs(ssh_access="Disabled"),
        tags=tags(place),
    )
