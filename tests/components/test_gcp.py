"""What a region is made of on Google Cloud, as the engine is told."""

from dataclasses import replace
from functools import cache
from ipaddress import IPv4Network
from typing import Any

import pytest

from components.base import place_of
from components.cluster import contract as cluster_contract
from components.identity import contract as identity_contract
from components.keys.gcp import agent
from components.network import contract as network_contract
from components.workload_identity import contract as workload_contract
from outlast.errors import ConfigError
from outlast.intent.stacks import parse
from stacks.run import declare
from tests.builders import demo_intent, facts
from tests.components.clouds import KEY as MORE
from tests.components.clouds import recorded as region_with
from tests.recording import record
from tests.stacks.conftest import demo_lock, recorded

REGION = "eu-west"
CLUSTER, POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
ADDRESS, NAT = "gcp:compute/address:Address", "gcp:compute/routerNat:RouterNat"
SUBNETWORK, FIREWALL = "gcp:compute/subnetwork:Subnetwork", "gcp:compute/firewall:Firewall"
ZONE, RECORD = "gcp:dns/managedZone:ManagedZone", "gcp:dns/recordSet:RecordSet"
BUCKET, KEY = "gcp:storage/bucket:Bucket", "gcp:kms/cryptoKey:CryptoKey"
MEMBER = "gcp:projects/iAMMember:IAMMember"
GRANT = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
REPOSITORY = "gcp:artifactregistry/repository:Repository"
LABELS = {
    **dict.fromkeys((ADDRESS, BUCKET, KEY, REPOSITORY, ZONE), "labels"),
    CLUSTER: "resourceLabels",
    POOL: "nodeConfig.resourceLabels",
}
"""Type that bears cost -> where its labels are."""


def made(type_, stack=REGION):
    """The demo's resources of a type, with invented values known."""
    found = recorded(f"demo.{stack}", preview=False).of(type_)
    assert found, f"no {type_} in {stack}"
    return found


def one(type_, name=""):
    (found,) = [resource for resource in made(type_) if resource.name.endswith(name)]
    return found


@cache
def cluster_with_api(private, *allow):
    """The cluster of a region whose API server is reached otherwise."""
    intent = demo_intent()
    row = intent.regions[REGION]
    api = row.api.model_copy(update={"private": private, "allow": allow})
    regions = dict(intent.regions) | {REGION: row.model_copy(update={"api": api})}
    changed = replace(intent, regions_file=intent.regions_file.model_copy(update={"regions": regions}))
    stack = f"demo.{REGION}"
    return record(lambda: declare(parse(stack), changed, demo_lock()), preview=True, stack=stack).of(CLUSTER)[0]


@cache
def two_regions():
    """Two regions of one project, as far as they are granted anything on it."""
    first = place_of(demo_intent(), REGION, teardown=False)
    second = replace(first, region="eu-other", provider_region="europe-north1", zones=("europe-north1-a",))

    def program():
        for place in (first, second):
            name, people = place.region, ("group:a@b.example",)
            net = network_contract.NetworkArgs(place=place, cidr="10.0.0.0/16", key="a-key", buckets=("w",))
            base: dict[str, Any] = {"network": network_contract.declare(f"{name}-net", net)}
            base["identity"] = identity_contract.declare(f"{name}-who", identity_contract.IdentityArgs(place=place))
            api: dict[str, Any] = {"private": True, "allow": (), "access": {"admin": people, "viewer": people}}
            api |= {"kubernetes": "1.36", "system_zone_nodes": 1, "key": "a-key", "add_ons": {}}
            own = cluster_contract.declare(f"{name}-api", cluster_contract.ClusterArgs(place=place, **base, **api))
            pods: dict[str, Any] = {"namespace": "serving", "service_account": "stager", "weights": "w", "key": "a-key"}
            stager = workload_contract.WorkloadIdentityArgs(place=place, cluster=own, **pods)
            workload_contract.declare(f"{name}-stager", stager)

    return record(program, preview=False)


def ranges(subnetwork):
    return [
        IPv4Network(subnetwork.get("ipCidrRange")),
        *(IPv4Network(item["ipCidrRange"]) for item in subnetwork.get("secondaryIpRanges") or ()),
    ]


# network


def test_all_ranges_lie_apart_inside_the_regions_own():
    found = [block for subnetwork in made(SUBNETWORK) for block in ranges(subnetwork)]
    around = IPv4Network(demo_intent().regions[REGION].cidr)
    assert all(block.subnet_of(around) for block in found)
    assert not [(a, b) for a in found for b in found if a is not b and a.overlaps(b)]


def test_the_way_out_has_only_addresses_that_stay():
    nat = one(NAT)
    addresses = [urn for urn in nat.property_dependencies["natIps"] if ADDRESS in urn]
    assert nat.get("natIpAllocateOption") == "MANUAL_ONLY"
    assert len(addresses) == len(nat.get("natIps")) > 1


def test_nothing_is_let_in_from_anywhere():
    opened = [rule for rule in made(FIREWALL) if rule.get("allows") and "0.0.0.0/0" in rule.get("sourceRanges")]
    (last,) = [rule for rule in made(FIREWALL) if rule.get("denies")]
    assert opened == []
    assert last.get("priority") > max(rule.get("priority") or 1000 for rule in made(FIREWALL) if rule is not last)


def test_nothing_of_the_traffic_is_written_down_outside_the_region():
    """A project's logs lie in no region."""
    assert [found.urn for type_ in (SUBNETWORK, NAT, FIREWALL) for found in made(type_) if found.get("logConfig")] == []


def test_load_balancers_reach_the_nodes_of_the_region_and_nothing_else():
    account = one("gcp:serviceaccount/account:Account", "-identity")
    (entry,) = [rule for rule in made(FIREWALL) if rule.get("allows")]
    project = demo_intent().regions[REGION].account
    assert entry.get("targetServiceAccounts") == (f"{account.get('accountId')}@{project}.iam.gserviceaccount.com",)
    assert one(SUBNETWORK, "-proxies").get("ipCidrRange") in entry.get("sourceRanges")


@pytest.mark.parametrize("domain", ["googleapis.com", "gcr.io", "pkg.dev"])
def test_services_of_the_cloud_are_reached_inside_the_network(domain):
    zone = one(ZONE, domain.replace(".", "-"))
    answers = {record.get("type"): record for record in made(RECORD) if record.name.startswith(f"{zone.name}-")}
    assert (zone.get("visibility"), zone.get("dnsName")) == ("private", f"{domain}.")
    assert answers["CNAME"].get("rrdatas") == (answers["A"].get("name"),)
    assert all(IPv4Network("199.36.153.4/30").supernet_of(IPv4Network(one)) for one in answers["A"].get("rrdatas"))


# cluster


def test_a_private_api_server_has_no_address_to_knock_at():
    cluster = cluster_with_api(True)
    assert cluster.get("controlPlaneEndpointsConfig.ipEndpointsConfig.enabled") is False
    assert cluster.get("masterAuthorizedNetworksConfig") is None


def test_an_open_api_server_answers_only_the_ranges_that_people_list():
    cluster = cluster_with_api(False, "203.0.113.0/24")
    assert cluster.get("controlPlaneEndpointsConfig.ipEndpointsConfig.enabled") is True
    assert cluster.get("masterAuthorizedNetworksConfig.cidrBlocks") == ({"cidrBlock": "203.0.113.0/24"},)


def test_nobody_without_an_identity_is_anybody_to_the_cluster():
    cluster = one(CLUSTER)
    assert cluster.get("anonymousAuthenticationConfig.mode") == "LIMITED"
    assert set(cluster.get("rbacBindingConfig").values()) == {False}
    assert cluster.get("masterAuth.clientCertificateConfig.issueClientCertificate") is False


def test_people_are_let_into_the_cluster_of_their_region_only():
    (admin,) = [member for member in made(MEMBER) if member.get("role") == "roles/container.admin"]
    region, cluster = demo_intent().regions[REGION], one(CLUSTER)
    own = f"projects/{region.account}/locations/{region.provider_region}/clusters/{cluster.get('name')}"
    assert admin.get("condition.expression") == f'resource.name == "{own}" || resource.name.startsWith("{own}/")'


def test_regions_of_one_project_share_no_grant_on_it():
    """What one region takes away when it goes, another would miss."""
    grants = two_regions().of(MEMBER)
    said = {tuple(str(row.get(key)) for key in ("project", "role", "member", "condition")) for row in grants}
    assert len(said) == len(grants) == 2 * len([row for row in grants if row.name.startswith("eu-other-")])


def test_the_nodes_that_a_cluster_is_born_with_are_not_the_projects_default_account():
    cluster = one(CLUSTER)
    assert cluster.property_dependencies["nodeConfig"]
    assert cluster.get("nodeConfig.serviceAccount") == one(POOL, "-system").get("nodeConfig.serviceAccount")


def test_what_workloads_write_is_not_sent_out_of_the_region():
    assert "WORKLOADS" not in one(CLUSTER).get("loggingConfig.enableComponents")


def test_one_setting_moves_the_control_plane_and_nodes_follow():
    assert one(CLUSTER).get("minMasterVersion") == demo_intent().fleet.kubernetes
    assert {pool.get("version") for pool in made(POOL)} == {None}
    assert {pool.get("management.autoUpgrade") for pool in made(POOL)} == {True}


# nodes


def test_nodes_are_drained_as_disruption_budgets_say():
    drains = [pool.get("nodeDrainConfigs.0.respectPdbDuringNodePoolDeletion") for pool in made(POOL)]
    assert set(drains) == {True}


def test_nodes_are_private_shielded_and_show_workloads_no_credentials_of_their_own():
    for pool in made(POOL):
        assert pool.get("networkConfig.enablePrivateNodes") is True
        assert pool.get("nodeConfig.shieldedInstanceConfig.enableSecureBoot") is True
        assert pool.get("nodeConfig.workloadMetadataConfig.mode") == "GKE_METADATA"


def test_machines_carry_the_tags_of_people_and_ours():
    own = demo_intent().regions[REGION].tags
    assert own
    for pool in made(POOL):
        labels = pool.get("nodeConfig.resourceLabels")
        assert own.items() <= labels.items()
        assert labels["outlast-region"] == REGION


@pytest.mark.parametrize("machine_type", ["a3-highgpu-8g", "a3-megagpu-8g"])
def test_cards_are_named_as_the_machine_type_has_them(machine_type):
    name = facts().accelerator_type("gcp", machine_type)
    (pool,) = [row for row in region_with("gcp", machine_type=machine_type).of(POOL) if row.name.endswith(MORE)]
    assert pool.get("nodeConfig.guestAccelerators.0.type") == name
    assert ("mega" in name) is ("mega" in machine_type)


def test_what_is_not_reserved_takes_from_no_reservation():
    pools = [pool for pool in made(POOL) if pool.get("nodeConfig.guestAccelerators")]
    taken = [pool.get("nodeConfig.reservationAffinity.consumeReservationType") for pool in pools]
    assert set(taken) == {"NO_RESERVATION"}


def test_a_replica_that_runs_does_not_need_its_registry():
    pools = [pool for pool in made(POOL) if pool.get("nodeConfig.guestAccelerators")]
    assert {pool.get("nodeConfig.gcfsConfig.enabled") for pool in pools} == {False}


# identities and keys


def test_nodes_read_the_images_of_their_own_region_and_nothing_else():
    identity = "eu-west-identity"
    granted = [member for member in made(MEMBER) if member.name.startswith(identity)]
    reader = one("gcp:artifactregistry/repositoryIamMember:RepositoryIamMember")
    own = next(found for found in made(REPOSITORY, "global") if found.get("location") == reader.get("location"))
    assert [member.get("role") for member in granted] == ["roles/container.defaultNodeServiceAccount"]
    assert reader.get("repository") == own.get("repositoryId")


def test_what_is_locked_waits_until_its_service_may_use_the_key():
    (bucket,) = made(BUCKET, "global")
    agents = {grant.urn: grant.get("member") for grant in made(GRANT, "global")}
    assert set(bucket.property_dependencies["encryption"]) > set(agents)
    number = demo_intent().regions[REGION].account_number
    assert all(member.startswith(f"serviceAccount:service-{number}@") for member in agents.values())


def test_a_service_without_a_number_is_refused_with_file_and_key():
    with pytest.raises(ConfigError, match=r"regions\.yaml, regions\.eu-west\.account_number"):
        agent(REGION, None, "gs-project-accounts")


@pytest.mark.parametrize("stack", ["global", REGION])
def test_what_bears_cost_says_whose_it_is(stack):
    for resource in recorded(f"demo.{stack}", preview=False).resources:
        if resource.type in LABELS:
            assert resource.get(LABELS[resource.type])["outlast-fleet"] == "demo", resource.urn
