"""The pod of a replica, as plain values."""

from __future__ import annotations

from typing import Any

from components import names
from components.serving.contract import ServedPool
from components.serving.engine import ADAPTERS, MODELS, PORT

GATEWAY = "gateway"
_ZONE = "topology.kubernetes.io/zone"
_HOST = "kubernetes.io/hostname"
_USER = 10001
_ENVIRONMENT = {"HF_HUB_OFFLINE": "1", "HOME": "/tmp"}


def pool_labels(pool: ServedPool) -> dict[str, str]:
    """Return the labels by which a pool's pods are found."""
    return {"app.kubernetes.io/name": "replica", "outlast-pool": names.label_value(pool.key)}


def gateway_labels() -> dict[str, str]:
    """Return the labels by which the gateway's pods are found."""
    return {"app.kubernetes.io/name": GATEWAY}


def pod(pool: ServedPool, cache: str) -> dict[str, Any]:
    """Return the spec of a replica's pod.

    Args:
        pool: what it runs.
        cache: folder on the node that holds staged artifacts by digest.
    """
    return {
        "serviceAccountName": "replica",
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 120,
        "affinity": _on_node_pools(pool),
        "tolerations": [
            {"key": pool.gpu_resource, "operator": "Exists", "effect": "NoSchedule"},
            *map(dict, pool.also_tolerates),
        ],
        "topologySpreadConstraints": [
            _spread(pool, _ZONE, "DoNotSchedule"),
            _spread(pool, _HOST, "ScheduleAnyway"),
        ],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "fsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(pool)],
        "volumes": [
            _staged("weights", cache, pool.artifact),
            *(_staged(_volume(adapter), cache, digest) for adapter, digest in pool.adapters.items()),
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "32Gi"}},
            {"name": "tmp", "emptyDir": {}},
        ],
    }


def _staged(volume: str, cache: str, digest: str) -> dict[str, Any]:
    """Return a volume of staged files; the folder must exist: never start on an empty one."""
    return {"name": volume, "hostPath": {"path": f"{cache}/{digest.replace(':', '-')}", "type": "Directory"}}


def _volume(adapter: str) -> str:
    return names.kubernetes_object("adapter", adapter)


def _on_node_pools(pool: ServedPool) -> dict[str, Any]:
    expression = {"key": "outlast-node-pool", "operator": "In", "values": list(pool.node_pools)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _spread(pool: ServedPool, key: str, otherwise: str) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": otherwise,
        "labelSelector": {"matchLabels": pool_labels(pool)},
    }


def _container(pool: ServedPool) -> dict[str, Any]:
    devices = {pool.device: str(pool.replica_devices)}
    models = {"path": "/v1/models", "port": "http"}
    return {
        "name": "engine",
        "image": pool.image,
        "args": list(pool.arguments),
        "env": [{"name": name, "value": value} for name, value in {**_ENVIRONMENT, **pool.environment}.items()],
        "ports": [{"name": "http", "containerPort": PORT}],
        "resources": {"requests": devices, "limits": devices},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        # Weights of 70 billion parameters load and compile for up to half an hour.
        "startupProbe": {"httpGet": models, "periodSeconds": 30, "failureThreshold": 60},
        "readinessProbe": {"httpGet": models, "periodSeconds": 5, "failureThreshold": 3},
        "livenessProbe": {"httpGet": {"path": "/health", "port": "http"}, "periodSeconds": 15, "failureThreshold": 8},
        "lifecycle": {"preStop": {"sleep": {"seconds": 15}}},
        "volumeMounts": [
            {"name": "weights", "mountPath": MODELS, "readOnly": True},
            *(
                {"name": _volume(adapter), "mountPath": f"{ADAPTERS}/{adapter}", "readOnly": True}
                for adapter in pool.adapters
            ),
            {"name": "shm", "mountPath": "/dev/shm"},
            {"name": "tmp", "mountPath": "/tmp"},
        ],
    }
