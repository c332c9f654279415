"""Node pools, workloads, records and labels, read from hand-made records of each cloud."""

from dataclasses import replace

import pytest

from outlast.view import UNKNOWN, NodePool, Workload, view_of
from tests.builders import facts, make_block, make_intent, make_lock, make_resource, make_stack, with_input

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
        ("nodeConfig.reservationAffinity", {"values": ("cr-1",)}, "reserved"),
    ],
)
def test_the_capacity_of_a_gcp_node_pool(path, value, capacity):
    assert first(changed(path, value, region="eu-west")).capacity == capacity


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


def test_an_elastic_node_pool_ignores_its_count():
    assert first(stack(scaling="elastic")).count_ignored


def test_a_workload_says_its_pool_replicas_gpus_and_node_pools():
    found = workload(stack())
    assert (found.pool, found.replicas, found.gpus) == ("chat-h100", 4, 4)
    assert found.node_pools == ("gh100-1-a", "gh100-2-a")


def test_a_deployment_without_the_label_is_no_workload():
    resources = changed("metadata.labels.outlast-pool", None, key="chat-h100")
    assert view_of(resources.values(), facts()).workloads == ()


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


def test_tags_of_a_resource_go_over_those_of_its_provider():
    provider = {"defaultTags": {"tags": {"outlast-owner": "a", "outlast-fleet": "test", "other": "x"}}}
    resource = make_resource(
        "aws:s3/bucket:Bucket", "x", inputs={"tags": {"outlast-owner": "b"}}, provider_inputs=provider
    )
    assert view_of([resource], facts()).labels(resource) == {"owner": "b", "fleet": "test"}


@pytest.mark.parametrize(
    ("type_", "inputs"),
    [
        ("gcp:storage/bucket:Bucket", {"labels": {"outlast-jurisdiction": "eu"}}),
        ("gcp:container/cluster:Cluster", {"resourceLabels": {"outlast-jurisdiction": "eu"}}),
        ("kubernetes:core/v1:Namespace", {"metadata": {"labels": {"outlast-jurisdiction": "eu"}}}),
    ],
)
def test_labels_are_read_whatever_their_type_calls_them(type_, inputs):
    resource = make_resource(type_, "x", inputs=inputs)
    assert view_of([resource], facts()).labels(resource) == {"jurisdiction": "eu"}


def test_labels_that_are_not_known_yet_say_nothing():
    resource = make_resource("gcp:storage/bucket:Bucket", "x", inputs={"labels": UNKNOWN})
    assert view_of([resource], facts()).labels(resource) == {}


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
