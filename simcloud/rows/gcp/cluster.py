"""Google Kubernetes Engine: clusters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from simcloud.addresses import authority, malformed, public_address
from simcloud.kubernetes_words import minor, one_step
from simcloud.refusals import Violation
from simcloud.row import Born, Case, Reference, Row, one_of, refusal
from simcloud.rows.gcp.forms import labelled, resource_name
from simcloud.rows.gcp.identity import ACCOUNT
from simcloud.rows.gcp.keys import KEY, usable_key
from simcloud.rows.gcp.network import NETWORK, SUBNETWORK

CLUSTER = "gcp:container/cluster:Cluster"

_API = "Kubernetes Engine API Reference"
_GKE = "GKE documentation"
_PROVIDER = "terraform-provider-google, google_container_cluster"
DEFAULT_ACCOUNT = r"default|\d+-compute@developer\.gserviceaccount\.com"
"""Service accounts that a project has from the start."""


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


@refusal(f"{_GKE}, About Dataplane V2")
def _network_policy_with_dataplane(case: Case) -> Iterator[Violation]:
    if case.get("datapathProvider") == "ADVANCED_DATAPATH" and case.get("networkPolicy.enabled") is True:
        yield Violation(property="networkPolicy", what="is built into Dataplane V2", do="Leave networkPolicy out")


@refusal(f"{_GKE}, Cilium cluster-wide network policies")
def _cluster_policy_without_dataplane(case: Case) -> Iterator[Violation]:
    known = not case.unsure("datapathProvider")
    asked = case.get("enableCiliumClusterwideNetworkPolicy") is True
    if known and asked and case.get("datapathProvider") != "ADVANCED_DATAPATH":
        yield Violation(
            property="enableCiliumClusterwideNetworkPolicy",
            what="is a part of Dataplane V2",
            do="Set datapathProvider: ADVANCED_DATAPATH",
        )


@refusal(f"{_GKE}, Customize your network isolation; terraform-google-kubernetes-engine issue 2216")
def _networks_without_address(case: Case) -> Iterator[Violation]:
    if case.get("controlPlaneEndpointsConfig.ipEndpointsConfig.enabled") is False and case.has(
        "masterAuthorizedNetworksConfig"
    ):
        yield Violation(
            property="masterAuthorizedNetworksConfig",
            what="guards an address that the API server does not have",
            do="Leave it out, or enable ipEndpointsConfig",
        )


@refusal(f"{_GKE}, Authorized networks")
def _authorized_range_malformed(case: Case) -> Iterator[Violation]:
    yield from malformed(case, "masterAuthorizedNetworksConfig.cidrBlocks.*.cidrBlock", longest=32, shortest=0)


@refusal(f"{_PROVIDER}: master_ipv4_cidr_block")
def _control_plane_range(case: Case) -> Iterator[Violation]:
    yield from malformed(case, "privateClusterConfig.masterIpv4CidrBlock", longest=28, shortest=28)


@refusal(f"{_GKE}, Workload Identity Federation for GKE")
def _pool_of_another_project(case: Case) -> Iterator[Violation]:
    pool, own = case.get("workloadIdentityConfig.workloadPool"), f"{case.place.account}.svc.id.goog"
    if pool is not None and pool != own:
        yield Violation(
            property="workloadIdentityConfig.workloadPool",
            what="is the pool of another project",
            got=f"'{pool}'",
            allowed=own,
            do="Use the project's own",
        )


@refusal(f"{_GKE}, Encrypt secrets at the application layer")
def _encrypted_without_key(case: Case) -> Iterator[Violation]:
    encrypted = str(case.get("databaseEncryption.state", "DECRYPTED")).startswith("ENCRYPTED")
    if encrypted != case.has("databaseEncryption.keyName") and not case.unsure("databaseEncryption.state"):
        yield Violation(
            property="databaseEncryption", what="state ENCRYPTED and a key go together", do="Set both or neither"
        )


@refusal(f"{_GKE}, Maintenance windows and exclusions")
def _window_too_short(case: Case) -> Iterator[Violation]:
    window = "maintenancePolicy.recurringWindow"
    start, end, rule = (case.get(f"{window}.{key}") for key in ("startTime", "endTime", "recurrence"))
    if not all(isinstance(value, str) for value in (start, end, rule)):
        return
    try:
        hours = (datetime.fromisoformat(str(end)) - datetime.fromisoformat(str(start))).total_seconds() / 3600
    except (ValueError, TypeError):
        yield Violation(property=window, what="is not a window", got=f"{start} to {end}", do="Write times of RFC 3339")
        return
    days = re.search(r"BYDAY=([A-Z,]+)", str(rule))
    weekly = len(days[1].split(",")) if days else 7 if "FREQ=DAILY" in str(rule) else 1
    total = hours * weekly * _WINDOW_DAYS / 7
    if hours < _WINDOW_HOURS or total < _WINDOW_TOTAL_HOURS:
        yield Violation(
            property=window,
            what="leaves too little time for maintenance",
            got=f"{hours:g} h at a time, {total:.0f} h in {_WINDOW_DAYS} days",
            allowed=f"{_WINDOW_HOURS} h at a time and {_WINDOW_TOTAL_HOURS} h in {_WINDOW_DAYS} days",
            do="Widen the window",
        )


_WINDOW_HOURS, _WINDOW_TOTAL_HOURS, _WINDOW_DAYS = 4, 48, 32


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


@refusal(f"{_GKE}, GKE release schedule; config/facts/kubernetes_versions.csv")
def _version_unknown(case: Case) -> Iterator[Violation]:
    known, wanted = case.world.kubernetes_versions("gcp"), case.get("minMasterVersion")
    if known and wanted is not None and not any(minor(wanted) == minor(version) for version in known):
        yield Violation(
            property="minMasterVersion",
            what="is not offered",
            got=f"'{wanted}'",
            allowed=", ".join(known),
            do="Use one of these",
        )


def master_version(inputs: Mapping[str, Any]) -> str:
    """Return the version of a control plane."""
    wanted = str(inputs.get("minMasterVersion") or "1.36")
    return wanted if "gke" in wanted else f"{wanted}-gke.1"


def _master(born: Born) -> dict[str, Any]:
    return {"clusterCaCertificate": authority(born)}


def _dns_endpoint(outputs: Mapping[str, Any]) -> str:
    return f"https://{outputs['controlPlaneEndpointsConfig']['dnsEndpointConfig']['endpoint']}"


_METRICS = (
    "SYSTEM_COMPONENTS",
    "APISERVER",
    "SCHEDULER",
    "CONTROLLER_MANAGER",
    "STORAGE",
    "HPA",
    "POD",
    "DAEMONSET",
    "DEPLOYMENT",
    "STATEFULSET",
    "KUBELET",
    "CADVISOR",
    "DCGM",
    "JOBSET",
)
_LOGS = ("SYSTEM_COMPONENTS", "KCP_VPA", "APISERVER", "CONTROLLER_MANAGER", "SCHEDULER", "WORKLOADS")
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
            "masterVersion": lambda born: master_version(born.inputs),
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
                "privateClusterConfig.masterIpv4CidrBlock",
                "nodeConfig.serviceAccount",
            }
        ),
        references=(
            Reference(path="nodeConfig.serviceAccount", types=(ACCOUNT,), outside=DEFAULT_ACCOUNT),
            Reference(path="databaseEncryption.keyName", types=(KEY,)),
            Reference(path="network", types=(NETWORK,), named=True, anywhere=True, holds=True, outside="default"),
            Reference(path="subnetwork", types=(SUBNETWORK,), named=True, holds=True),
        ),
        unique=("{account}/{location}/{name}",),
        refusals=(
            zones_elsewhere,
            _network_policy_with_dataplane,
            _no_first_node,
            _secondary_range_missing,
            _cluster_policy_without_dataplane,
            _networks_without_address,
            _authorized_range_malformed,
            _control_plane_range,
            _pool_of_another_project,
            _encrypted_without_key,
            *usable_key("databaseEncryption.keyName", "GKE", "container-engine-robot"),
            _window_too_short,
            _protected,
            _version_unknown,
            refusal(f"{_GKE}, About cluster upgrades", phase="plan", watch=("minMasterVersion",))(
                one_step("minMasterVersion")
            ),
            labelled("resourceLabels"),
            refusal(f"{_API}, AnonymousAuthenticationConfig")(
                one_of("anonymousAuthenticationConfig.mode", ("ENABLED", "LIMITED"))
            ),
            refusal(f"{_API}, GatewayAPIConfig", claim="gateway-channel-unknown")(
                one_of("gatewayApiConfig.channel", ("CHANNEL_DISABLED", "CHANNEL_EXPERIMENTAL", "CHANNEL_STANDARD"))
            ),
            refusal(f"{_API}, MonitoringComponentConfig", claim="metrics-unknown")(
                one_of("monitoringConfig.enableComponents.*", _METRICS)
            ),
            refusal(f"{_API}, LoggingComponentConfig", claim="logs-unknown")(
                one_of("loggingConfig.enableComponents.*", _LOGS)
            ),
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
