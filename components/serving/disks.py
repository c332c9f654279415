"""What joins a node's local disks where the cloud leaves them raw: the same script and DaemonSet on every such cloud.

A node that joins its own disks has none of this. The script decides what to do from what the disks hold, makes nothing
twice and touches no disk that holds anything of another's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components import names
from components.base import Place
from components.images.contract import address
from components.node_pool.contract import CACHE, DISKS
from outlast.intent import Intent
from outlast.intent.images import DISKS as IMAGE
from outlast.intent.images import leaves_disks_raw

NAME = "disks"
"""Of the namespace, which alone allows privileged pods for it, and of everything in it."""
SCRIPT = Path(__file__).with_name("disks.sh")
_SCRIPTS = "/scripts"


def disks_image(intent: Intent, place: Place) -> str | None:
    """Return the image that joins local disks, in the region's registry, by digest; None where nodes join their own."""
    if not leaves_disks_raw(intent, place.region):
        return None
    return f"{address(place, IMAGE)}@{intent.artifacts.images[IMAGE].digest}"


def script() -> dict[str, str]:
    """Return the data of the ConfigMap that holds the script."""
    return {SCRIPT.name: SCRIPT.read_text(encoding="utf-8")}


def labels() -> dict[str, str]:
    """Return the labels by which the pods are found."""
    return {"app.kubernetes.io/name": NAME}


def pod(image: str, pattern: str) -> dict[str, Any]:
    """Return the template of the pod that runs on every node with accelerators.

    Args:
        image: has the programs that the script calls.
        pattern: matches the links of a node's raw disks.
    """
    annotations = {"outlast-script": names.digest(*script().values())}
    return {"metadata": {"labels": labels(), "annotations": annotations}, "spec": _spec(image, pattern)}


def _spec(image: str, pattern: str) -> dict[str, Any]:
    node_pools = {"matchExpressions": [{"key": "outlast-node-pool", "operator": "Exists"}]}
    return {
        "automountServiceAccountToken": False,
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [node_pools]}}
        },
        # A node is useless without its cache: whatever keeps others off it keeps this off no node.
        "tolerations": [{"operator": "Exists"}],
        "initContainers": [_joiner(image, pattern)],
        "containers": [_waiter(image)],
        "volumes": [
            {"name": "scripts", "configMap": {"name": names.kubernetes_object(NAME)}},
            {"name": "dev", "hostPath": {"path": "/dev", "type": "Directory"}},
            {"name": "disks", "hostPath": {"path": DISKS, "type": "DirectoryOrCreate"}},
        ],
    }


def _joiner(image: str, pattern: str) -> dict[str, Any]:
    """Return the container that joins the disks; what it mounts stays on the node when it has ended."""
    return _container("join", image) | {
        "env": [{"name": "DISKS", "value": pattern}, {"name": "MOUNT", "value": str(Path(CACHE).parent)}],
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
