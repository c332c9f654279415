"""How much of a node's local disks the cache of models may use: one judgement for planner, lock and preflight."""

from __future__ import annotations

from outlast.errors import Problem

CONTAINERS_RATIO = 0.25
"""Share of the joined disks that the cache leaves alone: 15 %, at which the kubelet evicts pods for want of space where
images lie on the same file system, and 10 % for images, logs and scratch space. One share for all clouds, so that a
plan does not change where it is moved; where containers lie on another disk it is room for an artifact that is on its
way. Source: Kubernetes documentation, Node-pressure Eviction: default of ``imagefs.available``.
"""


def cache_gib(disk_gib: int) -> int:
    """Return what the cache may use of a node's local disks, in whole GiB."""
    return int(disk_gib * (1 - CONTAINERS_RATIO))


def overstaged(where: str, staged_gib: float, disk_gib: int, machine_type: str) -> Problem | None:
    """Return why artifacts do not fit the cache of a node; None if they do."""
    most = cache_gib(disk_gib)
    if staged_gib <= most:
        return None
    kept = f"{disk_gib:,} GiB of local disks, {CONTAINERS_RATIO:.0%} kept for containers and logs"
    return Problem(
        where=where,
        what="the staged artifacts do not fit the cache",
        got=f"{staged_gib:,.0f} GiB",
        allowed=f"up to {most:,} GiB a node of {machine_type}: {kept}",
        do="Use a machine type with more local disk, or put fewer models on it",
    )
