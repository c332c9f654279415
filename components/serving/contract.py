"""What the serving layer of a region needs to be told, and what it promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi

from components.base import Place, PlatformComponent
from components.cluster.contract import Cluster
from components.gateway_address.contract import GatewayAddress

NAMESPACE = "serving"
STAGER = "stager"
"""Service account of what stages models on the nodes."""


@dataclass(frozen=True, kw_only=True)
class ServedPool:
    """A model's replicas on one accelerator: one Deployment."""

    key: str
    """Key of the lock's pool."""
    model: str
    image: str
    """Engine image in the region's registry, by digest."""
    arguments: tuple[str, ...]
    """Flags of the engine."""
    environment: Mapping[str, str]
    """Settings of the engine that are no flags."""
    artifact: str
    """Digest of the weights."""
    adapters: Mapping[str, str]
    """Fine-tune -> digest of its adapter; those whose owners may be in the region, and no others."""
    gpu_resource: str
    """Kubernetes resource of a whole GPU, whose taint the replicas tolerate."""
    also_tolerates: tuple[Mapping[str, str], ...]
    """Tolerations of what the cloud itself puts on spot nodes, if the replicas may run on any."""
    device: str
    """Kubernetes resource that a replica asks for: a GPU, or a part of one."""
    replica_devices: int
    replicas: int
    """Replicas that it is born with."""
    node_pools: tuple[str, ...]
    """Node pools of the lock that it may run on."""


@dataclass(frozen=True, kw_only=True)
class ServingArgs:
    """The serving layer of one region."""

    place: Place
    cluster: Cluster
    pools: tuple[ServedPool, ...]
    partitions: tuple[str, ...]
    """Divisions of cards that the region's nodes have, whole cards left out."""
    stage: Mapping[str, tuple[str, ...]]
    """Node pool -> digests of the artifacts on its nodes' cache."""
    stager: Mapping[str, pulumi.Input[str]]
    """Annotations by which the service account of the stager is somebody to the cloud."""
    disks_image: str | None
    """What joins local disks, in the region's registry, by digest; None where nodes join their own."""
    raw_disks: Mapping[str, int]
    """Machine type -> local disks of each of its nodes, of those that come up with raw ones."""
    gateway_address: GatewayAddress
    nodes: tuple[pulumi.Resource, ...]
    """Node pools that must stand before replicas are asked for, and go after them."""


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """How a cloud binds the gateway's load balancer to addresses that exist already."""

    annotations: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    load_balancer_ip: pulumi.Input[str] | None = None


class Serving(PlatformComponent):
    """The serving layer."""

    namespace: pulumi.Output[str]
    workloads: pulumi.Output[Sequence[str]]
    """Ids of the Deployments, known once they exist."""
