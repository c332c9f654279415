"""A lock that was edited by hand differs from what the files declare, and each difference is named."""

import pytest

from outlast.lock import Lock, short_quotas, undeclared
from tests.builders import make_block, make_intent, make_lock, make_lock_document

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
        ("scaling", "elastic"),
    ],
)
def test_a_row_differs_by_its(field, value):
    assert paths(make_lock(make_intent(), blocks(**{field: value}))) == {f"node_pools.gh100-1-a.{field}"}


def test_a_row_of_no_declared_node_pool_differs():
    assert paths(make_lock(make_intent(), blocks(id="big"))) == {"node_pools.gh100-1-a"}


def test_a_row_that_is_leaving_may_differ():
    assert paths(make_lock(make_intent(), blocks(machine_type="p5.4xlarge", state="leaving"))) == set()


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
