"""How node pools of Google Kubernetes Engine stand to their cluster: versions, upgrades, room for their pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.addresses import network_of
from simcloud.kubernetes_words import minor
from simcloud.refusals import Violation
from simcloud.row import Born, Case, between, one_of, refusal
from simcloud.rows.gcp.cluster import CLUSTER, master_version
from simcloud.rows.gcp.network import SUBNETWORK
from simcloud.state import Stored

_API = "Kubernetes Engine API Reference"
_GKE = "GKE documentation"
_PODS = 110
"""Of a node, if nobody says otherwise."""
_AT_ONCE = 20
_SKEW, _AUTOMATIC_SKEW = 2, 1
_MODES = ("GKE_METADATA", "GCE_METADATA", "MODE_UNSPECIFIED")


def version(born: Born) -> str:
    """Return the version of a pool's nodes: its own, or the control plane's, which automatic upgrades bring them to."""
    found = born.clouds.find(str(born.inputs.get("cluster")), [CLUSTER])
    return str(born.inputs.get("version") or (master_version(found[0].inputs) if found else "1.36-gke.1"))


def _upgrades_by_itself(case: Case) -> bool:
    return case.get("management.autoUpgrade", True) is True


@refusal(f"{_GKE}, About release channels; nkoson/gke-tutorial issue 8", phase="plan", watch=("management",))
def _upgrades_off_in_channel(case: Case) -> Iterator[Violation]:
    cluster = case.target("cluster", CLUSTER)
    channel = (cluster.inputs.get("releaseChannel") or {}).get("channel", "UNSPECIFIED") if cluster else "UNSPECIFIED"
    if channel != "UNSPECIFIED" and not _upgrades_by_itself(case):
        yield Violation(
            property="management.autoUpgrade",
            what=f"release channel {channel} upgrades nodes",
            do="Set it to true, or leave the channel",
        )


@refusal(
    f"{_GKE}, GKE version skew policy; terraform-provider-google issue 21116",
    phase="plan",
    watch=("version", "cluster"),
)
def _version_away_from_control_plane(case: Case) -> Iterator[Violation]:
    cluster, wanted = case.target("cluster", CLUSTER), case.get("version")
    if cluster is None or wanted is None:
        return
    most = minor(master_version(cluster.inputs))
    least = most - (_AUTOMATIC_SKEW if _upgrades_by_itself(case) else _SKEW)
    if not least <= minor(wanted) <= most:
        yield Violation(
            property="version",
            what="is too far from the control plane's",
            got=f"'{wanted}'",
            allowed=f"1.{least} to 1.{most}",
            do="Move the control plane first, then the nodes",
        )


@refusal("pulumi-gcp, gcp.container.NodePool: upgrade_settings")
def _nothing_moves_in_upgrade(case: Case) -> Iterator[Violation]:
    surge, away = (case.get(f"upgradeSettings.{key}") for key in ("maxSurge", "maxUnavailable"))
    if not isinstance(surge, int) or not isinstance(away, int):
        return
    if not 1 <= surge + away <= _AT_ONCE:
        yield Violation(
            property="upgradeSettings",
            what="maxSurge and maxUnavailable sum to the nodes that move at once",
            got=str(surge + away),
            allowed=f"1 to {_AT_ONCE}",
            do="Correct one of them",
        )


@refusal(f"{_GKE}, Workload Identity Federation for GKE", phase="plan", watch=("nodeConfig.workloadMetadataConfig",))
def _metadata_without_pool(case: Case) -> Iterator[Violation]:
    path = "nodeConfig.workloadMetadataConfig.mode"
    cluster = case.target("cluster", CLUSTER)
    if cluster and case.get(path) == "GKE_METADATA" and not cluster.inputs.get("workloadIdentityConfig"):
        yield Violation(
            property=path, what="the cluster has no Workload Identity", do="Give the cluster a workload pool"
        )


def _size(inputs: Mapping[str, Any]) -> tuple[int, int]:
    """Return nodes and addresses of each: at least twice the pods, as a power of two."""
    zones = max(len(inputs.get("nodeLocations") or ()), 1)
    nodes = inputs.get("nodeCount", inputs.get("initialNodeCount", 0))
    pods = inputs.get("maxPodsPerNode") or _PODS
    if not isinstance(nodes, int) or not isinstance(pods, int):
        return 0, 0
    return nodes * zones, 1 << (2 * pods - 1).bit_length()


def _pods_range(case: Case, cluster: Stored) -> int:
    """Return the addresses of a cluster's pods; 0 if its subnetwork is not known here."""
    subnetwork = case.resolve(str(cluster.inputs.get("subnetwork")), SUBNETWORK)
    wanted = (cluster.inputs.get("ipAllocationPolicy") or {}).get("clusterSecondaryRangeName")
    ranges = subnetwork.inputs.get("secondaryIpRanges") or () if subnetwork else ()
    found = [network_of(item.get("ipCidrRange")) for item in ranges if item.get("rangeName") == wanted]
    return found[0].num_addresses if found and found[0] else 0


@refusal(
    f"{_GKE}, Configure maximum Pods per node; VPC-native clusters: cluster sizing secondary range for Pods",
    phase="plan",
    watch=("nodeCount", "initialNodeCount", "nodeLocations"),
)
def _pods_range_too_small(case: Case) -> Iterator[Violation]:
    cluster = case.target("cluster", CLUSTER)
    room = _pods_range(case, cluster) if cluster else 0
    nodes, each = _size(case.inputs)
    others = [_size(pool.inputs) for pool in case.users_of(cluster, case.type)]
    left = room - sum(count * addresses for count, addresses in others)
    if room and each and nodes * each > left:
        yield Violation(
            property="nodeCount" if case.has("nodeCount") else "initialNodeCount",
            what="the range of pods is too small for so many nodes",
            got=f"{nodes} nodes of {each} addresses",
            allowed=f"{max(left, 0) // each} nodes",
            do="Widen the region's cidr, or lower maxPodsPerNode",
        )


UPKEEP = (
    _upgrades_off_in_channel,
    _version_away_from_control_plane,
    _nothing_moves_in_upgrade,
    _metadata_without_pool,
    _pods_range_too_small,
    refusal(f"{_GKE}, Configure maximum Pods per node")(between("maxPodsPerNode", 8, 256, "pods")),
    refusal(f"{_API}, WorkloadMetadataConfig", claim="metadata-mode-unknown")(
        one_of("nodeConfig.workloadMetadataConfig.mode", _MODES)
    ),
    refusal(f"{_API}, UpgradeSettings")(one_of("upgradeSettings.strategy", ("SURGE", "BLUE_GREEN", "SHORT_LIVED"))),
)
"""Refusals that need the pool's cluster, or are about its upgrades."""
