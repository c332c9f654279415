"""Google Kubernetes Engine: node pools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from simcloud.refusals import Violation
from simcloud.row import Born, Case, Nodes, Reference, Row, between, one_of, refusal, reservation_elsewhere
from simcloud.rows.gcp.cluster import CLUSTER, DEFAULT_ACCOUNT, zones_elsewhere
from simcloud.rows.gcp.forms import labelled, resource_name
from simcloud.rows.gcp.identity import ACCOUNT
from simcloud.rows.gcp.upkeep import UPKEEP, version
from simcloud.values import UNKNOWN
from simcloud.world import Reservation

NODE_POOL = "gcp:container/nodePool:NodePool"

_API = "Kubernetes Engine API Reference"
_GKE = "GKE documentation"
_TAINT = "hashicorp/terraform-provider-google issue 7928"


@refusal(_TAINT)
def _gpu_taint_given(case: Case) -> Iterator[Violation]:
    for where, taint in case.each("nodeConfig.taints.*"):
        if taint.get("key") == "nvidia.com/gpu":
            yield Violation(
                property=where, what="GKE adds the taint of GPU nodes itself, twice is refused", do="Leave it out"
            )


@refusal(f"{_API}, NodeTaint")
def _taint_given_twice(case: Case) -> Iterator[Violation]:
    seen: set[tuple[object, object]] = set()
    for where, taint in case.each("nodeConfig.taints.*"):
        same = (taint.get("key"), taint.get("effect"))
        if same in seen:
            yield Violation(property=where, what="stands twice", got=f"{same[0]}:{same[1]}", do="Keep one")
        seen.add(same)


@refusal(f"{_API}, NodePoolAutoscaling; pulumi-gcp, gcp.container.NodePool: autoscaling")
def _limits_of_both_kinds(case: Case) -> Iterator[Violation]:
    zonal = [key for key in ("minNodeCount", "maxNodeCount") if case.has(f"autoscaling.{key}")]
    total = [key for key in ("totalMinNodeCount", "totalMaxNodeCount") if case.has(f"autoscaling.{key}")]
    if zonal and total and case.get("autoscaling"):
        yield Violation(
            property=f"autoscaling.{zonal[0]}", what="does not go with limits of the total", got=total[0], do="Keep one"
        )


@refusal(f"{_API}, NodePoolAutoscaling")
def _min_above_max(case: Case) -> Iterator[Violation]:
    for low, high in (("minNodeCount", "maxNodeCount"), ("totalMinNodeCount", "totalMaxNodeCount")):
        least, most = case.get(f"autoscaling.{low}", 0), case.get(f"autoscaling.{high}")
        if isinstance(least, int) and isinstance(most, int) and least > most:
            yield Violation(
                property=f"autoscaling.{low}",
                what="is above the maximum",
                got=f"{least} above {most}",
                do="Raise the maximum first",
            )


@refusal("terraform-google-modules/terraform-google-kubernetes-engine pull request 1554")
def _no_room_to_scale(case: Case) -> Iterator[Violation]:
    limits = [key for key in ("maxNodeCount", "totalMaxNodeCount") if case.has(f"autoscaling.{key}")]
    if limits and not any(case.get(f"autoscaling.{key}", UNKNOWN) for key in limits):
        yield Violation(property=f"autoscaling.{limits[0]}", what="is zero", do="Let the autoscaler make at least one")


@refusal("terraform-provider-google, google_container_node_pool; GoogleCloudPlatform/cluster-toolkit pull request 3068")
def _count_given_twice(case: Case) -> Iterator[Violation]:
    if case.get("nodeCount") and case.get("initialNodeCount"):
        yield Violation(property="nodeCount", what="does not go with initialNodeCount", do="Keep one")


@refusal("Compute Engine documentation, GPU machine types")
def _gpus_unlike_machine(case: Case) -> Iterator[Violation]:
    machine = case.world.machines.get(f"gcp/{case.get('nodeConfig.machineType')}")
    for where, item in case.each("nodeConfig.guestAccelerators.*"):
        if machine and isinstance(item.get("count"), int) and item["count"] != machine.gpus:
            yield Violation(
                property=f"{where}.count",
                what="is not what the machine type has",
                got=str(item["count"]),
                allowed=f"{machine.gpus:.0f}",
                do="Correct the count",
            )
        wanted = machine.accelerator_type if machine else ""
        if wanted and isinstance(item.get("type"), str) and item["type"] not in (wanted, UNKNOWN):
            yield Violation(
                property=f"{where}.type",
                what="is not what the machine type has",
                got=item["type"],
                allowed=wanted,
                do="Correct the type",
            )


@refusal(f"{_GKE}, Run multi-instance GPUs: supported partition sizes")
def _partition_size_unlike_card(case: Case) -> Iterator[Violation]:
    machine = case.world.machines.get(f"gcp/{case.get('nodeConfig.machineType')}")
    for where, size in case.each("nodeConfig.guestAccelerators.*.gpuPartitionSize"):
        if machine and size not in machine.profiles:
            yield Violation(
                property=where,
                what=f"is no partition size of {machine.accelerator}",
                got=f"'{size}'",
                allowed=", ".join(machine.profiles) or "none: the card has no MIG",
                do="Use a profile of the card, or time-sharing",
            )


_SHARED = "nodeConfig.guestAccelerators.*.gpuSharingConfig"


@refusal("Compute Engine documentation, Local SSD disks: machine types and numbers of disks")
def _local_disks_unlike_machine(case: Case) -> Iterator[Violation]:
    name = str(case.get("nodeConfig.machineType"))
    machine = case.world.machines.get(f"gcp/{name}")
    has = machine.disks if machine else 0 if name.startswith(_DISKLESS) else None
    bundled = name.startswith("a3-")
    for block in ("localNvmeSsdBlockConfig", "ephemeralStorageLocalSsdConfig"):
        wanted = case.get(f"nodeConfig.{block}.localSsdCount")
        if has is not None and isinstance(wanted, int) and (wanted > has or (bundled and wanted != has)):
            yield Violation(
                property=f"nodeConfig.{block}.localSsdCount",
                what=f"is not what {name} has",
                got=str(wanted),
                allowed=str(has) if bundled or not has else f"0 to {has}",
                do="Correct the count, or choose a machine type with local SSDs",
            )


_DISKLESS = ("e2-", "t2a-", "t2d-")
"""Families without local SSDs. Source: Compute Engine documentation, Local SSD disks."""
_GPU_FAMILIES = ("a2-*", "a3-*", "a4*", "g2-*", "g4-*", "ct*")


@refusal(
    "Compute Engine, Machine families; config/facts/machine_types.csv", phase="plan", watch=("nodeConfig.machineType",)
)
def _machine_type_unknown(case: Case) -> Iterator[Violation]:
    name = case.get("nodeConfig.machineType")
    formed = re.fullmatch(r"[a-z]\d[a-z]?-[a-z]+(-\d+)?(-lssd)?", str(name))
    if name is None or f"gcp/{name}" in case.world.machines:
        return
    if not formed or any(fnmatchcase(str(name), family) for family in _GPU_FAMILIES):
        yield Violation(
            property="nodeConfig.machineType",
            what="is not a machine type that facts know",
            got=f"'{name}'",
            do="Correct it, or add its row to config/facts",
        )


@refusal("Compute Engine documentation, A3 High machine types: provisioning models")
def _small_a3_on_demand(case: Case) -> Iterator[Violation]:
    name = str(case.get("nodeConfig.machineType"))
    flexible = case.get("nodeConfig.spot") is True or case.get("nodeConfig.flexStart") is True
    if re.fullmatch(r"a3-highgpu-[124]g", name) and not flexible and not case.get("queuedProvisioning.enabled"):
        yield Violation(
            property="nodeConfig.machineType",
            what=f"{name} is sold as Spot or Flex-start only",
            do="Set spot or flexStart",
        )


@refusal("Compute Engine documentation, Reservations of zonal resources: restrictions")
def _reservation_of_spot(case: Case) -> Iterator[Violation]:
    path = "nodeConfig.reservationAffinity"
    takes = str(case.get(f"{path}.consumeReservationType", "NO_RESERVATION"))
    if case.get("nodeConfig.spot") is True and takes not in ("NO_RESERVATION", "UNSPECIFIED"):
        yield Violation(
            property=path, what="Spot machines take from no reservation", got=takes, do="Choose one of both"
        )


@refusal("Compute Engine documentation, GPU machine types: disk types")
def _disk_unlike_machine(case: Case) -> Iterator[Violation]:
    name, disk = str(case.get("nodeConfig.machineType")), case.get("nodeConfig.diskType")
    if name.startswith(("a3-", "g2-")) and disk == "pd-standard":
        yield Violation(
            property="nodeConfig.diskType",
            what=f"{name} takes no such disk",
            got=disk,
            allowed="pd-balanced, pd-ssd, or a Hyperdisk",
            do="Use pd-balanced",
        )


@refusal(f"{_GKE}, Consume reserved zonal resources")
def _reservation_unnamed(case: Case) -> Iterator[Violation]:
    path = "nodeConfig.reservationAffinity"
    specific = case.get(f"{path}.consumeReservationType") == "SPECIFIC_RESERVATION"
    named = case.has(f"{path}.key") and case.has(f"{path}.values")
    if case.has(path) and specific != named and not case.unsure(f"{path}.consumeReservationType"):
        yield Violation(
            property=path,
            what="key and values go with SPECIFIC_RESERVATION, and only with it",
            do="Set all three or none",
        )


def _pool_id(born: Born) -> str:
    cluster = str(born.inputs["cluster"]).rsplit("/", 1)[-1]
    return born.fill("projects/{account}/locations/{location}/clusters/") + f"{cluster}/nodePools/{born.inputs['name']}"


def _pool_key(case: Case) -> str | None:
    cluster, name = case.target("cluster", CLUSTER), case.get("name")
    return f"{cluster.id}/{name}" if cluster and name else None


def _nodes_per_zone(case: Case) -> int:
    wanted = case.get("nodeCount", case.get("initialNodeCount", 0))
    return wanted if isinstance(wanted, int) else 0


def _taken(case: Case) -> tuple[Nodes, Reservation | None]:
    nodes = node_pool(case)
    return nodes, case.world.reservations.get(nodes.reservation)


def node_pool(case: Case) -> Nodes:
    """What a node pool asks for; counts are per zone."""
    zones = {str(zone) for _, zone in case.each("nodeLocations.*")}
    location = str(case.get("location") or "")
    if re.search(r"\d-[a-z]$", location):
        zones = zones or {location}
    affinity = "nodeConfig.reservationAffinity"
    named = next((str(value) for _, value in case.each(f"{affinity}.values.*")), "")
    spot = case.get("nodeConfig.spot") is True or case.get("nodeConfig.preemptible") is True
    return Nodes(
        machine_type=str(case.get("nodeConfig.machineType") or "e2-medium"),
        capacity="spot" if spot else "reserved" if named else "on_demand",
        count=_nodes_per_zone(case) * max(len(zones), 1),
        zones=frozenset(zones),
        reservation=named.split("/")[-1],
        property="nodeConfig.machineType",
    )


_RESERVATIONS = (
    "UNSPECIFIED",
    "NO_RESERVATION",
    "ANY_RESERVATION",
    "ANY_RESERVATION_THEN_FAIL",
    "SPECIFIC_RESERVATION",
)
_UNCHANGING = (
    "advancedMachineFeatures",
    "confidentialNodes",
    "ephemeralStorageLocalSsdConfig",
    "guestAccelerators",
    "hostMaintenancePolicy",
    "localNvmeSsdBlockConfig",
    "localSsdCount",
    "metadata",
    "minCpuPlatform",
    "nodeGroup",
    "oauthScopes",
    "preemptible",
    "reservationAffinity",
    "secondaryBootDisks",
    "serviceAccount",
    "shieldedInstanceConfig",
    "soleTenantConfig",
    "spot",
)


ROWS = (
    Row(
        type=NODE_POOL,
        id=_pool_id,
        name=resource_name(40, f"{_API}, NodePool: name"),
        place="location",
        outputs={
            "instanceGroupUrls": [],
            "managedInstanceGroupUrls": [],
            "version": version,
            "maxPodsPerNode": 110,
        },
        immutable=frozenset(
            {
                "cluster",
                "maxPodsPerNode",
                "placementPolicy",
                "bestEffortProvisioning",
                "queuedProvisioning",
                "initialNodeCount",
                *(f"nodeConfig.{key}" for key in _UNCHANGING),
            }
        ),
        references=(
            # Source: Kubernetes Engine API Reference, projects.locations.clusters.delete: with all worker nodes.
            Reference(path="cluster", types=(CLUSTER,), named=True, cascades=True),
            Reference(path="nodeConfig.serviceAccount", types=(ACCOUNT,), outside=DEFAULT_ACCOUNT),
        ),
        unique=(_pool_key,),
        nodes=node_pool,
        draws_down=True,
        refusals=(
            zones_elsewhere,
            *UPKEEP,
            _gpu_taint_given,
            _taint_given_twice,
            _limits_of_both_kinds,
            _min_above_max,
            _no_room_to_scale,
            _count_given_twice,
            _gpus_unlike_machine,
            _partition_size_unlike_card,
            _local_disks_unlike_machine,
            refusal(f"{_GKE}, Share GPUs with time-sharing")(
                one_of(f"{_SHARED}.gpuSharingStrategy", ("TIME_SHARING", "MPS"))
            ),
            refusal(f"{_GKE}, ComputeClass reference: gpuSharing")(between(f"{_SHARED}.maxSharedClientsPerGpu", 2, 48)),
            _machine_type_unknown,
            _small_a3_on_demand,
            refusal(
                f"{_GKE}, Consume reserved zonal resources",
                phase="plan",
                watch=("nodeConfig.reservationAffinity", "nodeLocations"),
            )(reservation_elsewhere("nodeConfig.reservationAffinity", _taken)),
            _reservation_unnamed,
            _reservation_of_spot,
            _disk_unlike_machine,
            labelled("nodeConfig.resourceLabels"),
            refusal(f"{_API}, ReservationAffinity")(
                one_of("nodeConfig.reservationAffinity.consumeReservationType", _RESERVATIONS)
            ),
            refusal(f"{_API}, GPUDriverInstallationConfig")(
                one_of(
                    "nodeConfig.guestAccelerators.*.gpuDriverInstallationConfig.gpuDriverVersion",
                    ("DEFAULT", "LATEST", "INSTALLATION_DISABLED", "GPU_DRIVER_VERSION_UNSPECIFIED"),
                )
            ),
            refusal(f"{_API}, PlacementPolicy", claim="placement-unknown")(
                one_of("placementPolicy.type", ("COMPACT",))
            ),
            refusal(f"{_API}, NodeTaint: effect")(
                one_of(
                    "nodeConfig.taints.*.effect",
                    (
                        "NO_SCHEDULE",
                        "PREFER_NO_SCHEDULE",
                        "NO_EXECUTE",
                    ),
                )
            ),
        ),
    ),
)
