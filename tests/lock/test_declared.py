"""A lock that was edited by hand differs from what the files declare, and each difference is named."""

import pytest

from outlast.lock import Applied, Counts, Lock, changed_zones, short_quotas, undeclared
from tests.builders import facts, make_block, make_intent, make_lock, make_lock_document

NAMES = ("us-east", "eu-north")


def blocks(**row) -> dict:
    found = {name: make_block(name, 2, 2) for name in NAMES}
    found["us-east"]["node_pools"]["gh100-1-a"].update(row)
    return found


def paths(lock: Lock) -> set[str]:
    found = list(undeclared(lock, make_intent()))
    assert all(problem.where.startswith("test/plan.lock.yaml, ") for problem in found)
    return {problem.where.split(", ", 1)[1].removeprefix("regions.us-east.") for problem in found}


def test_a_lock_that_is_what_the_files_declare_has_no_difference():
    assert paths(make_lock(make_intent(), blocks())) == set()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("zone", "use1-az5"),
        ("machine_type", "p5.4xlarge"),
        ("accelerator", "l4-24"),
        ("node_gpus", 4),
        ("partition", "slice-4"),
        ("capacity", "spot"),
        ("reservation", "cr-1"),
        ("block", True),
        ("interconnect", True),
        ("scaling", "elastic"),
    ],
)
def test_a_row_differs_by_its(field, value):
    assert paths(make_lock(make_intent(), blocks(**{field: value}))) == {f"node_pools.gh100-1-a.{field}"}


def test_a_row_of_no_declared_node_pool_differs():
    assert paths(make_lock(make_intent(), blocks(id="big"))) == {"node_pools.gh100-1-a"}


def test_a_row_that_is_leaving_may_differ():
    assert paths(make_lock(make_intent(), blocks(machine_type="p5.4xlarge", state="leaving"))) == set()


def test_a_row_that_is_leaving_lies_in_a_zone_of_its_region():
    (problem,) = undeclared(make_lock(make_intent(), blocks(zone="use1-az5", state="leaving")), make_intent())
    assert problem.where == "test/plan.lock.yaml, regions.us-east.node_pools.gh100-1-a.zone"
    assert (problem.got, problem.allowed) == ("use1-az5", "use1-az1, use1-az2, use1-az4")


def test_a_region_is_asked_for_its_own_rows_and_for_what_belongs_to_none():
    document = make_lock_document(make_intent(), blocks(capacity="spot") | {"mars": make_block("us-west", 2)}, {})
    document["homes"] = {}
    found = list(undeclared(Lock.model_validate(document), make_intent(), ["eu-north"]))
    assert [problem.where.split(", ", 1)[1] for problem in found] == ["regions", "homes.open"]


def changed(region: str, *zones: str) -> list[str]:
    deployed = Applied(lock_digest="", counts=Counts(), zones=zones)
    return [str(problem) for problem in changed_zones(make_intent("us-east", "eu-west"), region, deployed)]


def test_zones_of_a_deployed_region_are_not_changed_where_its_cloud_fixes_them():
    (message,) = changed("us-east", "use1-az1", "use1-az2")
    assert message.startswith("test/regions.yaml, regions.us-east.zones: aws never changes the zones")
    assert "(got use1-az1, use1-az2, use1-az4; allowed use1-az1, use1-az2)" in message
    assert "taking it out of node_pools' zones; a new zone is a new region." in message


def test_the_order_of_zones_counts_where_their_cloud_fixes_them():
    assert changed("us-east", "use1-az2", "use1-az1", "use1-az4") != []
    assert changed("us-east", "use1-az1", "use1-az2", "use1-az4") == []


def test_zones_of_a_deployed_region_change_where_its_cloud_can():
    assert changed("eu-west", "europe-west4-b") == []


def test_a_zone_goes_only_once_no_node_is_deployed_in_it():
    document = {"zone": "europe-west4-a", "partition": "whole", "node_devices": 8, "nodes_min": 1, "nodes_max": 1}
    counts = Counts.model_validate({"node_pools": {"gh100-1-a": document}})
    (problem,) = changed_zones(
        make_intent("us-east", "eu-west"), "eu-west", Applied(lock_digest="", counts=counts, zones=("europe-west4-a",))
    )
    assert "eu-west.zones: nodes are deployed in europe-west4-a" in str(problem)


def test_a_region_that_is_not_deployed_has_the_zones_it_likes():
    assert list(changed_zones(make_intent(), "us-east", None)) == []
    assert changed("us-east") == []


def test_no_cloud_that_changes_zones_cuts_a_range_for_each():
    assert [
        cloud
        for cloud, use in facts().networks.items()
        if use.node_range == "zone" and facts().can(cloud, "zone-change")
    ] == []


@pytest.mark.parametrize(
    "change", [{"replica_gpus": 8}, {"accelerator": "l4-24"}, {"pool": "chatt"}], ids=lambda change: next(iter(change))
)
def test_a_pool_differs_by_its(change):
    found = blocks()
    found["us-east"]["pools"]["chat-h100"].update(change)
    assert paths(make_lock(make_intent(), found)) == {"pools.chat-h100"}


def test_homes_are_those_of_intent():
    document = make_lock_document(make_intent(), blocks(), {})
    document["homes"]["open"]["us-east"] = {"eu-north": 100}
    assert paths(Lock.model_validate(document)) == {"homes.open"}


def test_a_region_of_no_declared_name_differs():
    found = blocks() | {"mars": make_block("us-west", 2)}
    assert paths(make_lock(make_intent(), found)) == {"regions"}


def test_quotas_of_a_lock_with_a_machine_type_that_facts_lack_are_judged_all_the_same():
    document = make_lock_document(make_intent(), blocks(machine_type="p5.unheard-of"), {})
    assert list(short_quotas(Lock.model_validate(document), make_intent())) == []
