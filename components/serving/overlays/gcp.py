"""Values of the serving layer on Google Cloud."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pulumi

from components.serving.contract import Gateway

RAW_DISKS = "/dev/disk/by-id/google-local-nvme-ssd-*"
"""Links of local SSDs that are attached raw. Source: Compute Engine documentation, Add Local SSD disks."""

SPOT_TOLERATIONS = ()
"""None: GKE taints only spot nodes that it makes up itself, by node auto-provisioning, which our clusters do not use.
Source: GKE documentation, Run fault-tolerant workloads at lower costs with Spot VMs.
"""


def device(gpu_resource: str, partition: str) -> str:  # noqa: ARG001  (one signature for all overlays)
    """Return what GKE calls a part of a card: the same as a whole one; the node pool decides what it is.

    Source: GKE documentation, Run multi-instance GPUs and Share GPUs with time-sharing.
    """
    return gpu_resource


def operator_configs(partitions: Iterable[str]) -> Mapping[str, Mapping[str, str]]:  # noqa: ARG001
    """Return nothing: GKE divides cards itself, as the node pool says."""
    return {}


def gateway(bindings: Mapping[str, pulumi.Input[str]], addresses: Mapping[str, pulumi.Input[str]]) -> Gateway:  # noqa: ARG001
    """Bind a passthrough load balancer to the region's address."""
    return Gateway(annotations={"cloud.google.com/l4-rbs": "enabled"}, load_balancer_ip=next(iter(addresses.values())))
