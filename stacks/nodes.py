"""The nodes of a region: its system pool, and one node pool for each row of its block of the lock."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components import cluster, identity, network, node_pool, system_pool
from components.base import Place
from components.serving import device
from outlast.intent import Intent
from outlast.intent.partitions import fills_card
from outlast.lock import SYSTEM_ZONE_NODES, LockRegion


@dataclass(frozen=True, kw_only=True)
class Base:
    """What node pools stand on."""

    network: network.Network
    identity: identity.Identity
    cluster: cluster.Cluster


def declare_nodes(
    intent: Intent, block: LockRegion, place: Place, base: Base, opts: pulumi.ResourceOptions
) -> tuple[list[system_pool.SystemPool], list[node_pool.NodePool]]:
    """Declare the nodes and return the system pool, none in a cluster that has its own, and the node pools."""
    made: list[node_pool.NodePool] = []
    facts = intent.facts
    for key, row in block.node_pools.items():
        machine, card = facts.machine_types[place.cloud, row.machine_type], facts.accelerators[row.accelerator]
        args = node_pool.NodePoolArgs(
            place=place,
            key=key,
            zone=row.zone,
            machine_type=row.machine_type,
            accelerator=row.accelerator,
            accelerator_type=facts.accelerator_type(place.cloud, row.machine_type),
            node_gpus=int(row.node_gpus),
            gpu_resource=card.resource,
            partition=row.partition,
            fills_card=fills_card(card, row.partition),
            device=device(place.cloud, card.resource, row.partition),
            node_devices=row.node_devices,
            nvme_disks=int(machine.nvme_count or 0),
            interconnect_cards=facts.interconnect_cards(place.cloud, row.machine_type) if row.interconnect else 0,
            disk_gib=row.disk_gib,
            capacity=row.capacity,
            reservation=row.reservation,
            block=row.block,
            scaling=row.scaling,
            nodes_min=row.nodes.min,
            nodes_max=row.nodes.max,
            kubernetes=intent.fleet.kubernetes,
            cluster=base.cluster,
            network=base.network,
            identity=base.identity,
        )
        made.append(node_pool.declare(f"{place.region}-{key}", args, opts))
    return _system(intent, place, base, opts), made


def _system(intent: Intent, place: Place, base: Base, opts: pulumi.ResourceOptions) -> list[system_pool.SystemPool]:
    row = intent.regions[place.region]
    if row.cluster.existing is not None:
        return []
    args = system_pool.SystemPoolArgs(
        place=place,
        cluster=base.cluster,
        network=base.network,
        identity=base.identity,
        zone_nodes=SYSTEM_ZONE_NODES,
        kubernetes=intent.fleet.kubernetes,
        add_ons=intent.add_ons(place.region),
        permissions_boundary=row.permissions_boundary,
    )
    return [system_pool.declare(f"{place.region}-system", args, opts)]
