"""Reads Azure resources: tags, node pools."""

from __future__ import annotations

from collections.abc import Mapping

from outlast.intent.models import WHOLE
from outlast.intent.partitions import MIG
from outlast.view.resource import UNKNOWN, Resource, Value
from outlast.view.view import Index, NodePool

PACKAGE = "azure-native"
CLOUD = "azure"
_CLUSTER = "azure-native:containerservice:ManagedCluster"
_SLICES = "nvidia.com/device-plugin.config"
"""Label that names a configuration of the device plugin; ours have the name of the partition."""
_INSTANCES = {"MIG1g": "7x1g", "MIG2g": "3x2g", "MIG3g": "2x3g", "MIG4g": "1x4g", "MIG7g": "1x7g"}
"""AKS's word -> instances of a card and their slices. Source: AKS documentation, multi-instance GPU node pools."""


def labels(resource: Resource) -> tuple[Value, ...]:
    """Return the tags of a resource; its provider adds none."""
    return (resource.get("tags"),)


def node_pool(resource: Resource, index: Index) -> NodePool | None:
    """Return an agent pool as a node pool; None for other types."""
    if resource.type != "azure-native:containerservice:AgentPool":
        return None
    nodes_min, nodes_max = _limits(resource)
    reservation = resource.get("capacityReservationGroupID")
    return NodePool(
        urn=resource.urn,
        key=resource.get("nodeLabels.outlast-node-pool"),
        cloud=CLOUD,
        zone=_zones(resource, _location(resource, index)),
        machine_type=resource.get("vmSize"),
        capacity=_capacity(resource, reservation),
        reservation=reservation,
        partition=_partition(resource),
        nodes_min=nodes_min,
        nodes_desired=resource.get("count"),
        nodes_max=nodes_max,
        count_ignored="count" in resource.ignore_changes,
    )


def _partition(resource: Resource) -> Value:
    """Return how the cards are divided; both ways at once are no division that a lock knows."""
    profile, slices = resource.get("gpuInstanceProfile"), _label(resource, _SLICES)
    if UNKNOWN in (profile, slices):
        return UNKNOWN
    divided = [f"{MIG}{_INSTANCES.get(str(profile), profile)}"] if profile else []
    divided += [str(slices)] if slices else []
    return "+".join(divided) or WHOLE


def _label(resource: Resource, key: str) -> Value:
    """Return a label whose key has dots."""
    found = resource.get("nodeLabels")
    return found.get(key) if isinstance(found, Mapping) else found


def _limits(resource: Resource) -> tuple[Value, Value]:
    """Return the fewest and the most nodes; an autoscaler decides both, whatever count stands beside it."""
    scaled, count = resource.get("enableAutoScaling"), resource.get("count")
    if scaled is UNKNOWN:
        return UNKNOWN, UNKNOWN
    return (resource.get("minCount"), resource.get("maxCount")) if scaled else (count, count)


def _capacity(resource: Resource, reservation: Value) -> Value:
    priority = resource.get("scaleSetPriority")
    if priority is UNKNOWN or (reservation is UNKNOWN and priority != "Spot"):
        return UNKNOWN
    if priority not in (None, "Regular"):
        return "spot"
    return "reserved" if reservation else "on_demand"


def _location(resource: Resource, index: Index) -> Value:
    """Return where the pool's cluster lies; of a cluster that is not declared here, where the provider makes things."""
    referred = [index[urn] for urn in resource.property_dependencies.get("resourceName", ()) if urn in index]
    clusters = [found for found in referred if found.type == _CLUSTER]
    if len(clusters) > 1:
        return UNKNOWN
    return clusters[0].get("location") if clusters else resource.provider_get("location")


def _zones(resource: Resource, location: Value) -> Value:
    """Return the zones as nodes say them: the API numbers them in every location anew."""
    found = resource.get("availabilityZones")
    if found is None or not isinstance(found, tuple):
        return found
    if not isinstance(location, str) or UNKNOWN in found:
        return UNKNOWN
    return ",".join(sorted(f"{location}-{number}" for number in found))
