"""Resources of a region stack against its block of the lock, and homes and shares against the law."""

from dataclasses import replace

import pytest

from outlast.proof import misplaced, realises
from outlast.view import UNKNOWN, view_of
from tests.builders import facts, make_block, make_intent, make_lock, make_resource, with_input
from tests.stack_records import make_stack

NAMES = ("us-east", "eu-west", "eu-north")
AFFINITY = "spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

CARDS = "nodeConfig.guestAccelerators"
SHARED = {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 4}


def lock_of(**shares):
    return make_lock(make_intent(*NAMES), {name: make_block(name, 2, 2) for name in NAMES}, shares)


def found(resources: dict, region: str = "us-east", lock=None) -> set[tuple[str, str, str]]:
    rows = realises(view_of(resources.values(), facts()), lock or lock_of(), region)
    return {(row.row, row.field, "extra" if row.is_extra else "?" if row.is_undecidable else row.found) for row in rows}


def stack(region: str = "us-east") -> dict:
    return make_stack(make_intent(*NAMES), lock_of(), region)


@pytest.mark.parametrize("region", NAMES)
def test_resources_that_are_what_the_lock_says_match(region):
    assert found(stack(region), region) == set()


@pytest.mark.parametrize(
    ("region", "key", "path", "value", "mismatch"),
    [
        (
            "us-east",
            "gh100-1-a",
            "instanceTypes",
            ("g6.xlarge",),
            ("node_pools.gh100-1-a", "machine_type", "g6.xlarge"),
        ),
        ("us-east", "gh100-1-a", "capacityType", "SPOT", ("node_pools.gh100-1-a", "capacity", "spot")),
        ("us-east", "gh100-1-a", "scalingConfig.minSize", 0, ("node_pools.gh100-1-a", "nodes.min", "0")),
        ("us-east", "gh100-1-a", "scalingConfig.maxSize", 2, ("node_pools.gh100-1-a", "nodes.max", "2")),
        ("us-east", "gh100-1-a", "scalingConfig.minSize", UNKNOWN, ("node_pools.gh100-1-a", "nodes.min", "?")),
        ("us-east", "gh100-1-a-subnet", "availabilityZoneId", "use1-az4", ("node_pools.gh100-1-a", "zone", "use1-az4")),
        ("us-east", "gh100-1-a-subnet", "availabilityZoneId", UNKNOWN, ("node_pools.gh100-1-a", "zone", "?")),
        (
            "eu-west",
            "gh100-1-a",
            "nodeConfig.machineType",
            "g2-standard-4",
            ("node_pools.gh100-1-a", "machine_type", "g2-standard-4"),
        ),
        ("eu-west", "gh100-1-a", "nodeConfig.spot", True, ("node_pools.gh100-1-a", "capacity", "spot")),
        ("us-east", "chat-h100", "spec.replicas", 3, ("pools.chat-h100", "replicas", "3")),
        ("us-east", "chat-h100", "spec.replicas", UNKNOWN, ("pools.chat-h100", "replicas", "?")),
        ("us-east", "chat-h100", AFFINITY, None, ("pools.chat-h100", "node pools", "none")),
        ("us-east", "chat-h100", AFFINITY, UNKNOWN, ("pools.chat-h100", "node pools", "?")),
    ],
)
def test_one_difference_is_one_mismatch(region, key, path, value, mismatch):
    resources = stack(region)
    assert found(resources | {key: with_input(resources[key], path, value)}, region) == {mismatch}


def test_a_missing_node_pool_is_a_mismatch():
    resources = stack()
    del resources["gh100-2-a"]
    assert found(resources) == {("node_pools.gh100-2-a", "resources", "0")}


def test_a_missing_workload_is_a_mismatch():
    resources = stack()
    del resources["chat-h100"]
    assert found(resources) == {("pools.chat-h100", "workloads", "0")}


def test_two_node_pools_of_one_row_are_a_mismatch():
    resources = stack()
    twin = replace(resources["gh100-1-a"], urn=f"{resources['gh100-1-a'].urn}-twin")
    assert found(resources | {"twin": twin}) == {("node_pools.gh100-1-a", "resources", "2")}


def test_a_node_pool_beyond_the_lock_is_extra():
    resources = stack()
    more = with_input(resources["gh100-1-a"], "labels.outlast-node-pool", "gh100-9-a")
    more = replace(more, urn=f"{more.urn}-more")
    assert found(resources | {"more": more}) == {("node_pools.gh100-9-a", "resources", "extra")}


def test_gpus_without_the_label_are_extra_and_a_plain_node_pool_is_not():
    resources = stack()
    bare = with_input(resources["gh100-1-a"], "labels", None)
    gpus = replace(bare, urn=f"{bare.urn}-gpus")
    plain = replace(with_input(bare, "instanceTypes", ("m7i.xlarge",)), urn=f"{bare.urn}-plain")
    assert found(resources | {"gpus": gpus, "plain": plain}) == {("node_pools.None", "resources", "extra")}


def test_a_node_pool_that_an_autoscaler_owns_does_not_realise_a_fixed_row():
    resources = stack()
    loose = replace(resources["gh100-1-a"], ignore_changes=("scalingConfig.desiredSize",))
    assert found(resources | {"gh100-1-a": loose}) == {("node_pools.gh100-1-a", "scaling", "elastic")}


def test_resources_of_another_stack_realise_nothing():
    assert len(found(stack("eu-north"), "us-east")) == 3


def test_a_row_of_a_reservation_is_realised_by_a_template_with_it():
    row = lock_of().regions["us-east"].node_pools["gh100-1-a"]
    lock = lock_of()
    lock.regions["us-east"].node_pools["gh100-1-a"] = row.model_copy(
        update={"capacity": "reserved", "reservation": "cr-1"}
    )
    target = {"capacityReservationTarget": {"capacityReservationId": "cr-1"}}
    template = make_resource(
        "aws:ec2/launchTemplate:LaunchTemplate", "template", inputs={"capacityReservationSpecification": target}
    )
    resources = stack()
    group = resources["gh100-1-a"]
    reserved = replace(group, property_dependencies={**group.property_dependencies, "launchTemplate": (template.urn,)})
    assert found(resources | {"template": template, "gh100-1-a": reserved}, lock=lock) == set()
    assert {row[1] for row in found(resources, lock=lock)} == {"capacity", "reservation"}


EU = {"serve_in": ["EU"], "fail_over_to": ["EU"], "legal_basis": "contract", "allowed_outage": "15 min"}


def with_eu_class():
    tenants = {
        "classes": {"eu": EU},
        "admits": {"EU": ["open", "eu"]},
        "tenants": {"bank": {"residency": "eu", "models": ["chat"]}},
    }
    return make_intent(*NAMES, tenants=tenants)


def sent(**tables) -> set[str]:
    intent = with_eu_class()
    lock = make_lock(intent, {name: make_block(name, 2) for name in NAMES}).model_copy(update=tables)
    return {row.path for row in misplaced(lock, intent)}


@pytest.mark.parametrize(
    ("shares", "paths"),
    [
        ({"eu": {"eu-west": {"eu-north": 100}}}, set()),
        ({"eu": {"eu-west": {"us-east": 100}}}, {"shares.eu.eu-west.us-east"}),
        ({"eu": {"eu-west": {"us-east": 0, "eu-north": 100}}}, set()),
        ({"eu": {"eu-west": {"mars": 100}}}, {"shares.eu.eu-west.mars"}),
        ({"eu": {"eu-west": {"eu-west": 100}}}, {"shares.eu.eu-west.eu-west"}),
        ({"nobody": {"eu-west": {"eu-north": 100}}}, {"shares.nobody.eu-west.eu-north"}),
        ({"open": {"eu-west": {"us-east": 100}}}, set()),
    ],
    ids=["inside", "outside the law", "nothing outside", "no region", "the lost one", "no class", "anywhere"],
)
def test_shares_stay_where_the_class_may_be(shares, paths):
    assert sent(shares=shares) == paths


@pytest.mark.parametrize(
    ("homes", "paths"),
    [
        ({"eu": {"eu-west": {"eu-west": 50, "eu-north": 50}}}, set()),
        ({"eu": {"eu-west": {"us-east": 100}}}, {"homes.eu.eu-west.us-east"}),
        ({"eu": {"eu-west": {"us-east": 0, "eu-west": 100}}}, set()),
    ],
    ids=["inside", "outside the law", "nothing outside"],
)
def test_homes_stay_where_the_class_may_be(homes, paths):
    assert sent(homes=homes) == paths


DIVIDED = [
    ("us-east", "labels", {"nvidia.com/mig.config": "mig-7x1g.10gb"}, "mig-7x1g.10gb", set()),
    ("us-east", "labels", {"nvidia.com/device-plugin.config": "slice-4"}, "slice-4", set()),
    ("us-east", "labels", {}, "mig-7x1g.10gb", {"whole"}),
    ("us-east", "labels", {"nvidia.com/mig.config": "all-balanced"}, "mig-7x1g.10gb", {"all-balanced"}),
    ("us-east", "labels", {"nvidia.com/mig.config": UNKNOWN}, "mig-7x1g.10gb", {"?"}),
    ("eu-west", CARDS, {"gpuPartitionSize": "1g.10gb"}, "mig-7x1g.10gb", set()),
    ("eu-west", CARDS, {"gpuPartitionSize": "1g.10gb"}, "mig-4x1g.20gb", {"mig-1g.10gb"}),
    ("eu-west", CARDS, {"gpuPartitionSize": "1g.10gb"}, "whole", {"mig-1g.10gb"}),
    ("eu-west", CARDS, {"gpuPartitionSize": UNKNOWN}, "whole", {"?"}),
    ("eu-west", CARDS, {"gpuSharingConfig": SHARED}, "slice-4", set()),
    ("eu-west", CARDS, {"gpuSharingConfig": SHARED}, "slice-2", {"slice-4"}),
    ("eu-west", CARDS, {"gpuSharingConfig": SHARED | {"gpuSharingStrategy": "MPS"}}, "slice-4", {"mps-4"}),
]


@pytest.mark.parametrize(("region", "path", "value", "partition", "mismatch"), DIVIDED)
def test_cards_are_divided_as_the_lock_says(region, path, value, partition, mismatch):
    lock = lock_of()
    rows = lock.regions[region].node_pools
    rows["gh100-1-a"] = rows["gh100-1-a"].model_copy(update={"partition": partition})
    resources = stack(region)
    given = value | {"outlast-node-pool": "gh100-1-a"} if path == "labels" else ({"count": 8} | value,)
    resources["gh100-1-a"] = with_input(resources["gh100-1-a"], path, given)
    assert found(resources, region, lock) == {("node_pools.gh100-1-a", "partition", name) for name in mismatch}


@pytest.mark.parametrize("device", ["nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared"])
def test_every_kind_of_device_is_counted(device):
    resources = stack()
    for asked, mismatch in (("4", set()), ("5", {("pools.chat-h100", "gpus of a replica", "5")})):
        spec = ({"resources": {"limits": {device: asked}}},)
        resources["chat-h100"] = with_input(resources["chat-h100"], "spec.template.spec.containers", spec)
        assert found(resources) == mismatch
