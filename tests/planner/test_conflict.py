"""What is said to lift a conflict lifts it."""

import pytest

from outlast.errors import InfeasiblePlan
from outlast.planner import explained, plan, settled_lock, ways
from outlast.planner.conflict import _largest_part
from outlast.planner.holdings import smallest_asks, with_amounts
from outlast.planner.runway import grown
from outlast.planner.trials import Trials, size_of
from tests.builders import GCP_CAP, P_QUOTA, make_curve, make_intent, merged

FLAT = {"demand": [make_curve("shop", "us-east", 2800)]}
EU = {"serve_in": ["EU"], "fail_over_to": ["EU"], "legal_basis": "contract", "allowed_outage": "1 h"}


def held(**granted):
    return {"regions": {r.replace("_", "-"): {"quotas": {P_QUOTA: {"granted": g}}} for r, g in granted.items()}}


def conflict(intent, in_force=None) -> InfeasiblePlan:
    with pytest.raises(InfeasiblePlan) as caught:
        plan(intent, in_force)
    return explained(intent, caught.value, in_force, Trials())


def lift(intent) -> str:
    return conflict(intent).problems[-1].do


def test_the_smallest_asks_are_enough_and_no_smaller_ones_are():
    intent = make_intent(demand=FLAT, capacity=held(us_east="100 vCPU", eu_north="100 vCPU"))
    asks, lock = smallest_asks(intent, Trials())
    amounts = {ask.holding.key: ask.needed for ask in asks}
    assert settled_lock(with_amounts(intent, amounts)).regions == lock.regions
    for key, needed in amounts.items():
        with pytest.raises(InfeasiblePlan):
            plan(with_amounts(intent, amounts | {key: needed - 1}), None)


def test_a_cap_of_an_account_that_is_short_is_among_what_would_lift_the_conflict():
    small = {"eu-west": {"quotas": {GCP_CAP: {"granted": "8 GPUs", "as_of": "2026-11-01"}}}}
    intent = make_intent("us-east", "eu-west", demand=FLAT, capacity={"regions": small})
    asks, _ = smallest_asks(intent, Trials())
    assert [ask.holding.key for ask in asks] == [("eu-west", GCP_CAP)]
    enough = {ask.holding.key: ask.needed for ask in asks}
    assert plan(with_amounts(intent, enough), None)


def test_asks_of_a_fleet_that_has_a_plan_are_none():
    assert smallest_asks(make_intent(demand=FLAT), Trials())[0] == ()


def test_the_largest_part_of_the_demand_fits_and_one_per_cent_more_does_not():
    intent = make_intent(demand=FLAT, capacity=held(eu_north="384 vCPU"))
    part = _largest_part(intent, Trials())
    assert 0 < part < 99
    assert plan(grown(intent, part / 100), None)
    with pytest.raises(InfeasiblePlan):
        plan(grown(intent, (part + 1) / 100), None)


def test_every_way_says_what_the_fleet_then_costs():
    intent = make_intent(demand=FLAT, guardrails={"losses": {"region": 0}}, capacity=held(us_east="575 vCPU"))
    raised, *_ = ways(intent, Trials())
    enough = settled_lock(with_amounts(intent, {("us-east", P_QUOTA): 576}))
    assert raised.size == size_of(enough)
    assert str(raised).endswith(f"{raised.size.usd_h:,.2f} USD/h]")


def test_another_region_that_could_take_it_is_offered():
    h100 = "GPUS-PER-GPU-FAMILY-per-project-region/NVIDIA_H100"
    short = merged(held(eu_north="1 vCPU"), {"regions": {"eu-west": {"quotas": {h100: None}}}})
    told = lift(make_intent("us-east", "eu-north", "eu-west", demand=FLAT, capacity=short))
    assert f"Raise {P_QUOTA} in eu-north from 1 to" in told
    assert "NVIDIA_H100 in eu-west from 0 to" in told


def closed(**tenants):
    """us-east may lose into ap-south only, which holds nothing; the EU has room, but does not admit the class."""
    return make_intent(
        "us-east",
        "eu-north",
        "ap-south",
        demand=FLAT,
        capacity=held(ap_south="0 vCPU"),
        tenants=merged({"admits": {"EU": []}}, tenants),
    )


def test_admitting_a_class_elsewhere_is_offered_where_its_own_rule_allows_it():
    assert "admit every class to EU" in lift(closed())


def test_moving_a_class_elsewhere_is_offered_only_if_its_contract_allows():
    resident = {"classes": {"open": {"serve_in": ["US", "IN"], "fail_over_to": ["US", "IN"]}}}
    told = lift(closed(**resident))
    assert "let 'open' go to any of EU, IN, US, if its contract allows" in told
    assert "admit every class" not in told


def test_a_zone_that_cannot_be_lost_may_be_left_out():
    only = {"regions": {"us-east": {"node_pools": {"gh100": {"zones": ["use1-az1"]}}}}}
    told = lift(make_intent(regions=only, demand=FLAT))
    assert "losses.zone: 0" in told
    assert "% of the demand" not in told


def test_the_classes_that_need_a_quota_are_named():
    tenants = {
        "classes": {"eu": EU},
        "admits": {"EU": ["open", "eu"]},
        "tenants": {"bank": {"residency": "eu", "models": ["chat"]}},
    }
    intent = make_intent(
        "us-east",
        "eu-north",
        "eu-west",
        tenants=tenants,
        demand={"demand": [*FLAT["demand"], make_curve("bank", "eu-north", 900)]},
        capacity=held(eu_north="0 vCPU"),
    )
    what = conflict(intent).problems[0].what
    assert "at home there: eu" in what
    assert "may fail over to it: open" in what


def test_the_conflict_keeps_its_problems_and_its_kind():
    intent = make_intent(demand=FLAT, capacity=held(eu_north="1 vCPU"))
    with pytest.raises(InfeasiblePlan) as plain:
        plan(intent, None)
    told = explained(intent, plain.value, None, Trials())
    assert isinstance(told, InfeasiblePlan)
    assert [p.where for p in told.problems[:-1]] == [p.where for p in plain.value.problems]


def test_old_and_new_side_by_side_are_lifted_from_the_lock_in_force():
    alone = {"losses": {"region": 0}}
    old = settled_lock(make_intent(demand=FLAT, guardrails=alone))
    zones = {"regions": {"us-east": {"node_pools": {"gh100": {"zones": ["use1-az4", "use1-az1", "use1-az2"]}}}}}
    moved = make_intent(demand=FLAT, guardrails=alone, regions=zones, capacity=held(us_east="576 vCPU"))
    told = conflict(moved, old)
    assert "from 576 to 1,152 vCPU" in told.problems[-1].do


def test_a_target_that_does_not_fit_is_lifted_from_nothing_whatever_runs():
    alone = {"losses": {"region": 0}}
    old = settled_lock(make_intent(demand=FLAT, guardrails=alone))
    short = make_intent(demand=FLAT, guardrails=alone, capacity=held(us_east="384 vCPU"))
    assert "% of the demand" in conflict(short, old).problems[-1].do


def test_a_fleet_that_nothing_lifts_says_what_was_tried():
    two = {"regions": {"us-east": {"node_pools": {"gh100": {"zones": ["use1-az1"]}}}}}
    both = merged(two, {"regions": {"eu-north": {"node_pools": {"gh100": {"zones": ["eun1-az1"]}}}}})
    curves = {"demand": [make_curve("shop", name, 700) for name in ("us-east", "eu-north")]}
    intent = make_intent(regions=both, demand=curves, capacity=held(us_east="0 vCPU", eu_north="0 vCPU"))
    assert "Change regions or node pools" in lift(intent)
