"""Planning from a lock: the same files change nothing, other files take nothing away before the raise is deployed."""

from hypothesis import given

from outlast.lock import Applied, AppliedFile, Lock, applied_output
from outlast.planner import plan, settle
from outlast.proof import held_of_lock, prove
from tests.random_fleets import changes, few, fleets


def deployed(lock: Lock) -> AppliedFile:
    """What every stack reports once it has deployed a lock."""
    stacks = {f"{lock.fleet}.{region}": applied_output(lock, region) for region in lock.regions}
    stacks[f"{lock.fleet}.routing"] = applied_output(lock, None, routing=True)
    return {stack: Applied.model_validate(output) for stack, output in stacks.items()}


@few(6)
@given(fleets())
def test_with_the_same_files_every_lock_stays_the_lock_in_force(fleet):
    intent = fleet.intent
    raised = plan(intent, None).lock
    assert plan(intent, raised).lock is raised
    settled = settle(intent, raised, deployed(raised)).lock
    assert plan(intent, settled).lock is settled
    assert settle(intent, settled, None).lock is settled


@few(6)
@given(fleets(reserved=False), changes())
def test_the_raise_between_two_plans_and_the_settle_after_it_are_fixed_points_too(fleet, change):
    after = fleet.but(**change(fleet)).intent
    raised = plan(after, plan(fleet.intent, None).lock).lock
    assert plan(after, raised).lock is raised
    settled = settle(after, raised, deployed(raised)).lock
    assert plan(after, settled).lock is settled
    assert prove(raised, after).failures == prove(settled, after).failures == ()


@few(6)
@given(fleets(reserved=False), changes())
def test_a_raise_takes_no_node_no_replica_and_no_hour_of_a_floor_away(fleet, change):
    old = settle(fleet.intent, plan(fleet.intent, None).lock, None).lock
    raised = plan(fleet.but(**change(fleet)).intent, old).lock
    before, after = held_of_lock(old), held_of_lock(raised)
    for region, block in old.regions.items():
        for key, row in block.node_pools.items():
            now = raised.regions[region].node_pools[key].nodes
            assert (now.min, now.max) >= (row.nodes.min, row.nodes.max)
        for key, pool in block.pools.items():
            held = raised.regions[region].pools[key]
            assert all(held.places[at] >= replicas for at, replicas in pool.places.items())
            assert held.replicas.floor >= pool.replicas.floor
            pairs = zip(before[region][key].serving, after[region][key].serving, strict=True)
            assert all(less <= more for less, more in pairs)


ROUNDS = 4
"""Raises and settles after which even an exchange on a full reservation has ended."""


@few(8)
@given(fleets(reserved=True), changes())
def test_whatever_is_reserved_there_is_a_way_to_the_new_plan_and_it_ends(fleet, change):
    after = fleet.but(**change(fleet)).intent
    lock, usd_h = settle(fleet.intent, plan(fleet.intent, None).lock, None).lock, float("inf")
    for _ in range(ROUNDS):
        raised = plan(after, lock).lock
        assert prove(raised, after).failures == ()
        assert plan(after, raised).lock is raised
        settled = settle(after, raised, deployed(raised)).lock
        assert prove(settled, after).failures == ()
        assert settled.solver.usd_h <= usd_h + 0.01
        if raised is lock:
            break
        lock, usd_h = settled, settled.solver.usd_h
    assert plan(after, lock).lock is lock
