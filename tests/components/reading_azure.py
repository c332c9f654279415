"""What only tests of Azure know: which resources and inputs answer the questions of the contracts."""

from collections import Counter

from tests.components.contract_cluster import ClusterSeen
from tests.components.contract_network import NetworkSeen
from tests.components.contract_node_pool import NodePoolSeen
from tests.components.contract_stores import StoreSeen
from tests.components.contract_system_pool import SystemPoolSeen

CLUSTER, PROVIDER = "azure-native:containerservice:ManagedCluster", "pulumi:providers:azure-native"
ACCOUNT = "subscriptionId"
SETTING = "azure-native:monitor:DiagnosticSetting"
POOL, SUBNET = "azure-native:containerservice:AgentPool", "azure-native:network:Subnet"
ADDRESS, NAT = "azure-native:network:PublicIPAddress", "azure-native:network:NatGateway"
BINDING = "azure-native:managedidentity:FederatedIdentityCredential"
VAULT, KEY = "azure-native:keyvault:Vault", "azure-native:keyvault:Key"
REGISTRY, STORE = "azure-native:containerregistry:Registry", "azure-native:storage:StorageAccount"
VERSIONS = "azure-native:storage:BlobServiceProperties"
LOCK = "azure-native:authorization:ManagementLockByScope"
COSTS = frozenset({CLUSTER, POOL, ADDRESS, NAT})
ACCOUNT_OF = "system:serviceaccount:"


def network(recording):
    """A subnet is regional, or one a zone: its zones are those of the agent pools in it."""
    pools = recording.of(POOL)
    (cluster_,) = recording.of(CLUSTER)
    used = {urn for pool in pools for urn in pool.property_dependencies["vnetSubnetID"]}
    subnets = [subnet for subnet in recording.of(SUBNET) if subnet.urn in used]
    system = [row for row in cluster_.get("agentPoolProfiles") if row.get("vnetSubnetID")]
    zones = {zone for row in system for zone in row["availabilityZones"]}
    region = cluster_.get("location")
    return NetworkSeen(
        zones=frozenset(f"{region}-{zone}" for zone in zones) if subnets else frozenset(),
        exposed=[pool.urn for pool in pools if pool.get("enableNodePublicIP")],
        locked_in=[subnet.urn for subnet in subnets if subnet.get("natGateway") is None],
    )


def cluster(recording):
    (row,) = recording.of(CLUSTER)
    return ClusterSeen(
        version=row.get("kubernetesVersion"),
        identities_only=row.get("disableLocalAccounts") is True and row.get("aadProfile.managed") is True,
        private=row.get("apiServerAccessProfile.enablePrivateCluster") is True
        and row.get("apiServerAccessProfile.enablePrivateClusterPublicFQDN") is False,
        encrypted_with=tuple(key for key in ("securityProfile.azureKeyVaultKms.keyId",) if row.get(key) is not None),
        logged=_logged(recording, row),
        guarded=None,
    )


def _logged(recording, cluster_):
    """Categories that are kept of what the cluster's control plane says."""
    settings = [row for row in recording.of(SETTING) if cluster_.urn in row.property_dependencies["resourceUri"]]
    kept = [row for row in settings if row.property_dependencies.get("storageAccountId")]
    return frozenset(log["category"] for row in kept for log in row.get("logs") if log["enabled"])


def node_pool(recording, key):
    (pool,) = [row for row in recording.of(POOL) if row.get("nodeLabels.outlast-node-pool") == key]
    return NodePoolSeen(
        labels=dict(pool.get("nodeLabels")),
        tags=dict(pool.get("tags")),
        taints=list(pool.get("nodeTaints") or ()) + (_SPOT if pool.get("scaleSetPriority") == "Spot" else []),
        only_reserved=pool.get("capacityReservationGroupID") is not None,
        surge=pool.get("upgradeSettings.maxSurge") not in (None, "0"),
        # An ephemeral disk of the system would take one of them.
        raw_disks=_DISKS[pool.get("vmSize")] if pool.get("osDiskType") == "Managed" else 0,
        joined_at=None,
    )


_SPOT = ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]
"""What AKS adds to spot nodes by itself. Source: AKS documentation, Add an Azure Spot node pool."""
_DISKS = {"Standard_ND96isr_H100_v5": 8}
"""Machine type of the builders -> its local disks. Source: Azure virtual machine sizes, ND H100 v5."""


def node_identity(recording, key):  # noqa: ARG001  (one signature for all readings)
    """The kubelet's identity is the cluster's to say."""
    (row,) = recording.of(CLUSTER)
    return row.property_dependencies["identityProfile"]


def buckets_of_nodes(recording):
    grants = [row for row in recording.resources if row.type.endswith(":RoleAssignment")]
    return [
        row.urn for row in grants if "$outlast" not in row.urn and ":identity:" in row.parent and "blob" in row.name
    ]


def bound_accounts(recording):
    subjects = [row.get("subject") for row in recording.of(BINDING)]
    return [subject.removeprefix(ACCOUNT_OF).replace(":", "/") for subject in subjects]


def addresses(recording):
    """Address of the gateway -> whether it is a static one of version 4."""
    found = [row for row in recording.of(ADDRESS) if "gateway_address" in row.parent]
    return {
        row.urn: (row.get("publicIPAllocationMethod"), row.get("publicIPAddressVersion")) == ("Static", "IPv4")
        for row in found
    }


def keys(recording):
    return frozenset(row.urn for row in recording.of(KEY))


def store(recording, role):
    rows = [row for row in recording.resources if f"outlast:{role}:" in row.parent]
    holders = tuple(row for row in rows if row.type in (VAULT, KEY, REGISTRY, STORE))
    locks = {row.get("scope").rpartition("/")[2] for row in recording.of(LOCK) if row.get("level") == "CanNotDelete"}
    # A lock covers what is inside: a vault's its keys.
    names = {row.get(_NAMES[row.type]) for row in holders if row.type in _NAMES}
    return StoreSeen(
        holders=holders,
        exposed=[row.urn for row in rows if any(row.get(path) not in (None, shut) for path, shut in _SHUT.items())]
        + [row.urn for row in holders if row.type != KEY and not _is_private(row)],
        guarded=names <= locks,
        locked_with=_locked_with(recording) if role == "weights" else None,
    )


_NAMES = {VAULT: "vaultName", REGISTRY: "registryName", STORE: "accountName"}
_SHUT = {
    "anonymousPullEnabled": False,
    "adminUserEnabled": False,
    "allowBlobPublicAccess": False,
    "publicAccess": "None",
}
"""What would let in whom Azure does not know, if it said otherwise."""


def _is_private(row):
    return "Disabled" in (row.get("publicNetworkAccess"), row.get("properties.publicNetworkAccess"))


def _locked_with(recording):
    """A storage account names the vault and the key in plain words."""
    (account,) = [row for row in recording.of(STORE) if "outlast:weights:" in row.parent]
    lock = account.get("encryption.keyVaultProperties")
    (vault,) = [
        row for row in recording.of(VAULT) if lock["keyVaultUri"] == f"https://{row.get('vaultName')}.vault.azure.net"
    ]
    inside = [row for row in recording.of(KEY) if vault.urn in row.property_dependencies["vaultName"]]
    return frozenset(row.urn for row in inside if row.get("keyName") == lock["keyName"])


def tags_fixed(recording):
    """A registry locks tags one by one, after they are pushed."""


def versioned(recording):
    (row,) = [row for row in recording.of(VERSIONS) if "outlast:weights:" in row.parent]
    return row.get("isVersioningEnabled") is True


def system_pool(recording):
    """The pools that the cluster is born with share their nodes out over their zones."""
    (cluster_,) = recording.of(CLUSTER)
    pools, region = cluster_.get("agentPoolProfiles"), cluster_.get("location")
    nodes: Counter[str] = Counter()
    for pool in pools:
        zones = pool["availabilityZones"]
        nodes.update({f"{region}-{zone}": pool["count"] / len(zones) for zone in zones})
    return SystemPoolSeen(
        nodes=nodes,
        machine_types=frozenset(pool["vmSize"] for pool in pools),
        cards=any(pool.get("gpuProfile") for pool in pools),
        labels=[dict(pool.get("nodeLabels") or {}) for pool in pools],
        tags=[dict(pool["tags"]) for pool in pools],
    )
