"""A region in a network, and a cluster, that exist: nothing of them is declared, and the rest stands on them."""

import pytest

from outlast.proof import realises
from outlast.rules import RULES, Deployment, run
from outlast.view import view_of
from tests.builders import facts
from tests.existing import NETWORKS, existing, recorded_existing
from tests.stacks.conftest import demo_lock, recorded

REGIONS = tuple(NETWORKS)
AKS = "azure-native:containerservice"
MADE_OF_NETWORKS = (
    "vpc:Vpc",
    "network:Network",
    "ubnet:Subnet",
    "subnetwork:Subnetwork",
    "atGateway:NatGateway",
    "outer",
)
MADE_OF_CLUSTERS = ("cluster:Cluster", ":ManagedCluster", "addon:Addon", "accessEntry:AccessEntry")
NODE_POOLS = ("aws:eks/nodeGroup:NodeGroup", "gcp:container/nodePool:NodePool", f"{AKS}:AgentPool")
BOTH = pytest.mark.parametrize("cluster", [False, True], ids=["network", "cluster"])
EVERY = pytest.mark.parametrize("region", REGIONS)


def types(resources, endings) -> set[str]:
    clouds = (r.type for r in resources if not r.type.startswith(("outlast:", "kubernetes:")))
    return {type_ for type_ in clouds if any(ending in type_ for ending in endings)}


@EVERY
@BOTH
def test_nothing_of_an_existing_network_is_declared(region, cluster):
    assert types(recorded(f"demo.{region}").resources, MADE_OF_NETWORKS), "the demo makes a network"
    assert types(recorded_existing(region, cluster=cluster).resources, MADE_OF_NETWORKS) == set()


@EVERY
def test_nothing_of_an_existing_cluster_is_declared(region):
    assert types(recorded_existing(region, cluster=False).resources, MADE_OF_CLUSTERS)
    assert types(recorded_existing(region, cluster=True).resources, MADE_OF_CLUSTERS) == set()


@EVERY
def test_an_existing_cluster_keeps_its_own_system_nodes(region):
    names = {r.name for r in recorded_existing(region, cluster=True).resources}
    assert f"{region}-system" not in names
    assert f"{region}-system" in {r.name for r in recorded_existing(region, cluster=False).resources}


@EVERY
@BOTH
def test_a_preview_and_an_update_declare_the_same(region, cluster):
    preview, known = (recorded_existing(region, cluster=cluster, preview=preview) for preview in (True, False))
    assert [r.urn for r in preview.resources] == [r.urn for r in known.resources]


@EVERY
@BOTH
@pytest.mark.parametrize("preview", [True, False], ids=["preview", "known"])
def test_the_region_is_still_what_its_block_of_the_lock_says(region, cluster, preview):
    view = view_of(recorded_existing(region, cluster=cluster, preview=preview).resources, facts())
    assert realises(view, demo_lock(), region, NETWORKS[region]["subnets"]) == ()


@EVERY
def test_node_pools_join_the_cluster_that_exists(region):
    found = recorded_existing(region, cluster=True).resources
    pools = [r for r in found if r.type in NODE_POOLS]
    assert len(pools) == len(demo_lock().regions[region].node_pools)
    clusters = {r.get("clusterName") or r.get("cluster") or r.get("resourceName") for r in pools}
    assert clusters <= {"ml-east", "ml-west", "ml-central"}


def test_node_groups_lie_in_the_subnets_that_exist():
    groups = recorded_existing("us-east", cluster=True).of("aws:eks/nodeGroup:NodeGroup")
    assert {r.get("subnetIds") for r in groups} == {(subnet,) for subnet in NETWORKS["us-east"]["subnets"].values()}


@EVERY
def test_an_existing_cluster_in_its_region_breaks_no_rule(region):
    assert broken(region) == set()


def broken(region, server=None) -> set[str]:
    """Rules that a preview of the region in an existing cluster breaks."""
    intent = existing(region, cluster=True, server=server)
    view = view_of(recorded_existing(region, cluster=True, server=server).resources, facts())
    deployment = Deployment(intent=intent, lock=demo_lock(), applied=None, view=view)
    return {row.rule for row in run(RULES, deployment) if row.refused}


AWAY = {
    "us-east": "https://0A1B2C3D.gr7.ap-south-1.eks.amazonaws.com",
    "eu-west": "https://gke-0a1b-123.us-central1.gke.goog",
    "eu-central": "https://ml-central-0a1b2c3d.privatelink.eastus.azmk8s.io",
}


@pytest.mark.parametrize(("region", "server"), AWAY.items(), ids=AWAY)
def test_an_existing_cluster_of_another_jurisdiction_is_refused(region, server):
    assert broken(region, server) == {"R-28"}


def test_an_existing_cluster_behind_a_name_of_no_cloud_is_undecided():
    assert broken("us-east", "https://kubernetes.example.org") == {"R-27"}


def test_a_node_pool_in_a_subnet_of_another_zone_is_refused():
    subnets = NETWORKS["us-east"]["subnets"]
    turned = dict(zip(subnets, [*list(subnets.values())[1:], "subnet-00000001"], strict=True))
    view = view_of(recorded_existing("us-east", cluster=True).resources, facts())
    assert {row.field for row in realises(view, demo_lock(), "us-east", turned)} == {"zone"}
