"""What holds for every fleet, on small random ones."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.planner.scale import ScaleProblem, check, hourly_bound, static_bound, static_plan
from tests.scale_problems import make_problem

few = settings(max_examples=10, deadline=None, derandomize=True)
CLOSE = 1e-6
amounts = st.integers(0, 9000)


def arrays(draw, shape, values):
    return np.array(draw(st.lists(values, min_size=math.prod(shape), max_size=math.prod(shape)))).reshape(shape)


@st.composite
def problems(draw, objective=("money", "replicas"), quotas=(math.inf, 60.0, 8.0)) -> ScaleProblem:
    """Fleets of two or three regions, two pools, one or two accelerators and classes, three hours; absent cells."""
    regions, accelerators, classes = draw(st.integers(2, 3)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    demand = arrays(draw, (classes, regions, 2, 3), amounts).astype(float)
    demand *= arrays(draw, (classes, regions, 2, 1), st.sampled_from([0, 1, 1]))
    return make_problem(
        demand,
        replica_tok_s=np.array([[1000.0, 2300.0], [700.0, 400.0]])[:, :accelerators],
        replica_gpus=np.array([[4.0, 8.0], [4.0, 2.0]])[:, :accelerators],
        gpu_usd_h=arrays(draw, (regions, accelerators), st.integers(1, 4)).astype(float),
        quota_gpus=arrays(draw, (regions, accelerators), st.sampled_from(quotas)),
        floor_tok_s=demand.sum(axis=0).max(axis=2) * draw(st.sampled_from([1.0, 1.3])),
        least_replicas=np.full((regions, 2), float(draw(st.integers(0, 3)))),
        canary_replicas=np.array([float(draw(st.integers(0, 2))), 0.0]),
        surge=draw(st.sampled_from([1.0, 1.6])),
        objective=draw(st.sampled_from(objective)),
    )


@few
@given(problems())
def test_a_plan_serves_every_need(problem):
    plan = static_plan(problem)
    assert check(problem, plan.shares_pct, plan.replicas) == ()


@few
@given(problems(quotas=[math.inf]))
def test_no_plan_is_below_its_bounds(problem):
    plan = static_plan(problem)
    assert hourly_bound(problem).total <= static_bound(problem).total + CLOSE
    assert static_bound(problem).total <= plan.bound + CLOSE
    assert plan.bound <= plan.total


@few
@given(problems(quotas=[math.inf]))
def test_hourly_shares_never_need_more_than_static_ones(problem):
    assert hourly_bound(problem, integer=True).total <= static_plan(problem).total + CLOSE


@few
@given(problems(quotas=[math.inf]))
def test_static_shares_never_cost_more_than_even_ones(problem):
    even = np.zeros(problem.targets.shape, dtype=int)
    for row, targets in zip(even.reshape(-1, even.shape[2]), problem.targets.reshape(-1, even.shape[2]), strict=True):
        row[targets] = [100 // targets.sum() + (index < 100 % targets.sum()) for index in range(targets.sum())]
    in_force = static_plan(problem, even)
    assert in_force.total <= cheapest_usd_h(problem, even) + CLOSE


def cheapest_usd_h(problem: ScaleProblem, shares_pct) -> float:
    """Price of the cheapest counts for given shares, by trying all."""
    total = 0.0
    for region, pool in np.ndindex(*problem.least_replicas.shape):
        home = problem.demand_tok_s[:, region, pool].sum(axis=0)
        need, used = max(problem.floor_tok_s[region, pool], home.max()), home.any()
        for lost in set(range(len(problem.gpu_usd_h))) - {region}:
            moved = problem.surge * (shares_pct[:, lost, region, None] / 100 * problem.demand_tok_s[:, lost, pool])
            need, used = max(need, (home + moved.sum(axis=0)).max()), used or moved.any()
        total += cheapest_counts(problem, region, pool, need) if used else 0.0
    return total


def cheapest_counts(problem: ScaleProblem, region: int, pool: int, need: float) -> float:
    price = problem.cost[region, pool]
    canaries = problem.canary_replicas[pool]
    served = problem.replica_tok_s[pool]
    ranges = [range(math.ceil(need / one) + 4) for one in served]
    fits = (
        counts
        for counts in itertools.product(*ranges)
        if counts @ served >= need * (1 - 1e-9) and sum(counts) + canaries >= problem.least_replicas[region, pool]
    )
    return float(min(np.array(counts) @ price for counts in fits) + canaries * price.min())


@few
@given(problems(), st.integers(1, 5000))
def test_more_demand_never_lowers_the_bounds(problem, more):
    demand = problem.demand_tok_s.copy()
    demand[0, 0, 0, 1] += more
    bigger = replace(problem, demand_tok_s=demand)
    assert hourly_bound(bigger).total >= hourly_bound(problem).total - CLOSE
    assert static_bound(bigger, covers=False).total >= static_bound(problem, covers=False).total * (1 - 1e-4)


@few
@given(problems())
def test_the_same_arrays_give_the_same_bytes(problem):
    first = static_plan(problem)
    hourly_bound(problem, integer=True)
    second = static_plan(problem)
    assert first.shares_pct.tobytes() == second.shares_pct.tobytes()
    assert first.replicas.tobytes() == second.replicas.tobytes()
    assert (first.total, first.bound) == (second.total, second.bound)


@few
@given(st.lists(st.tuples(amounts, amounts, amounts), min_size=2, max_size=5), st.sampled_from([1.0, 1.6]))
def test_hourly_counts_of_one_class_have_a_closed_form(curves, surge):
    demand = np.array(curves, dtype=float)
    problem = make_problem(demand[None, :, None, :], surge=surge, objective="replicas")
    own = np.ceil(demand.max(axis=1) / 1000)
    together = np.ceil((demand.sum(axis=0) + (surge - 1) * demand).max(axis=1) / 1000 - 1e-9) * demand.any(axis=1)
    fewest = max(own.sum(), (own + together).max(), math.ceil(together.sum() / (len(demand) - 1) - 1e-9))
    assert hourly_bound(problem, integer=True).total == fewest


@few
@given(st.lists(st.tuples(amounts, amounts), min_size=3, max_size=3))
def test_the_fewest_of_all_per_cents_lie_between_bound_and_plan(curves):
    demand = np.array(curves, dtype=float)
    plan = static_plan(make_problem(demand[None, :, None, :], objective="replicas"))
    points = np.arange(101) / 100
    to_next = {(lost, (lost + 1) % 3): points for lost in range(3)}
    to_last = {(lost, (lost + 2) % 3): 1 - points for lost in range(3)}
    alone = demand.max(axis=1)
    load = {
        key: np.maximum(alone[key[1]], (demand[key[1]] + share[:, None] * demand[key[0]]).max(axis=1))
        for key, share in (to_next | to_last).items()
    }
    counts = {key: np.ceil(value / 1000 - 1e-9) for key, value in load.items()}
    a, b, c = np.ix_(range(101), range(101), range(101))
    total = np.maximum(counts[1, 0][b], counts[2, 0][c])
    total = total + np.maximum(counts[0, 1][a], counts[2, 1][c]) + np.maximum(counts[0, 2][a], counts[1, 2][b])
    assert plan.bound <= total.min() <= plan.total
    assert plan.stopped != "proven" or plan.total == total.min()


@few
@given(problems(quotas=[0.0, 8.0]))
def test_gpus_beyond_quota_are_named_and_leave_no_gap(problem):
    plan = static_plan(problem)
    used = (plan.replicas * problem.replica_gpus).sum(axis=1)
    assert plan.overflow_gpus == pytest.approx(np.maximum(used - problem.quota_gpus, 0))
    assert (plan.gap_pct is None) or not plan.overflow_gpus.any()
