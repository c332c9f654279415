"""What a node pool promises: one row of the lock is one node pool, in one zone, and its nodes are the same anywhere.

What nodes say of themselves, whom they keep off and where their cache lies is decided here, once; a cloud's module only
finds the field that says it. `docs/node-contract.md` is the same as a table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pulumi

from components import names
from components.base import Place, PlatformComponent, class_of
from components.cluster.contract import Cluster
from components.identity.contract import Identity
from components.network.contract import Network
from outlast.facts.models import Capacity
from outlast.intent.models import WHOLE
from outlast.intent.partitions import is_sliced
from outlast.lock import cache_gib

DISKS = "/mnt/disks"
"""Below it lie a node's local disks, joined, at ``0``: the folder for mounts that can be written on every node image.
Source: Container-Optimized OS documentation, Disks and file system overview.
"""
CACHE = f"{DISKS}/0/models"
"""Where the cache of models lies on every node, on its joined NVMe disks; the same on every cloud."""
PRESENT = "present"
"""Value of the taint of a node with accelerators, whose key is the resource of a whole one."""
NO_SCHEDULE = "NoSchedule"


@dataclass(frozen=True, kw_only=True)
class NodePoolArgs:
    """Machines of one type in one zone, as the lock says, with what facts know of the machine."""

    place: Place
    key: str
    """Key of the row: name and label."""
    zone: str
    machine_type: str
    accelerator: str
    accelerator_type: str = ""
    """The cloud's own name of it, where its node pools say it beside the machine type."""
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
    disk_gib: int
    """What they hold together."""
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


@dataclass(frozen=True, kw_only=True)
class Taint:
    """What keeps a pod off a node unless it tolerates it."""

    key: str
    value: str
    effect: str

    def __str__(self) -> str:
        """Return it as Kubernetes writes it."""
        return f"{self.key}={self.value}:{self.effect}"


def taint(args: NodePoolArgs) -> Taint:
    """Return the only taint of the nodes; a module declares it where its cloud does not add it itself."""
    return Taint(key=args.gpu_resource, value=PRESENT, effect=NO_SCHEDULE)


def tags(args: NodePoolArgs) -> dict[str, str]:
    """Return labels of the nodes and of all that bears their cost, in a form that every cloud accepts."""
    place = args.place
    return names.labels(
        fleet=place.fleet,
        region=place.region,
        jurisdiction=place.jurisdiction,
        node_pool=args.key,
        accelerator=args.accelerator,
        partition=args.partition,
    )


def node_labels(args: NodePoolArgs) -> dict[str, str]:
    """Return what nodes say of themselves in Kubernetes: their tags, and the GiB that the cache may use."""
    return tags(args) | {"outlast-cache-gib": str(cache_gib(args.disk_gib))}


def operator_labels(args: NodePoolArgs) -> dict[str, str]:
    """Return labels by which a GPU operator divides the cards, for a cloud without a field for that division.

    A configuration of the operator has the name of the partition; the serving layer declares it.
    Source: NVIDIA GPU operator, MIG manager and device plugin configuration.
    """
    if args.partition == WHOLE:
        return {}
    return {"nvidia.com/device-plugin.config" if is_sliced(args.partition) else "nvidia.com/mig.config": args.partition}


class NodePool(PlatformComponent):
    """A node pool."""

    node_pool_id: pulumi.Output[str]


def declare(name: str, args: NodePoolArgs, opts: pulumi.ResourceOptions | None = None) -> NodePool:
    """Declare the node pool on the region's cloud."""
    return class_of(NodePool, args.place.cloud)(name, args, opts)
