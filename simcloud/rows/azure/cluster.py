"""Azure Kubernetes Service: clusters, and the windows in which they are maintained."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.addresses import authority
from simcloud.kubernetes_words import minor, one_step
from simcloud.refusals import Violation
from simcloud.row import Born, Case, Reference, Row, between, one_of, refusal
from simcloud.rows.azure import access, clusters
from simcloud.rows.azure.arm import IDENTITY, arm_id, arm_name, copied, fixed, guid, principal, said
from simcloud.rows.azure.data import KEY
from simcloud.rows.azure.network import SUBNET
from simcloud.rows.azure.nodes import pools_of
from simcloud.rows.azure.pools import AKS, CLUSTER, EVERY_POOL, SKEW, nodes_of, pools, version_unknown
from simcloud.rows.azure.pools import said as value_of
from simcloud.rows.azure.private import REGISTRY, VAULT
from simcloud.state import Stored

__all__ = ["CLUSTER", "ROWS", "kubeconfig"]

_CLUSTER_ID = arm_id("Microsoft.ContainerService/managedClusters", "resourceName")
_WINDOW_KIND = "Microsoft.ContainerService/managedClusters/maintenanceConfigurations"
_WINDOWS = f"{AKS}, Use planned maintenance"

_FIXED = (
    "apiServerAccessProfile.subnetId",
    "apiServerAccessProfile.privateDNSZone",
    "enableRBAC",
    "agentPoolProfiles.name",
    "agentPoolProfiles.availabilityZones",
    "agentPoolProfiles.maxPods",
    "agentPoolProfiles.osDiskSizeGB",
    "agentPoolProfiles.osDiskType",
    "agentPoolProfiles.osType",
    "agentPoolProfiles.type",
    "agentPoolProfiles.vmSize",
    "agentPoolProfiles.vnetSubnetID",
)
_FIXED_NETWORK = (
    "dnsServiceIP",
    "networkDataplane",
    "networkMode",
    "networkPlugin",
    "networkPluginMode",
    "networkPolicy",
    "outboundType",
    "podCidr",
    "serviceCidr",
)
"""Source: pulumi-azure-native, `provider/pkg/gen/replacement.go`."""


@refusal("pulumi-azure-native, containerservice.ManagedCluster; AKS documentation, Use system node pools")
def _system_pools(case: Case) -> Iterator[Violation]:
    system = [pool for _, pool in pools(case) if value_of(pool, "mode", "User") == "System"]
    if case.unsure("agentPoolProfiles", "agentPoolProfiles.*.mode"):
        return
    if len(system) != 1 or len(list(pools(case))) != 1:
        yield Violation(
            property="agentPoolProfiles",
            what="needs one system pool, and no other: the provider never changes the list",
            got=f"{len(system)} of {len(list(pools(case)))}",
            do="Declare every other pool as an AgentPool",
        )


@refusal(
    "pulumi/pulumi-azure-native issue 2094: NotAllAgentPoolOrchestratorVersionSpecifiedAndUnchanged", phase="apply"
)
def _version_of_inline_pool(case: Case) -> Iterator[Violation]:
    given = [where for where, pool in pools(case) if pool.get("orchestratorVersion") is not None]
    if case.old is not None and given and pools_of(case, case.own):
        yield Violation(
            property=f"{given[0]}orchestratorVersion",
            what="cannot be sent while there are other pools",
            do="Leave it out: the pool follows the cluster",
        )


@refusal(f"{AKS}, Managed Clusters - Create Or Update: PropertyChangeNotAllowed", phase="plan")
def _cluster_fixed(case: Case) -> Iterator[Violation]:
    yield from fixed(case, _FIXED, "a cluster that exists")


@refusal(f"{AKS}, Supported Kubernetes versions", phase="plan", watch=("kubernetesVersion",))
def _version_of_cluster_unknown(case: Case) -> Iterator[Violation]:
    yield from version_unknown(case, "kubernetesVersion", case.get("kubernetesVersion"))


@refusal(f"{AKS}, Upgrade node pools: how far a pool may be behind", phase="apply", watch=("kubernetesVersion",))
def _pools_left_behind(case: Case) -> Iterator[Violation]:
    now = minor(case.get("kubernetesVersion"))
    for pool in pools_of(case, case.own):
        theirs = minor(pool.inputs.get("orchestratorVersion"))
        if now and theirs and theirs < now - SKEW:
            yield Violation(
                property="kubernetesVersion",
                what=f"pool {pool.name} would be too far behind",
                got=f"1.{theirs}",
                allowed=f"from 1.{now - SKEW}",
                do="Upgrade the pool first",
            )


_SCHEDULES = ("aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")


@refusal(f"{_WINDOWS}: kinds of schedule")
def _window_of_another_kind(case: Case) -> Iterator[Violation]:
    name = case.get("configName")
    weekly = case.has("timeInWeek") or case.has("notAllowedTime")
    if (name == "default" and case.has("maintenanceWindow")) or (name in _SCHEDULES and weekly):
        yield Violation(
            property="configName",
            what="default has timeInWeek, the two schedules a maintenanceWindow",
            got=str(name),
            do="Move the times",
        )


@refusal(f"{_WINDOWS}: schedule")
def _one_schedule(case: Case) -> Iterator[Violation]:
    kinds = [
        key
        for key in ("daily", "weekly", "absoluteMonthly", "relativeMonthly")
        if case.has(f"maintenanceWindow.schedule.{key}")
    ]
    known = case.has("maintenanceWindow.schedule") and not case.unsure("maintenanceWindow.schedule")
    if known and len(kinds) != 1:
        yield Violation(
            property="maintenanceWindow.schedule", what="has exactly one rhythm", got=", ".join(kinds), do="Give one"
        )


def _host(inputs: Mapping[str, Any], digits: str, region: str) -> tuple[str, str]:
    """Public and private name of the API server; empty where there is none."""
    access = inputs.get("apiServerAccessProfile") or {}
    stem = f"{inputs.get('dnsPrefix') or inputs.get('resourceName')}-{digits[:8]}"
    public = f"{stem}.hcp.{region}.azmk8s.io"
    if access.get("enablePrivateCluster") is not True:
        return public, ""
    kind = "private" if access.get("enableVnetIntegration") is True else "privatelink"
    hidden = access.get("enablePrivateClusterPublicFQDN") is False
    return "" if hidden else public, f"{stem}.{guid('', digits)}.{kind}.{region}.azmk8s.io"


def _public(born: Born) -> str:
    return _host(born.inputs, born.hash, born.place.region)[0]


def _private(born: Born) -> str:
    return _host(born.inputs, born.hash, born.place.region)[1]


def _issuer(born: Born) -> str | None:
    on = (born.inputs.get("oidcIssuerProfile") or {}).get("enabled") is True
    return (
        f"https://{born.place.region}.oic.prod-aks.azure.com/{guid('', '0' * 32)}/{guid('', born.hash)}/"
        if on
        else None
    )


def _kubelet(born: Born) -> dict[str, Any]:
    given = ((born.inputs.get("identityProfile") or {}).get("kubeletidentity") or {}).get("resourceId")
    found = next(iter(born.clouds.find(str(given), [IDENTITY])), None)
    return {
        "kubeletidentity": {
            "resourceId": given or f"{born.id}/agentpool",
            "clientId": guid("", found.hash if found else born.hash),
            "objectId": principal(found) if found else guid("", born.hash[::-1]),
        }
    }


def _node_group(born: Born) -> str:
    return f"MC_{born.inputs['resourceGroupName']}_{born.inputs['resourceName']}_{born.place.region}"


def _servers(position: str, port: str) -> Any:
    return lambda outputs: f"https://{outputs[position]}{port}" if outputs.get(position) else None


def kubeconfig(cluster: Stored) -> str:
    """Return the kubeconfig that the cloud hands out; a user of it signs in, so it holds nothing secret."""
    public, private = _host(cluster.inputs, cluster.hash, cluster.region)
    server = {"server": f"https://{private or public}:443", "certificate-authority-data": authority(cluster)}
    login = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": "kubelogin",
        "args": ["get-token", "--environment", "AzurePublicCloud"],
    }
    name, user = cluster.name, f"clusterUser_{cluster.inputs.get('resourceGroupName')}_{cluster.name}"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": server}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
        "current-context": name,
        "users": [{"name": user, "user": {"exec": login}}],
    }
    return json.dumps(document, sort_keys=True)


ROWS = (
    Row(
        type=CLUSTER,
        id=_CLUSTER_ID,
        name=arm_name(
            "resourceName",
            r"[A-Za-z0-9]([\w-]*[A-Za-z0-9])?",
            63,
            "Azure Resource Manager documentation, Naming rules and restrictions: Microsoft.ContainerService",
            "letters, digits, hyphens and underscores, starting and ending with a letter or digit",
        ),
        outputs=said(
            "Microsoft.ContainerService/ManagedClusters",
            "resourceName",
            provisioningState="Succeeded",
            fqdn=_public,
            privateFQDN=_private,
            oidcIssuerProfile={"issuerURL": _issuer},
            identityProfile=_kubelet,
            nodeResourceGroup=_node_group,
            currentKubernetesVersion=lambda born: str(born.inputs.get("kubernetesVersion") or ""),
            maxAgentPools=100,
        ),
        aliases=(
            _servers("fqdn", ""),
            _servers("fqdn", ":443"),
            _servers("privateFQDN", ""),
            _servers("privateFQDN", ":443"),
        ),
        immutable=frozenset(
            {
                "diskEncryptionSetID",
                "dnsPrefix",
                "fqdnSubdomain",
                "linuxProfile",
                "nodeResourceGroup",
                "windowsProfile",
                *(f"networkProfile.{key}" for key in _FIXED_NETWORK),
            }
        ),
        references=(
            Reference(path="agentPoolProfiles.*.vnetSubnetID", types=(SUBNET,), holds=True),
            Reference(path="apiServerAccessProfile.subnetId", types=(SUBNET,), holds=True),
            Reference(path="identity.userAssignedIdentities.*", types=(IDENTITY,), anywhere=True),
            Reference(path="identityProfile.kubeletidentity.resourceId", types=(IDENTITY,), anywhere=True),
            Reference(path="securityProfile.azureKeyVaultKms.keyId", types=(KEY,), anywhere=True),
            Reference(
                path="securityProfile.azureKeyVaultKms.keyVaultResourceId", types=(VAULT,), anywhere=True, named=True
            ),
            Reference(path="bootstrapProfile.containerRegistryId", types=(REGISTRY,), anywhere=True),
        ),
        unique=(_CLUSTER_ID,),
        nodes=nodes_of,
        refusals=(
            _system_pools,
            _version_of_inline_pool,
            _cluster_fixed,
            _version_of_cluster_unknown,
            refusal(
                f"{AKS}, Upgrade the control plane: minor versions cannot be skipped",
                phase="plan",
                watch=("kubernetesVersion",),
            )(one_step("kubernetesVersion")),
            _pools_left_behind,
            *EVERY_POOL,
            *clusters.REFUSALS,
            *access.REFUSALS,
        ),
    ),
    Row(
        type="azure-native:containerservice:MaintenanceConfiguration",
        id=arm_id(_WINDOW_KIND, "resourceName", "configName"),
        name=arm_name("configName", "", 255, "", "", made=copied),
        place="resourceName",
        outputs=said(_WINDOW_KIND, "configName"),
        immutable=frozenset({"resourceName"}),
        unique=(arm_id(_WINDOW_KIND, "resourceName", "configName"),),
        refusals=(
            _window_of_another_kind,
            _one_schedule,
            refusal(f"{_WINDOWS}: names of configurations")(one_of("configName", ("default", *_SCHEDULES))),
            refusal(f"{_WINDOWS}: duration")(between("maintenanceWindow.durationHours", 4, 24, "hours")),
        ),
    ),
)
