"""Rules are priced by planning without them, and the prices do not disturb the lock."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.errors import InfeasiblePlan
from outlast.lock import PremiumSize, lock_text, parse_lock
from outlast.planner import Price, plan, premiums, settled_lock, to_lock, with_premiums
from outlast.planner.premiums import rules_of
from outlast.planner.trials import Trials, size_of
from tests.builders import H100, P_QUOTA, make_curve, make_intent, make_model, merged

CENT = 0.011
EU = {"serve_in": ["EU"], "fail_over_to": ["EU"], "legal_basis": "contract", "allowed_outage": "1 h"}
WARM = {"factor": 1.0, "none_because": {"reason": "a test", "owner": "a test", "date": "2026-11-01"}}
TENANTS = {
    "classes": {"eu": EU},
    "admits": {"EU": ["open", "eu"]},
    "tenants": {"bank": {"residency": "eu", "models": ["chat"]}},
}
DEMAND = {"demand": [make_curve("shop", "us-east", 2800), make_curve("bank", "eu-north", 1400, 700)]}
NOTHING_HELD = {
    "occupancy": {"failure": "100 %"},
    "prefill_surge": WARM,
    "losses": {"region": 0, "zone": 0, "replica": 0},
}


def small(**changes):
    return make_intent("us-east", "eu-north", "eu-west", **merged({"tenants": TENANTS, "demand": DEMAND}, changes))


def seed():
    """The programme's three regions and a second EU region, its residency rule, and the EU closed to others."""

    def curve(tenant, origin, peak, hour):
        shape = {"peak": f"{peak} tok/s", "peak_utc_hour": hour, "trough": "25 %"}
        return {"tenants": [tenant], "origin": origin, "model": "chat", "shape": shape}

    return make_intent(
        "us-east",
        "eu-west",
        "eu-north",
        "ap-south",
        fleet={"objective": "replicas"},
        models={"models": {"chat": make_model(accelerators={H100: {"goodput": {"value": "2500 tok/s"}}})}},
        tenants=merged(TENANTS, {"admits": {"EU": ["eu"]}}),
        regions={"origins": {"eu-west": {"home": {"eu": {"eu-west": 50, "eu-north": 50}}}}},
        demand={
            "demand": [
                curve("shop", "us-east", 90000, 18),
                curve("bank", "eu-west", 60000, 12),
                curve("shop", "ap-south", 40000, 7),
            ]
        },
        guardrails=NOTHING_HELD | {"occupancy": {"failure": "70 %"}, "losses": {"region": 1, "zone": 0, "replica": 0}},
    )


def sizes(price: Price) -> tuple[PremiumSize, PremiumSize]:
    """Return first in and last in of a rule that is priced."""
    assert price.first_in
    assert price.last_in
    return price.first_in, price.last_in


def test_the_two_legal_rules_of_the_programme_cost_what_was_computed_for_them():
    intent, trials = seed(), Trials()
    residency, closure = rules_of(intent)[-2:]
    assert (residency.name, closure.name) == ("residency of eu", "admission to EU")
    fleets = (intent, closure.without(intent), residency.without(intent), closure.without(residency.without(intent)))
    assert [size_of(trials(fleet).must()).replicas for fleet in fleets] == [186, 147, 152, 139]


def test_first_in_and_last_in_differ_and_do_not_add_up():
    for price in premiums(seed(), Trials())[-2:]:
        first, last = sizes(price)
        assert last.gpus > 2 * first.gpus > 0


def test_a_rule_is_planned_once_with_and_once_without():
    trials, intent = Trials(), small(guardrails={"canary_replicas": 1, "burst_margin": "10 %"})
    premiums(intent, trials)
    assert trials.planned <= 2 * len(rules_of(intent)) + 4


def test_rules_that_are_off_cost_nothing():
    trials = Trials()
    prices = premiums(small(guardrails=NOTHING_HELD), trials)
    assert {(p.gpus, p.usd_h) for price in prices[:7] for p in sizes(price)} == {(0, 0)}


def test_a_class_that_may_go_anywhere_has_no_residency_to_price():
    assert [rule.name for rule in rules_of(make_intent()) if rule.kind == "legal"] == []


def test_a_closure_counts_only_against_classes_that_might_come():
    alone = {"losses": {"region": 0}}
    closed = small(tenants={"admits": {"EU": ["eu"]}, "classes": {"open": {"serve_in": ["US"]}}}, guardrails=alone)
    assert [rule.name for rule in rules_of(small())][-1] == "residency of eu"
    assert [rule.name for rule in rules_of(closed)][-1] == "admission to EU"


@settings(max_examples=3, deadline=None, derandomize=True)
@given(st.integers(0, 6000), st.integers(0, 6000), st.integers(0, 2), st.sampled_from([1.2, 1.6, 2.5]))
def test_no_rule_ever_pays(shop, bank, canary, surge):
    curves = [make_curve("shop", "us-east", shop + 1, 200), make_curve("bank", "eu-north", 100, bank + 1)]
    changes = {"canary_replicas": canary, "prefill_surge": {"factor": surge}, "burst_margin": "10 %"}
    for price in premiums(small(demand={"demand": curves}, guardrails=changes), Trials()):
        assert min(size.usd_h for size in sizes(price)) >= -CENT


def test_a_relaxed_plan_that_does_not_fit_a_quota_is_said_and_not_priced():
    # evenly, an EU region's loss would go to us-east as well, which holds quota for its own demand only
    own = {"regions": {"us-east": {"quotas": {P_QUOTA: {"granted": "576 vCPU"}}}}}
    demand = {"demand": [make_curve("shop", "us-east", 2800), make_curve("bank", "eu-north", 9000)]}
    prices = premiums(small(fleet={"router": "even"}, capacity=own, demand=demand), Trials())
    residency = next(price for price in prices if price.rule == "residency of eu")
    assert residency.last_in is None
    assert "us-east needs" in residency.why_not[0]
    assert "residency of eu" not in [premium.rule for premium in to_lock(prices)]


def test_a_fleet_without_a_plan_has_no_prices():
    with pytest.raises(InfeasiblePlan):
        premiums(small(capacity={"regions": {"us-east": {"quotas": None}}}), Trials())


def test_prices_stay_in_a_lock_and_leave_it_a_fixed_point():
    intent = small()
    lock = settled_lock(intent).model_copy(update={"premiums": to_lock(premiums(intent, Trials()))})
    assert lock.premiums
    assert parse_lock(lock_text(lock), "a lock") == lock
    assert plan(intent, lock).lock is lock


def test_prices_are_kept_for_the_same_inputs_and_dropped_for_others():
    lock = settled_lock(small()).model_copy(update={"premiums": to_lock(premiums(small(), Trials()))})
    assert with_premiums(settled_lock(small()), lock).premiums == lock.premiums
    assert with_premiums(settled_lock(small(guardrails={"canary_replicas": 1})), lock).premiums == ()
    assert with_premiums(settled_lock(small()), None).premiums == ()
