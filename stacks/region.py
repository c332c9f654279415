"""A region's stack: network, cluster, node pools, gateway address, serving layer; reads its own block of the lock."""

from __future__ import annotations

import pulumi

from components import cluster, gateway_address, identity, network, serving, weights
from components.base import Place, place_of
from outlast.errors import ConfigError, Problem
from outlast.intent import Intent
from outlast.intent.models import WHOLE
from outlast.lock import Lock, applied_output
from stacks.exports import RegionExports, export_applied, read_global, write
from stacks.nodes import Base, declare_nodes
from stacks.providers import region_provider


def declare(intent: Intent, lock: Lock, region: str, *, teardown: bool = False) -> None:
    """Declare a region from its block of the lock."""
    _refuse_existing(intent, region)
    place = place_of(intent, region, teardown=teardown)
    opts = pulumi.ResourceOptions(providers=[region_provider(intent, region, teardown=teardown)])
    block = lock.regions[region]
    base = _base(intent, place, opts)
    system, nodes = declare_nodes(intent, block, place, base, opts)
    address = gateway_address.declare(f"{region}-gateway", gateway_address.GatewayAddressArgs(place=place), opts)
    layer = serving.declare(
        f"{region}-serving",
        serving.ServingArgs(
            place=place,
            cluster=base.cluster,
            pools=tuple(serving.served_pool(intent, place, key, block) for key in block.pools),
            partitions=tuple(sorted({row.partition for row in block.node_pools.values()} - {WHOLE})),
            stage={key: _digests(intent, row.stage) for key, row in block.node_pools.items()},
            gateway_address=address,
            nodes=(system, *nodes),
        ),
        opts,
    )
    write(RegionExports(gateway_addresses=address.addresses))
    pulumi.export("clouds", intent.fleet.clouds)
    export_applied(applied_output(lock, region), [*(node.node_pool_id for node in nodes), layer.workloads])


def _base(intent: Intent, place: Place, opts: pulumi.ResourceOptions) -> Base:
    row = intent.regions[place.region]
    key = read_global(place.fleet, [place.region]).keys[place.region]
    net = network.declare(f"{place.region}-network", network.NetworkArgs(place=place, cidr=row.cidr), opts)
    nodes = identity.IdentityArgs(
        place=place, weights=weights.bucket_name(place), key=key, permissions_boundary=row.permissions_boundary
    )
    control = cluster.ClusterArgs(
        place=place,
        kubernetes=intent.fleet.kubernetes,
        network=net,
        key=key,
        private=row.api.private,
        allow=row.api.allow,
        access=row.access.model_dump(),
        add_ons=intent.fleet.add_ons,
        permissions_boundary=row.permissions_boundary,
    )
    return Base(
        network=net,
        identity=identity.declare(f"{place.region}-identity", nodes, opts),
        cluster=cluster.declare(f"{place.region}-cluster", control, opts),
    )


def _digests(intent: Intent, stage: tuple[str, ...]) -> tuple[str, ...]:
    released = intent.artifacts.models | intent.artifacts.adapters
    return tuple(released[artifact].digest for artifact in stage)


def _refuse_existing(intent: Intent, region: str) -> None:
    row = intent.regions[region]
    for key, part in (("network", row.network), ("cluster", row.cluster)):
        if part.existing is not None:
            where = f"{intent.name}/regions.yaml, regions.{region}.{key}.existing"
            raise ConfigError(
                Problem(where=where, what=f"an existing {key} cannot be used yet", got=part.existing, do="Remove it")
            )
