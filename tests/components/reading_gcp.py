"""What only tests of Google Cloud know: which resources and inputs answer the questions of the contracts."""

from tests.components.contract_cluster import ClusterSeen
from tests.components.contract_network import NetworkSeen
from tests.components.contract_node_pool import NodePoolSeen
from tests.components.contract_stores import StoreSeen
from tests.components.contract_system_pool import SystemPoolSeen

CLUSTER, PROVIDER, ACCOUNT = "gcp:container/cluster:Cluster", "pulumi:providers:gcp", "project"
POOL, ADDRESS = "gcp:container/nodePool:NodePool", "gcp:compute/address:Address"
NAT, MEMBER = "gcp:compute/routerNat:RouterNat", "gcp:serviceaccount/iAMMember:IAMMember"
KEY, BUCKET = "gcp:kms/cryptoKey:CryptoKey", "gcp:storage/bucket:Bucket"
REPOSITORY = "gcp:artifactregistry/repository:Repository"
EVERYBODY = ("allUsers", "allAuthenticatedUsers")
COSTS = frozenset({CLUSTER, ADDRESS})
EVERYTHING = "ALL_SUBNETWORKS_ALL_IP_RANGES"


def network(recording):
    """A subnetwork is regional: its zones are those of the region's nodes."""
    pools, nats = recording.of(POOL), recording.of(NAT)
    way_out = any(nat.get("sourceSubnetworkIpRangesToNat") == EVERYTHING for nat in nats)
    (cluster_,) = recording.of(CLUSTER)
    subnetworks = cluster_.property_dependencies["subnetwork"]
    return NetworkSeen(
        zones=frozenset(zone for pool in pools for zone in pool.get("nodeLocations")) if subnetworks else frozenset(),
        exposed=[pool.urn for pool in pools if pool.get("networkConfig.enablePrivateNodes") is not True],
        locked_in=[] if way_out else list(subnetworks),
    )


def cluster(recording):
    (row,) = recording.of(CLUSTER)
    certificate = row.get("masterAuth.clientCertificateConfig.issueClientCertificate")
    return ClusterSeen(
        version=row.get("minMasterVersion"),
        identities_only=not certificate and row.get("workloadIdentityConfig") is not None,
        private=row.get("controlPlaneEndpointsConfig.ipEndpointsConfig.enabled") is False,
        encrypted_with=tuple(key for key in ("databaseEncryption.keyName",) if row.get(key) is not None),
        # What is not said is logged: GKE keeps the API server's audit log in any case.
        logged=frozenset(row.get("loggingConfig.enableComponents") or ("SYSTEM_COMPONENTS",)),
        guarded=row.get("deletionProtection"),
    )


def node_pool(recording, key):
    (pool,) = [row for row in recording.of(POOL) if row.get("nodeConfig.labels.outlast-node-pool") == key]
    taints = [f"{row['key']}={row['value']}:{row['effect']}" for row in pool.get("nodeConfig.taints") or ()]
    cards = pool.get("nodeConfig.guestAccelerators") or ()
    return NodePoolSeen(
        labels=dict(pool.get("nodeConfig.labels")),
        tags=dict(pool.get("nodeConfig.resourceLabels")),
        # GKE adds it to nodes with cards, and refuses it a second time.
        taints=[*(["nvidia.com/gpu=present:NoSchedule"] if cards else []), *taints],
        only_reserved=pool.get("nodeConfig.reservationAffinity.consumeReservationType") == "SPECIFIC_RESERVATION",
        surge=pool.get("upgradeSettings.maxSurge") != 0,
        raw_disks=pool.get("nodeConfig.localNvmeSsdBlockConfig.localSsdCount"),
        joined_at=None,
    )


def node_identity(recording, key):
    (pool,) = [row for row in recording.of(POOL) if row.get("nodeConfig.labels.outlast-node-pool") == key]
    return pool.property_dependencies["nodeConfig"]


def buckets_of_nodes(recording):
    members = [row for row in recording.resources if row.type.startswith("gcp:storage/bucketIAM")]
    return [row.urn for row in members if "identity:" in row.parent and "workload" not in row.parent]


def bound_accounts(recording):
    members = [row.get("member") for row in recording.of(MEMBER) if row.get("role") == "roles/iam.workloadIdentityUser"]
    return [member.partition("[")[2].rstrip("]") for member in members]


def addresses(recording):
    """Address of the gateway -> whether it is a static one of version 4."""
    found = [row for row in recording.of(ADDRESS) if "gateway_address" in row.parent]
    return {row.urn: row.get("ipVersion") in (None, "IPV4") and row.get("addressType") == "EXTERNAL" for row in found}


def keys(recording):
    return frozenset(row.urn for row in recording.of(KEY))


def store(recording, role):
    rows = [row for row in recording.resources if f"outlast:{role}:" in row.parent]
    holders = tuple(row for row in rows if row.type in (KEY, REPOSITORY, BUCKET))
    granted = [row for row in rows if row.get("member") in EVERYBODY]
    return StoreSeen(
        holders=holders,
        exposed=[row.urn for row in (*granted, *(row for row in holders if row.type == BUCKET and not _is_shut(row)))],
        guarded={(row.get("deletionPolicy"), bool(row.get("forceDestroy"))) for row in holders} == {("PREVENT", False)},
        locked_with=frozenset.intersection(*(_locked_with(recording, row) for row in holders)),
    )


def _locked_with(recording, holder):
    return keys(recording) & {urn for name in _LOCKS for urn in holder.property_dependencies.get(name, ())}


_LOCKS = ("encryption", "kmsKeyName")
"""Inputs that name a key."""


def _is_shut(bucket):
    return bucket.get("publicAccessPrevention") == "enforced" and bucket.get("uniformBucketLevelAccess") is True


def tags_fixed(recording):
    return {row.get("dockerConfig.immutableTags") for row in recording.of(REPOSITORY)} == {True}


def versioned(recording):
    (row,) = [row for row in recording.of(BUCKET) if "outlast:weights:" in row.parent]
    return row.get("versioning.enabled") is True


def system_pool(recording):
    """GKE counts nodes by the zone."""
    pools = [row for row in recording.of(POOL) if "outlast:system_pool:" in row.parent]
    return SystemPoolSeen(
        nodes={zone: row.get("nodeCount") for row in pools for zone in row.get("nodeLocations")},
        machine_types=frozenset(row.get("nodeConfig.machineType") for row in pools),
        cards=any(row.get("nodeConfig.guestAccelerators") for row in pools),
        labels=[dict(row.get("nodeConfig.labels")) for row in pools],
        tags=[dict(row.get("nodeConfig.resourceLabels")) for row in pools],
    )
