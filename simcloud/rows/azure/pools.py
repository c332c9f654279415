"""What Azure Kubernetes Service asks of every pool, of those inside a cluster and of those beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.kubernetes_words import is_label_value, minor
from simcloud.refusals import Violation
from simcloud.row import Case, Nodes, refusal
from simcloud.rows.azure.arm import zone_names
from simcloud.values import first, has_unknown, is_unknown
from simcloud.world import Reservation, World

CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"

AKS = "AKS documentation"
_API = "AKS REST API, Agent Pools - Create Or Update"
_GPUS = f"{AKS}, Use GPUs for compute-intensive workloads"

MIG = {f"MIG{part}g": f"{part}g." for part in (1, 2, 3, 4, 7)}
"""Profile to how NVIDIA's names of it begin. Source: pulumi-azure-native, containerservice.GPUInstanceProfile."""
SKEW = 3
"""Minor versions that a pool may be behind. Source: AKS documentation, Supported Kubernetes versions."""


def pools(case: Case) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """List the pools under judgement, each with what its inputs' paths begin with."""
    if case.type == POOL:
        yield "", case.inputs
        return
    for where, pool in case.each("agentPoolProfiles.*"):
        if isinstance(pool, Mapping):
            yield f"{where}.", pool


def said(pool: Mapping[str, Any], path: str, default: Any = None) -> Any:
    """Return a value of a pool if it is known, else the default."""
    found: Any = pool
    for step in path.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return default if found is None or is_unknown(found) else found


def node_subnets(case: Case) -> list[tuple[str, str]]:
    """Subnets of the pools, with the inputs that name them."""
    found = ((where, said(pool, "vnetSubnetID")) for where, pool in pools(case))
    return [(f"{where}vnetSubnetID", str(value)) for where, value in found if value is not None]


def version_unknown(case: Case, where: str, version: object) -> Iterator[Violation]:
    """Refuse a version that the cloud does not offer."""
    known = case.world.kubernetes_versions("azure")
    if version is not None and known and f"1.{minor(version)}" not in known:
        yield Violation(
            property=where,
            what="is not a version the cloud offers",
            got=f"'{version}'",
            allowed=", ".join(known),
            do="Use one",
        )


def reserved(world: World, group: object) -> Reservation | None:
    """What a capacity reservation group holds, which facts name by its id or by its name."""
    wanted = str(group).lower()
    for key, held in world.reservations.items():
        if held.cloud == "azure" and wanted in (key.lower(), *(() if "/" in key else (_tail(wanted, key),))):
            return held
    return None


def _tail(wanted: str, key: str) -> str:
    return wanted if wanted.rsplit("/", 1)[-1] == key.lower() else ""


def nodes_of(case: Case) -> Nodes | None:
    """What the pools of a resource ask for; a pool's nodes are spread over its zones."""
    every = [(where, pool) for where, pool in pools(case) if isinstance(said(pool, "vmSize"), str)]
    if not every:
        return None
    where, first = every[0]
    spot = said(first, "scaleSetPriority") == "Spot"
    zones = [zone for _, pool in every for zone in said(pool, "availabilityZones", [])]
    return Nodes(
        machine_type=str(said(first, "vmSize")),
        capacity="spot" if spot else "reserved" if said(first, "capacityReservationGroupID") else "on_demand",
        count=sum(count_of(pool) for _, pool in every),
        zones=zone_names(case, (zone for zone in zones if not is_unknown(zone))),
        property=f"{where}vmSize",
    )


def count_of(pool: Mapping[str, Any]) -> int:
    """Nodes that a pool asks for now."""
    low = said(pool, "minCount", 0) if said(pool, "enableAutoScaling") is True else 1
    count = said(pool, "count", low)
    return count if isinstance(count, int) else 0


@refusal(f"{AKS}, Create node pools: limitations of names")
def _pool_misnamed(case: Case) -> Iterator[Violation]:
    path = "agentPoolName" if case.type == POOL else "name"
    for where, pool in pools(case):
        name, windows = said(pool, path), said(pool, "osType") == "Windows"
        if name is not None and not re.fullmatch(rf"[a-z][a-z0-9]{{0,{5 if windows else 11}}}", str(name)):
            yield Violation(
                property=f"{where}{path}",
                what="is not a name of a pool",
                got=f"'{name}'",
                allowed=f"1 to {6 if windows else 12} lower-case letters and digits, starting with a letter",
                do="Choose another name",
            )


@refusal(f"{AKS}, Availability zones: AvailabilityZoneNotSupported")
def _zones_elsewhere(case: Case) -> Iterator[Violation]:
    known = case.world.zones("azure", case.place.region)
    for where, pool in pools(case):
        for zone in said(pool, "availabilityZones", []):
            if not is_unknown(zone) and f"{case.place.region}-{zone}" not in known:
                yield Violation(
                    property=f"{where}availabilityZones",
                    what=f"is not a zone of {case.place.region}",
                    got=f"'{zone}'",
                    allowed=", ".join(sorted(name.rpartition("-")[2] for name in known)) or "no zones",
                    do="Write the number of a zone that the location has",
                )


@refusal("kubernetes-sigs/cluster-api-provider-azure issue 5947: count between minCount and maxCount")
def _count_outside_bounds(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        low, high, count = said(pool, "minCount", 0), said(pool, "maxCount"), said(pool, "count")
        if said(pool, "enableAutoScaling") is not True:
            continue
        if isinstance(high, int) and low > high:
            yield Violation(
                property=f"{where}minCount", what="is above maxCount", got=f"{low} above {high}", do="Raise it"
            )
        elif isinstance(count, int) and isinstance(high, int) and not low <= count <= high:
            yield Violation(
                property=f"{where}count",
                what="lies outside minCount and maxCount",
                got=str(count),
                allowed=f"{low} to {high}",
                do="Move the bounds with it",
            )


@refusal(f"{AKS}, Use the cluster autoscaler: --min-count and --max-count are required")
def _bounds_missing(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        given = [key for key in ("minCount", "maxCount") if pool.get(key) is not None]
        if said(pool, "enableAutoScaling") is True and len(given) < 2:
            yield Violation(property=f"{where}enableAutoScaling", what="needs minCount and maxCount", do="Give both")


@refusal(f"{_API}: minCount and maxCount go with enableAutoScaling")
def _bounds_without_autoscaler(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        given = [key for key in ("minCount", "maxCount") if pool.get(key) is not None]
        if (
            given
            and not has_unknown(first(pool, "enableAutoScaling"))
            and said(pool, "enableAutoScaling", False) is False
        ):
            yield Violation(
                property=f"{where}{given[0]}", what="is for the autoscaler, which is off", do="Leave the bounds out"
            )


@refusal(f"{AKS}, Use system node pools: at least one node, user pools may have none")
def _count_out_of_range(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        least = 1 if said(pool, "mode", "User") == "System" else 0
        for key in ("count", "minCount", "maxCount"):
            count = said(pool, key)
            if isinstance(count, int) and not least <= count <= 1000:
                yield Violation(
                    property=f"{where}{key}",
                    what="is out of range",
                    got=str(count),
                    allowed=f"{least} to 1000",
                    do="Correct it",
                )


@refusal(f"{AKS}, Add an Azure Spot node pool: limitations")
def _spot_as_system(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        if said(pool, "scaleSetPriority") == "Spot" and said(pool, "mode", "User") == "System":
            yield Violation(
                property=f"{where}scaleSetPriority", what="system pools are never Spot", do="Set mode to User"
            )


@refusal(f"{_API}: scaleSetEvictionPolicy and spotMaxPrice go with Spot")
def _spot_words_without_spot(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        for key in ("scaleSetEvictionPolicy", "spotMaxPrice"):
            if pool.get(key) is not None and said(pool, "scaleSetPriority", "Regular") == "Regular":
                yield Violation(property=f"{where}{key}", what="is for Spot pools", do="Set scaleSetPriority to Spot")


@refusal("hashicorp/terraform-provider-azurerm issue 19355 and pull request 31129: Spot pools can't set max surge")
def _surge_of_spot(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        for key in ("maxSurge", "maxUnavailable"):
            if said(pool, "scaleSetPriority") == "Spot" and said(pool, f"upgradeSettings.{key}") is not None:
                yield Violation(
                    property=f"{where}upgradeSettings.{key}", what="is not for Spot pools", do="Leave it out"
                )


@refusal(f"{AKS}, Configure rolling upgrades: max surge and max unavailable")
def _surge_malformed(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        surge, gone = (said(pool, f"upgradeSettings.{key}") for key in ("maxSurge", "maxUnavailable"))
        for key, value in (("maxSurge", surge), ("maxUnavailable", gone)):
            if value is not None and not re.fullmatch(r"\d+|(100|\d{1,2})%", str(value)):
                yield Violation(
                    property=f"{where}upgradeSettings.{key}",
                    what="is no number of nodes",
                    got=f"'{value}'",
                    do="Write for example 1 or 33%",
                )
        stuck = str(surge) in ("0", "0%") and str(gone or 0) in ("0", "0%")
        if stuck and not has_unknown(first(pool, "upgradeSettings.maxUnavailable")):
            yield Violation(
                property=f"{where}upgradeSettings", what="leaves no way to upgrade a node", do="Set maxUnavailable to 1"
            )
        if str(gone or 0) not in ("0", "0%") and said(pool, "mode", "User") == "System":
            yield Violation(
                property=f"{where}upgradeSettings.maxUnavailable", what="is not for system pools", do="Use maxSurge"
            )


@refusal(f"{AKS}, Use node taints")
def _taint_malformed(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        for taint in said(pool, "nodeTaints", []):
            if not is_unknown(taint) and not re.fullmatch(
                r"[\w./-]+(=[\w.-]{0,63})?:(NoSchedule|PreferNoSchedule|NoExecute)", str(taint)
            ):
                yield Violation(
                    property=f"{where}nodeTaints",
                    what="is not a taint",
                    got=f"'{taint}'",
                    do="Write key=value:NoSchedule",
                )


@refusal(f"{AKS}, Use labels in a cluster: reserved system labels")
def _label_reserved(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        for key, value in (said(pool, "nodeLabels", {}) or {}).items():
            if "kubernetes.azure.com" in key.partition("/")[0] and "/" in key:
                yield Violation(
                    property=f"{where}nodeLabels", what="has a prefix of Azure's own", got=key, do="Use another"
                )
            elif isinstance(value, str) and not is_unknown(value) and not is_label_value(value):
                yield Violation(
                    property=f"{where}nodeLabels",
                    what=f"label {key} has no value a label takes",
                    got=f"'{value}'",
                    allowed="up to 63 letters, digits, - _ and .",
                    do="Correct it",
                )


def _machine(case: Case, pool: Mapping[str, Any]) -> Any:
    return case.world.machines.get(f"azure/{said(pool, 'vmSize')}")


@refusal("Azure Virtual Machines documentation, Sizes; config/facts/machine_types.csv", phase="plan")
def _machine_type_unknown(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        size = said(pool, "vmSize")
        if size is None or f"azure/{size}" in case.world.machines:
            continue
        if not re.fullmatch(r"Standard_[A-MO-Z][A-Za-z]*\d+(-\d+)?[a-z]*(_v\d+)?", str(size)):
            yield Violation(
                property=f"{where}vmSize",
                what="is not a machine type that facts know",
                got=f"'{size}'",
                do="Correct it, or add its row to config/facts",
            )


@refusal(f"{AKS}, Create a multi-instance GPU node pool")
def _profile_unlike_card(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        profile, machine = said(pool, "gpuInstanceProfile"), _machine(case, pool)
        parts = machine.profiles if machine else ()
        known = [word for word, start in MIG.items() if any(part.startswith(start) for part in parts)]
        if profile is not None and profile not in (known if machine else MIG):
            yield Violation(
                property=f"{where}gpuInstanceProfile",
                what=f"is no profile of {machine.accelerator if machine else 'a card'}",
                got=f"'{profile}'",
                allowed=", ".join(known) or "none: the card has no MIG",
                do="Use a profile of the card, or leave it out",
            )


@refusal(f"{_GPUS}: GPU-enabled virtual machine sizes")
def _gpu_words_without_gpu(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        for key in ("gpuProfile", "gpuInstanceProfile"):
            size = said(pool, "vmSize")
            if size is not None and pool.get(key) is not None and not str(size).startswith("Standard_N"):
                yield Violation(property=f"{where}{key}", what=f"{size} has no GPU", do="Leave it out")


@refusal(f"{AKS}, Use AMD GPUs: driver None, AKS installs nothing for them")
def _driver_of_amd(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        if (
            _amd(pool)
            and not has_unknown(first(pool, "gpuProfile.driver"))
            and said(pool, "gpuProfile.driver", "Install") != "None"
        ):
            yield Violation(
                property=f"{where}gpuProfile.driver",
                what="AKS installs no driver of AMD",
                got=str(said(pool, "gpuProfile.driver", "Install")),
                do="Set it to None, and run AMD's operator",
            )


@refusal(f"{AKS}, Use AMD GPUs: Ubuntu only")
def _system_of_amd(case: Case) -> Iterator[Violation]:
    for where, pool in pools(case):
        if _amd(pool) and not str(said(pool, "osSKU", "Ubuntu")).startswith("Ubuntu"):
            yield Violation(
                property=f"{where}osSKU",
                what="AMD cards need Ubuntu",
                got=str(said(pool, "osSKU")),
                do="Set it to Ubuntu",
            )


def _amd(pool: Mapping[str, Any]) -> bool:
    return re.search(r"_MI\d", str(said(pool, "vmSize"))) is not None


EVERY_POOL = (
    _pool_misnamed,
    _zones_elsewhere,
    _count_outside_bounds,
    _bounds_missing,
    _bounds_without_autoscaler,
    _count_out_of_range,
    _spot_as_system,
    _spot_words_without_spot,
    _surge_of_spot,
    _surge_malformed,
    _taint_malformed,
    _label_reserved,
    _machine_type_unknown,
    _profile_unlike_card,
    _gpu_words_without_gpu,
    _driver_of_amd,
    _system_of_amd,
)
"""What is refused of every pool."""
