"""One row of the lock is one node pool, the same on every cloud."""

from functools import cache

import pytest

from components.node_pool.gcp import partition_size
from outlast.errors import ConfigError
from outlast.intent.stacks import parse
from outlast.lock import read_lock
from outlast.proof import realises
from outlast.view import NodePool, view_of
from stacks.run import declare
from tests.builders import CONFIG, demo_intent, facts
from tests.recording import record

REGIONS = {"aws": "us-east", "gcp": "eu-west"}
KEY = "more-1-a"
"""A row that no pool lies on, so that it can be anything."""
GROUP_TAG = "aws:autoscaling/tag:Tag"
ROWS = {
    "fixed": {},
    "reserved": {"capacity": "reserved", "reservation": "held-1"},
    "spot": {"capacity": "spot"},
    "elastic": {"scaling": "elastic", "nodes": {"min": 2, "expected": 3.0, "max": 5}},
    "instances": {"partition": "mig-7x1g.10gb"},
    "slices": {"partition": "slice-4"},
}


@cache
def lock_with(cloud, kind):
    lock = read_lock(CONFIG / "fleets" / "demo")
    document = lock.model_dump()
    rows = document["regions"][REGIONS[cloud]]["node_pools"]
    rows[KEY] = rows["gh100-1-a"] | ROWS[kind]
    return type(lock).model_validate(document)


@cache
def recorded(cloud, kind, *, preview=True):
    region, changed = REGIONS[cloud], lock_with(cloud, kind)
    stack = f"demo.{region}"
    stacks = {} if preview else {"demo.global": {"keys": {region: "a-key"}}}
    return record(
        lambda: declare(parse(stack), demo_intent(), changed), preview=preview, stack=stack, stacks=stacks
    ), changed.regions[region].node_pools[KEY]


def pool_of(recording) -> NodePool:
    (pool,) = [pool for pool in view_of(recording.resources, facts()).node_pools if pool.key == KEY]
    return pool


def inputs_of(recording):
    return next(resource for resource in recording.resources if resource.urn == pool_of(recording).urn)


@pytest.fixture(params=REGIONS)
def cloud(request):
    return request.param


@pytest.fixture(params=ROWS)
def kind(request):
    return request.param


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "known"])
def test_it_is_what_the_row_says(cloud, kind, preview):
    recording, row = recorded(cloud, kind, preview=preview)
    pool = pool_of(recording)
    assert (pool.cloud, pool.zone, pool.machine_type) == (cloud, row.zone, row.machine_type)
    assert (pool.capacity, pool.reservation) == (row.capacity, row.reservation)
    assert (pool.nodes_min, pool.nodes_desired, pool.nodes_max) == (row.nodes.min, row.nodes.min, row.nodes.max)


def test_cards_are_divided_as_the_row_says(cloud, kind):
    recording, row = recorded(cloud, kind)
    mismatches = realises(view_of(recording.resources, facts()), lock_with(cloud, kind), REGIONS[cloud])
    assert [found for found in mismatches if found.row == f"node_pools.{KEY}"] == []
    assert (pool_of(recording).partition == "whole") is (row.partition == "whole")


def test_a_cloud_that_fills_cards_refuses_a_division_that_does_not():
    with pytest.raises(ConfigError, match="fills a card"):
        partition_size("more-1-a", "mig-3x1g.10gb", fills_card=False)


def test_an_autoscaler_knows_what_nodes_that_are_not_there_would_offer():
    recording, row = recorded("aws", "elastic")
    tags = {tag.get("tag.key"): tag.get("tag.value") for tag in recording.of(GROUP_TAG) if f"-{KEY}-" in tag.name}
    start = "k8s.io/cluster-autoscaler/node-template/"
    assert tags == {
        f"{start}label/outlast-node-pool": KEY,
        f"{start}taint/nvidia.com/gpu": "present:NoSchedule",
        f"{start}resources/nvidia.com/gpu": str(row.node_devices),
    }


def test_only_nodes_that_come_and_go_are_described_to_an_autoscaler():
    recording, _ = recorded("aws", "fixed")
    described = {tag.parent for tag in recording.of(GROUP_TAG)}
    assert not [urn for urn in described if urn.endswith(f"-{KEY}")]


def test_only_an_elastic_count_is_ignored(cloud, kind):
    recording, row = recorded(cloud, kind)
    assert pool_of(recording).count_ignored is (row.scaling == "elastic")
    assert bool(inputs_of(recording).ignore_changes) is (row.scaling == "elastic")


def test_a_raise_and_a_preview_declare_the_same(cloud, kind):
    preview, known = (recorded(cloud, kind, preview=preview)[0].resources for preview in (True, False))
    assert [resource.urn for resource in preview] == [resource.urn for resource in known]


def test_labels_claim_region_jurisdiction_and_row(cloud, kind):
    recording, _ = recorded(cloud, kind)
    intent, region = demo_intent(), REGIONS[cloud]
    node_labels = inputs_of(recording).get("labels") or inputs_of(recording).get("nodeConfig.labels")
    assert {key: value for key, value in node_labels.items() if key.startswith("outlast-")} == {
        "outlast-fleet": "demo",
        "outlast-region": region,
        "outlast-jurisdiction": intent.jurisdiction(region).lower(),
        "outlast-node-pool": KEY,
        "outlast-managed-by": "outlast",
    }


def test_a_reserved_pool_never_needs_a_node_beyond_its_reservation():
    aws, gcp = (inputs_of(recorded(cloud, "reserved")[0]) for cloud in REGIONS)
    assert aws.get("updateConfig.updateStrategy") == "MINIMAL"
    assert gcp.get("upgradeSettings.maxSurge") == 0


def test_a_reserved_pool_fails_rather_than_buy_elsewhere():
    recording, _ = recorded("aws", "reserved")
    template = next(r for r in recording.of("aws:ec2/launchTemplate:LaunchTemplate") if r.name == f"us-east-{KEY}")
    path = "capacityReservationSpecification.capacityReservationPreference"
    assert template.get(path) == "capacity-reservations-only"
    gcp = inputs_of(recorded("gcp", "reserved")[0])
    assert gcp.get("nodeConfig.reservationAffinity.consumeReservationType") == "SPECIFIC_RESERVATION"


def test_the_taint_of_gpus_is_set_once():
    aws, gcp = (inputs_of(recorded(cloud, "fixed")[0]) for cloud in REGIONS)
    assert aws.get("taints") == ({"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},)
    assert gcp.get("nodeConfig.taints") is None, "GKE adds it and refuses a second one"


def test_local_disks_are_there_for_the_cache():
    recording, _ = recorded("aws", "fixed")
    template = next(r for r in recording.of("aws:ec2/launchTemplate:LaunchTemplate") if r.name == f"us-east-{KEY}")
    assert template.get("userData")
    gcp = inputs_of(recorded("gcp", "fixed")[0])
    assert gcp.get("nodeConfig.localNvmeSsdBlockConfig.localSsdCount") == 16


def test_the_launch_template_leaves_the_machine_type_to_the_node_group():
    recording, _ = recorded("aws", "fixed")
    assert all(
        template.get("instanceType") is None for template in recording.of("aws:ec2/launchTemplate:LaunchTemplate")
    )
    versions = inputs_of(recording).property_dependencies["launchTemplate"]
    assert any("launchTemplate:LaunchTemplate" in urn for urn in versions), "a new version must reach the node group"
