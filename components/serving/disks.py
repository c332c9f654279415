"""What joins a node's local disks where the cloud leaves them raw: the same script and DaemonSets on every such cloud.

A node that joins its own disks has none of this. The script decides what to do from what the disks hold, makes nothing
twice and touches no disk that holds anything of another's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components import names
from components.base import Place
from components.images.contract import address
from components.node_pool.contract import CACHE, DISKS
from outlast.intent import Intent
from outlast.intent.images import DISKS as IMAGE
from outlast.intent.images import JOINED, leaves_disks_raw
from outlast.lock import LockRegion

NAME = "disks"
"""Of the namespace, which alone allows privileged pods for it, and of everything in it."""
SCRIPT = Path(__file__).with_name("disks.sh")
_SCRIPTS = "/scripts"
_MACHINE_TYPE = "node.kubernetes.io/instance-type"
"""Label of the cloud's name of a node's shape. Source: Kubernetes documentation, Well-known labels."""


def disks_image(intent: Intent, place: Place) -> str | None:
    """Return the image that joins local disks, in the region's registry, by digest; None where nodes join their own."""
    if not leaves_disks_raw(intent, place.region):
        return None
    return f"{address(place, IMAGE)}@{intent.artifacts.images[IMAGE].digest}"


def raw_disks(intent: Intent, place: Place, block: LockRegion) -> Mapping[str, int]:
    """Return machine type -> local disks of each of its nodes, of those that come up with raw ones."""
    if intent.facts.can(place.cloud, JOINED):
        return {}
    machines = {row.machine_type for row in block.node_pools.values()}
    counts = {machine: intent.facts.machine_types[place.cloud, machine].nvme_count for machine in sorted(machines)}
    return {machine: int(count) for machine, count in counts.items() if count}


def object_name(machine_type: str) -> str:
    """Return the name of what joins the disks of the nodes of a machine type."""
    return names.kubernetes_object(NAME, machine_type.lower().replace("_", "-"))


def script() -> dict[str, str]:
    """Return the data of the ConfigMap that holds the script."""
    return {SCRIPT.name: SCRIPT.read_text(encoding="utf-8")}


def labels(machine_type: str) -> dict[str, str]:
    """Return the labels by which the pods on nodes of a machine type are found."""
    return {"app.kubernetes.io/name": NAME, "app.kubernetes.io/instance": object_name(machine_type)}


def pod(image: str, pattern: str, machine_type: str, count: int) -> dict[str, Any]:
    """Return the template of the pod that runs on every node of a machine type.

    Args:
        image: has the programs that the script calls.
        pattern: matches the links of a node's raw disks.
        machine_type: the cloud's name of the shape, which nodes bear as a label.
        count: raw disks that each node has; a node with fewer would hold less than the plan stages on it.
    """
    annotations = {"outlast-script": names.digest(*script().values())}
    return {
        "metadata": {"labels": labels(machine_type), "annotations": annotations},
        "spec": _spec(image, pattern, machine_type, count),
    }


def _spec(image: str, pattern: str, machine_type: str, count: int) -> dict[str, Any]:
    ours = {"key": "outlast-node-pool", "operator": "Exists"}
    nodes = {"matchExpressions": [ours, {"key": _MACHINE_TYPE, "operator": "In", "values": [machine_type]}]}
    return {
        "automountServiceAccountToken": False,
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [nodes]}}
        },
        # A node is useless without its cache: whatever keeps others off it keeps this off no node.
        "tolerations": [{"operator": "Exists"}],
        "initContainers": [_joiner(image, pattern, count)],
        "containers": [_waiter(image)],
        "volumes": [
            {"name": "scripts", "configMap": {"name": names.kubernetes_object(NAME)}},
            {"name": "dev", "hostPath": {"path": "/dev", "type": "Directory"}},
            {"name": "disks", "hostPath": {"path": DISKS, "type": "DirectoryOrCreate"}},
        ],
    }


def _joiner(image: str, pattern: str, count: int) -> dict[str, Any]:
    """Return the container that joins the disks; what it mounts stays on the node when it has ended."""
    return _container("join", image) | {
        "env": [
            {"name": "DISKS", "value": pattern},
            {"name": "COUNT", "value": str(count)},
            {"name": "MOUNT", "value": str(Path(CACHE).parent)},
        ],
        "securityContext": {"privileged": True, "runAsUser": 0},
        "volumeMounts": [
            {"name": "scripts", "mountPath": _SCRIPTS, "readOnly": True},
            {"name": "dev", "mountPath": "/dev"},
            {"name": "disks", "mountPath": DISKS, "mountPropagation": "Bidirectional"},
        ],
    }


def _waiter(image: str) -> dict[str, Any]:
    return _container("wait", image) | {
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "runAsUser": 65534,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "scripts", "mountPath": _SCRIPTS, "readOnly": True}],
    }


def _container(step: str, image: str) -> dict[str, Any]:
    return {
        "name": step,
        "image": image,
        "command": ["sh", f"{_SCRIPTS}/{SCRIPT.name}", step],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "256Mi"}},
    }
