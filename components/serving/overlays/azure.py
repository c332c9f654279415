"""Values of the serving layer on Azure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import pulumi

from components.serving.contract import Gateway
from outlast.intent.partitions import MIG, is_sliced, parts_of_card, profile_of

_GPU = "nvidia.com/gpu"
"""What its machine types with divided cards offer."""
SPOT_TOLERATIONS = (
    {
        "key": "kubernetes.azure.com/scalesetpriority",
        "operator": "Equal",
        "value": "spot",
        "effect": "NoSchedule",
    },
)
"""AKS keeps others off spot nodes. Source: AKS documentation, Add an Azure Spot node pool."""
RAW_DISKS = "/dev/disk/azure/local/by-serial/*"
"""Links of a node's local NVMe disks, which AKS leaves as they are; its node image has the rules that make them.

Source: azure-vm-utils, udev rules for local disks.
"""


def device(gpu_resource: str, partition: str) -> str:
    """Return what the device plugin calls a part of a card, with instances named after their profile.

    Source: AKS documentation, multi-instance GPU node pools, strategy ``mixed``; NVIDIA device plugin, time-slicing
    with ``renameByDefault``.
    """
    if partition.startswith(MIG):
        return f"{gpu_resource.partition('/')[0]}/{MIG}{profile_of(partition).replace('+', '.')}"
    return f"{gpu_resource}.shared" if is_sliced(partition) else gpu_resource


def operator_configs(partitions: Iterable[str]) -> Mapping[str, Mapping[str, str]]:
    """Return the device plugin's configurations of time-slices: AKS makes MIG instances itself, as the node pool says.

    Source: NVIDIA device plugin, configuration files, version v1; it reads JSON as the YAML it is.
    """
    slices = {name: json.dumps(_time_slicing(name), sort_keys=True) for name in partitions if is_sliced(name)}
    return {"time-slicing": slices} if slices else {}


def _time_slicing(partition: str) -> dict[str, object]:
    slicing = {
        "renameByDefault": True,
        "failRequestsGreaterThanOne": True,
        "resources": [{"name": _GPU, "replicas": parts_of_card(partition)}],
    }
    return {"version": "v1", "sharing": {"timeSlicing": slicing}}


def gateway(bindings: Mapping[str, pulumi.Input[str]], addresses: Mapping[str, pulumi.Input[str]]) -> Gateway:  # noqa: ARG001
    """Bind the cluster's load balancer to the region's address, which lies in a group of its own."""
    prefix = "service.beta.kubernetes.io/azure"
    (binding,) = (pulumi.Output.from_input(value) for value in bindings.values())
    return Gateway(
        annotations={
            f"{prefix}-load-balancer-resource-group": binding.apply(lambda found: found.partition("/")[0]),
            f"{prefix}-pip-name": binding.apply(lambda found: found.partition("/")[2]),
        }
    )
