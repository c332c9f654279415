"""A region's stack: network, cluster, node pools, gateway address, serving layer; reads its own block of the lock."""

from __future__ import annotations

from typing import Any

import pulumi

from components import cluster, gateway_address, identity, network, serving, weights, workload_identity
from components.base import Place, place_of
from outlast.intent import Intent
from outlast.intent.models import WHOLE
from outlast.lock import SYSTEM_ZONE_NODES, Lock, LockRegion, applied_output
from stacks.exports import RegionExports, export_applied, read_global, write
from stacks.nodes import Base, declare_nodes
from stacks.providers import region_provider


def declare(intent: Intent, lock: Lock, region: str, *, teardown: bool = False, inside: bool = True) -> None:
    """Declare a region from its block of the lock, with or without what lies inside its cluster."""
    place = place_of(intent, region, teardown=teardown)
    opts = pulumi.ResourceOptions(providers=[region_provider(intent, region, teardown=teardown)])
    block = lock.regions[region]
    key = read_global(place.fleet, [region]).keys[region]
    base = _base(intent, block, place, key, opts)
    system, nodes = declare_nodes(intent, block, place, base, opts)
    address = gateway_address.declare(
        f"{region}-gateway", gateway_address.GatewayAddressArgs(place=place, cluster=base.cluster), opts
    )
    stager = _stager(intent, place, base, key, opts)
    made: list[pulumi.Output[Any]] = [node.node_pool_id for node in nodes]
    if inside:
        layer = serving.declare(
            f"{region}-serving",
            serving.ServingArgs(
                place=place,
                cluster=base.cluster,
                pools=tuple(serving.served_pool(intent, place, pool_key, block) for pool_key in block.pools),
                partitions=tuple(sorted({row.partition for row in block.node_pools.values()} - {WHOLE})),
                stage={row_key: _digests(intent, row.stage) for row_key, row in block.node_pools.items()},
                disks_image=serving.disks_image(intent, place),
                raw_disks=serving.raw_disks(intent, place, block),
                stager=stager.annotations,
                gateway_address=address,
                nodes=(*system, *nodes),
            ),
            opts,
        )
        made.append(layer.workloads)
    write(RegionExports(gateway_addresses=address.addresses))
    pulumi.export("clouds", intent.fleet.clouds)
    # A region without its replicas is no capacity to anybody.
    applied = applied_output(lock, region if inside else None, zones=intent.regions[region].zones)
    export_applied(applied, made)


def _base(
    intent: Intent, block: LockRegion, place: Place, key: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> Base:
    row = intent.regions[place.region]
    who = identity.declare(
        f"{place.region}-identity",
        identity.IdentityArgs(place=place, permissions_boundary=row.permissions_boundary),
        opts,
    )
    net = _network(intent, place, key, opts)
    return Base(network=net, identity=who, cluster=_cluster(intent, block, place, net, who, key, opts))


def _network(intent: Intent, place: Place, key: pulumi.Input[str], opts: pulumi.ResourceOptions) -> network.Network:
    name, row = f"{place.region}-network", intent.regions[place.region]
    choice = row.network
    if choice.existing is not None:
        there = network.ExistingNetworkArgs(
            place=place, network_id=choice.existing, subnets=choice.subnets, api_subnets=choice.api_subnets
        )
        return network.ExistingNetwork(name, there, opts)
    args = network.NetworkArgs(
        place=place, cidr=row.cidr, nat=intent.nat(place.region), key=key, buckets=(weights.bucket_name(place),)
    )
    return network.declare(name, args, opts)


def _cluster(
    intent: Intent,
    block: LockRegion,
    place: Place,
    net: network.Network,
    who: identity.Identity,
    key: pulumi.Input[str],
    opts: pulumi.ResourceOptions,
) -> cluster.Cluster:
    row, name = intent.regions[place.region], f"{place.region}-cluster"
    use = intent.facts.networks[row.cloud]
    if row.cluster.existing is not None:
        there = cluster.ExistingClusterArgs(
            place=place,
            cluster_id=row.cluster.existing,
            server=row.cluster.server or "",
            certificate_authority=row.cluster.certificate_authority,
            issuer=row.cluster.issuer,
        )
        return cluster.ExistingCluster(name, there, opts)
    args = cluster.ClusterArgs(
        place=place,
        kubernetes=intent.fleet.kubernetes,
        network=net,
        identity=who,
        system_zone_nodes=SYSTEM_ZONE_NODES,
        key=key,
        private=row.api.private,
        allow=row.api.allow,
        access=row.access.model_dump(),
        add_ons=intent.add_ons(place.region),
        pod_range=str(use.pod_range) if use.pod_range else None,
        service_range=str(use.service_range) if use.service_range else None,
        reservations=tuple(sorted({row.reservation for row in block.node_pools.values() if row.reservation})),
        permissions_boundary=row.permissions_boundary,
    )
    return cluster.declare(name, args, opts)


def _stager(
    intent: Intent, place: Place, base: Base, key: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> workload_identity.WorkloadIdentity:
    args = workload_identity.WorkloadIdentityArgs(
        place=place,
        cluster=base.cluster,
        namespace=serving.NAMESPACE,
        service_account=serving.STAGER,
        weights=weights.bucket_name(place),
        key=key,
        permissions_boundary=intent.regions[place.region].permissions_boundary,
    )
    return workload_identity.declare(f"{place.region}-{serving.STAGER}", args, opts)


def _digests(intent: Intent, stage: tuple[str, ...]) -> tuple[str, ...]:
    released = intent.artifacts.models | intent.artifacts.adapters
    return tuple(released[artifact].digest for artifact in stage)
