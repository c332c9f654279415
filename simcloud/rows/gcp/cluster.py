"""Google Kubernetes Engine: clusters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.addresses import authority, public_address
from simcloud.refusals import Violation
from simcloud.row import Born, Case, Reference, Row, one_of, refusal
from simcloud.rows.gcp.network import NETWORK, SUBNETWORK, resource_name

CLUSTER = "gcp:container/cluster:Cluster"

_API = "Kubernetes Engine API Reference"
_GKE = "GKE documentation"
_PROVIDER = "terraform-provider-google, google_container_cluster"


@refusal(f"{_API}, Cluster: locations")
def zones_elsewhere(case: Case) -> Iterator[Violation]:
    """Refuse zones of another region."""
    known = case.world.zones("gcp", case.place.region)
    if case.unsure("location"):
        return
    for where, zone in case.each("nodeLocations.*"):
        if not str(zone).startswith(f"{case.place.region}-") or (known and zone not in known):
            yield Violation(
                property=where,
                what=f"is not a zone of {case.place.region}",
                got=f"'{zone}'",
                allowed=", ".join(sorted(known)),
                do="Use a zone of the cluster's region",
            )


@refusal(f"{_GKE}, About Dataplane V2", phase="check")
def _network_policy_with_dataplane(case: Case) -> Iterator[Violation]:
    if case.get("datapathProvider") == "ADVANCED_DATAPATH" and case.get("networkPolicy.enabled") is True:
        yield Violation(property="networkPolicy", what="is built into Dataplane V2", do="Leave networkPolicy out")


@refusal(_PROVIDER)
def _no_first_node(case: Case) -> Iterator[Violation]:
    if case.get("enableAutopilot") is True or case.has("nodePools"):
        return
    if case.inputs.get("initialNodeCount", 0) == 0:
        yield Violation(
            property="initialNodeCount",
            what="a cluster is born with at least one node",
            do="Set it to 1 with removeDefaultNodePool",
        )


@refusal(f"{_GKE}, Create a VPC-native cluster", phase="apply", watch=("ipAllocationPolicy",))
def _secondary_range_missing(case: Case) -> Iterator[Violation]:
    subnetwork = case.target("subnetwork", SUBNETWORK)
    known = (
        {item.get("rangeName") for item in subnetwork.inputs.get("secondaryIpRanges") or ()} if subnetwork else set()
    )
    for key in ("clusterSecondaryRangeName", "servicesSecondaryRangeName"):
        name = case.get(f"ipAllocationPolicy.{key}")
        if subnetwork and name is not None and name not in known:
            yield Violation(
                property=f"ipAllocationPolicy.{key}",
                what=f"is no range of subnetwork {subnetwork.name}",
                got=f"'{name}'",
                allowed=", ".join(sorted(str(item) for item in known)),
                do="Add the range to the subnetwork",
            )


@refusal(f"{_PROVIDER}: deletion_protection", phase="delete")
def _protected(case: Case) -> Iterator[Violation]:
    if case.get("deletionProtection", True) is True:
        yield Violation(
            property="deletionProtection", what="the cluster is protected", do="Set it to false, deploy, then delete"
        )


@refusal(f"{_GKE}, About cluster upgrades", phase="plan", watch=("minMasterVersion",))
def _version_step(case: Case) -> Iterator[Violation]:
    old, new = _minor((case.old or {}).get("minMasterVersion")), _minor(case.get("minMasterVersion"))
    if old and new and not old <= new <= old + 1:
        yield Violation(
            property="minMasterVersion",
            what="a control plane moves up one minor version at a time",
            got=f"1.{old} to 1.{new}",
            do="Go step by step",
        )


def _minor(version: object) -> int:
    match = re.match(r"1\.(\d+)", str(version))
    return int(match[1]) if match else 0


def _master(born: Born) -> dict[str, Any]:
    return {"clusterCaCertificate": authority(born)}


def _dns_endpoint(outputs: Mapping[str, Any]) -> str:
    return f"https://{outputs['controlPlaneEndpointsConfig']['dnsEndpointConfig']['endpoint']}"


_LINK = "https://container.googleapis.com/v1/projects/{account}/locations/{location}/clusters/"
ROWS = (
    Row(
        type=CLUSTER,
        id="projects/{account}/locations/{location}/clusters/{name}",
        name=resource_name(40, f"{_API}, Cluster: name"),
        place="location",
        outputs={
            "endpoint": public_address,
            "selfLink": _LINK + "{name}",
            "masterAuth": _master,
            "masterVersion": lambda born: f"{born.inputs.get('minMasterVersion') or '1.36'}-gke.1",
            "controlPlaneEndpointsConfig": {
                "dnsEndpointConfig": {"endpoint": "gke-{hash:.12}-{hash:.8}.{region}.gke.goog"},
                "ipEndpointsConfig": {},
            },
            "labelFingerprint": "{hash:.8}",
        },
        defaults={"deletionProtection": True},
        aliases=("{selfLink}", "{name}", lambda outputs: f"https://{outputs['endpoint']}", _dns_endpoint),
        immutable=frozenset(
            {
                "network",
                "subnetwork",
                "ipAllocationPolicy",
                "datapathProvider",
                "enableAutopilot",
                "networkingMode",
                "defaultMaxPodsPerNode",
                "initialNodeCount",
                "enableKubernetesAlpha",
                "description",
            }
        ),
        references=(
            Reference(path="network", types=(NETWORK,), named=True, anywhere=True, holds=True, outside="default"),
            Reference(path="subnetwork", types=(SUBNETWORK,), named=True, holds=True),
        ),
        unique=("{account}/{location}/{name}",),
        refusals=(
            zones_elsewhere,
            _network_policy_with_dataplane,
            _no_first_node,
            _secondary_range_missing,
            _protected,
            _version_step,
            refusal(f"{_API}, ReleaseChannel")(
                one_of(
                    "releaseChannel.channel",
                    (
                        "RAPID",
                        "REGULAR",
                        "STABLE",
                        "EXTENDED",
                        "UNSPECIFIED",
                    ),
                )
            ),
            refusal(f"{_API}, BinaryAuthorization: evaluationMode")(
                one_of(
                    "binaryAuthorization.evaluationMode",
                    (
                        "DISABLED",
                        "PROJECT_SINGLETON_POLICY_ENFORCE",
                    ),
                )
            ),
        ),
    ),
)
