"""Reads Google Cloud resources: labels, node pools."""

from __future__ import annotations

from outlast.view.resource import UNKNOWN, Resource, Value
from outlast.view.view import Index, NodePool

PACKAGE = "gcp"
CLOUD = "gcp"
_LABELS = ("labels", "userLabels", "resourceLabels")


def labels(resource: Resource) -> Value:
    """Return the labels of a resource, whatever its type calls them."""
    return next((found for name in _LABELS if (found := resource.inputs.get(name)) is not None), None)


def node_pool(resource: Resource, index: Index) -> NodePool | None:  # noqa: ARG001  (one signature for all readers)
    """Return a node pool; None for other types."""
    if resource.type != "gcp:container/nodePool:NodePool":
        return None
    fixed = resource.get("nodeCount")
    reservation = resource.get("nodeConfig.reservationAffinity.values.0")
    return NodePool(
        urn=resource.urn,
        key=resource.get("nodeConfig.labels.outlast-node-pool"),
        cloud=CLOUD,
        zone=_zones(resource),
        machine_type=resource.get("nodeConfig.machineType"),
        capacity=_capacity(resource, reservation),
        reservation=reservation,
        nodes_min=fixed if fixed is not None else resource.get("autoscaling.totalMinNodeCount"),
        nodes_desired=fixed if fixed is not None else resource.get("initialNodeCount"),
        nodes_max=fixed if fixed is not None else resource.get("autoscaling.totalMaxNodeCount"),
        count_ignored="nodeCount" in resource.ignore_changes,
    )


def _capacity(resource: Resource, reservation: Value) -> Value:
    interruptible = {resource.get("nodeConfig.spot"), resource.get("nodeConfig.preemptible")}
    if True in interruptible:
        return "spot"
    if UNKNOWN in interruptible:
        return UNKNOWN
    return "reserved" if reservation else "on_demand"


def _zones(resource: Resource) -> Value:
    found = resource.get("nodeLocations")
    if not isinstance(found, tuple):
        return found
    return UNKNOWN if UNKNOWN in found else ",".join(sorted(str(zone) for zone in found))
