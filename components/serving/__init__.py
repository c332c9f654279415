"""What serves models inside a cluster: Kubernetes only, written once; `overlays/` holds what differs by cloud."""

from components.serving.contract import NAMESPACE, STAGER, ServedPool, Serving, ServingArgs
from components.serving.devices import device
from components.serving.disks import disks_image, raw_disks
from components.serving.engine import served_pool
from components.serving.layer import declare

__all__ = [
    "NAMESPACE",
    "STAGER",
    "ServedPool",
    "Serving",
    "ServingArgs",
    "declare",
    "device",
    "disks_image",
    "raw_disks",
    "served_pool",
]
