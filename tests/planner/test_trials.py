"""Trials plan each intent once and keep why there is no plan."""

import pytest

from outlast.errors import InfeasiblePlan
from outlast.planner import plan
from outlast.planner.trials import Trials, size_of, unproven_usd_h
from outlast.planner.whatif import BASE, compare, with_router
from tests.builders import P_QUOTA, make_curve, make_intent

DEMAND = {"demand": [make_curve("shop", "us-east", 2800)]}
NO_QUOTA = {"regions": {"us-east": {"quotas": {P_QUOTA: {"granted": "0 vCPU"}}}}}


def test_the_same_inputs_are_planned_once():
    began: list[int] = []
    trials = Trials(began=began.append)
    first = trials(make_intent(demand=DEMAND))
    assert trials(make_intent(demand=DEMAND)) is first
    trials(make_intent())
    assert (began, trials.planned) == ([0, 1], 2)


def test_a_fleet_without_a_plan_is_remembered_with_its_reason():
    trial = Trials()(make_intent(demand=DEMAND, capacity=NO_QUOTA))
    assert trial.size is None
    with pytest.raises(InfeasiblePlan, match="us-east needs"):
        trial.must()


def test_a_size_counts_what_the_lock_holds():
    lock = plan(make_intent(demand=DEMAND), None).target
    size = size_of(lock)
    # us-east 6 for a zone, eu-north 1.6 x 2800 / 900 -> 5, on 3 + 3 nodes of 8 GPUs
    assert (size.replicas, size.nodes, size.gpus) == (11, 6, 48)
    assert size.usd_h == lock.solver.usd_h


def test_a_difference_is_as_sure_as_both_plans():
    lock = plan(make_intent(demand=DEMAND), None).target
    wide = lock.model_copy(update={"solver": lock.solver.model_copy(update={"usd_h": 200.0, "gap_pct": 1.5})})
    assert unproven_usd_h(lock, None) == 0
    assert unproven_usd_h(lock, wide) == 3
    assert unproven_usd_h(wide, wide) == 6


def test_choices_are_compared_with_the_fleet_as_it_is():
    base = make_intent(demand=DEMAND)
    lock = plan(base, None).target
    free = make_intent(demand=DEMAND, guardrails={"losses": {"region": 0}})
    as_it_is, cheaper, none = compare(
        base, {"free": free, "none": make_intent(demand=DEMAND, capacity=NO_QUOTA)}, Trials()
    )
    assert as_it_is.name == BASE
    assert as_it_is.more == size_of(lock) - size_of(lock)
    assert cheaper.size
    assert as_it_is.size
    assert cheaper.more == cheaper.size - as_it_is.size
    assert cheaper.more.usd_h < 0
    assert (none.size, none.more) == (None, None)
    assert "us-east needs" in none.why_not[0]


def test_a_base_without_a_plan_leaves_no_difference():
    base = make_intent(demand=DEMAND, capacity=NO_QUOTA)
    as_it_is, other = compare(base, {"other": make_intent(demand=DEMAND)}, Trials())
    assert as_it_is.why_not
    assert other.size
    assert other.more is None


def test_the_even_router_is_never_cheaper():
    curves = [make_curve("shop", "us-east", 9000, 100), make_curve("shop", "eu-north", 100, 5000)]
    base = make_intent("us-east", "eu-north", "ap-south", demand={"demand": curves})
    _, even = compare(base, {"even": with_router(base, "even")}, Trials())
    assert even.more
    assert even.more.usd_h >= 0
