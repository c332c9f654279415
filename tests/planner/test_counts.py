"""Hand-sized fleets: goodput 1000 tok/s, so a replica holds 700 tok/s normally and 900 in failure; surge 1.6."""

import pytest

from outlast.errors import ConfigError
from outlast.lock import Lock
from outlast.planner import plan
from tests.builders import H100, make_curve, make_intent, make_model

NONE = {"region": 0, "zone": 0, "replica": 0}


def demand(*curves: tuple[str, float]) -> dict:
    return {"demand": [make_curve("shop", origin, tok_s) for origin, tok_s in curves]}


def losses(*kinds: str) -> dict:
    return {"losses": NONE | dict.fromkeys(kinds, 1)}


def replicas(lock: Lock) -> dict[str, int]:
    return {
        region: sum(pool.replicas.planned for pool in block.pools.values()) for region, block in lock.regions.items()
    }


def planned(*regions: str, **changes) -> dict[str, int]:
    return replicas(plan(make_intent(*regions, **changes), None).lock)


def test_own_demand_is_held_at_normal_occupancy():
    # 2800 / 700 = 4; 2801 / 700 -> 5
    found = planned(demand=demand(("us-east", 2800), ("eu-north", 2801)), guardrails=losses())
    assert found == {"us-east": 4, "eu-north": 5}


def test_a_region_in_use_has_two_replicas():
    assert planned(demand=demand(("us-east", 1)), guardrails=losses()) == {"us-east": 2, "eu-north": 0}


def test_one_more_replica_survives_the_loss_of_one():
    # 2800 / 700 + 1 = 5
    assert planned(demand=demand(("us-east", 2800)), guardrails=losses("replica"))["us-east"] == 5


def test_the_other_zones_hold_a_lost_zone():
    # 5: zones 2, 2, 1; 3 × 900 = 2700 < 2800 (1 + 0.6 × 2/5) = 3472.  6: 4 × 900 = 3600 >= 2800 (1 + 0.6 × 2/6) = 3360
    assert planned(demand=demand(("us-east", 2800)), guardrails=losses("zone"))["us-east"] == 6


def test_a_count_above_the_smallest_may_not_hold_a_zone():
    # alone 6: 4 × 900 = 3600 >= 2950 × 1.2 = 3540.  Losing the other: (2950 + 1.6 × 1800) / 900 -> 7, but with zones
    # 3, 2, 2: 4 × 900 = 3600 < 2950 (1 + 0.6 × 3/7) = 3709.  8: 5 × 900 >= 2950 (1 + 0.6 × 3/8)
    curves = demand(("us-east", 2950), ("eu-north", 1800))
    assert planned(demand=curves, guardrails=losses("zone"))["us-east"] == 6
    assert planned(demand=curves, guardrails=losses("region"))["us-east"] == 7
    assert planned(demand=curves, guardrails=losses("zone", "region"))["us-east"] == 8


def test_a_survivor_holds_its_own_demand_and_what_moves_in():
    # (2800 + 1.6 × 1400) / 900 = 5.6 -> 6; (1400 + 1.6 × 2800) / 900 = 6.5 -> 7
    found = planned(demand=demand(("us-east", 2800), ("eu-north", 1400)), guardrails=losses("region"))
    assert found == {"us-east": 6, "eu-north": 7}


def test_a_region_without_demand_holds_what_may_arrive():
    # 1.6 × 2800 / 900 = 4.98 -> 5
    assert planned(demand=demand(("us-east", 2800)), guardrails=losses("region")) == {"us-east": 4, "eu-north": 5}


def test_canaries_do_not_count():
    curves = demand(("us-east", 2800), ("eu-north", 1400))
    found = planned(demand=curves, guardrails=losses("region") | {"canary_replicas": 2})
    assert found == {"us-east": 8, "eu-north": 9}


def test_the_burst_margin_raises_demand():
    # 2800 × 1.25 / 700 = 5
    found = planned(demand=demand(("us-east", 2800)), guardrails=losses() | {"burst_margin": "25 %"})
    assert found["us-east"] == 5


def test_hours_are_not_added_up_when_peaks_differ():
    # by hour 2800 + 1.6 × 700 = 3920 and 700 + 1.6 × 2800 = 5180 -> 6; peaks together would need 2800 × 2.6 / 900 -> 9
    curves = [make_curve("shop", "us-east", 2800, 700), make_curve("shop", "eu-north", 700, 2800)]
    assert planned(demand={"demand": curves}, guardrails=losses("region")) == {"us-east": 6, "eu-north": 6}


def test_an_even_router_splits_equally_with_the_rest_to_the_first():
    intent = make_intent("us-east", "eu-north", "eu-west", "us-west", fleet={"router": "even"})
    shares = plan(intent, None).lock.shares["open"]["us-east"]
    assert shares == {"eu-north": 34, "eu-west": 33, "us-west": 33}


def test_static_shares_follow_the_money():
    # eu-west's nodes cost about twice eu-north's; all of us-east goes to eu-north
    intent = make_intent(
        "us-east", "eu-north", "eu-west", demand=demand(("us-east", 9000)), guardrails=losses("region")
    )
    assert plan(intent, None).lock.shares["open"]["us-east"] == {"eu-north": 100}


def test_a_class_that_does_not_survive_a_region_is_not_moved():
    gap = {"loss": "region", "owner": "x", "reason": "a test", "expires": "2027-01-01"}
    tenants = {"classes": {"open": {"survive": ["zone", "replica"], "gap": gap}}}
    lock = plan(make_intent(tenants=tenants, demand=demand(("us-east", 2800))), None).lock
    assert lock.shares == {}
    assert replicas(lock)["eu-north"] == 0


def test_whole_replicas_take_whole_nodes():
    # 3-GPU replicas: two on a node of 8; 4 replicas on zones 2, 1, 1 -> 3 nodes
    model = make_model(accelerators={H100: {"gpus_per_replica": 3}})
    intent = make_intent(models={"models": {"chat": model}}, demand=demand(("us-east", 2800)), guardrails=losses())
    block = plan(intent, None).lock.regions["us-east"]
    assert [row.nodes.min for row in block.node_pools.values()] == [1, 1, 1]
    assert block.stranded_gpus == 3 * 8 - 4 * 3


def test_pools_begin_in_different_zones():
    intent = make_intent(
        models={"models": {"chat": make_model(), "code": make_model()}},
        tenants={"tenants": {"shop": {"models": ["chat", "code"]}}},
        demand={"demand": [make_curve("shop", "us-east", 2800, model=model) for model in ("chat", "code")]},
        guardrails=losses(),
    )
    pools = plan(intent, None).lock.regions["us-east"].pools
    assert pools["chat-h100"].places == {"gh100-1-a": 2, "gh100-2-a": 1, "gh100-3-a": 1}
    assert pools["code-h100"].places == {"gh100-1-a": 1, "gh100-2-a": 2, "gh100-3-a": 1}


def test_fewest_replicas_can_be_asked_for():
    # money: us-east costs less, so eu-west's demand may strand a GPU there; replicas: exact optimum of the count
    curves = demand(("us-east", 2800), ("eu-north", 2800), ("eu-west", 2800))
    regions = ("us-east", "eu-north", "eu-west")
    fewest = planned(*regions, demand=curves, guardrails=losses("region"), fleet={"objective": "replicas"})
    cheapest = planned(*regions, demand=curves, guardrails=losses("region"))
    # each survivor (2800 + 1.6 × 1400) / 900 = 5.6 -> 6
    assert sum(fewest.values()) == 18
    assert sum(cheapest.values()) >= 18


def test_a_discount_lowers_the_money():
    full = plan(make_intent(), None).lock.solver
    discount = {"cloud": "aws", "basis": "on_demand", "off": "25 %", "reference": "an order"}
    less = plan(make_intent(capacity={"discounts": [discount]}), None).lock.solver
    assert less.usd_h == pytest.approx(0.75 * full.usd_h, abs=0.01)
    assert less.bound_usd_h <= less.usd_h


def test_an_intent_that_cannot_survive_never_reaches_the_planner():
    with pytest.raises(ConfigError, match="leaves no region"):
        make_intent("us-east")
