"""One row of the lock is one node pool, the same on every cloud."""

from functools import cache

import pytest

from components.node_pool.azure import instance_profile
from components.node_pool.gcp import partition_size
from outlast.errors import ConfigError
from outlast.intent.partitions import mig_profiles
from outlast.intent.stacks import parse
from outlast.lock import read_lock
from outlast.proof import realises
from outlast.view import NodePool, view_of
from stacks.run import declare
from tests.builders import CONFIG, demo_intent, facts, make_block, make_intent, make_lock
from tests.recording import record

REGIONS = {"aws": "us-east", "gcp": "eu-west", "azure": "eu-central"}
KEY = "more-1-a"
"""A row that no pool lies on, so that it can be anything."""
ONE_EACH = {"1g.10gb": "MIG1g", "2g.20gb": "MIG2g", "3g.40gb": "MIG3g", "4g.40gb": "MIG4g", "7g.80gb": "MIG7g"}
"""Profile of an H100 -> the API's word. Source: azure-native, enum GPUInstanceProfile."""
GROUP_TAG = "aws:autoscaling/tag:Tag"
LABELS = ("labels", "nodeConfig.labels", "nodeLabels")
ROWS = {
    "fixed": {},
    "reserved": {"capacity": "reserved", "reservation": "held-1"},
    "spot": {"capacity": "spot"},
    "elastic": {"scaling": "elastic", "nodes": {"min": 2, "expected": 3.0, "max": 5}},
    "instances": {"partition": "mig-7x1g.10gb"},
    "slices": {"partition": "slice-4"},
}
ONE_CLOUD = {"amd": {"machine_type": "Standard_ND96isr_MI300X_v5", "accelerator": "mi300x-192"}}
"""Rows that not every cloud can have."""


@cache
def fleet(region):
    """The demo with its lock, or a small fleet of two regions where the demo has none there."""
    if region in demo_intent().regions:
        return demo_intent(), read_lock(CONFIG / "fleets" / "demo")
    intent = make_intent("us-east", region)
    blocks = {name: make_block(name, 2, 2, 2) for name in intent.regions}
    return intent, make_lock(intent, blocks, {"us-east": {region: 100}, region: {"us-east": 100}})


@cache
def lock_with(cloud, kind):
    _, lock = fleet(REGIONS[cloud])
    document = lock.model_dump()
    rows = document["regions"][REGIONS[cloud]]["node_pools"]
    rows[KEY] = rows["gh100-1-a"] | (ROWS | ONE_CLOUD)[kind]
    return type(lock).model_validate(document)


@cache
def recorded(cloud, kind, *, preview=True):
    region, changed = REGIONS[cloud], lock_with(cloud, kind)
    intent, _ = fleet(region)
    stack = f"{intent.name}.{region}"
    stacks = {} if preview else {f"{intent.name}.global": {"keys": {region: "a-key"}}}
    return record(
        lambda: declare(parse(stack), intent, changed), preview=preview, stack=stack, stacks=stacks
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


@pytest.mark.parametrize("divide", [partition_size, instance_profile], ids=["gcp", "azure"])
def test_a_cloud_that_fills_cards_refuses_a_division_that_does_not(divide):
    with pytest.raises(ConfigError, match="fills a card"):
        divide("more-1-a", "mig-3x1g.10gb", fills_card=False)


@pytest.mark.parametrize("partition", ["mig-4x1g.20gb", "mig-1x1g.10gb+me"])
def test_a_cloud_that_names_slices_alone_refuses_what_they_do_not_say(partition):
    with pytest.raises(ConfigError, match="fills a card"):
        instance_profile("more-1-a", partition, fills_card=True)


def test_the_words_for_instances_are_those_of_the_cards_largest_divisions():
    """The cloud fills a card, so its word for a number of slices must be as many instances as the card holds."""
    most = mig_profiles(facts().accelerators["h100-sxm-80"])
    words = {name: instance_profile("more-1-a", f"mig-{most[name]}x{name}", fills_card=True) for name in ONE_EACH}
    assert words == ONE_EACH


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
    (intent, _), region = fleet(REGIONS[cloud]), REGIONS[cloud]
    found = inputs_of(recording)
    node_labels = next(found.get(path) for path in LABELS if found.get(path) is not None)
    assert {key: value for key, value in node_labels.items() if key.startswith("outlast-")} == {
        "outlast-fleet": intent.name,
        "outlast-region": region,
        "outlast-jurisdiction": intent.jurisdiction(region).lower(),
        "outlast-node-pool": KEY,
        "outlast-managed-by": "outlast",
    }


def test_a_reserved_pool_never_needs_a_node_beyond_its_reservation():
    aws, gcp, azure = (inputs_of(recorded(cloud, "reserved")[0]) for cloud in REGIONS)
    assert aws.get("updateConfig.updateStrategy") == "MINIMAL"
    assert gcp.get("upgradeSettings.maxSurge") == 0
    assert azure.get("upgradeSettings.maxSurge") == "0"


def test_a_reserved_pool_fails_rather_than_buy_elsewhere():
    recording, _ = recorded("aws", "reserved")
    template = next(r for r in recording.of("aws:ec2/launchTemplate:LaunchTemplate") if r.name == f"us-east-{KEY}")
    path = "capacityReservationSpecification.capacityReservationPreference"
    assert template.get(path) == "capacity-reservations-only"
    gcp, azure = (inputs_of(recorded(cloud, "reserved")[0]) for cloud in ("gcp", "azure"))
    assert gcp.get("nodeConfig.reservationAffinity.consumeReservationType") == "SPECIFIC_RESERVATION"
    assert azure.get("capacityReservationGroupID") == "held-1"


@pytest.mark.parametrize("kind", ["fixed", "spot"])
def test_the_taint_of_gpus_is_set_once(kind):
    aws, gcp, azure = (inputs_of(recorded(cloud, kind)[0]) for cloud in REGIONS)
    assert azure.get("nodeTaints") == ("nvidia.com/gpu=present:NoSchedule",), "AKS adds its own to spot nodes"
    assert aws.get("taints") == ({"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"},)
    assert gcp.get("nodeConfig.taints") is None, "GKE adds it and refuses a second one"


def test_local_disks_are_there_for_the_cache():
    recording, _ = recorded("aws", "fixed")
    template = next(r for r in recording.of("aws:ec2/launchTemplate:LaunchTemplate") if r.name == f"us-east-{KEY}")
    assert template.get("userData")
    gcp = inputs_of(recorded("gcp", "fixed")[0])
    assert gcp.get("nodeConfig.localNvmeSsdBlockConfig.localSsdCount") == 16
    azure = inputs_of(recorded("azure", "fixed")[0])
    assert azure.get("osDiskType") == "Managed", "an ephemeral one would take a disk of the cache"


def test_an_autoscaler_is_on_only_where_a_count_is_elastic(kind):
    azure = inputs_of(recorded("azure", kind)[0])
    assert azure.get("enableAutoScaling") is (kind == "elastic")
    assert (azure.get("minCount") is None) is (kind != "elastic"), "AKS refuses limits without an autoscaler"


def test_a_driver_is_the_operators_where_the_cloud_has_none():
    nvidia, amd = (inputs_of(recorded("azure", kind)[0]) for kind in ("fixed", "amd"))
    assert (nvidia.get("gpuProfile.driver"), amd.get("gpuProfile.driver")) == ("Install", "None")
    assert amd.get("nodeTaints") == ("amd.com/gpu=present:NoSchedule",)
    assert amd.get("securityProfile.enableSecureBoot") is False, "nobody has signed a driver that is built on the node"


def test_the_launch_template_leaves_the_machine_type_to_the_node_group():
    recording, _ = recorded("aws", "fixed")
    assert all(
        template.get("instanceType") is None for template in recording.of("aws:ec2/launchTemplate:LaunchTemplate")
    )
    versions = inputs_of(recording).property_dependencies["launchTemplate"]
    assert any("launchTemplate:LaunchTemplate" in urn for urn in versions), "a new version must reach the node group"
