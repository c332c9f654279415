"""Node pools, workloads, records and labels, read from hand-made records of each cloud."""

import json
from dataclasses import replace

import pytest

from outlast.view import UNKNOWN, NodePool, Workload, view_of
from outlast.view.view import readers
from tests.builders import facts, make_block, make_intent, make_lock, make_resource, with_input
from tests.stack_records import make_stack

AFFINITY = "spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"


def stack(region: str = "us-east", **changes) -> dict:
    names = ("us-east", "eu-west", "eu-north")
    intent = make_intent(*names)
    blocks = {name: make_block(name, 2, 2) for name in names}
    for key, value in changes.items():
        blocks[region]["node_pools"]["gh100-1-a"][key] = value
    return make_stack(intent, make_lock(intent, blocks), region)


def first(resources: dict) -> NodePool:
    return next(pool for pool in view_of(resources.values(), facts()).node_pools if pool.urn.endswith("::gh100-1-a"))


def workload(resources: dict) -> Workload:
    (found,) = view_of(resources.values(), facts()).workloads
    return found


def changed(path: str, value, *, region: str = "us-east", key: str = "gh100-1-a") -> dict:
    resources = stack(region)
    return resources | {key: with_input(resources[key], path, value)}


@pytest.mark.parametrize(
    ("region", "cloud", "zone", "machine_type"),
    [("us-east", "aws", "use1-az1", "p5.48xlarge"), ("eu-west", "gcp", "europe-west4-b", "a3-highgpu-8g")],
)
def test_a_node_pool_of_each_cloud_reads_the_same(region, cloud, zone, machine_type):
    found = first(stack(region))
    assert (found.cloud, found.key, found.zone, found.machine_type) == (cloud, "gh100-1-a", zone, machine_type)
    assert (found.nodes_min, found.nodes_desired, found.nodes_max) == (1, 1, 1)
    assert (found.capacity, found.reservation, found.count_ignored) == ("on_demand", None, False)


def test_other_resources_are_no_node_pools():
    assert len(view_of(stack().values(), facts()).node_pools) == 2


def test_an_aws_node_pool_without_known_subnets_has_no_known_zone():
    resources = stack()
    bare = replace(resources["gh100-1-a"], property_dependencies={})
    assert first(resources | {"gh100-1-a": bare}).zone is UNKNOWN


def test_an_aws_node_pool_in_two_zones_names_both():
    resources = stack()
    urns = (resources["gh100-1-a-subnet"].urn, resources["gh100-2-a-subnet"].urn)
    both = replace(
        with_input(resources["gh100-1-a"], "subnetIds", (UNKNOWN, UNKNOWN)), property_dependencies={"subnetIds": urns}
    )
    assert first(resources | {"gh100-1-a": both}).zone == "use1-az1,use1-az2"


def test_an_aws_subnet_beside_a_known_one_may_be_anywhere():
    assert first(changed("subnetIds", (UNKNOWN, "subnet-1"))).zone is UNKNOWN


@pytest.mark.parametrize(
    ("value", "capacity"),
    [
        ("ON_DEMAND", "on_demand"),
        ("SPOT", "spot"),
        ("CAPACITY_BLOCK", "reserved"),
        (None, "on_demand"),
        (UNKNOWN, UNKNOWN),
    ],
)
def test_the_capacity_of_an_aws_node_pool(value, capacity):
    assert first(changed("capacityType", value)).capacity == capacity


@pytest.mark.parametrize(
    ("value", "machine_type"),
    [(("p5.48xlarge",), "p5.48xlarge"), (("a", "b"), "a,b"), ((UNKNOWN,), UNKNOWN), (UNKNOWN, UNKNOWN), ((), None)],
)
def test_the_machine_type_of_an_aws_node_pool(value, machine_type):
    assert first(changed("instanceTypes", value)).machine_type == machine_type


def with_template(**inputs) -> dict:
    resources = stack()
    template = make_resource("aws:ec2/launchTemplate:LaunchTemplate", "template", inputs=inputs)
    group = with_input(resources["gh100-1-a"], "instanceTypes", None)
    urns = {**group.property_dependencies, "launchTemplate": (template.urn,)}
    return resources | {"template": template, "gh100-1-a": replace(group, property_dependencies=urns)}


def test_an_aws_node_pool_takes_machine_type_and_reservation_from_its_template():
    target = {"capacityReservationTarget": {"capacityReservationId": "cr-1"}}
    found = first(with_template(instanceType="p5.48xlarge", capacityReservationSpecification=target))
    assert (found.machine_type, found.capacity, found.reservation) == ("p5.48xlarge", "reserved", "cr-1")


def test_a_reservation_that_is_not_known_yet_is_unknown():
    target = {"capacityReservationTarget": {"capacityReservationId": UNKNOWN}}
    found = first(with_template(capacityReservationSpecification=target))
    assert (found.capacity, found.reservation) == ("reserved", UNKNOWN)


@pytest.mark.parametrize(
    ("path", "value", "capacity"),
    [
        ("nodeConfig.spot", True, "spot"),
        ("nodeConfig.spot", False, "on_demand"),
        ("nodeConfig.spot", UNKNOWN, UNKNOWN),
        ("nodeConfig.preemptible", True, "spot"),
        ("nodeConfig.flexStart", True, "spot"),
        ("nodeConfig.maxRunDuration", "604800s", "spot"),
        ("nodeConfig.maxRunDuration", UNKNOWN, UNKNOWN),
        ("queuedProvisioning", {"enabled": True}, "spot"),
        ("queuedProvisioning", {"enabled": False}, "on_demand"),
        ("queuedProvisioning", UNKNOWN, UNKNOWN),
    ],
)
def test_the_capacity_of_a_gcp_node_pool(path, value, capacity):
    assert first(changed(path, value, region="eu-west")).capacity == capacity


@pytest.mark.parametrize(
    ("affinity", "capacity", "reservation"),
    [
        ({"consumeReservationType": "SPECIFIC_RESERVATION", "values": ("cr-1",)}, "reserved", "cr-1"),
        ({"consumeReservationType": "SPECIFIC_RESERVATION", "values": ("cr-1", "cr-2")}, "reserved", "cr-1,cr-2"),
        ({"consumeReservationType": "SPECIFIC_RESERVATION", "values": (UNKNOWN,)}, UNKNOWN, UNKNOWN),
        ({"consumeReservationType": "ANY_RESERVATION", "values": ("cr-1",)}, "on_demand", None),
        ({"consumeReservationType": "NO_RESERVATION", "values": ("cr-1",)}, "on_demand", None),
        ({"consumeReservationType": UNKNOWN, "values": ("cr-1",)}, UNKNOWN, UNKNOWN),
        ({"values": ("cr-1",)}, "on_demand", None),
        (UNKNOWN, UNKNOWN, UNKNOWN),
    ],
    ids=["one", "two", "unknown name", "any", "none", "unknown type", "no type", "unknown"],
)
def test_only_a_named_reservation_reserves_a_gcp_node_pool(affinity, capacity, reservation):
    found = first(changed("nodeConfig.reservationAffinity", affinity, region="eu-west"))
    assert (found.capacity, found.reservation) == (capacity, reservation)


@pytest.mark.parametrize(
    ("value", "zone"),
    [
        (("europe-west4-c", "europe-west4-b"), "europe-west4-b,europe-west4-c"),
        ((UNKNOWN,), UNKNOWN),
        (UNKNOWN, UNKNOWN),
        (None, None),
    ],
)
def test_the_zone_of_a_gcp_node_pool(value, zone):
    assert first(changed("nodeLocations", value, region="eu-west")).zone == zone


def test_an_autoscaled_gcp_node_pool_has_the_counts_of_its_autoscaler():
    resources = changed("nodeCount", None, region="eu-west")
    scaled = with_input(resources["gh100-1-a"], "autoscaling", {"totalMinNodeCount": 2, "totalMaxNodeCount": 5})
    scaled = with_input(scaled, "initialNodeCount", 3)
    found = first(resources | {"gh100-1-a": scaled})
    assert (found.nodes_min, found.nodes_desired, found.nodes_max) == (2, 3, 5)


@pytest.mark.parametrize(
    ("autoscaling", "limits"),
    [
        ({"totalMinNodeCount": 0, "totalMaxNodeCount": 5}, (0, 5)),
        ({"totalMaxNodeCount": 5}, (0, 5)),
        ({"totalMinNodeCount": UNKNOWN, "totalMaxNodeCount": 5}, (UNKNOWN, 5)),
        ({"minNodeCount": 1, "maxNodeCount": 5}, (UNKNOWN, UNKNOWN)),
        ({"maxNodeCount": 5, "totalMinNodeCount": 1}, (UNKNOWN, UNKNOWN)),
        (UNKNOWN, (UNKNOWN, UNKNOWN)),
    ],
    ids=["totals", "no least", "unknown least", "per zone", "mixed", "unknown"],
)
def test_an_autoscaler_decides_whatever_count_stands_beside_it(autoscaling, limits):
    found = first(changed("autoscaling", autoscaling, region="eu-west"))
    assert (found.nodes_min, found.nodes_max) == limits


def test_a_gcp_node_pool_of_the_best_that_can_be_had_keeps_no_known_count():
    assert first(changed("bestEffortProvisioning", {"enabled": True}, region="eu-west")).nodes_min is UNKNOWN


def test_a_gcp_node_pool_whose_provider_ignores_its_count_is_elastic():
    assert first(changed("ignoreNodeCountChanges", True, region="eu-west")).count_ignored


def test_an_elastic_node_pool_ignores_its_count():
    assert first(stack(scaling="elastic")).count_ignored


def test_a_workload_says_its_pool_replicas_gpus_and_node_pools():
    found = workload(stack())
    assert (found.pool, found.replicas, found.gpus) == ("chat-h100", 4, 4)
    assert found.node_pools == ("gh100-1-a", "gh100-2-a")


def test_a_deployment_without_the_label_counts_only_if_it_asks_for_devices():
    asking = changed("metadata.labels.outlast-pool", None, key="chat-h100")
    assert [load.pool for load in view_of(asking.values(), facts()).workloads] == [None]
    idle = {
        key: with_input(found, "spec.template.spec", {"containers": ()})
        for key, found in asking.items()
        if key == "chat-h100"
    }
    assert view_of((asking | idle).values(), facts()).workloads == ()


@pytest.mark.parametrize(
    ("limits", "gpus"),
    [
        ({"amd.com/gpu": 8}, 8),
        ({"nvidia.com/gpu": "2"}, 2),
        ({"nvidia.com/gpu": UNKNOWN}, UNKNOWN),
        ({"nvidia.com/gpu": "half"}, "half"),
        ({"cpu": "4"}, None),
        (None, None),
        (UNKNOWN, UNKNOWN),
    ],
    ids=str,
)
def test_the_gpus_of_a_workload(limits, gpus):
    containers = ({"name": "side"}, {"name": "engine", "resources": {"limits": limits} if limits is not None else {}})
    assert workload(changed("spec.template.spec.containers", containers, key="chat-h100")).gpus == gpus


def named(*values: object, operator: str = "In", key: str = "outlast-node-pool") -> dict:
    return {"matchExpressions": ({"key": key, "operator": operator, "values": values},)}


@pytest.mark.parametrize(
    ("terms", "node_pools"),
    [
        ((named("b", "a"),), ("a", "b")),
        ((named("a"), named("b")), ("a", "b")),
        ((named("a"), named("x", key="zone")), None),
        ((named("a", operator="NotIn"),), None),
        ((named("a", UNKNOWN),), UNKNOWN),
        (UNKNOWN, UNKNOWN),
        (None, None),
    ],
    ids=["one term", "either term", "another way in", "any but one", "a part unknown", "unknown", "none"],
)
def test_the_node_pools_of_a_workload(terms, node_pools):
    assert workload(changed(AFFINITY, terms, key="chat-h100")).node_pools == node_pools


LABELLED = {
    "aws:s3/bucket:Bucket": ("tags", "defaultTags.tags"),
    "gcp:storage/bucket:Bucket": ("labels", "defaultLabels"),
    "gcp:container/cluster:Cluster": ("resourceLabels", "defaultLabels"),
    "gcp:sql/databaseInstance:DatabaseInstance": ("userLabels", "defaultLabels"),
    "azure-native:storage:StorageAccount": ("tags", ""),
    "kubernetes:core/v1:Namespace": ("metadata.labels", ""),
}
"""Type -> where its labels are, and where its provider's are, if that has any."""


def labelled(type_: str, own: object, default: object = None, *, as_text: bool = False) -> tuple:
    """A view and its only resource, with labels of its own and of its provider."""
    path, provided = LABELLED[type_]
    key, _, inner = provided.partition(".")
    held = {inner: default} if inner and default is not UNKNOWN else default
    given = {key: json.dumps(held) if as_text else held} if key and default is not None else {}
    resource = make_resource(type_, "x", provider_inputs=given)
    resource = with_input(resource, path, own) if own is not None else resource
    return view_of([resource], facts()), resource


def test_every_reader_is_held_to_one_contract_of_labels():
    assert {type_.split(":")[0] for type_ in LABELLED} == set(readers())


@pytest.mark.parametrize("type_", LABELLED)
def test_labels_are_read_whatever_their_type_calls_them(type_):
    view, resource = labelled(type_, {"outlast-jurisdiction": "eu", "other": "x"})
    assert view.labels(resource) == {"jurisdiction": "eu"}
    assert (view.label(resource, "jurisdiction"), view.label(resource, "owner")) == ("eu", None)


@pytest.mark.parametrize("type_", LABELLED)
def test_labels_that_are_not_known_yet_are_unknown_whatever_the_provider_says(type_):
    view, resource = labelled(type_, UNKNOWN, {"outlast-jurisdiction": "eu"})
    assert view.labels(resource) is UNKNOWN
    assert view.label(resource, "jurisdiction") is UNKNOWN


@pytest.mark.parametrize("type_", LABELLED)
def test_a_label_that_is_not_known_yet_is_unknown(type_):
    view, resource = labelled(type_, {"outlast-jurisdiction": UNKNOWN}, {"outlast-jurisdiction": "eu"})
    assert view.label(resource, "jurisdiction") is UNKNOWN


@pytest.mark.parametrize("type_", LABELLED)
def test_a_resource_without_labels_has_none(type_):
    view, resource = labelled(type_, None)
    assert (view.labels(resource), view.label(resource, "jurisdiction")) == ({}, None)


DEFAULTED = [type_ for type_, (_, provided) in LABELLED.items() if provided]


@pytest.mark.parametrize("as_text", [False, True], ids=["mapping", "as SDKs send it"])
@pytest.mark.parametrize("type_", DEFAULTED)
def test_labels_of_a_resource_go_over_those_of_its_provider(type_, as_text):
    default = {"outlast-owner": "a", "outlast-fleet": "test", "other": "x"}
    view, resource = labelled(type_, {"outlast-owner": "b"}, default, as_text=as_text)
    assert view.labels(resource) == {"owner": "b", "fleet": "test"}
    assert (view.label(resource, "owner"), view.label(resource, "fleet")) == ("b", "test")


@pytest.mark.parametrize("type_", DEFAULTED)
def test_labels_of_the_provider_that_are_not_known_yet_may_hold_what_the_resource_lacks(type_):
    view, resource = labelled(type_, {"outlast-owner": "b"}, UNKNOWN)
    assert view.labels(resource) is UNKNOWN
    assert (view.label(resource, "owner"), view.label(resource, "fleet")) == ("b", UNKNOWN)


def test_a_dns_record_says_name_share_and_target():
    inputs = {
        "name": "a.example.org",
        "setIdentifier": "us-east",
        "weightedRoutingPolicies": ({"weight": 40},),
        "aliases": ({"name": "b.example.org"},),
    }
    resource = make_resource("aws:route53/record:Record", "x", inputs=inputs)
    (found,) = view_of([resource], facts()).records
    assert (found.name, found.set_identifier, found.weight, found.target) == (
        "a.example.org",
        "us-east",
        40,
        "b.example.org",
    )


def test_components_and_stacks_are_no_cloud_resources():
    types = (
        "pulumi:pulumi:Stack",
        "pulumi:pulumi:StackReference",
        "outlast:cluster:AwsCluster",
        "aws:s3/bucket:Bucket",
    )
    view = view_of([make_resource(type_, "x") for type_ in types], facts())
    assert [resource.type for resource in view.cloud_resources] == ["aws:s3/bucket:Bucket"]


def test_no_readers_order_shows():
    resources = list(stack().values())
    assert view_of(resources, facts()) == view_of(reversed(resources), facts())
