"""What Azure needs said beyond the other clouds: who may do what, in which order, and where nothing is doubled."""

from collections import Counter
from functools import cache
from ipaddress import IPv4Network
from itertools import combinations

import pytest

from components.base import place_of
from components.cluster.azure import group_of, joined_subnets
from components.network import ExistingNetwork, ExistingNetworkArgs
from components.provider.azure import ROLES
from components.serving.overlays.azure import operator_configs
from outlast.intent.stacks import parse
from outlast.rules import RULES, Deployment, run
from outlast.view import view_of
from stacks.run import declare
from tests.builders import facts, make_block, make_intent, make_lock
from tests.recording import record

REGION = "eu-central"
GRANT, CLUSTER = "azure-native:authorization:RoleAssignment", "azure-native:containerservice:ManagedCluster"
NETWORK, SUBNET = "azure-native:network:VirtualNetwork", "azure-native:network:Subnet"
ADMIN, VIEWER = "66666666-7777-8888-9999-000000000000", "66666666-7777-8888-9999-000000000001"
THEIRS = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/theirs/providers"
THERE = f"{THEIRS}/Microsoft.Network/virtualNetworks/v"
EXISTING = {
    "network": {
        "existing": THERE,
        "subnets": {f"polandcentral-{number}": f"{THERE}/subnets/nodes" for number in (1, 2, 3)},
        "api_subnets": [f"{THERE}/subnets/api"],
    }
}
RESERVED = f"{THEIRS}/Microsoft.Compute/capacityReservationGroups/h100"
CHANGES = {
    "plain": {},
    "reserved": {},
    "regional": {"network": {"nat": "regional"}},
    "existing": EXISTING,
    "open": {"api": {"private": False, "allow": ["192.0.2.0/24"]}},
    "people": {"access": {"admin": [ADMIN], "viewer": [VIEWER]}, "tags": {"cost-centre": "42"}},
}


@cache
def fleet(kind="plain"):
    intent = make_intent("us-east", REGION, regions={"regions": {REGION: CHANGES[kind]}})
    blocks = {name: make_block(name, 2, 2, 2) for name in intent.regions}
    if kind == "reserved":
        for row in blocks[REGION]["node_pools"].values():
            row |= {"capacity": "reserved", "reservation": RESERVED}
    return intent, make_lock(intent, blocks, {"us-east": {REGION: 100}, REGION: {"us-east": 100}})


@cache
def recorded(kind="plain", stack=f"test.{REGION}", *, preview=True, teardown=False):
    intent, lock = fleet(kind)
    stacks = {} if preview else {"test.global": {"keys": {REGION: "https://vault.example/keys/data/1"}}}
    return record(
        lambda: declare(parse(stack), intent, lock, teardown=teardown), preview=preview, stack=stack, stacks=stacks
    )


@pytest.fixture(params=CHANGES)
def kind(request):
    return request.param


def cluster_of(kind):
    (found,) = recorded(kind).of(CLUSTER)
    return found


def granted(recording, role):
    return [row for row in recording.of(GRANT) if row.inputs["roleDefinitionId"].endswith(ROLES[role])]


@pytest.mark.parametrize("stack", ["test.global", f"test.{REGION}"])
def test_a_preview_and_an_update_declare_the_same(kind, stack):
    preview, known = (recorded(kind, stack, preview=preview).resources for preview in (True, False))
    assert [resource.urn for resource in preview] == [resource.urn for resource in known]


def test_every_place_is_decided_and_no_law_is_broken(kind):
    intent, lock = fleet(kind)
    resources = [row for stack in ("test.global", f"test.{REGION}") for row in recorded(kind, stack).resources]
    deployment = Deployment(intent=intent, lock=lock, applied=None, view=view_of(resources, facts()))
    legal = [rule for rule in RULES if rule.id.startswith("R-")]
    assert [found.message() for found in run(legal, deployment) if "us-east" not in found.urn] == []


def test_a_grant_is_made_once_and_has_a_name_of_its_own(kind):
    for stack in ("test.global", f"test.{REGION}"):
        grants = recorded(kind, stack, preview=False).of(GRANT)
        names = Counter(row.inputs["roleAssignmentName"] for row in grants)
        assert grants
        assert set(names.values()) == {1}


def test_the_control_plane_holds_what_it_needs_before_it_is_born(kind):
    before = set(cluster_of(kind).dependencies)
    needed = ("Network Contributor", "Managed Identity Operator", "Key Vault Crypto User", "Key Vault Contributor")
    for role in needed:
        grants = [row for row in granted(recorded(kind), role) if row.parent == cluster_of(kind).parent]
        assert grants
        assert {row.urn for row in grants} <= before


def test_the_control_plane_may_use_a_reservation_of_its_nodes_before_it_is_born():
    (row,) = granted(recorded("reserved"), "Contributor")
    assert row.inputs["scope"] == RESERVED
    assert row.urn in cluster_of("reserved").dependencies
    assert granted(recorded("plain"), "Contributor") == []


@pytest.mark.parametrize(("kind", "subnets"), [("plain", 4), ("regional", 2), ("existing", 2)])
def test_a_subnet_is_granted_once_though_zones_share_it(kind, subnets):
    cluster = cluster_of(kind)
    assert (
        len([row for row in granted(recorded(kind), "Network Contributor") if row.parent == cluster.parent]) == subnets
    )


def test_zones_that_share_an_existing_subnet_join_it_once():
    subnets = dict.fromkeys(("polandcentral-1", "polandcentral-2"), "nodes")

    def program():
        place = place_of(fleet()[0], REGION, teardown=False)
        args = ExistingNetworkArgs(place=place, network_id="v", subnets=subnets, api_subnets=("api",))
        assert list(joined_subnets(ExistingNetwork("there", args))) == ["nodes", "api-1"]

    record(program, preview=False)


@pytest.mark.parametrize("kind", ["plain", "regional"])
def test_subnets_are_no_part_of_the_network_and_wait_for_each_other(kind):
    recording = recorded(kind)
    (network,) = recording.of(NETWORK)
    subnets = recording.of(SUBNET)
    assert network.get("subnets") is None
    waits = Counter(urn for row in subnets for urn in row.dependencies if urn in {other.urn for other in subnets})
    assert len(waits) == len(subnets) - 1
    assert set(waits.values()) == {1}, "one after the other"


@pytest.mark.parametrize("kind", ["plain", "regional"])
def test_ranges_of_subnets_lie_in_the_network_and_do_not_overlap(kind):
    recording = recorded(kind)
    (network,) = recording.of(NETWORK)
    space = [IPv4Network(block) for block in network.get("addressSpace.addressPrefixes")]
    blocks = [IPv4Network(row.inputs["addressPrefix"]) for row in recording.of(SUBNET)]
    assert all(any(block.subnet_of(outer) for outer in space) for block in blocks)
    assert not any(one.overlaps(other) for one, other in combinations(blocks, 2))
    inside = [IPv4Network(cluster_of(kind).get(f"networkProfile.{key}")) for key in ("podCidr", "serviceCidr")]
    assert not any(one.overlaps(other) for one, other in combinations([*inside, *space], 2))


@pytest.mark.parametrize(("kind", "ways"), [("regional", [("1",)]), ("plain", [("1",), ("2",), ("3",)])])
def test_a_way_out_lies_in_one_zone(kind, ways):
    gateways = recorded(kind).of("azure-native:network:NatGateway")
    assert sorted(row.inputs["zones"] for row in gateways) == ways


def test_nobody_outside_reaches_the_api_server_of_a_private_cluster():
    reach = cluster_of("plain").get("apiServerAccessProfile")
    assert (reach["enablePrivateCluster"], reach.get("authorizedIPRanges")) == (True, None)
    reach = cluster_of("open").get("apiServerAccessProfile")
    assert (reach["enablePrivateCluster"], reach["authorizedIPRanges"]) == (False, ("192.0.2.0/24",))


def test_the_pool_inside_the_cluster_has_no_version_and_keeps_nothing_out():
    (pool,) = cluster_of("plain").get("agentPoolProfiles")
    assert pool.get("orchestratorVersion") is None, "it would block the upgrade of every other pool"
    assert (pool["count"], pool.get("nodeTaints")) == (3, None), "what belongs to no node of cards runs here"
    assert pool["nodeLabels"]["outlast-region"] == REGION


def test_groups_are_granted_roles_on_the_clusters_group_by_their_object_ids_before_it_is_born():
    recording = recorded("people")
    for role, principal in {"Cluster Admin": ADMIN, "Reader": VIEWER}.items():
        (row,) = granted(recording, f"Azure Kubernetes Service RBAC {role}")
        assert (row.inputs["principalId"], row.get("principalType")) == (principal, "Group")
        (group,) = row.property_dependencies["scope"]
        assert group in cluster_of("people").property_dependencies["resourceGroupName"]
        assert row.urn in cluster_of("people").dependencies


@pytest.mark.parametrize("stack", ["test.global", f"test.{REGION}"])
def test_everything_that_can_carries_the_tags_of_people_and_ours(stack):
    azure = [row for row in recorded("people", stack).resources if row.package == "azure-native"]
    tagged = [row for row in azure if row.get("tags") is not None]
    assert {row.get("tags.cost-centre") for row in tagged} == {"42"}
    assert {row.get("tags.outlast-jurisdiction") for row in tagged} == {"eu"}
    located = {row.urn for row in azure if row.get("location") and not row.type.startswith("pulumi:providers:")}
    assert located <= {row.urn for row in tagged}


LOCK = "azure-native:authorization:ManagementLockByScope"


def test_a_region_locks_its_stores_until_it_is_torn_down():
    locked = sorted(str(row.get("scope")).split("/")[-2] for row in recorded().of(LOCK))
    assert locked == ["registries", "storageAccounts", "vaults"]
    assert recorded(teardown=True).of(LOCK) == ()


def test_a_cluster_is_not_locked_so_that_pools_can_go():
    assert not any("managedClusters" in str(row.get("scope")) for row in recorded().of(LOCK))
    assert cluster_of("plain").protect is True


@pytest.mark.parametrize(("stack", "count"), [("test.global", 1), (f"test.{REGION}", 2)])
def test_weights_and_logs_are_encrypted_with_the_key_protected_and_closed_to_networks(stack, count):
    recording = recorded(stack=stack)
    grants = {row.urn for row in granted(recording, "Key Vault Crypto Service Encryption User")}
    stores = recording.of("azure-native:storage:StorageAccount")
    assert len(stores) == count
    for store in stores:
        assert (store.get("encryption.keySource"), store.protect) == ("Microsoft.Keyvault", True)
        assert store.get("networkRuleSet.defaultAction") == "Deny"
        assert grants & set(store.dependencies), "born when it may use the key"


def test_the_key_gets_new_versions_and_loses_none():
    (key,) = recorded(stack="test.global").of("azure-native:keyvault:Key")
    (policy,) = key.get("properties.rotationPolicy.lifetimeActions")
    assert policy["action"]["type"] == "rotate"
    assert key.get("properties.rotationPolicy.attributes") is None, "an end of versions would end what they locked"


def test_a_registry_asks_for_no_key_of_the_closed_vault():
    recording = recorded(stack="test.global")
    (registry,) = recording.of("azure-native:containerregistry:Registry")
    assert (registry.get("encryption"), registry.get("identity")) == (None, None)


def test_a_cluster_that_is_there_is_found_in_the_group_of_its_id():
    place = place_of(fleet()[0], REGION, teardown=False)
    assert group_of(place, f"{THEIRS}/Microsoft.ContainerService/managedClusters/aks") == "theirs"
    assert group_of(place, "theirs") == f"test--{REGION}--cluster"


def test_only_time_slices_need_a_configuration_in_the_cluster():
    assert set(operator_configs(["mig-7x1g.10gb", "slice-4"])) == {"time-slicing"}
    assert operator_configs(["mig-7x1g.10gb"]) == {}
