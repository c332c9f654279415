"""What is held lasts until the last month that has a plan."""

from datetime import date

import pytest

from outlast.errors import ConfigError, InfeasiblePlan
from outlast.planner import check_months, parse_growth, plan, runway, settled_lock
from outlast.planner.holdings import with_amounts
from outlast.planner.runway import grown, month_after
from outlast.planner.trials import Trials, size_of
from tests.builders import GCP_CAP, P_QUOTA, RESERVATION, make_curve, make_intent

TODAY = date(2026, 11, 30)


def fleet(granted="576 vCPU"):
    """us-east alone: 6 replicas on 3 nodes of 192 vCPU, which a lost zone holds up to 3600 / 1.2 tok/s."""
    held = {"regions": {"us-east": {"quotas": {P_QUOTA: {"granted": granted}}}}}
    demand = {"demand": [make_curve("shop", "us-east", 2800)]}
    return make_intent(demand=demand, capacity=held, guardrails={"losses": {"region": 0}})


def run(intent, growth="1 %/month", months=36, trials=None):
    return runway(intent, parse_growth(growth), months, TODAY, trials or Trials())


def test_the_last_month_is_that_of_the_closed_form():
    # 2800 x 1.2 x 1.01 ** m <= 3600, so m <= 6.9
    found = run(fleet())
    assert (found.last_month, found.last_day, found.ends[0].month) == (6, date(2027, 5, 30), 7)
    assert found.ends[0].growth_ratio == pytest.approx(1.01**7)


@pytest.mark.parametrize("months", [1, 5, 6, 7, 8, 36])
def test_the_last_month_does_not_depend_on_how_far_one_looks(months):
    assert run(fleet(), months=months).last_month == min(months, 6)


def test_a_quota_that_ends_is_asked_for_and_the_ask_is_enough():
    end = run(fleet()).ends[0]
    [ask] = end.asks
    month = grown(fleet(), 1.01**7)
    assert plan(with_amounts(month, {ask.holding.key: ask.needed}), None).target.solver.usd_h == end.size.usd_h
    with pytest.raises(InfeasiblePlan):
        plan(with_amounts(month, {ask.holding.key: ask.needed - 1}), None)


def capped(amount=48):
    """eu-west alone, 2 zones under a cap of its project: 6 replicas on 3 nodes of 8 GPUs in each."""
    held = {"regions": {"eu-west": {"quotas": {GCP_CAP: {"granted": f"{amount} GPUs"}}}}}
    demand = {"demand": [make_curve("shop", "eu-west", 2800)]}
    return make_intent("us-east", "eu-west", demand=demand, capacity=held, guardrails={"losses": {"region": 0}})


def test_a_cap_of_an_account_ends_and_is_asked_for():
    # a zone less, 2800 x 1.3 x 1.05 ** m <= 6 x 900, so m <= 8.1
    found = run(capped(), "5 %/month")
    [ask] = found.ends[0].asks
    assert (found.last_month, ask.holding.name, ask.holding.held) == (8, GCP_CAP, 48)
    assert (GCP_CAP, 48, 48) in {(use.name, use.held, use.needed) for use in found.uses}
    month = grown(capped(), 1.05**9)
    plan(with_amounts(month, {ask.holding.key: ask.needed}), None)
    with pytest.raises(InfeasiblePlan):
        plan(with_amounts(month, {ask.holding.key: ask.needed - 1}), None)


def test_what_ends_next_is_another_holding():
    capacity = {"regions": {name: {"quotas": {P_QUOTA: {"granted": "960 vCPU"}}} for name in ("us-east", "eu-north")}}
    curves = [make_curve("shop", "us-east", 2800), make_curve("shop", "eu-north", 1400)]
    first, following = run(make_intent(demand={"demand": curves}, capacity=capacity), "5 %/month").ends
    assert first.month < following.month
    assert {ask.holding.region for ask in first.asks}.isdisjoint(ask.holding.region for ask in following.asks)


def test_a_quota_that_lasts_says_so_with_the_plan_of_the_last_month():
    found = run(fleet("192k vCPU"), "3 %/month", 12)
    assert (found.ends, found.last_month) == ((), 12)
    assert found.last == size_of(settled_lock(grown(fleet("192k vCPU"), 1.03**12)))


def test_what_it_takes_to_last_is_enough_and_no_less_is():
    found = run(fleet(), months=24)
    [ask] = found.asks_to_last
    enough = {ask.holding.key: ask.needed}
    assert run(with_amounts(fleet(), enough), months=24).last_month == 24
    assert run(with_amounts(fleet(), {ask.holding.key: ask.needed - 1}), months=24).last_month < 24


def test_it_takes_few_plans():
    trials = Trials()
    run(fleet(), "3 %/month", 36, trials)
    assert trials.planned < 20


def test_faster_growth_never_lasts_longer():
    months = [run(fleet("2304 vCPU"), f"{rate} %/month").last_month for rate in (1, 3, 5, 20)]
    assert months == sorted(months, reverse=True)


def test_a_reservation_that_ends_by_date_is_told():
    held = {RESERVATION: {"machine_type": "p5.48xlarge", "zone": "use1-az1", "nodes": 3, "ends": "2027-03-01"}}
    capacity = {"regions": {"us-east": {"reservations": held}}}
    intent = make_intent(demand={"demand": [make_curve("shop", "us-east", 700)]}, capacity=capacity)
    assert [(e.reservation, e.day) for e in run(intent, months=12).expiries] == [(RESERVATION, date(2027, 3, 1))]
    assert run(intent, months=2).expiries == ()


def test_a_fleet_without_a_plan_has_no_runway():
    with pytest.raises(InfeasiblePlan, match="us-east needs"):
        run(fleet("0 vCPU"))


def test_growth_of_a_year_is_compounded_over_its_months():
    assert (1 + parse_growth("50 %/year")) ** 12 == pytest.approx(1.5)
    assert parse_growth("3%/month") == parse_growth("3 % a month") == 0.03


def test_months_end_on_a_day_that_exists():
    assert month_after(date(2027, 1, 31), 1) == date(2027, 2, 28)
    assert month_after(date(2026, 11, 30), 14) == date(2028, 1, 30)
    assert month_after(TODAY, 0) == TODAY


@pytest.mark.parametrize(
    "growth",
    [
        "0 %/month",
        "-3 %/month",
        "3",
        "3 %",
        "3 %/week",
        "",
        "fast",
        "101 %/month",
        "20000 %/year",
        "0 %/year",
        "%/month",
    ],
)
def test_growth_that_is_none_is_refused(growth):
    with pytest.raises(ConfigError, match=r"^--growth: "):
        parse_growth(growth)


@pytest.mark.parametrize("months", [0, -1, 601])
def test_months_that_cannot_be_looked_ahead_are_refused(months):
    with pytest.raises(ConfigError, match=r"^--months: .*allowed 1 to 600"):
        check_months(months)
