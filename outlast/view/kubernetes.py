"""Reads Kubernetes objects: labels and serving workloads; the same on every cloud."""

from __future__ import annotations

import re
from collections.abc import Mapping

from outlast.view.resource import UNKNOWN, Resource, Value, value_at
from outlast.view.view import Index, Workload

PACKAGE = "kubernetes"
CLOUD = "kubernetes"
_LABEL = "outlast-node-pool"
_DEVICE = re.compile(r"[a-z0-9.-]+\.com/(gpu|gpu\.shared|mig-[a-z0-9.]+)")
"""Devices of the vendors: whole GPUs, shares of time, instances. Source: NVIDIA and AMD device plugins."""


def labels(resource: Resource) -> tuple[Value, ...]:
    """Return an object's labels."""
    return (resource.get("metadata.labels"),)


def workload(resource: Resource, index: Index) -> Workload | None:  # noqa: ARG001  (one signature for all readers)
    """Return a Deployment that carries a pool's label or asks for devices."""
    if resource.type != "kubernetes:apps/v1:Deployment":
        return None
    pool = resource.get("metadata.labels.outlast-pool")
    spec = resource.get("spec.template.spec")
    gpus = _gpus(spec)
    if pool is None and gpus in (None, 0):
        return None
    return Workload(
        urn=resource.urn,
        pool=pool,
        replicas=resource.get("spec.replicas"),
        gpus=gpus,
        node_pools=_node_pools(spec),
    )


def _gpus(spec: Value) -> Value:
    """Return the devices of the first container that asks for any."""
    containers = spec.get("containers") if isinstance(spec, Mapping) else UNKNOWN
    if not isinstance(containers, tuple):
        return UNKNOWN
    for container in containers:
        resources = container.get("resources") if isinstance(container, Mapping) else None
        limits = resources.get("limits") if isinstance(resources, Mapping) else resources
        if UNKNOWN in (container, limits):
            return UNKNOWN
        for name, amount in limits.items() if isinstance(limits, Mapping) else ():
            if _DEVICE.fullmatch(name):
                return int(amount) if isinstance(amount, str) and amount.isdigit() else amount
    return None


def _node_pools(spec: Value) -> Value:
    """Return the node pool keys that every term of the required node affinity names; None if one allows others too."""
    path = "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    terms = value_at(spec, path)
    if UNKNOWN in (spec, terms):
        return UNKNOWN
    keys: set[Value] = set()
    for term in terms if isinstance(terms, tuple) else ():
        named = _named(value_at(term, "matchExpressions"))
        if named is None:
            return None
        keys |= named
    return UNKNOWN if UNKNOWN in keys else tuple(sorted(str(key) for key in keys)) or None


def _named(expressions: Value) -> set[Value] | None:
    if expressions is UNKNOWN:
        return {UNKNOWN}
    for expression in expressions if isinstance(expressions, tuple) else ():
        if value_at(expression, "key") == _LABEL and value_at(expression, "operator") == "In":
            values = value_at(expression, "values")
            return set(values) if isinstance(values, tuple) else {UNKNOWN}
    return None
