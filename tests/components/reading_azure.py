"""What only tests of Azure know: which resources and inputs answer the questions of the contracts."""

from tests.components.contract_cluster import ClusterSeen
from tests.components.contract_network import NetworkSeen
from tests.components.contract_node_pool import NodePoolSeen

CLUSTER, PROVIDER = "azure-native:containerservice:ManagedCluster", "pulumi:providers:azure-native"
ACCOUNT = "subscriptionId"
POOL, SUBNET = "azure-native:containerservice:AgentPool", "azure-native:network:Subnet"
ADDRESS, NAT = "azure-native:network:PublicIPAddress", "azure-native:network:NatGateway"
CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"
LOGS = "azure-native:monitor:DiagnosticSetting"
COSTS = frozenset({CLUSTER, POOL, ADDRESS, NAT, "azure-native:network:PrivateEndpoint"})


def network(recording):
    """A subnet reaches over all zones: those of nodes are the zones of the pools in them."""
    pools = recording.of(POOL)
    used = {urn for pool in pools for urn in pool.property_dependencies["vnetSubnetID"]}
    subnets = [subnet for subnet in recording.of(SUBNET) if subnet.urn in used]
    (cluster_,) = recording.of(CLUSTER)
    place = cluster_.get("location")
    zones = [zone for pool in cluster_.get("agentPoolProfiles") for zone in pool["availabilityZones"]]
    return NetworkSeen(
        zones=frozenset(f"{place}-{zone}" for zone in zones) if subnets else frozenset(),
        exposed=[
            *(pool.urn for pool in pools if pool.get("enableNodePublicIP")),
            *(subnet.urn for subnet in subnets if subnet.get("defaultOutboundAccess") is not False),
        ],
        locked_in=[subnet.urn for subnet in subnets if subnet.get("natGateway") is None],
    )


def cluster(recording):
    (row,) = recording.of(CLUSTER)
    settings = recording.of(LOGS)
    return ClusterSeen(
        version=row.get("kubernetesVersion"),
        identities_only=row.get("disableLocalAccounts") is True and row.get("aadProfile.enableAzureRBAC") is True,
        private=row.get("apiServerAccessProfile.enablePrivateCluster") is True,
        encrypted_with=tuple(key for key in ("securityProfile.azureKeyVaultKms.keyId",) if row.get(key) is not None),
        logged=frozenset(log["category"] for setting in settings for log in setting.get("logs") if log["enabled"]),
        # AKS has none, and a lock would keep node pools from being dropped.
        guarded=None,
    )


def node_pool(recording, key):
    (pool,) = [row for row in recording.of(POOL) if row.get("nodeLabels.outlast-node-pool") == key]
    return NodePoolSeen(
        labels=dict(pool.get("nodeLabels")),
        tags=dict(pool.get("tags")),
        taints=list(pool.get("nodeTaints") or ()),
        # A pool in a reservation group takes nothing else.
        only_reserved=pool.get("capacityReservationGroupID") is not None,
        surge=pool.get("upgradeSettings.maxSurge") != "0",
        raw_disks=8 if pool.get("osDiskType") == "Managed" else 0,
        joined_at=None,
    )


def node_identity(recording, key):
    (pool,) = [row for row in recording.of(POOL) if row.get("nodeLabels.outlast-node-pool") == key]
    (cluster_,) = recording.of(CLUSTER)
    assert cluster_.urn in pool.property_dependencies["resourceName"]
    return cluster_.property_dependencies["identityProfile"]


def buckets_of_nodes(recording):
    grants = [row for row in recording.of("azure-native:authorization:RoleAssignment") if ":identity:" in row.parent]
    return [row.urn for row in grants if "Microsoft.Storage" in str(row.get("scope"))]


def bound_accounts(recording):
    subjects = [row.get("subject") for row in recording.of(CREDENTIAL)]
    return ["/".join(subject.split(":")[2:]) for subject in subjects]


def addresses(recording):
    """Address of the gateway -> whether it is a static one of version 4."""
    found = [row for row in recording.of(ADDRESS) if "gateway_address" in row.parent]
    return {
        row.urn: row.get("publicIPAllocationMethod") == "Static" and row.get("publicIPAddressVersion") in (None, "IPv4")
        for row in found
    }
