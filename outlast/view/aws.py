"""Reads AWS resources: labels, node pools, DNS records."""

from __future__ import annotations

from collections.abc import Mapping

from outlast.intent.models import WHOLE
from outlast.view.resource import UNKNOWN, Resource, Value
from outlast.view.view import Index, NodePool, Record

PACKAGE = "aws"
CLOUD = "aws"
_DIVISIONS = ("nvidia.com/mig.config", "nvidia.com/device-plugin.config")
"""Labels that name a configuration of the GPU operator; ours have the name of the partition."""
_CAPACITY = {"ON_DEMAND": "on_demand", "SPOT": "spot", "CAPACITY_BLOCK": "reserved", None: "on_demand"}


def labels(resource: Resource) -> tuple[Value, ...]:
    """Return the tags of a resource, then the provider's default tags."""
    return resource.get("tags"), resource.provider_get("defaultTags.tags")


def node_pool(resource: Resource, index: Index) -> NodePool | None:
    """Return a managed node group as a node pool; None for other types."""
    if resource.type != "aws:eks/nodeGroup:NodeGroup":
        return None
    template = _template(resource, index)
    reservation = (
        template.get("capacityReservationSpecification.capacityReservationTarget.capacityReservationId")
        if template
        else None
    )
    capacity = resource.get("capacityType")
    return NodePool(
        urn=resource.urn,
        key=resource.get("labels.outlast-node-pool"),
        cloud=CLOUD,
        zone=_zone(resource, index),
        machine_type=_machine_types(resource) or (template.get("instanceType") if template else None),
        capacity="reserved" if reservation else _capacity(capacity),
        reservation=reservation,
        partition=_partition(resource.get("labels")),
        nodes_min=resource.get("scalingConfig.minSize"),
        nodes_desired=resource.get("scalingConfig.desiredSize"),
        nodes_max=resource.get("scalingConfig.maxSize"),
        count_ignored="scalingConfig.desiredSize" in resource.ignore_changes,
        subnets=_foreign_subnets(resource),
    )


def record(resource: Resource, index: Index) -> Record | None:  # noqa: ARG001  (one signature for all readers)
    """Return a Route 53 record."""
    if resource.type != "aws:route53/record:Record":
        return None
    return Record(
        urn=resource.urn,
        name=resource.get("name"),
        set_identifier=resource.get("setIdentifier"),
        weight=resource.get("weightedRoutingPolicies.0.weight"),
        target=resource.get("aliases.0.name"),
    )


def _capacity(value: Value) -> Value:
    return _CAPACITY.get(value, UNKNOWN) if value is None or isinstance(value, str) else UNKNOWN


def _partition(labels: Value) -> Value:
    """Return the configuration that the GPU operator applies; both at once are no division that a lock knows."""
    if labels is UNKNOWN:
        return UNKNOWN
    found = [labels[key] for key in _DIVISIONS if key in labels] if isinstance(labels, Mapping) else []
    return UNKNOWN if UNKNOWN in found else "+".join(str(value) for value in found) or WHOLE


def _machine_types(resource: Resource) -> Value:
    found = resource.get("instanceTypes")
    if not isinstance(found, tuple):
        return found
    return UNKNOWN if UNKNOWN in found else ",".join(str(word) for word in found) or None


def _zone(resource: Resource, index: Index) -> Value:
    referred = [index[urn] for urn in resource.property_dependencies.get("subnetIds", ()) if urn in index]
    subnets = [found for found in referred if found.type == "aws:ec2/subnet:Subnet"]
    zones = {subnet.get("availabilityZoneId") for subnet in subnets}
    listed = resource.get("subnetIds")
    is_partial = isinstance(listed, tuple) and len(listed) > len(subnets)
    if not zones or is_partial or any(not isinstance(zone, str) for zone in zones):
        return UNKNOWN
    return ",".join(sorted(str(zone) for zone in zones))


def _foreign_subnets(resource: Resource) -> tuple[str, ...]:
    """Return subnets that are named in plain words, all of them, and made by nobody here."""
    listed = resource.get("subnetIds")
    if not isinstance(listed, tuple) or resource.property_dependencies.get("subnetIds"):
        return ()
    return tuple(str(subnet) for subnet in listed) if UNKNOWN not in listed else ()


def _template(resource: Resource, index: Index) -> Resource | None:
    referred = (index.get(urn) for urn in resource.property_dependencies.get("launchTemplate", ()))
    return next((found for found in referred if found and found.type == "aws:ec2/launchTemplate:LaunchTemplate"), None)
