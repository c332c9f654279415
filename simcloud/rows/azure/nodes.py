"""Azure Kubernetes Service: agent pools beside the one inside the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simcloud.addresses import network_of
from simcloud.kubernetes_words import minor
from simcloud.refusals import Violation
from simcloud.row import Born, Case, Reference, Row, one_of, refusal, reservation_elsewhere
from simcloud.rows.azure.arm import FULL, above, allowed, arm_id, copied, fixed, holder, principal_of
from simcloud.rows.azure.arm import arm_name as named
from simcloud.rows.azure.network import SUBNET, prefixes
from simcloud.rows.azure.pools import (
    AKS,
    CLUSTER,
    EVERY_POOL,
    POOL,
    SKEW,
    count_of,
    nodes_of,
    reserved,
    version_unknown,
)
from simcloud.state import Stored
from simcloud.values import at

_POOL_ID = arm_id("Microsoft.ContainerService/managedClusters/agentPools", "resourceName", "agentPoolName")
_UPGRADES = f"{AKS}, Upgrade node pools"
_RESERVED = f"{AKS}, Assign capacity reservation groups to node pools"
_OWN_ADDRESSES = 5
"""Addresses of a subnet that Azure keeps. Source: Azure Virtual Network FAQ."""

_FIXED = (
    "availabilityZones",
    "capacityReservationGroupID",
    "enableEncryptionAtHost",
    "enableFIPS",
    "enableNodePublicIP",
    "enableUltraSSD",
    "gpuProfile",
    "hostGroupID",
    "kubeletDiskType",
    "maxPods",
    "nodePublicIPPrefixID",
    "osDiskSizeGB",
    "osDiskType",
    "osType",
    "podSubnetID",
    "proximityPlacementGroupID",
    "scaleSetEvictionPolicy",
    "scaleSetPriority",
    "spotMaxPrice",
    "type",
    "vnetSubnetID",
)
"""Source: AKS REST API, Agent Pools; hashicorp/terraform-provider-azurerm, azurerm_kubernetes_cluster_node_pool."""


def cluster_of(case: Case) -> Stored | None:
    """The cluster that a pool is part of."""
    words = {key: value for key, value in case.inputs.items() if isinstance(value, str)}
    found = holder(
        case.clouds, above(_POOL_ID.format_map({"account": case.place.account, "agentPoolName": "x", **words}))
    )
    return found if found and found.type == CLUSTER else None


def pools_of(case: Case, cluster: Stored | None) -> list[Stored]:
    """Pools beside the one inside a cluster."""
    users = case.clouds.users(cluster) if cluster else []
    return [item for item in users if item.type == POOL and (case.own is None or item.serial != case.own.serial)]


@refusal(f"{AKS}, Agent Pools - Create Or Update: PropertyChangeNotAllowed", phase="plan")
def _property_fixed(case: Case) -> Iterator[Violation]:
    yield from fixed(case, _FIXED, "a pool that exists")


@refusal("pulumi/pulumi-azure-native issue 2943; Azure/AKS issue 1627", phase="plan", watch=("enableAutoScaling",))
def _count_missing(case: Case) -> Iterator[Violation]:
    turned_on = case.old is not None and not case.old.get("enableAutoScaling") and case.get("enableAutoScaling") is True
    if turned_on and not case.has("count"):
        yield Violation(
            property="count", what="is required to turn the autoscaler on", do="Give the nodes there are now"
        )


@refusal(f"{AKS}, Supported Kubernetes versions", phase="plan", watch=("orchestratorVersion",))
def _version_of_pool_unknown(case: Case) -> Iterator[Violation]:
    yield from version_unknown(case, "orchestratorVersion", case.get("orchestratorVersion"))


@refusal(f"{_UPGRADES}: control plane first, then pools", phase="apply", watch=("orchestratorVersion",))
def _newer_than_cluster(case: Case) -> Iterator[Violation]:
    cluster, own = cluster_of(case), minor(case.get("orchestratorVersion"))
    above_it = minor(cluster.inputs.get("kubernetesVersion")) if cluster else 0
    if own and above_it and own > above_it:
        yield Violation(
            property="orchestratorVersion",
            what="is newer than the control plane",
            got=f"1.{own}",
            allowed=f"up to 1.{above_it}",
            do="Upgrade the cluster first",
        )


@refusal(f"{_UPGRADES}: how far a pool may be behind", phase="apply", watch=("orchestratorVersion",))
def _too_far_behind(case: Case) -> Iterator[Violation]:
    cluster, own = cluster_of(case), minor(case.get("orchestratorVersion"))
    above_it = minor(cluster.inputs.get("kubernetesVersion")) if cluster else 0
    if own and above_it and own < above_it - SKEW:
        yield Violation(
            property="orchestratorVersion",
            what="is too far behind the control plane",
            got=f"1.{own}",
            allowed=f"from 1.{above_it - SKEW}",
            do="Use a newer version",
        )


@refusal(f"{_UPGRADES}: downgrades are not supported", phase="plan", watch=("orchestratorVersion",))
def _pool_downgrade(case: Case) -> Iterator[Violation]:
    before, now = minor((case.old or {}).get("orchestratorVersion")), minor(case.get("orchestratorVersion"))
    if before and now and now < before:
        yield Violation(
            property="orchestratorVersion", what="goes back", got=f"1.{before} to 1.{now}", do="Make a pool beside it"
        )


@refusal(f"{AKS}, Create node pools: all subnets lie in one virtual network", phase="apply", watch=("vnetSubnetID",))
def _subnet_of_another_network(case: Case) -> Iterator[Violation]:
    cluster = cluster_of(case)
    theirs = [str(value) for _, value in at(cluster.inputs, "agentPoolProfiles.*.vnetSubnetID")] if cluster else []
    own = case.get("vnetSubnetID")
    if theirs and own and above(str(own)) not in {above(item) for item in theirs}:
        yield Violation(property="vnetSubnetID", what="lies in another network than the cluster", do="Use its network")


@refusal(
    f"{AKS}, IP address planning: InsufficientSubnetSize", phase="apply", watch=("vnetSubnetID", "count", "maxCount")
)
def _subnet_too_small(case: Case) -> Iterator[Violation]:
    subnet = case.target("vnetSubnetID", SUBNET)
    ranges = [network_of(value) for _, value in prefixes(subnet)] if subnet else []
    room = sum(item.num_addresses - _OWN_ADDRESSES for item in ranges if item)
    others = sum(count_of(item.inputs) for item in case.users_of(subnet, POOL))
    wanted = max(count_of(case.inputs), case.get("maxCount", 0)) + others
    if subnet and wanted > room:
        yield Violation(
            property="vnetSubnetID",
            what=f"subnet {subnet.name} has no room for the nodes",
            got=f"{wanted} nodes",
            allowed=f"{room} addresses",
            do="Use a larger subnet",
        )


@refusal(f"{AKS}, Use managed identities: Network Contributor on the subnet", phase="birth")
def _may_not_join_subnet(case: Case) -> Iterator[Violation]:
    cluster, subnet = cluster_of(case), case.target("vnetSubnetID", SUBNET)
    for _, identity in at(cluster.inputs, "identity.userAssignedIdentities.*") if cluster and subnet else ():
        principal = principal_of(case, identity)
        if principal and subnet and not allowed(case, principal, subnet.id, ("Network Contributor",)):
            yield Violation(
                property="vnetSubnetID",
                what=f"the cluster's identity may not join subnet {subnet.name}",
                got="no role assignment",
                do="Give it Network Contributor on the subnet first",
            )


_GROUP = "capacityReservationGroupID"


@refusal(f"{_RESERVED}: the group's id", phase="plan", watch=(_GROUP,))
def _reservation_missing(case: Case) -> Iterator[Violation]:
    group = case.get(_GROUP)
    if group is not None and reserved(case.world, group) is None:
        yield Violation(
            property=_GROUP,
            what=f"there is no capacity reservation group '{group}'",
            do="Reserve, or correct capacity.yaml",
        )


@refusal("Azure Virtual Machines documentation, On-demand capacity reservation: not for Spot")
def _reservation_with_spot(case: Case) -> Iterator[Violation]:
    if case.has(_GROUP) and case.get("scaleSetPriority") == "Spot":
        yield Violation(property=_GROUP, what="does not go with Spot", do="Leave out one of the two")


@refusal(f"{_RESERVED}: user-assigned identity", phase="birth")
def _reservation_of_system_identity(case: Case) -> Iterator[Violation]:
    cluster = cluster_of(case)
    if case.has(_GROUP) and cluster and (cluster.inputs.get("identity") or {}).get("type") != "UserAssigned":
        yield Violation(
            property=_GROUP, what="needs a cluster with a user-assigned identity", do="Give the cluster one"
        )


@refusal(f"{_RESERVED}: Contributor role", phase="birth")
def _may_not_use_reservation(case: Case) -> Iterator[Violation]:
    cluster, group = cluster_of(case), str(case.get(_GROUP, ""))
    for _, identity in at(cluster.inputs, "identity.userAssignedIdentities.*") if cluster and group else ():
        principal = principal_of(case, identity)
        if principal and not allowed(case, principal, group, FULL):
            yield Violation(
                property=_GROUP,
                what="the cluster's identity may not use the reservation",
                got="no role assignment",
                do="Give it Contributor on the reservation group first",
            )


def _version(born: Born) -> str:
    own = born.inputs.get("orchestratorVersion")
    cluster = holder(born.clouds, above(born.id))
    return str(own or (cluster.inputs.get("kubernetesVersion") if cluster else "") or "")


def _image(born: Born) -> str:
    system = re.sub(r"\W", "", str(born.inputs.get("osSKU") or "Ubuntu"))
    return f"AKS{system}-2204gen2containerd-202611.01.0"


ROWS = (
    Row(
        type=POOL,
        id=_POOL_ID,
        name=named("agentPoolName", "", 255, "", "", made=copied),
        place="resourceName",
        outputs={
            "name": "{agentPoolName}",
            "provisioningState": "Succeeded",
            "currentOrchestratorVersion": _version,
            "nodeImageVersion": _image,
        },
        immutable=frozenset({"resourceName", "gpuInstanceProfile", "vmSize"}),
        references=(Reference(path="vnetSubnetID", types=(SUBNET,), holds=True),),
        unique=(_POOL_ID,),
        nodes=nodes_of,
        refusals=(
            *EVERY_POOL,
            _property_fixed,
            _count_missing,
            _version_of_pool_unknown,
            _newer_than_cluster,
            _too_far_behind,
            _pool_downgrade,
            _subnet_of_another_network,
            _subnet_too_small,
            _may_not_join_subnet,
            _reservation_missing,
            refusal(f"{_RESERVED}: size and zone of the reservation", phase="plan", watch=(_GROUP,))(
                reservation_elsewhere(
                    _GROUP, lambda case: (nodes_of(case), reserved(case.world, case.get(_GROUP))), in_a_zone=True
                )
            ),
            _reservation_with_spot,
            _reservation_of_system_identity,
            _may_not_use_reservation,
            refusal(f"{AKS}, Use system node pools: modes")(one_of("mode", ("System", "User", "Gateway"))),
            refusal(f"{AKS}, Use GPUs for compute-intensive workloads: driver")(
                one_of("gpuProfile.driver", ("Install", "None"))
            ),
            refusal(f"{AKS}, Storage options: OS disk types")(one_of("osDiskType", ("Managed", "Ephemeral"))),
            refusal(f"{AKS}, Add an Azure Spot node pool: priority")(one_of("scaleSetPriority", ("Regular", "Spot"))),
        ),
    ),
)
