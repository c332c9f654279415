"""Devices that Kubernetes counts: whole GPUs, or parts of them under the name that a cloud's device plugin gives."""

from __future__ import annotations

import importlib
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
