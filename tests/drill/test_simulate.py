"""The simulation on locks: what of a fleet's plan it counts."""

import numpy as np
import pytest

from outlast.drill import Assumptions, load_of, simulate, worst, worst_of_survivors
from outlast.errors import ConfigError
from outlast.planner import plan
from tests.builders import demo_intent, make_block, make_curve, make_intent, make_lock, make_model

OWN = {"us-east": 700, "eu-north": 1400}


def two_regions(**changes):
    curves = [make_curve("shop", region, value) for region, value in OWN.items()]
    intent = make_intent(demand={"demand": curves})
    blocks = {"us-east": make_block("us-east", 2, 1, **changes), "eu-north": make_block("eu-north", 3)}
    return intent, make_lock(intent, blocks, {"us-east": {"eu-north": 100}, "eu-north": {"us-east": 100}})


def test_a_survivor_takes_the_lost_regions_demand_on_top_of_its_own():
    intent, lock = two_regions()
    (found,) = worst_of_survivors(simulate(lock, intent, Assumptions(returning_ratio=0, prefill_ratio=0), ["us-east"]))
    assert (found.lost, found.survivor, found.pool) == ("us-east", "eu-north", "chat")
    assert found.peak_load_ratio == pytest.approx((1400 + 700) / 3000)


def test_a_share_moves_that_part():
    intent, lock = two_regions()
    lock = lock.model_copy(update={"shares": {"open": {"us-east": {"eu-north": 30}}}})
    load = load_of(lock, intent, ["us-east"])
    assert load.moved_tok_s.sum() == pytest.approx(168 * 700 * 0.3)


def test_demand_is_where_the_locks_homes_put_it():
    intent, lock = two_regions()
    lock = lock.model_copy(update={"homes": {"open": {"us-east": {"eu-north": 100}, "eu-north": {"eu-north": 100}}}})
    assert load_of(lock, intent).own_tok_s[0, :, 0].tolist() == pytest.approx([0, 2100])


def test_nothing_moves_to_the_region_that_is_lost():
    intent, lock = two_regions()
    lock = lock.model_copy(update={"shares": {"open": {"us-east": {"us-east": 60, "eu-north": 40}}}})
    assert load_of(lock, intent, ["us-east"]).moved_tok_s[0, 0, :, 0].tolist() == pytest.approx([0, 280])


def test_replicas_count_by_the_floor_of_the_hour_without_the_canary():
    window = {"days": "mon-fri", "from_h": 8, "to_h": 20, "replicas": 3}
    counts = {"floor": 2, "planned": 3, "max": 3, "canary": 1}
    intent, lock = two_regions(replicas=counts, floors=[window])
    capacity = load_of(lock, intent).capacity_tok_s[:, 0, 0]
    assert (capacity[7], capacity[8], capacity[19], capacity[20], capacity[5 * 24 + 8]) == (
        1000,
        2000,
        2000,
        1000,
        1000,
    )


def test_replicas_on_every_accelerator_count_with_their_own_goodput():
    goodput = {"value": "300 tok/s", "kind": "measured", "date": "2026-11-01", "source": "a test"}
    model = make_model(accelerators={"l4-24": {"gpus_per_replica": 4, "goodput": goodput}})
    intent = make_intent(models={"models": {"chat": model}})
    block = make_block("us-east", 2, 1, nodes=[2, 1])
    block["pools"]["chat-l4"] = block["pools"]["chat-h100"] | {"accelerator": "l4-24"}
    lock = make_lock(intent, {"us-east": block})
    assert load_of(lock, intent).capacity_tok_s[0, 0, 0] == pytest.approx(3 * 1000 + 3 * 300)


def test_pools_are_simulated_side_by_side():
    models = {"chat": make_model(), "code": make_model()}
    curves = [make_curve("shop", "us-east", 700), make_curve("shop", "us-east", 500, model="code")]
    tenants = {"tenants": {"shop": {"residency": "open", "models": ["chat", "code"]}}}
    intent = make_intent(models={"models": models}, demand={"demand": curves}, tenants=tenants)
    lock = plan(intent, None).lock
    found = {it.pool: it.survivor for it in worst_of_survivors(simulate(lock, intent, lost=["us-east"]))}
    assert found == {"chat": "eu-north", "code": "eu-north"}


def test_only_survivors_of_a_class_receive_its_demand():
    intent = demo_intent()
    load = load_of(plan(intent, None).lock, intent)
    for lost, region in np.argwhere(load.moved_tok_s.any(axis=(1, 3))):
        classes = {residency for _, residency, home in intent.home_demand if home == load.lost[lost]}
        assert any(load.regions[region] in intent.survivors(name, load.lost[lost]) for name in classes)


def test_all_that_is_lost_arrives_somewhere():
    intent = demo_intent()
    load = load_of(plan(intent, None).lock, intent)
    assert load.moved_tok_s.sum(axis=(1, 2, 3)) == pytest.approx(load.own_tok_s.sum(axis=(0, 2)))


def test_a_class_that_need_not_survive_is_left_out():
    gap = {"loss": "region", "owner": "ops", "reason": "one region for now", "expires": "2027-01-31"}
    rules = {"survive": ["zone", "replica"], "gap": gap}
    intent = make_intent(tenants={"classes": {"open": rules}})
    lock = make_lock(intent, {"us-east": make_block("us-east", 2)}, {"us-east": {"eu-north": 100}})
    assert worst(simulate(lock, intent)) is None


def test_losing_a_region_that_is_none_is_a_mistake_with_a_proposal():
    intent, lock = two_regions()
    with pytest.raises(ConfigError, match=r"us-eats.*Did you mean 'us-east'"):
        simulate(lock, intent, lost=["us-eats"])
