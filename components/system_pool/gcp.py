"""Nodes for the cluster's own needs on GKE."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.system_pool.contract import SystemPool, SystemPoolArgs

_MACHINE_TYPE = "e2-standard-4"


class GcpSystemPool(SystemPool):
    """One node pool over all zones."""

    token: ClassVar[str] = "outlast:system_pool:GcpSystemPool"

    def __init__(self, name: str, args: SystemPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        labels = names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction)
        pool = gcp.container.NodePool(
            name,
            project=place.account,
            location=place.provider_region,
            cluster=args.cluster.cluster_name,
            name=names.node_pool("system"),
            node_locations=list(place.zones),
            node_count=args.zone_nodes,
            network_config=gcp.container.NodePoolNetworkConfigArgs(enable_private_nodes=True),
            management=gcp.container.NodePoolManagementArgs(auto_repair=True, auto_upgrade=True),
            upgrade_settings=gcp.container.NodePoolUpgradeSettingsArgs(
                strategy="SURGE", max_surge=1, max_unavailable=0
            ),
            node_drain_configs=[gcp.container.NodePoolNodeDrainConfigArgs(respect_pdb_during_node_pool_deletion=True)],
            node_config=gcp.container.NodePoolNodeConfigArgs(
                machine_type=_MACHINE_TYPE,
                image_type="COS_CONTAINERD",
                service_account=args.identity.principal,
                oauth_scopes=["https://www.googleapis.com/auth/cloud-platform"],
                labels=labels,
                resource_labels=labels,
                gvnic=gcp.container.NodePoolNodeConfigGvnicArgs(enabled=True),
                shielded_instance_config=gcp.container.NodePoolNodeConfigShieldedInstanceConfigArgs(
                    enable_secure_boot=True, enable_integrity_monitoring=True
                ),
                workload_metadata_config=gcp.container.NodePoolNodeConfigWorkloadMetadataConfigArgs(
                    mode="GKE_METADATA"
                ),
            ),
            opts=self.child(depends_on=[args.cluster, args.identity, args.network]),
        )
        self.node_pool_id = pool.id
        self.register()
