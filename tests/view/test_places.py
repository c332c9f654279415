"""Where a resource lies; what cannot be decided is never taken to lie nowhere."""

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


def test_a_name_instead_of_a_reference_is_undecided():
    assert "refers to nothing" in located(key_in(keyRing="projects/p/locations/europe-west4/keyRings/r")).undecided


def test_a_reference_to_what_is_undecided_is_undecided():
    assert not located(key_in(ring(location="eu")), ring(location="eu")).is_decided


def test_one_known_target_does_not_stand_for_an_unknown_one():
    lost = ring("other", location=UNKNOWN)
    assert not located(key_in(ring(), lost), ring(), lost).is_decided


def test_references_in_a_circle_end():
    first = make_resource("gcp:kms/cryptoKey:CryptoKey", "a", inputs={"keyRing": UNKNOWN})
    second = replace(first, urn=first.urn.replace("::a", "::b"), name="b")
    first = replace(first, property_dependencies={"keyRing": (second.urn,)})
    second = replace(second, property_dependencies={"keyRing": (first.urn,)})
    assert not located(first, second).is_decided


def namespace(identifier, stack: str = "test.us-east") -> Resource:
    provider = {"clusterIdentifier": identifier} if identifier else {}
    return make_resource("kubernetes:core/v1:Namespace", "x", stack, provider_inputs=provider)


def cluster(name, stack: str = "test.us-east", **fields) -> Resource:
    return make_resource("aws:eks/cluster:Cluster", "cluster", stack, inputs={"name": name}, **{**EAST, **fields})


def test_an_object_lies_where_its_cluster_does():
    assert located(namespace("c1"), cluster("c1")).places == (EAST1,)


def test_a_kubernetes_provider_lies_where_its_cluster_does():
    provider = make_resource("pulumi:providers:kubernetes", "k", inputs={"clusterIdentifier": "c1"})
    assert located(provider, cluster("c1")).places == (EAST1,)


@pytest.mark.parametrize(
    ("identifier", "name"),
    [("c1", "c2"), (None, "c1"), (UNKNOWN, "c1"), (UNKNOWN, UNKNOWN)],
    ids=["another", "none", "not known", "neither known"],
)
def test_an_object_of_an_unknown_cluster_is_undecided(identifier, name):
    assert not located(namespace(identifier), cluster(name)).is_decided


def test_a_cluster_of_the_same_name_in_another_stack_is_another():
    assert not located(namespace("c1"), cluster("c1", "test.eu-north")).is_decided


def test_an_object_of_a_cluster_without_a_place_is_undecided():
    assert not located(namespace("c1"), cluster("c1", provider_inputs={})).is_decided
