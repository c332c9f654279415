"""Images that a fleet must have released: an engine for each vendor of its cards, and what joins disks left raw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from outlast.errors import Problem, did_you_mean, listed
from outlast.facts.models import MachineType
from outlast.intent.intent import Intent

ENGINES: Mapping[str, str] = MappingProxyType({"nvidia.com/gpu": "engine", "amd.com/gpu": "engine-amd"})
"""Kubernetes resource of a whole GPU -> image of the engine that is built for it."""
DISKS = "disks"
"""Image that joins a node's local disks, with `mdadm`, `mkfs.xfs` and `blkid`."""
JOINED = "joined-disks"
"""Capability of a cloud whose nodes join their local disks themselves."""


def leaves_disks_raw(intent: Intent, region: str) -> bool:
    """Whether nodes of a region come up with local disks that somebody has to join."""
    cloud = intent.regions[region].cloud
    return not intent.facts.can(cloud, JOINED) and any(machine.nvme_count for _, machine in _machines(intent, region))


def check_images(intent: Intent) -> Iterator[Problem]:
    """Every image that a region's nodes need is released."""
    released = intent.artifacts.images
    for image, users in _needed(intent).items():
        if image not in released:
            yield Problem(
                where=f"{intent.name}/artifacts.yaml, images",
                what=f"there is no image '{image}', which {listed(users)} of regions.yaml need",
                got=listed(released),
                do=did_you_mean(image, released) or "Release it, and add it with its digest",
            )


def _needed(intent: Intent) -> dict[str, list[str]]:
    """Return image -> the regions, or node pools of regions, that need it."""
    needed: dict[str, list[str]] = {}
    for region in intent.regions:
        for key, machine in _machines(intent, region):
            engine = ENGINES[intent.facts.accelerators[machine.accelerator].resource]
            needed.setdefault(engine, []).append(f"regions.{region}.node_pools.{key}")
        if leaves_disks_raw(intent, region):
            needed.setdefault(DISKS, []).append(f"regions.{region}")
    return needed


def _machines(intent: Intent, region: str) -> Iterator[tuple[str, MachineType]]:
    """Yield the node pools of a region whose machine types facts know."""
    row = intent.regions[region]
    for key, pool in row.node_pools.items():
        machine = intent.facts.machine_types.get((row.cloud, pool.machine_type))
        if machine is not None:
            yield key, machine
