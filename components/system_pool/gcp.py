"""Nodes for the cluster's own needs on GKE."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.node_pool.gcp import shielding, upkeep
from components.provider.gcp import labels
from components.system_pool.contract import SystemPool, SystemPoolArgs

_MACHINE_TYPE = "e2-standard-4"


class GcpSystemPool(SystemPool):
    """One node pool over all zones."""

    token: ClassVar[str] = "outlast:system_pool:GcpSystemPool"

    def __init__(self, name: str, args: SystemPoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        pool = gcp.container.NodePool(
            name,
            project=place.account,
            location=place.provider_region,
            cluster=args.cluster.cluster_name,
            name=names.node_pool("system"),
            node_locations=list(place.zones),
            node_count=args.zone_nodes,
            node_config=gcp.container.NodePoolNodeConfigArgs(
                machine_type=_MACHINE_TYPE,
                labels=names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction),
                resource_labels=labels(place),
                **shielding(args.identity),
            ),
            opts=self.child(depends_on=[args.cluster, args.identity, args.network]),
            **upkeep(surge=True),
        )
        self.node_pool_id = pool.id
        self.register()
