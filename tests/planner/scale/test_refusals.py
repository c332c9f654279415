"""Arrays that are no problem are refused with what is wrong, all at once."""

import numpy as np
import pytest

from outlast.errors import PlanError
from outlast.planner.scale import hourly_bound, static_bound, static_plan
from tests.scale_problems import make_problem

TWO = [[[[800.0, 300.0]], [[400.0, 900.0]]]]
WRONG = {
    "a shape that disagrees": {"gpu_usd_h": [[1.0]]},
    "no axis of hours": {"demand_tok_s": [[[1.0]]]},
    "no pools": {"demand_tok_s": np.zeros((1, 2, 0, 2))},
    "negative demand": {"demand_tok_s": [[[[-1.0, 1.0]], [[1.0, 1.0]]]]},
    "demand that is no number": {"demand_tok_s": [[[[np.nan, 1.0]], [[1.0, 1.0]]]]},
    "infinite demand": {"demand_tok_s": [[[[np.inf, 1.0]], [[1.0, 1.0]]]]},
    "a quota that is no number": {"quota_gpus": [[np.nan], [1.0]]},
    "GPUs without end": {"replica_gpus": [[np.inf]]},
    "a replica without GPUs": {"replica_gpus": [[0.0]]},
    "half a canary": {"canary_replicas": [0.5]},
    "a negative floor": {"floor_tok_s": [[-1.0], [0.0]]},
    "a surge that lowers demand": {"surge": 0.5},
    "a surge that is no number": {"surge": float("nan")},
    "an unknown objective": {"objective": "mony"},
    "a class without survivors": {"survivors": [[[False, False], [True, False]]]},
    "a lost region that survives": {"survivors": [[[True, True], [True, False]]]},
    "no goodput": {"replica_tok_s": [[0.0]]},
    "no accelerator allowed at home": {"allowed": [[[False]], [[True]]]},
    "gaps of another shape": {"unmoved": [[True]]},
}


def make_wrong(changes):
    changes = dict(changes)
    return make_problem(TWO, **{name: changes.pop(name) for name in list(changes)})


@pytest.mark.parametrize("ask", [hourly_bound, static_bound, static_plan])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_numbers_are_refused_with_their_place(ask, name):
    with pytest.raises(PlanError) as caught:
        ask(make_wrong(WRONG[name]))
    assert all(problem.where.startswith("scale problem, ") and problem.what for problem in caught.value.problems)


def test_all_wrong_numbers_are_named_at_once():
    wrong = make_problem(TWO, floor_tok_s=[[-1.0], [0.0]], quota_gpus=[[-1.0], [1.0]], surge=0.0)
    with pytest.raises(PlanError) as caught:
        static_plan(wrong)
    assert len(caught.value.problems) == 3


def test_the_first_wrong_number_is_shown_with_its_place():
    with pytest.raises(PlanError) as caught:
        static_plan(make_problem(TWO, floor_tok_s=[[0.0], [-7.0]]))
    [problem] = caught.value.problems
    assert (problem.where, problem.got) == ("scale problem, floor_tok_s[1, 0]", "-7.0")


def test_a_survivor_that_cannot_run_the_pool_is_none():
    demand = [[[[800.0]], [[0.0]]]]
    with pytest.raises(PlanError) as caught:
        static_plan(make_problem(demand, allowed=[[[True]], [[False]]]))
    assert "pool 0" in str(caught.value)


def test_an_agreed_gap_needs_no_survivor():
    plan = static_plan(make_problem(TWO, survivors=np.zeros((1, 2, 2)), unmoved=[[True, True]]))
    assert plan.total == 2  # a replica of 1,000 tok/s for each own peak


def test_previous_shares_of_another_fleet_are_refused():
    with pytest.raises(PlanError):
        static_plan(make_problem(TWO), np.zeros((1, 3, 3), dtype=int))
