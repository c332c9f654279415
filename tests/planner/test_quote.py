"""A tenant costs what the fleet needs more with it, and a quota that is too small is asked for."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.errors import ConfigError, InfeasiblePlan
from outlast.planner import quote, settled_lock, to_wanted
from outlast.planner.holdings import needed, with_amounts
from outlast.planner.quote import with_tenant
from outlast.planner.trials import Trials, size_of
from tests.builders import H100, P_QUOTA, make_curve, make_intent, make_model

CENT = 0.011
DEMAND = {"demand": [make_curve("shop", "us-east", 2800)]}
KEY = ("us-east", P_QUOTA)


def wanted(intent, peak="1k tok/s", hour=12, residency="open", model=None, origin=None, **shape):
    keys = {"peak": peak, "peak_utc_hour": hour, "trough": "25 %", "weekend": "100 %"}
    return to_wanted(intent, residency, model, origin, keys | shape)


def quoted(intent, peak, **choices):
    return quote(intent, wanted(intent, peak, **choices), Trials())


def held(granted):
    return {"regions": {"us-east": {"quotas": {P_QUOTA: {"granted": granted}}}}}


def test_the_price_is_the_difference_of_two_plans():
    intent = make_intent(demand=DEMAND)
    found = quoted(intent, "5k tok/s", trough="100 %")
    grown = make_intent(demand={"demand": [make_curve("shop", "us-east", 7800)]})
    assert found.more == size_of(settled_lock(grown)) - size_of(settled_lock(intent))
    assert found.usd_month == pytest.approx(730 * found.more.usd_h)
    assert sum(region.nodes for region in found.regions) == found.more.nodes


def test_nothing_asked_costs_nothing():
    intent = make_intent("us-east", "eu-north", "eu-west", demand=DEMAND)
    found = quoted(intent, "0 tok/s", origin="eu-west")
    assert (found.more.usd_h, found.more.gpus, found.regions, found.asks) == (0, 0, (), ())


@settings(max_examples=5, deadline=None, derandomize=True)
@given(st.integers(1, 9000), st.integers(0, 9000), st.sampled_from(["us-east", "eu-north"]), st.integers(0, 23))
def test_more_demand_is_never_cheaper(peak, more, origin, hour):
    intent = make_intent(demand=DEMAND)
    less, greater = (quoted(intent, f"{p} tok/s", origin=origin, hour=hour) for p in (peak, peak + more))
    assert -CENT <= less.more.usd_h <= greater.more.usd_h + CENT


def test_a_tenant_that_fits_asks_for_nothing():
    assert quoted(make_intent(demand=DEMAND), "1k tok/s").asks == ()


def test_a_quota_that_is_too_small_is_asked_for_and_the_ask_is_enough():
    intent = make_intent(demand=DEMAND, capacity=held("576 vCPU"))
    found = quoted(intent, "2k tok/s")
    [ask] = found.asks
    assert (ask.holding.key, ask.holding.held) == (KEY, 576)
    grown = with_amounts(with_tenant(intent, found.wanted), {KEY: ask.needed})
    assert needed(settled_lock(grown), grown)[KEY] <= ask.needed
    assert found.more == size_of(settled_lock(grown)) - size_of(settled_lock(intent))
    with pytest.raises(InfeasiblePlan):
        settled_lock(with_amounts(grown, {KEY: ask.needed - 1}))


def test_a_fleet_without_a_plan_cannot_be_quoted():
    with pytest.raises(InfeasiblePlan, match="us-east needs"):
        quoted(make_intent(demand=DEMAND, capacity=held("0 vCPU")), "1k tok/s")


def test_what_sets_the_count_is_named():
    found = quoted(make_intent(demand=DEMAND), "5k tok/s")
    assert {region.region: "losing" in region.set_by for region in found.regions} == {"us-east": True, "eu-north": True}


def test_pools_that_stay_as_they_are_set_nothing():
    both = make_intent(
        models={"models": {"chat": make_model(), "code": make_model()}},
        tenants={"tenants": {"shop": {"models": ["chat", "code"]}}},
        demand={"demand": [make_curve("shop", "us-east", 2800, model=name) for name in ("chat", "code")]},
    )
    found = quoted(both, "5k tok/s", model="code")
    assert ["chat: " in region.set_by for region in found.regions] == [False, False]


def test_the_only_model_and_origin_of_a_class_need_no_naming():
    choice = wanted(make_intent(demand=DEMAND))
    assert (choice.model, choice.origin) == ("chat", "us-east")


def test_a_name_that_a_tenant_has_is_not_taken_again():
    taken = {"tenants": {"quoted-tenant": {"residency": "open", "models": ["chat"]}}}
    intent = make_intent(demand=DEMAND, tenants=taken)
    grown = with_tenant(intent, wanted(intent))
    assert len(grown.tenants_file.tenants) == len(intent.tenants_file.tenants) + 1


@pytest.mark.parametrize(
    ("choices", "told"),
    [
        ({"residency": "opne"}, r"^--class: unknown residency class 'opne'.*Did you mean 'open'"),
        ({"model": "chta"}, r"^--model: unknown model 'chta'.*Did you mean 'chat'"),
        ({"origin": "us-eats"}, r"^--origin: unknown origin.*Did you mean 'us-east'"),
        ({"hour": 24}, r"^--hour: .*allowed 23 or less"),
        ({"hour": -1}, r"^--hour: .*allowed 0 or more"),
        ({"hour": "noon"}, r"^--hour: "),
        ({"peak": "5000"}, r"^--peak: .*got '5000'; allowed a number and one of: tok/s"),
        ({"peak": 5000}, r"^--peak: write the unit"),
        ({"peak": "-5k tok/s"}, r"^--peak: out of range"),
        ({"peak": "5k USD/h"}, r"^--peak: not a quantity"),
        ({"peak": ""}, r"^--peak: not a quantity"),
        ({"trough": "120 %"}, r"^--trough: out of range"),
        ({"trough": "0.25"}, r"^--trough: not a quantity"),
        ({"weekend": "-1 %"}, r"^--weekend: out of range"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_refused_by_its_option(choices, told):
    with pytest.raises(ConfigError) as caught:
        wanted(make_intent(demand=DEMAND), **choices)
    assert re.search(told, str(caught.value))


def test_every_mistake_is_named_at_once():
    with pytest.raises(ConfigError) as caught:
        wanted(make_intent(demand=DEMAND), peak="5", hour=24, model="x", origin="y")
    assert [problem.where for problem in caught.value.problems] == ["--model", "--origin", "--peak", "--hour"]


def test_a_choice_of_several_origins_is_asked_for():
    curves = [make_curve("shop", name, 700) for name in ("us-east", "eu-north")]
    with pytest.raises(ConfigError, match=r"--origin: .*no single origin \(allowed eu-north, us-east\)"):
        wanted(make_intent(demand={"demand": curves}))


def test_a_model_that_no_region_of_the_class_hosts_is_refused():
    small = {H100: None, "l4-24": make_model()["accelerators"][H100] | {"gpus_per_replica": 1}}
    intent = make_intent(models={"models": {"code": make_model(accelerators=small)}}, demand=DEMAND)
    with pytest.raises(ConfigError, match=r"outlast quote, giving .*no region listed there may serve class 'open'"):
        quote(intent, wanted(intent, model="code"), Trials())
