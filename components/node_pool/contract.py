"""What a node pool promises: one row of the lock is one node pool of the cloud, in one zone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pulumi

from components.base import Place, PlatformComponent, class_of
from components.cluster.contract import Cluster
from components.identity.contract import Identity
from components.network.contract import Network
from outlast.facts.models import Capacity

CACHE = "/mnt/k8s-disks/0/models"
"""Where the cache of models lies on every node, on its joined NVMe disks; the same on every cloud."""
PRESENT = "present"
"""Value of the taint of a node with accelerators, whose key is the resource of a whole one."""


@dataclass(frozen=True, kw_only=True)
class NodePoolArgs:
    """Machines of one type in one zone, as the lock says, with what facts know of the machine."""

    place: Place
    key: str
    """Key of the row: name and label."""
    zone: str
    machine_type: str
    accelerator: str
    node_gpus: int
    gpu_resource: str
    """Kubernetes resource of a whole GPU; its taint keeps others off the nodes."""
    partition: str
    """Division of each card: ``whole``, ``mig-7x1g.10gb``, ``slice-4``."""
    fills_card: bool
    """Whether a card holds no more instances than the division makes."""
    device: str
    """Kubernetes resource of a part of a card, or of a whole one."""
    node_devices: int
    """How many of them a node offers."""
    nvme_disks: int
    """Local NVMe disks of a node."""
    interconnect_cards: int
    """Network cards by which its nodes speak to each other; 0: none is asked for."""
    capacity: Capacity
    reservation: str | None
    block: bool
    """Whether the reservation is a block bought for a fixed time."""
    scaling: Literal["fixed", "elastic"]
    nodes_min: int
    nodes_max: int
    kubernetes: str
    cluster: Cluster
    network: Network
    identity: Identity


class NodePool(PlatformComponent):
    """A node pool."""

    node_pool_id: pulumi.Output[str]


def declare(name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> NodePool:
    """Declare the node pool on the region's cloud."""
    return class_of(NodePool, args.place.cloud)(name, args, opts)
