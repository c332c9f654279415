"""What the nodes for the cluster's own needs promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from components.base import Place, PlatformComponent, class_of
from components.cluster.contract import Cluster
from components.identity.contract import Identity
from components.network.contract import Network


@dataclass(frozen=True, kw_only=True)
class SystemPoolArgs:
    """Nodes without accelerators."""

    place: Place
    cluster: Cluster
    network: Network
    identity: Identity
    zone_nodes: int
    """Nodes in each zone, so that the loss of a zone leaves the cluster's own pods a place."""
    kubernetes: str
    add_ons: Mapping[str, str]
    """Add-on -> pinned version."""
    permissions_boundary: str | None = None


class SystemPool(PlatformComponent):
    """Nodes without accelerators."""

    node_pool_id: pulumi.Output[str]


def declare(name: str, args: SystemPoolArgs, opts: pulumi.ResourceOptions | None = None) -> SystemPool:
    """Declare the nodes on the region's cloud."""
    return class_of(SystemPool, args.place.cloud)(name, args, opts)
