"""Margins of hand-sized fleets: a replica holds 700 tok/s normally and 900 in failure; surge 1.6."""

from typing import Any

import pytest

from outlast.lock import Lock
from outlast.proof import Case, Margin, arithmetic, cure, held_of_lock, hour_text, prove, shortfall
from tests.builders import H100, make_block, make_curve, make_intent, make_lock, make_model

SWAP = {"us-east": {"eu-north": 100}, "eu-north": {"us-east": 100}}
THREE = ("us-east", "eu-north", "us-west")


def demand(**tok_s: float) -> dict:
    return {"demand": [make_curve("shop", name.replace("_", "-"), value) for name, value in tok_s.items()]}


def margin(lost: str, *replicas: int, shares=SWAP, region: str = "us-east", block=None, **changes) -> Margin:
    """The margin of us-east with ``replicas`` in its zones, the other region having plenty."""
    intent = make_intent(**{"demand": demand(us_east=2800), **changes})
    blocks = {"us-east": make_block("us-east", *replicas, **(block or {})), "eu-north": make_block("eu-north", 9, 9, 9)}
    return prove(make_lock(intent, blocks, shares), intent).margins[Case("chat", region, lost)]


def test_normal_demand_is_held_at_normal_occupancy():
    # 4 × 700 = 2800
    found = margin("none", 2, 2)
    assert (found.need_tok_s, found.available_tok_s, found.replicas) == pytest.approx((2800, 2800, 4))
    assert found.holds


def test_a_replica_fewer_does_not_hold_it():
    # 3 × 700 = 2100 < 2800
    found = margin("none", 2, 1)
    assert found.slack_tok_s == pytest.approx(-700)
    assert not found.holds
    assert (found.replicas, found.replicas_needed) == (3, 4)


def test_the_loss_of_a_replica_takes_one_at_normal_occupancy():
    # (4 - 1) × 700 = 2100 < 2800, so (2800 + 700) / 700 = 5 are needed
    found = margin("replica", 2, 2)
    assert (found.available_tok_s, found.replicas_needed) == pytest.approx((2100, 5))


def test_the_loss_of_a_zone_takes_its_replicas_and_warms_caches_for_what_moves():
    # zones 2, 1, 1: 2 × 900 = 1800; a half moves: 2800 (1 + 0.6 × 2/4) = 3640
    found = margin("zone use1-az1", 2, 1, 1)
    assert (found.available_tok_s, found.need_tok_s) == pytest.approx((1800, 3640))


def test_replicas_needed_for_a_lost_zone_count_what_it_holds_at_that_hour():
    # 4 of 12 serve, zones alike: 4 - 2 = 2 remain, 1800 < 1000 (1 + 0.6 × 1/2) = 1300; ceil((1300 + 1800) / 900) = 4
    found = margin("zone use1-az1", 6, 6, block={"replicas": {"floor": 4}}, demand=demand(us_east=1000))
    assert (found.replicas, found.replicas_needed) == (4, 4)
    assert found.holds


def test_a_shortfall_is_said_in_the_unit_of_the_pool():
    model = make_model(unit="requests/s", accelerators={H100: {"goodput": {"value": "1000 requests/s"}}})
    curve = make_curve("shop", "us-east", 2800, unit="requests/s")
    found = margin("none", 2, 1, models={"models": {"chat": model}}, demand={"demand": [curve]})
    assert "requests/s" in shortfall(found)
    assert "tok/s" not in shortfall(found) + arithmetic(found)


def test_the_loss_of_a_zone_without_replicas_moves_nothing():
    # 4 × 900 = 3600 >= 2800
    found = margin("zone use1-az4", 2, 2)
    assert (found.available_tok_s, found.need_tok_s) == pytest.approx((3600, 2800))


def test_the_loss_of_the_only_zone_in_use_leaves_nothing():
    # 2800 × 1.6
    found = margin("zone use1-az1", 9)
    assert (found.available_tok_s, found.need_tok_s) == pytest.approx((0, 4480))


def test_a_survivor_holds_its_own_and_what_moves_in_with_cold_caches():
    # 7 × 900 = 6300 >= 2800 + 1.6 × 1400 = 5040
    found = margin("eu-north", 3, 2, 2, demand=demand(us_east=2800, eu_north=1400))
    assert (found.available_tok_s, found.need_tok_s) == pytest.approx((6300, 5040))


def test_a_survivor_without_replicas_holds_nothing():
    intent = make_intent(demand=demand(us_east=2800))
    lock = make_lock(intent, {"us-east": make_block("us-east", 9), "eu-north": make_block("eu-north", 0)}, SWAP)
    found = prove(lock, intent).margins[Case("chat", "eu-north", "us-east")]
    # 1.6 × 2800 / 900 = 4.98
    assert (found.available_tok_s, found.need_tok_s, found.replicas_needed) == pytest.approx((0, 4480, 5))


@pytest.mark.parametrize(
    ("survivor", "need"), [("eu-north", 700 + 1.6 * 0.75 * 2800), ("us-west", 350 + 1.6 * 0.25 * 2800)]
)
def test_shares_split_a_lost_region(survivor, need):
    intent = make_intent(*THREE, demand=demand(us_east=2800, eu_north=700, us_west=350))
    shares = {lost: {name: 50 for name in THREE if name != lost} for lost in THREE}
    shares["us-east"] = {"eu-north": 75, "us-west": 25}
    lock = make_lock(intent, {name: make_block(name, 9, 9) for name in THREE}, shares)
    assert prove(lock, intent).margins[Case("chat", survivor, "us-east")].need_tok_s == pytest.approx(need)


def test_demand_of_several_classes_moves_by_the_shares_of_each():
    # open 1000 -> us-west; eu 500 -> eu-west: each survivor holds its part × 1.6
    eu = {"serve_in": ["EU"], "fail_over_to": ["EU"], "legal_basis": "contract", "allowed_outage": "15 min"}
    tenants = {
        "classes": {"eu": eu},
        "admits": {"EU": ["open", "eu"]},
        "tenants": {"bank": {"residency": "eu", "models": ["chat"]}},
    }
    names = ("eu-north", "eu-west", "us-west")
    curves = {"demand": [make_curve("shop", "eu-north", 1000), make_curve("bank", "eu-north", 500)]}
    intent = make_intent(*names, tenants=tenants, demand=curves)
    shares = {"open": {"eu-north": {"us-west": 100}}, "eu": {"eu-north": {"eu-west": 100}}}
    margins = prove(make_lock(intent, {name: make_block(name, 5, 5) for name in names}, shares), intent).margins
    assert margins[Case("chat", "us-west", "eu-north")].need_tok_s == pytest.approx(1600)
    assert margins[Case("chat", "eu-west", "eu-north")].need_tok_s == pytest.approx(800)


def test_hours_are_compared_one_by_one():
    # by hour 2800 + 1.6 × 700 = 3920 and 700 + 1.6 × 2800 = 5180; the peaks together would be 7280
    curves = {"demand": [make_curve("shop", "us-east", 2800, 700), make_curve("shop", "eu-north", 700, 2800)]}
    found = margin("eu-north", 3, 3, demand=curves)
    assert (found.need_tok_s, found.hour) == pytest.approx((5180, 1))


def test_canaries_do_not_count():
    # (5 - 2) × 700 = 2100
    found = margin("none", 3, 2, block={"replicas": {"canary": 2}})
    assert (found.available_tok_s, found.replicas) == pytest.approx((2100, 3))


def test_a_canary_is_not_taken_to_be_in_the_lost_zone():
    # zones 2, 2 and one canary: 4 - 2 - 1 = 1
    assert margin("zone use1-az1", 2, 2, block={"replicas": {"canary": 1}}).available_tok_s == pytest.approx(900)


@pytest.mark.parametrize(("surge", "need"), [(1.2, 2800 + 1.2 * 1400), (2.5, 2800 + 2.5 * 1400)])
def test_the_surge_makes_moved_traffic_dearer(surge, need):
    changes: dict[str, Any] = {
        "demand": demand(us_east=2800, eu_north=1400),
        "guardrails": {"prefill_surge": {"factor": surge}},
    }
    assert margin("eu-north", 5, 5, **changes).need_tok_s == pytest.approx(need)


def test_the_burst_margin_raises_every_need():
    assert margin("none", 9, guardrails={"burst_margin": "25 %"}).need_tok_s == pytest.approx(3500)


@pytest.mark.parametrize("kind", ["replica", "zone", "region"])
def test_a_class_that_does_not_survive_a_loss_is_left_out_of_it(kind):
    gap = {"loss": kind, "owner": "x", "reason": "a test", "expires": "2027-01-01"}
    survive = [loss for loss in ("region", "zone", "replica") if loss != kind]
    intent = make_intent(tenants={"classes": {"open": {"survive": survive, "gap": gap}}}, demand=demand(us_east=2800))
    lock = make_lock(intent, {"us-east": make_block("us-east", 9, 9), "eu-north": make_block("eu-north", 9)}, SWAP)
    kinds = {case.lost.split()[0] for case in prove(lock, intent).margins}
    expected = {"none", "replica", "zone", "us-east"} - {kind if kind != "region" else "us-east"}
    assert kinds == expected


@pytest.mark.parametrize("kind", ["replica", "zone", "region"])
def test_a_loss_that_guardrails_leave_out_is_not_asked(kind):
    intent = make_intent(demand=demand(us_east=2800), guardrails={"losses": {kind: 0}})
    lock = make_lock(intent, {"us-east": make_block("us-east", 9, 9), "eu-north": make_block("eu-north", 9)}, SWAP)
    found = {case.lost.split()[0] for case in prove(lock, intent).margins}
    assert found == {"none", "replica", "zone", "us-east"} - {"us-east" if kind == "region" else kind}


def floors(*windows: tuple[str, int, int, int], low: int) -> dict:
    rows = [{"days": days, "from_h": start, "to_h": end, "replicas": count} for days, start, end, count in windows]
    return {"floors": rows, "replicas": {"floor": low}}


def test_available_is_the_floor_in_force_not_what_is_planned():
    # planned 8, floor 2 from 12:00: 2 × 700 < 2800
    found = margin("none", 4, 4, block=floors(("mon-sun", 0, 12, 8), low=2))
    assert (found.hour, found.replicas, found.available_tok_s) == pytest.approx((12, 2, 1400))


def test_a_floor_of_weekdays_does_not_hold_on_saturday():
    found = margin("none", 4, 4, block=floors(("mon-fri", 0, 24, 8), low=2))
    assert hour_text(found.hour) == "Sat 00:00 UTC"


def test_the_zone_of_a_low_floor_loses_its_part_rounded_up():
    # 3 of 8 in force; zones 5, 3: 3 × 5/8 = 1.9 -> 2 gone, 1 × 900 left; 2800 (1 + 0.6 × 5/8)
    found = margin("zone use1-az1", 5, 3, block=floors(low=3))
    assert (found.available_tok_s, found.need_tok_s) == pytest.approx((900, 2800 * 1.375))


def test_only_replicas_that_kept_nodes_hold_count():
    # 2 nodes of 8 GPUs hold 4 replicas of 4, not the 6 placed
    assert margin("none", 6, block={"nodes": [2]}).replicas == 4


def test_nodes_missing_in_a_zone_are_missing_there():
    # zone a keeps 1 of 4: 1 node -> 2 replicas; losing zone b (2) leaves 2
    found = margin("zone use1-az2", 4, 2, block={"nodes": [1, 1]})
    assert found.available_tok_s == pytest.approx(2 * 900)


def test_spot_nodes_hold_nothing():
    intent = make_intent(demand=demand(us_east=2800))
    east = make_block("us-east", 2, 2)
    east["node_pools"]["gh100-1-a"]["capacity"] = "spot"
    lock = make_lock(intent, {"us-east": east, "eu-north": make_block("eu-north", 9)}, SWAP)
    assert prove(lock, intent).margins[Case("chat", "us-east", "none")].replicas == 2


def test_two_accelerators_of_a_pool_add_up_and_the_better_replica_is_lost():
    # h100 1000 × 2 and l4 300 × 4: 0.7 × 3200 = 2240; losing an h100 replica: 1540
    l4 = {"gpus_per_replica": 4, "goodput": make_model()["accelerators"][H100]["goodput"] | {"value": "300 tok/s"}}
    intent = make_intent(models={"models": {"chat": {"accelerators": {"l4-24": l4}}}}, demand=demand(us_east=1600))
    east = make_block("us-east", 2)
    row = east["node_pools"]["gh100-1-a"] | {"id": "l4", "accelerator": "l4-24", "machine_type": "g6.12xlarge"}
    east["node_pools"]["l4-1-a"] = row | {"node_gpus": 4, "nodes": {"min": 4, "expected": 4, "max": 4}}
    pool = east["pools"]["chat-h100"]
    counts = {"floor": 4, "planned": 4, "max": 4}
    east["pools"]["chat-l4"] = pool | {"accelerator": "l4-24", "places": {"l4-1-a": 4}, "replicas": counts}
    lock = make_lock(intent, {"us-east": east, "eu-north": make_block("eu-north", 9)}, SWAP)
    margins = prove(lock, intent).margins
    assert margins[Case("chat", "us-east", "none")].available_tok_s == pytest.approx(2240)
    assert margins[Case("chat", "us-east", "replica")].available_tok_s == pytest.approx(1540)


def test_pools_on_one_node_pool_share_its_nodes():
    # 2 nodes = 16 GPUs: two replicas of 4 for chat leave 8 for help, which placed three
    intent = make_intent(
        models={"models": {"help": make_model()}},
        tenants={"tenants": {"shop": {"models": ["chat", "help"]}}},
    )
    east = make_block("us-east", 2, nodes=[2])
    counts = {"floor": 3, "planned": 3, "max": 3}
    east["pools"]["help-h100"] = east["pools"]["chat-h100"] | {
        "pool": "help",
        "places": {"gh100-1-a": 3},
        "replicas": counts,
    }
    held = held_of_lock(make_lock(intent, {"us-east": east, "eu-north": make_block("eu-north", 2)}, SWAP))
    assert {key: row.usable(0) for key, row in held["us-east"].items()} == {"chat-h100": 2, "help-h100": 2}


@pytest.mark.parametrize(
    ("shares", "need"),
    [
        ({}, 1.6 * 2800),
        ({"open": {"eu-north": {"us-east": 100}}}, 1.6 * 2800),
        ({"us-east": {"eu-north": 60}}, 1.6 * 1120),
    ],
    ids=["no table", "no row", "a part"],
)
def test_demand_of_a_lost_region_that_no_share_sends_anywhere_fails(shares, need):
    intent = make_intent(demand=demand(us_east=2800))
    lock = make_lock(intent, {"us-east": make_block("us-east", 9, 9), "eu-north": make_block("eu-north", 9, 9)}, shares)
    failures = prove(lock, intent).failures
    assert [found.case for found in failures] == [Case("chat", "us-east", "us-east")]
    assert (failures[0].need_tok_s, failures[0].available_tok_s) == pytest.approx((need, 0))
    assert "us-east" in shortfall(failures[0])
    assert "share" in cure(failures[0])


def test_whole_shares_leave_nothing_unassigned():
    intent = make_intent(demand=demand(us_east=2800))
    lock = make_lock(intent, {"us-east": make_block("us-east", 9, 9), "eu-north": make_block("eu-north", 9, 9)}, SWAP)
    assert prove(lock, intent).failures == ()


def test_the_binding_case_is_the_tightest_of_its_pool_and_region():
    intent = make_intent(demand=demand(us_east=2800))
    lock = make_lock(intent, {"us-east": make_block("us-east", 3, 3), "eu-north": make_block("eu-north", 9, 9)}, SWAP)
    binding = {found.case.region: found.case.lost for found in prove(lock, intent).binding()}
    # us-east: normal 4200/2800, replica 3500/2800, zone 2700/3640; eu-north holds only the loss of us-east
    assert binding == {"us-east": "zone use1-az1", "eu-north": "us-east"}


def test_failures_come_worst_first():
    found = prove(_small(1, 1), make_intent(demand=demand(us_east=2800))).failures
    assert [row.slack_tok_s for row in found] == sorted(row.slack_tok_s for row in found)
    assert len(found) > 2


def test_words_say_where_what_how_much_when_and_the_cure():
    found = margin("none", 2, 1)
    assert all(word in shortfall(found) for word in ("us-east", "chat", "700 tok/s", "Mon 00:00 UTC"))
    assert all(word in arithmetic(found) for word in ("need=2,800 tok/s", "available=2,100 tok/s", "3 of 4 replicas"))
    assert "1 more replica of chat in us-east" in cure(found)


def _small(*east: int) -> Lock:
    intent = make_intent(demand=demand(us_east=2800))
    return make_lock(intent, {"us-east": make_block("us-east", *east), "eu-north": make_block("eu-north", 1)}, SWAP)
