"""What a cloud gives its nodes: devices that Kubernetes counts, under names of its own, and taints of spot nodes."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any


def overlay(cloud: str) -> Any:
    """Return the module of a cloud's values."""
    return importlib.import_module(f"components.serving.overlays.{cloud}")


def device(cloud: str, gpu_resource: str, partition: str) -> str:
    """Return the resource that a replica asks for on cards divided so.

    Args:
        cloud: whose nodes they are.
        gpu_resource: resource of a whole GPU.
        partition: division of the cards, as in the lock.
    """
    return str(overlay(cloud).device(gpu_resource, partition))


def spot_tolerations(cloud: str) -> tuple[Mapping[str, str], ...]:
    """Return tolerations of the taints that a cloud itself adds to spot nodes."""
    return tuple(overlay(cloud).SPOT_TOLERATIONS)
