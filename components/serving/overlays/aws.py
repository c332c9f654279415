"""Values of the serving layer on AWS."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import pulumi

from components.serving.contract import Gateway
from outlast.intent.partitions import MIG, is_sliced, parts_of_card, profile_of

RAW_DISKS = ""
"""None: nodes join their local disks themselves."""
SPOT_TOLERATIONS = ()
"""None: EKS adds no taint to spot nodes. Source: Amazon EKS User Guide, Managed node group capacity types."""
_GPU = "nvidia.com/gpu"
"""What its machine types with divided cards offer."""


def device(gpu_resource: str, partition: str) -> str:
    """Return what the GPU operator calls a part of a card, with instances named after their profile.

    Source: NVIDIA GPU operator, MIG strategy ``mixed``; NVIDIA device plugin, time-slicing with ``renameByDefault``.
    """
    if partition.startswith(MIG):
        return f"{gpu_resource.partition('/')[0]}/{MIG}{profile_of(partition).replace('+', '.')}"
    return f"{gpu_resource}.shared" if is_sliced(partition) else gpu_resource


def operator_configs(partitions: Iterable[str]) -> Mapping[str, Mapping[str, str]]:
    """Return the GPU operator's configurations: ConfigMap -> its data; nodes name theirs by the partition.

    Source: NVIDIA mig-parted and device plugin, configuration files, version v1; both read JSON as the YAML it is.
    """
    instances = {
        name: [{"devices": "all", "mig-enabled": True, "mig-devices": {profile_of(name): parts_of_card(name)}}]
        for name in partitions
        if name.startswith(MIG)
    }
    slices = {name: _time_slicing(name) for name in partitions if is_sliced(name)}
    found = {
        "mig-parted": {"config.yaml": _text({"version": "v1", "mig-configs": instances})} if instances else {},
        "time-slicing": {name: _text(config) for name, config in slices.items()},
    }
    return {name: data for name, data in found.items() if data}


def _time_slicing(partition: str) -> dict[str, object]:
    slicing = {
        "renameByDefault": True,
        "failRequestsGreaterThanOne": True,
        "resources": [{"name": _GPU, "replicas": parts_of_card(partition)}],
    }
    return {"version": "v1", "sharing": {"timeSlicing": slicing}}


def _text(document: object) -> str:
    return json.dumps(document, sort_keys=True)


def gateway(bindings: Mapping[str, pulumi.Input[str]], addresses: Mapping[str, pulumi.Input[str]]) -> Gateway:  # noqa: ARG001
    """Bind a network load balancer to the zones' Elastic IPs, in the order of the zones."""
    prefix = "service.beta.kubernetes.io/aws-load-balancer"
    allocations: pulumi.Output[str] = pulumi.Output.all(*bindings.values()).apply(",".join)
    return Gateway(
        annotations={
            f"{prefix}-type": "nlb",
            f"{prefix}-scheme": "internet-facing",
            f"{prefix}-cross-zone-load-balancing-enabled": "true",
            f"{prefix}-eip-allocations": allocations,
        }
    )
