"""Raise, settle, and planning again."""

import pytest

from outlast.errors import PlanError, StaleLock
from outlast.intent import Intent
from outlast.lock import Applied, AppliedFile, Lock, applied_output, lock_digest, lock_text, parse_lock, read_lock
from outlast.planner import plan, settle, settled_lock
from tests.builders import CONFIG, REGION_PLACES, RESERVATION, demo_intent, make_curve, make_intent

SMALL = {"us-east": 2000, "eu-north": 4000, "us-west": 700}
OTHER = {"us-east": 6000, "eu-north": 700, "us-west": 2000}


def fleet(demand: dict[str, int], **changes) -> Intent:
    return make_intent(*SMALL, demand={"demand": [make_curve("shop", *item) for item in demand.items()]}, **changes)


def counts(lock: Lock) -> dict[tuple[str, str], int]:
    return {
        (region, key): row.nodes.min for region, block in lock.regions.items() for key, row in block.node_pools.items()
    }


def places(lock: Lock) -> dict[tuple[str, str], int]:
    return {
        (region, row): replicas
        for region, block in lock.regions.items()
        for pool in block.pools.values()
        for row, replicas in pool.places.items()
    }


def deployed(lock: Lock) -> AppliedFile:
    stacks = {f"{lock.fleet}.{region}": applied_output(lock, region) for region in lock.regions}
    stacks[f"{lock.fleet}.routing"] = applied_output(lock, None, routing=True)
    return {stack: Applied.model_validate(output) for stack, output in stacks.items()}


def test_the_first_lock_is_a_raise_against_nothing():
    planned = plan(fleet(SMALL), None)
    assert (planned.lock.step, planned.lock.against, planned.changed) == ("raise", None, True)
    assert {row.state for block in planned.lock.regions.values() for row in block.node_pools.values()} == {"serving"}


def test_a_settle_that_lowers_nothing_needs_no_deployment():
    first = plan(fleet(SMALL), None).lock
    settled = settle(fleet(SMALL), first, None).lock
    assert (settled.step, settled.against) == ("settle", lock_digest(first))
    assert settled.regions == first.regions


@pytest.mark.parametrize("demand", [SMALL, OTHER])
@pytest.mark.parametrize("before", [SMALL, OTHER])
def test_planning_again_changes_no_byte(before, demand):
    raised = plan(fleet(demand), settled_lock(fleet(before))).lock
    for lock in (raised, settle(fleet(demand), raised, deployed(raised)).lock if raised.step == "raise" else raised):
        read = parse_lock(lock_text(lock), "a lock")
        again = plan(fleet(demand), read)
        assert not again.changed
        assert lock_text(again.lock) == lock_text(lock)


def test_a_raise_holds_the_larger_of_old_and_new():
    old, new = settled_lock(fleet(SMALL)), settled_lock(fleet(OTHER))
    raised = plan(fleet(OTHER), old).lock
    keys = {*places(old), *places(new)}
    assert places(raised) == {key: max(places(old).get(key, 0), places(new).get(key, 0)) for key in keys}
    assert counts(raised) == {
        key: max(counts(old).get(key, 0), counts(new).get(key, 0)) for key in {*counts(old), *counts(new)}
    }
    assert raised.against == lock_digest(old)


def test_a_raise_prices_its_own_nodes_and_keeps_the_bound_of_the_optimum():
    planned = plan(fleet(OTHER), settled_lock(fleet(SMALL)))
    assert planned.lock.solver.usd_h > planned.target.solver.usd_h
    assert planned.lock.solver.bound_usd_h == planned.target.solver.bound_usd_h


def test_a_settle_lowers_to_the_optimum_once_the_raise_is_deployed():
    raised = plan(fleet(OTHER), settled_lock(fleet(SMALL))).lock
    settled = settle(fleet(OTHER), raised, deployed(raised)).lock
    assert settled.step == "settle"
    assert settled.solver.usd_h == settled_lock(fleet(OTHER)).solver.usd_h
    assert settled.shares == raised.shares


def test_a_settle_that_lowers_is_refused_while_the_deployment_is_unknown():
    raised = plan(fleet(OTHER), settled_lock(fleet(SMALL))).lock
    with pytest.raises(PlanError, match="what is deployed is not known"):
        settle(fleet(OTHER), raised, None)


@pytest.mark.parametrize("stack", ["test.us-east", "test.eu-north", "test.routing"])
def test_a_settle_is_refused_until_every_stack_is_deployed(stack):
    old = settled_lock(fleet(SMALL))
    raised = plan(fleet(OTHER), old).lock
    applied = {name: entry for name, entry in deployed(raised).items() if name != stack}
    with pytest.raises(PlanError, match=f"stack {stack}: .*got nothing"):
        settle(fleet(OTHER), raised, applied)


def test_a_settle_is_refused_when_a_stack_holds_other_counts():
    old = settled_lock(fleet(SMALL))
    raised = plan(fleet(OTHER), old).lock
    applied = {**deployed(raised), "test.us-east": deployed(old)["test.us-east"]}
    with pytest.raises(PlanError, match=f"stack test.us-east: .*got lock {lock_digest(old)}"):
        settle(fleet(OTHER), raised, applied)


def test_a_settle_of_other_inputs_is_refused():
    raised = plan(fleet(SMALL), None).lock
    with pytest.raises(StaleLock, match="changed: demand"):
        settle(fleet(OTHER), raised, None)


def test_a_settled_lock_settles_to_itself():
    lock = settled_lock(fleet(SMALL))
    planned = settle(fleet(SMALL), lock, None)
    assert planned.lock is lock
    assert not planned.changed


def test_a_raise_edited_by_hand_is_refused_and_planning_mends_it():
    raised = plan(fleet(SMALL), None).lock
    block = raised.regions["us-east"]
    key, pool = next(iter(block.pools.items()))
    less = {row: replicas - (row == "gh100-1-a") for row, replicas in pool.places.items()}
    total = sum(less.values())
    cut = pool.replicas.model_copy(update={"floor": total, "planned": total, "max": total})
    pools = {key: pool.model_copy(update={"places": less, "replicas": cut})}
    broken = raised.model_copy(
        update={"regions": {**raised.regions, "us-east": block.model_copy(update={"pools": pools})}}
    )
    with pytest.raises(PlanError, match="does not hold what the plan needs"):
        settle(fleet(SMALL), broken, None)
    assert places(plan(fleet(SMALL), broken).lock) == places(raised)


def test_another_machine_type_is_another_generation():
    zones = list(REGION_PLACES["us-east"][2])
    smaller = {"regions": {"us-east": {"node_pools": {"gh100": {"machine_type": "p5.4xlarge", "zones": zones}}}}}
    one_gpu = {"models": {"chat": {"accelerators": {"h100-sxm-80": {"gpus_per_replica": 1}}}}}
    old = settled_lock(fleet(SMALL, models=one_gpu))
    new = fleet(SMALL, models=one_gpu, regions=smaller)
    raised = plan(new, old).lock
    states = {key: row.state for key, row in raised.regions["us-east"].node_pools.items()}
    assert states == {f"gh100-{k}-{g}": s for k in (1, 2, 3) for g, s in (("a", "leaving"), ("b", "arriving"))}
    assert not plan(new, raised).changed
    settled = settle(new, raised, deployed(raised)).lock
    assert {row.state for row in settled.regions["us-east"].node_pools.values()} == {"serving"}
    assert set(settled.regions["us-east"].node_pools) == {"gh100-1-b", "gh100-2-b", "gh100-3-b"}
    assert not plan(new, settled).changed


def of_shape(*, interconnect: bool, block: bool) -> Intent:
    """A fleet with a reserved node pool beside the one on demand; blocks stand in capacity.yaml."""
    reserved = {"machine_type": "p5.48xlarge", "zones": ["use1-az1"], "capacity": "reserved"}
    days = {"starts": "2026-01-01", "ends": "2027-12-31"}
    held = {"machine_type": "p5.48xlarge", "zone": "use1-az1", "nodes": 99, "block": block} | days
    pools = {"gh100": {"interconnect": interconnect}, "rh100": reserved | {"reservation": RESERVATION}}
    return fleet(
        SMALL,
        regions={"regions": {"us-east": {"node_pools": pools}}},
        capacity={"regions": {"us-east": {"reservations": {RESERVATION: held}}}},
    )


@pytest.mark.parametrize(
    ("changed", "id_"), [({"interconnect": True}, "gh100"), ({"block": True}, "rh100")], ids=["interconnect", "block"]
)
def test_what_the_files_change_of_a_node_pools_shape_is_another_generation(changed, id_):
    shape = {"interconnect": False, "block": False}
    raised = plan(of_shape(**shape | changed), settled_lock(of_shape(**shape))).lock
    rows = {key: row for key, row in raised.regions["us-east"].node_pools.items() if row.id == id_}
    old, new = ({key for key, row in rows.items() if row.state == state} for state in ("leaving", "arriving"))
    assert {key.replace("-a", "-b") for key in old} == new != set()
    (field,) = changed
    assert {getattr(row, field) for key, row in rows.items() if key in new} == {True}
    assert {getattr(row, field) for key, row in rows.items() if key in old} == {False}


def test_the_answer_stays_near_the_lock_in_force():
    # us-east and us-west cost the same; whichever holds more keeps it
    names = ("us-east", "us-west", "eu-north")
    demand = {"demand": [make_curve("shop", name, 9000, 6000) for name in names]}
    more = {"demand": [make_curve("shop", name, 9000, 6000 + (name == "us-east")) for name in names]}
    old = settled_lock(make_intent(*names, demand=demand))
    planned = plan(make_intent(*names, demand=more), old)
    assert places(planned.lock) == places(old)
    assert planned.lock.shares == old.shares


def test_a_region_cannot_vanish_from_under_its_replicas():
    old = settled_lock(make_intent("us-east", "eu-north", "us-west"))
    with pytest.raises(PlanError, match="holds us-west, which the file no longer declares"):
        plan(make_intent(), old)


def test_a_zone_cannot_vanish_from_under_its_nodes():
    zones = ["use1-az1", "use1-az2"]
    fewer = {"regions": {"us-east": {"zones": zones, "node_pools": {"gh100": {"zones": zones}}}}}
    with pytest.raises(PlanError, match=r"gh100-3-a\.zone: us-east does not have this zone \(got use1-az4"):
        plan(fleet(SMALL, regions=fewer), settled_lock(fleet(SMALL)))


def test_the_committed_lock_of_the_demo_is_settled_and_a_fixed_point():
    folder = CONFIG / "fleets" / "demo"
    lock = read_lock(folder)
    assert lock.step == "settle"
    assert plan(demo_intent(), lock).lock is lock
    assert lock_text(lock) == (folder / "plan.lock.yaml").read_text()
