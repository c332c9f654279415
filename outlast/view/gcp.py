"""Reads Google Cloud resources: labels, node pools."""

from __future__ import annotations

from outlast.intent.models import WHOLE
from outlast.intent.partitions import MIG, SLICED
from outlast.view.resource import UNKNOWN, Resource, Value, value_at
from outlast.view.view import Index, NodePool

PACKAGE = "gcp"
CLOUD = "gcp"
_SHARING = ("gpuSharingStrategy", "maxSharedClientsPerGpu")
_LABELS = ("labels", "userLabels", "resourceLabels")
_INTERRUPTIBLE = (
    "nodeConfig.spot",
    "nodeConfig.preemptible",
    "nodeConfig.flexStart",
    "nodeConfig.maxRunDuration",
    "queuedProvisioning.enabled",
)
"""Inputs that let the cloud take nodes away, or give them only when it has some to spare."""


def labels(resource: Resource) -> tuple[Value, ...]:
    """Return the labels of a resource, whatever its type calls them, then the provider's default labels."""
    own = next((found for name in _LABELS if (found := resource.get(name)) is not None), None)
    return own, resource.provider_get("defaultLabels")


def node_pool(resource: Resource, index: Index) -> NodePool | None:  # noqa: ARG001  (one signature for all readers)
    """Return a node pool; None for other types."""
    if resource.type != "gcp:container/nodePool:NodePool":
        return None
    nodes_min, nodes_max = _limits(resource)
    fixed = resource.get("nodeCount")
    reservation = _reservation(resource)
    return NodePool(
        urn=resource.urn,
        key=resource.get("nodeConfig.labels.outlast-node-pool"),
        cloud=CLOUD,
        zone=_zones(resource),
        machine_type=resource.get("nodeConfig.machineType"),
        capacity=_capacity(resource, reservation),
        reservation=reservation,
        partition=_partition(resource.get("nodeConfig.guestAccelerators")),
        nodes_min=nodes_min,
        nodes_desired=fixed if fixed is not None else resource.get("initialNodeCount"),
        nodes_max=nodes_max,
        count_ignored="nodeCount" in resource.ignore_changes or _is_set(resource.get("ignoreNodeCountChanges")),
    )


def _partition(accelerators: Value) -> Value:
    """Return how the cards are divided; GKE fills each with instances of the profile, or shares its time."""
    if accelerators is UNKNOWN:
        return UNKNOWN
    found = [_division(entry) for entry in accelerators] if isinstance(accelerators, tuple) else []
    return UNKNOWN if UNKNOWN in found else "+".join(str(value) for value in found) or WHOLE


def _division(accelerator: Value) -> Value:
    profile = value_at(accelerator, "gpuPartitionSize")
    strategy, clients = (value_at(accelerator, f"gpuSharingConfig.{key}") for key in _SHARING)
    if UNKNOWN in (accelerator, profile, strategy, clients):
        return UNKNOWN
    divided = [f"{MIG}{profile}"] if profile else []
    if strategy is not None:
        divided.append(f"{SLICED}{clients}" if strategy == "TIME_SHARING" else f"{strategy}-{clients}".lower())
    return "+".join(divided) or WHOLE


def _limits(resource: Resource) -> tuple[Value, Value]:
    """Return the fewest and the most nodes; an autoscaler decides both, whatever count stands beside it."""
    scaler = resource.get("autoscaling")
    if scaler is None:
        fixed = resource.get("nodeCount")
        return (UNKNOWN if _is_set(resource.get("bestEffortProvisioning.enabled")) else fixed), fixed
    if any(value_at(scaler, limit) is not None for limit in ("minNodeCount", "maxNodeCount")):
        return UNKNOWN, UNKNOWN  # limits of each zone, and the cloud decides how many zones it uses
    least = value_at(scaler, "totalMinNodeCount")
    return (0 if least is None else least), value_at(scaler, "totalMaxNodeCount")


def _is_set(value: Value) -> bool:
    """Whether a switch is on, or may be."""
    return value not in (None, False)


def _reservation(resource: Resource) -> Value:
    """Return the only reservation that nodes are taken from; None if they may come from elsewhere."""
    affinity = resource.get("nodeConfig.reservationAffinity")
    kind = value_at(affinity, "consumeReservationType")
    if kind is UNKNOWN:
        return UNKNOWN
    names = value_at(affinity, "values") if kind == "SPECIFIC_RESERVATION" else None
    if not isinstance(names, tuple):
        return names
    return UNKNOWN if UNKNOWN in names else ",".join(str(name) for name in names) or None


def _capacity(resource: Resource, reservation: Value) -> Value:
    interruptible = [resource.get(path) for path in _INTERRUPTIBLE]
    if any(_is_set(value) and value is not UNKNOWN for value in interruptible):
        return "spot"
    if UNKNOWN in interruptible or reservation is UNKNOWN:
        return UNKNOWN
    return "reserved" if reservation else "on_demand"


def _zones(resource: Resource) -> Value:
    found = resource.get("nodeLocations")
    if not isinstance(found, tuple):
        return found
    return UNKNOWN if UNKNOWN in found else ",".join(sorted(str(zone) for zone in found))
