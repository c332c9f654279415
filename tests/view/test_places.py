"""Where a resource lies; what cannot be decided is never taken to lie nowhere."""

import json
from dataclasses import replace
from typing import Any

import pytest

from outlast.view import UNKNOWN, Place, Resource, view_of
from tests.builders import facts, make_resource

WEST4 = Place("gcp", "europe-west4")
EAST1 = Place("aws", "us-east-1")
BUCKET, GCP_BUCKET = "aws:s3/bucket:Bucket", "gcp:storage/bucket:Bucket"
EAST: dict[str, Any] = {"provider_inputs": {"region": "us-east-1"}}

DECIDED: list[tuple[str, str, dict[str, Any], dict[str, Any], Place]] = [
    ("the provider's region", BUCKET, {}, EAST, EAST1),
    ("its own region over the provider's", BUCKET, {"region": "eu-north-1"}, EAST, Place("aws", "eu-north-1")),
    ("a region in capitals", GCP_BUCKET, {"location": "EUROPE-WEST4"}, {}, WEST4),
    ("a zone of a region", "gcp:container/cluster:Cluster", {"location": "europe-west4-b"}, {}, WEST4),
    ("a zone id", BUCKET, {"region": "use1-az1"}, {}, EAST1),
    (
        "a list of zones",
        "gcp:container/nodePool:NodePool",
        {"nodeLocations": ("europe-west4-b", "europe-west4-c")},
        {},
        WEST4,
    ),
    ("a provider", "pulumi:providers:aws", {"region": "us-east-1"}, {}, EAST1),
]
UNDECIDED: list[tuple[str, str, dict[str, Any], dict[str, Any], str]] = [
    ("no place at all", BUCKET, {}, {}, "says no place"),
    ("a provider not known yet", BUCKET, {}, {"provider_inputs": {"region": UNKNOWN}}, "@provider.region is not known"),
    ("a region not known yet", BUCKET, {"region": UNKNOWN}, EAST, "region is not known"),
    ("a multi-region", GCP_BUCKET, {"location": "EU"}, {}, "location = 'EU' is no single region of gcp"),
    ("a pair of regions", GCP_BUCKET, {"location": "EUR4"}, {}, "'EUR4'"),
    ("a region of another cloud", GCP_BUCKET, {"location": "us-east-1"}, {}, "'us-east-1'"),
    (
        "a part not known yet",
        "gcp:container/nodePool:NodePool",
        {"nodeLocations": ("europe-west4-b", UNKNOWN)},
        {},
        "nodeLocations",
    ),
    ("a type that is not listed", "aws:dynamodb/table:Table", {"region": "us-east-1"}, EAST, "not in the catalogue"),
]


def located(resource: Resource, *others: Resource, table=None):
    known = facts() if table is None else table
    return view_of([resource, *others], known).location(resource)


@pytest.mark.parametrize(
    ("type_", "inputs", "fields", "place"), [case[1:] for case in DECIDED], ids=[case[0] for case in DECIDED]
)
def test_a_place_is_read_from(type_, inputs, fields, place):
    assert located(make_resource(type_, "x", inputs=inputs, **fields)).places == (place,)


@pytest.mark.parametrize(
    ("type_", "inputs", "fields", "why"), [case[1:] for case in UNDECIDED], ids=[case[0] for case in UNDECIDED]
)
def test_a_place_is_undecided_with(type_, inputs, fields, why):
    found = located(make_resource(type_, "x", inputs=inputs, **fields))
    assert (found.places, found.is_decided) == ((), False)
    assert why in found.undecided


def test_a_global_type_lies_nowhere_and_is_decided():
    found = located(make_resource("aws:iam/role:Role", "x", **EAST))
    assert (found.places, found.is_decided) == ((), True)


def test_an_opaque_type_is_undecided():
    row = facts().catalogue[BUCKET].model_copy(update={"kind": "opaque"})
    table = replace(facts(), catalogue={**facts().catalogue, BUCKET: row})
    assert "hides its place" in located(make_resource(BUCKET, "x", **EAST), table=table).undecided


def key_in(*rings: Resource, **inputs) -> Resource:
    urns = tuple(sorted(ring.urn for ring in rings))
    return make_resource(
        "gcp:kms/cryptoKey:CryptoKey",
        "key",
        inputs={"keyRing": UNKNOWN} | inputs,
        property_dependencies={"keyRing": urns} if urns else {},
    )


def ring(name: str = "ring", **inputs) -> Resource:
    return make_resource("gcp:kms/keyRing:KeyRing", name, inputs={"location": "europe-west4"} | inputs)


def test_a_reference_leads_to_the_place_of_what_it_names():
    assert located(key_in(ring()), ring()).places == (WEST4,)


def test_a_reference_to_what_is_not_here_is_undecided():
    assert "refers to nothing" in located(key_in(ring())).undecided


def test_a_full_name_instead_of_a_reference_says_its_place():
    found = located(key_in(keyRing="projects/p/locations/europe-west4/keyRings/r"))
    assert found.places == (WEST4,)


@pytest.mark.parametrize("name", ["r", "projects/p/keyRings/r", "projects/p/locations/eu/keyRings/r"])
def test_a_name_that_says_no_single_region_is_undecided(name):
    assert not located(key_in(keyRing=name)).is_decided


def test_a_known_reference_that_agrees_with_what_it_was_made_from_is_decided():
    assert located(key_in(ring(), keyRing="projects/p/locations/europe-west4/keyRings/r"), ring()).places == (WEST4,)


@pytest.mark.parametrize("place", ["us-central1", "eu"])
def test_a_known_reference_that_disagrees_with_what_it_was_made_from_is_undecided(place):
    found = located(key_in(ring(), keyRing=f"projects/p/locations/{place}/keyRings/r"), ring())
    assert (found.places, found.is_decided) == ((), False)
    assert f"locations/{place}" in found.undecided
    assert "europe-west4" in found.undecided


def test_a_known_reference_does_not_stand_for_a_target_without_a_place():
    lost = ring(location=UNKNOWN)
    assert not located(key_in(lost, keyRing="projects/p/locations/europe-west4/keyRings/r"), lost).is_decided


def test_a_reference_to_what_is_undecided_is_undecided():
    assert not located(key_in(ring(location="eu")), ring(location="eu")).is_decided


def test_one_known_target_does_not_stand_for_an_unknown_one():
    lost = ring("other", location=UNKNOWN)
    assert not located(key_in(ring(), lost), ring(), lost).is_decided


POOL, CLUSTER = "azure-native:containerservice:AgentPool", "azure-native:containerservice:ManagedCluster"
CENTRAL: dict[str, Any] = {"provider_inputs": {"location": "polandcentral"}}


def test_a_name_of_what_no_stack_declares_leaves_the_place_to_the_next_path():
    found = located(make_resource(POOL, "pool", inputs={"resourceName": "theirs"}, **CENTRAL))
    assert (found.places, found.path) == ((Place("azure", "polandcentral"),), "@provider.location")
    assert "refers to nothing" in located(make_resource(POOL, "pool", inputs={"resourceName": "theirs"})).undecided


def test_a_reference_not_known_yet_leaves_it_to_none():
    assert not located(make_resource(POOL, "pool", inputs={"resourceName": UNKNOWN}, **CENTRAL)).is_decided


def test_a_reference_to_what_is_declared_decides_over_the_next_path():
    cluster = make_resource(CLUSTER, "ours", inputs={"location": "eastus"})
    leads = {"resourceName": (cluster.urn,)}
    pool = make_resource(POOL, "pool", inputs={"resourceName": "ours"}, property_dependencies=leads, **CENTRAL)
    assert located(pool, cluster).places == (Place("azure", "eastus"),)
    assert not located(pool).is_decided, "what it was made from is not here"


def test_references_in_a_circle_end():
    first = make_resource("gcp:kms/cryptoKey:CryptoKey", "a", inputs={"keyRing": UNKNOWN})
    second = replace(first, urn=first.urn.replace("::a", "::b"), name="b")
    first = replace(first, property_dependencies={"keyRing": (second.urn,)})
    second = replace(second, property_dependencies={"keyRing": (first.urn,)})
    assert not located(first, second).is_decided


def cluster(name, stack: str = "test.us-east", logical: str = "cluster", **fields) -> Resource:
    return make_resource("aws:eks/cluster:Cluster", logical, stack, inputs={"name": name}, **{**EAST, **fields})


def provider(identifier, *sources: Resource, stack: str = "test.us-east") -> Resource:
    """A Kubernetes provider of a cluster, with a kubeconfig made from ``sources``."""
    inputs = {"kubeconfig": UNKNOWN} | ({"clusterIdentifier": identifier} if identifier else {})
    urns = {"kubeconfig": tuple(sorted(source.urn for source in sources))} if sources else {}
    return make_resource("pulumi:providers:kubernetes", "k", stack, inputs=inputs, property_dependencies=urns)


def namespace(served: Resource | None, stack: str = "test.us-east") -> Resource:
    return make_resource("kubernetes:core/v1:Namespace", "x", stack, provider=served.urn if served else "")


def of_cluster(served: Resource, *others: Resource):
    """Where a provider and an object it serves lie; both must say the same."""
    found = located(served, *others)
    assert located(namespace(served, served.stack), served, *others) == found
    return found


def test_objects_and_their_provider_lie_where_the_cluster_does():
    assert of_cluster(provider("c1", cluster("c1")), cluster("c1")).places == (EAST1,)


@pytest.mark.parametrize(
    ("identifier", "name"),
    [("c1", "c2"), (None, "c1"), (UNKNOWN, "c1"), (UNKNOWN, UNKNOWN)],
    ids=["another", "none", "not known", "neither known"],
)
def test_an_identifier_that_is_not_the_clusters_is_undecided(identifier, name):
    assert not of_cluster(provider(identifier, cluster(name)), cluster(name)).is_decided


def test_a_foreign_kubeconfig_with_our_identifier_is_undecided():
    found = of_cluster(provider("c1"), cluster("c1"))
    assert "kubeconfig of provider 'k' comes from no single cluster" in found.undecided


def provider_of_server(text: str, **fields) -> Resource:
    """A Kubernetes provider whose kubeconfig is plain and comes from nothing that a stack declares."""
    return replace(provider("c1"), inputs={"clusterIdentifier": "c1", "kubeconfig": text}, **fields)


def kubeconfig(*servers: str) -> str:
    return json.dumps({"clusters": [{"name": "c1", "cluster": {"server": server}} for server in servers]})


SERVERS = [
    ("https://0A1B.gr7.us-east-1.eks.amazonaws.com", EAST1),
    ("https://gke-0a1b-1.europe-west4.gke.goog", WEST4),
    ("https://x-0a1b.0a1b-2.privatelink.polandcentral.azmk8s.io:443", Place("azure", "polandcentral")),
]


@pytest.mark.parametrize(("server", "place"), SERVERS)
def test_objects_of_a_cluster_that_exists_lie_where_its_api_server_does(server, place):
    assert of_cluster(provider_of_server(kubeconfig(server))).places == (place,)


NO_SERVERS = {
    "a name of our own": kubeconfig("https://kubernetes.example.org"),
    "an address": kubeconfig("https://10.0.0.1"),
    "a region that is none": kubeconfig("https://gke-0a1b-1.europe-west99.gke.goog"),
    "a cloud's name inside another": kubeconfig("https://gke-0a1b-1.europe-west4.gke.goog.example.org"),
    "two clusters": kubeconfig(*(server for server, _ in SERVERS[:2])),
    "no cluster": kubeconfig(),
    "no kubeconfig": "[]",
    "no JSON": "apiVersion: v1",
}


@pytest.mark.parametrize("text", NO_SERVERS.values(), ids=NO_SERVERS)
def test_an_api_server_is_undecided_behind(text):
    assert not of_cluster(provider_of_server(text)).is_decided


def test_a_kubeconfig_made_from_something_is_never_read_for_its_server():
    store = make_resource(BUCKET, "x", **EAST)
    served = provider_of_server(kubeconfig(SERVERS[0][0]), property_dependencies={"kubeconfig": (store.urn,)})
    assert not of_cluster(served, store).is_decided


def test_a_kubeconfig_of_another_cluster_with_our_identifier_is_undecided():
    other = cluster("c2", logical="other")
    assert not of_cluster(provider("c1", other), cluster("c1"), other).is_decided


def test_a_kubeconfig_of_two_clusters_is_undecided():
    other = cluster("c2", logical="other")
    assert not of_cluster(provider("c1", cluster("c1"), other), cluster("c1"), other).is_decided


def test_a_kubeconfig_of_no_cluster_is_undecided():
    store = make_resource(BUCKET, "x", **EAST)
    assert not of_cluster(provider("c1", store), cluster("c1"), store).is_decided


def test_a_cluster_of_another_stack_is_undecided():
    away = cluster("c1", "test.eu-north")
    assert not of_cluster(provider("c1", away), away).is_decided


def test_an_object_of_a_cluster_without_a_place_is_undecided():
    nowhere = cluster("c1", provider_inputs={})
    assert not of_cluster(provider("c1", nowhere), nowhere).is_decided


@pytest.mark.parametrize("served", [None, provider("c1", cluster("c1"))], ids=["default", "not here"])
def test_an_object_without_its_provider_is_undecided(served):
    assert "no declared provider" in located(namespace(served), cluster("c1")).undecided
