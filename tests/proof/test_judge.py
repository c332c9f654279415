"""Never make it worse, never block the cure: one stack's deployment against what every stack has applied.

Goodput 1000 tok/s; us-east needs 2800 tok/s, so 4 replicas normally, 5 for the loss of one.
"""

from typing import Any

import pytest

from outlast.intent import Intent
from outlast.lock import Applied, Lock, applied_output
from outlast.proof import Judgement, judge
from tests.builders import make_block, make_curve, make_intent, make_lock

SWAP = {"us-east": {"eu-north": 100}, "eu-north": {"us-east": 100}}
ALONE = {"losses": {"zone": 0, "region": 0}}
ZONES = {"losses": {"replica": 0, "region": 0}}
REGIONS = {"losses": {"replica": 0, "zone": 0}}


def small(east: float = 2800, north: float = 0, **changes) -> Intent:
    curves = [make_curve("shop", "us-east", east), make_curve("shop", "eu-north", north)]
    return make_intent(demand={"demand": curves}, **changes)


def lock_of(intent: Intent, east: tuple[int, ...], north: tuple[int, ...] = (9, 9), shares=SWAP) -> Lock:
    return make_lock(
        intent, {"us-east": make_block("us-east", *east), "eu-north": make_block("eu-north", *north)}, shares
    )


def deployed(lock: Lock, *stacks: str) -> dict[str, Applied]:
    return {
        f"test.{stack}": Applied.model_validate(
            applied_output(lock, None if stack == "routing" else stack, routing=stack == "routing")
        )
        for stack in stacks
    }


def refused(judgement: Judgement) -> set[tuple[str, str]]:
    return {(margin.case.region, margin.case.lost) for margin in judgement.refused}


def unproven(judgement: Judgement) -> set[tuple[str, str]]:
    return {(margin.case.region, margin.case.lost) for margin in judgement.not_yet_proven}


def test_without_knowing_what_is_applied_a_negative_margin_is_refused():
    intent = small(guardrails=ALONE)
    found = judge(lock_of(intent, (2, 2)), intent, None, "us-east")
    assert refused(found) == {("us-east", "replica")}
    assert found.not_yet_proven == ()


def test_without_knowing_what_is_applied_a_lock_that_survives_passes():
    intent = small(guardrails=ALONE)
    found = judge(lock_of(intent, (3, 2)), intent, None, "us-east")
    assert (found.refused, found.proof.failures) == ((), ())


def test_a_lowered_negative_margin_is_refused():
    # applied 4 -> 3 replicas: normal 2100 < 2800 was 2800; replica 1400 was 2100
    intent = small(guardrails=ALONE)
    found = judge(lock_of(intent, (2, 1)), intent, deployed(lock_of(intent, (2, 2)), "us-east", "eu-north"), "us-east")
    assert refused(found) == {("us-east", "none"), ("us-east", "replica")}


def test_a_negative_margin_that_is_raised_is_only_reported():
    # applied 2 -> 4 replicas: the loss of one is still not survived, but better than before
    intent = small(guardrails=ALONE)
    found = judge(lock_of(intent, (2, 2)), intent, deployed(lock_of(intent, (1, 1)), "us-east", "eu-north"), "us-east")
    assert refused(found) == set()
    assert unproven(found) == {("us-east", "replica")}


def test_a_negative_margin_that_stays_is_only_reported():
    intent = small(guardrails=ALONE)
    lock = lock_of(intent, (2, 1))
    found = judge(lock, intent, deployed(lock, "us-east", "eu-north"), "us-east")
    assert refused(found) == set()
    assert unproven(found) == {("us-east", "none"), ("us-east", "replica")}


def test_a_lowered_margin_that_stays_positive_passes():
    intent = small(guardrails=ALONE)
    found = judge(lock_of(intent, (3, 2)), intent, deployed(lock_of(intent, (9, 9)), "us-east", "eu-north"), "us-east")
    assert (refused(found), unproven(found)) == (set(), set())


def test_the_first_deployment_of_a_fleet_is_never_refused():
    intent = small()
    lock = lock_of(intent, (3, 3, 3), (3, 3, 3))
    for region in ("us-east", "eu-north", None):
        assert refused(judge(lock, intent, {}, region)) == set()


def test_a_stack_that_is_not_deployed_counts_nothing_on_both_sides():
    # eu-north is not there yet: nobody takes us-east, before and after
    intent = small(guardrails=REGIONS)
    lock = lock_of(intent, (4,), (5,))
    found = judge(lock, intent, deployed(lock, "us-east"), "us-east")
    assert refused(found) == set()
    assert unproven(found) == {("eu-north", "us-east")}


def test_another_regions_missing_raise_does_not_refuse_this_one():
    # both regions get a third zone at once; eu-north still has two zones with too little
    intent = small(2800, 2800, guardrails=ZONES)
    target = lock_of(intent, (2, 2, 2), (2, 2, 2))
    before = deployed(lock_of(intent, (2, 2), (2, 2)), "us-east", "eu-north")
    for region in ("us-east", "eu-north"):
        found = judge(target, intent, before, region)
        assert refused(found) == set(), region
        assert unproven(found) != set()


def test_another_region_is_taken_at_the_lower_of_what_it_has_and_will_have():
    # eu-north is to shrink from 9 to 4: a deployment of us-east that needs more of it is judged with 4
    intent = small(guardrails=REGIONS)
    target = lock_of(intent, (4,), (4,))
    found = judge(target, intent, deployed(lock_of(intent, (4,), (9,)), "us-east", "eu-north"), "us-east")
    assert refused(found) == {("eu-north", "us-east")}


def test_shrinking_before_routing_follows_is_refused():
    # the new lock sends us-east to us-west, so eu-north may shrink, but only once routing no longer sends it there
    intent = make_intent(
        "us-east", "eu-north", "us-west", demand={"demand": [make_curve("shop", "us-east", 2800)]}, guardrails=REGIONS
    )

    def lock(north: int, west: int, survivor: str) -> Lock:
        counts = {"us-east": 4, "eu-north": north, "us-west": west}
        return make_lock(
            intent, {name: make_block(name, n) for name, n in counts.items()}, {"us-east": {survivor: 100}}
        )

    old, new = lock(5, 5, "eu-north"), lock(0, 5, "us-west")
    regions = ("us-east", "eu-north", "us-west")
    assert refused(judge(new, intent, deployed(old, *regions, "routing"), "eu-north")) == {("eu-north", "us-east")}
    routed = deployed(old, *regions) | deployed(new, "routing")
    assert refused(judge(new, intent, routed, "eu-north")) == set()


def test_routing_that_sends_more_than_a_survivor_holds_is_refused():
    # eu-north holds 5 × 900 >= 1.6 × 2800; us-west 2 × 900 does not
    intent = make_intent(
        "us-east", "eu-north", "us-west", demand={"demand": [make_curve("shop", "us-east", 2800)]}, guardrails=REGIONS
    )
    blocks = {
        "us-east": make_block("us-east", 4),
        "eu-north": make_block("eu-north", 5),
        "us-west": make_block("us-west", 2),
    }
    old = make_lock(intent, blocks, {"us-east": {"eu-north": 100}})
    new = make_lock(intent, blocks, {"us-east": {"us-west": 100}})
    applied = deployed(old, "us-east", "eu-north", "us-west", "routing")
    assert refused(judge(new, intent, applied, None)) == {("us-west", "us-east")}
    assert refused(judge(old, intent, applied, None)) == set()


def test_routing_that_relieves_a_survivor_is_reported_not_refused():
    intent = make_intent(
        "us-east", "eu-north", "us-west", demand={"demand": [make_curve("shop", "us-east", 2800)]}, guardrails=REGIONS
    )
    blocks = {
        "us-east": make_block("us-east", 4),
        "eu-north": make_block("eu-north", 1),
        "us-west": make_block("us-west", 5),
    }
    old = make_lock(intent, blocks, {"us-east": {"eu-north": 100}})
    new = make_lock(intent, blocks, {"us-east": {"eu-north": 50, "us-west": 50}})
    found = judge(new, intent, deployed(old, "us-east", "eu-north", "us-west", "routing"), None)
    assert (refused(found), unproven(found)) == (set(), {("eu-north", "us-east")})


def test_a_lost_share_is_refused_even_where_counts_grow():
    intent = small(guardrails=REGIONS)
    old = lock_of(intent, (4,), (5,))
    new = lock_of(intent, (9,), (9,), {"eu-north": {"us-east": 100}})
    assert refused(judge(new, intent, deployed(old, "us-east", "eu-north", "routing"), None)) == {
        ("us-east", "us-east")
    }


def test_a_grown_demand_is_reported_for_a_deployment_that_lowers_nothing():
    before = lock_of(small(guardrails=ALONE), (3, 2))
    more = small(9000, guardrails=ALONE)
    lock = lock_of(more, (3, 3))
    found = judge(lock, more, deployed(before, "us-east", "eu-north"), "us-east")
    assert (refused(found), unproven(found)) == (set(), {("us-east", "none"), ("us-east", "replica")})


def test_a_region_that_the_fleet_no_longer_has_is_no_case():
    intent = small(guardrails=REGIONS)
    lock = lock_of(intent, (4,), (5,))
    applied = deployed(lock, "us-east", "eu-north") | {"test.us-west": deployed(lock, "us-east")["test.us-east"]}
    assert refused(judge(lock, intent, applied, "us-east")) == set()


def test_what_once_ran_on_an_accelerator_that_the_model_left_counts_nothing():
    intent = small(guardrails=ALONE)
    lock = lock_of(intent, (3, 2))
    output: Any = applied_output(lock, "us-east")
    output["counts"]["pools"]["chat-h100"]["accelerator"] = "l4-24"
    found = judge(lock, intent, {"test.us-east": Applied.model_validate(output)}, "us-east")
    assert (refused(found), found.proof.failures) == (set(), ())


@pytest.mark.parametrize("region", ["us-east", "eu-north", None])
def test_deploying_what_is_deployed_refuses_nothing(region):
    intent = small(9000, 9000)
    lock = lock_of(intent, (2, 2), (1, 1))
    assert refused(judge(lock, intent, deployed(lock, "us-east", "eu-north", "routing"), region)) == set()


def test_a_lock_of_another_fleet_has_no_base_to_hide_behind():
    # applied 6 replicas -> 1: the stacks are those of the intent, whatever the lock calls its fleet
    intent = small(guardrails=ALONE)
    shrunk = lock_of(intent, (1, 0)).model_copy(update={"fleet": "other"})
    found = judge(shrunk, intent, deployed(lock_of(intent, (3, 3)), "us-east", "eu-north"), "us-east")
    assert ("us-east", "none") in refused(found)


def test_a_region_keeps_what_the_homes_in_force_send_it_until_routing_follows():
    # the lock moves the home of all demand to eu-north; until routing is deployed, DNS still sends it to us-east
    intent = small(guardrails=ALONE)
    applied = deployed(lock_of(intent, (3, 3)), "us-east", "eu-north", "routing")
    moved = lock_of(intent, (1, 0)).model_copy(
        update={"homes": {"open": {"us-east": {"eu-north": 100}, "eu-north": {"eu-north": 100}}}}
    )
    assert ("us-east", "none") in refused(judge(moved, intent, applied, "us-east"))


def test_routing_may_not_move_a_home_onto_a_region_that_holds_too_little():
    intent = small(guardrails=ALONE)
    here = lock_of(intent, (3, 3), (1, 1))
    moved = here.model_copy(update={"homes": {"open": {"us-east": {"eu-north": 100}, "eu-north": {"eu-north": 100}}}})
    found = judge(moved, intent, deployed(here, "us-east", "eu-north", "routing"), None)
    assert ("eu-north", "none") in refused(found)


def test_one_bad_hour_does_not_excuse_another():
    # hour 0 fails before and after by the same; every other hour falls from 6 replicas to 1
    intent = make_intent(
        guardrails=ALONE, demand={"demand": [make_curve("shop", "us-east", *([9000.0] + [600.0] * 23))]}
    )
    before = lock_of(intent, (3, 3))
    found = judge(lock_of(intent, (1, 0)), intent, deployed(before, "us-east", "eu-north"), "us-east")
    assert ("us-east", "none") in refused(found)


def test_regions_of_the_same_change_are_deployed_before_routing():
    # routing moves all of us-east's failover to a region that the same change raises
    intent = small(guardrails=REGIONS)
    low, high = lock_of(intent, (3, 3), (1, 1), SWAP), lock_of(intent, (3, 3), (9, 9), SWAP)
    applied = deployed(low, "us-east", "eu-north")
    applied |= {
        "test.routing": Applied.model_validate(
            applied_output(low.model_copy(update={"shares": {}}), None, routing=True)
        )
    }
    assert refused(judge(high, intent, applied, None, first=("us-east", "eu-north"))) == set()
