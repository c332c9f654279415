"""Plans of small fleets whose answer fits in a line, and what a check of plans finds."""

from dataclasses import replace

import numpy as np
import pytest

from outlast.planner.scale import assignment, check, hourly_bound, static_bound, static_plan
from outlast.planner.scale import plan as planning
from tests.scale_problems import SEED, make_problem, one_class

PEAKS = [[[[900.0, 100.0]], [[100.0, 900.0]], [[500.0, 500.0]]]]


def test_a_cell_in_use_pays_its_canary_and_its_fewest_replicas():
    problem = make_problem(PEAKS, least_replicas=np.full((3, 1), 4.0), canary_replicas=[1.0])
    assert static_plan(problem).replicas.ravel().tolist() == [4, 4, 4]


def test_bounds_count_the_canaries_of_cells_in_use():
    canaries, none = make_problem(PEAKS, canary_replicas=[2.0]), make_problem(PEAKS)
    assert hourly_bound(canaries).total == pytest.approx(hourly_bound(none).total + 6)
    assert static_bound(canaries).total == pytest.approx(static_bound(none).total + 6)


def test_canaries_take_of_the_quota():
    # each region holds two replicas and one canary of 1 GPU
    plan = static_plan(make_problem([[[[1000.0]], [[1000.0]]]], canary_replicas=[1.0], quota_gpus=[[2.0], [3.0]]))
    assert plan.static.overflow_gpus.ravel() == pytest.approx([1, 0])


def test_a_cell_that_no_share_reaches_stays_empty():
    # a to b needs 1,000 + 1,000; c without demand would cost two canaries and a replica
    demand = [[[[1000.0]], [[1000.0]], [[0.0]]]]
    plan = static_plan(make_problem(demand, canary_replicas=[2.0]))
    assert plan.replicas.ravel().tolist() == [4, 4, 0]


def test_the_cheaper_accelerator_is_taken_up_to_its_quota():
    # 3,000 tok/s in each of two regions, each holding the other's: six replicas of 1,000, two of them on the cheap kind
    demand = [[[[3000.0]], [[3000.0]]]]
    quotas = [[np.inf, 2.0], [np.inf, 2.0]]
    plan = static_plan(
        make_problem(demand, replica_tok_s=[[1000.0, 1000.0]], gpu_usd_h=[[2.0, 1.0]] * 2, quota_gpus=quotas)
    )
    assert plan.replicas[:, 0].tolist() == [[4, 2], [4, 2]]
    assert plan.gap_pct == pytest.approx(0)


def test_what_a_quota_lacks_is_named_and_the_bound_gives_no_gap():
    demand = [[[[3000.0]], [[3000.0]]]]
    plan = static_plan(make_problem(demand, quota_gpus=[[6.0], [4.0]]))
    assert plan.overflow_gpus.ravel().tolist() == [0, 2]
    assert plan.static.overflow_gpus.ravel() == pytest.approx([0, 2])
    assert (plan.static.is_within_quota, plan.gap_pct) == (False, None)


@pytest.mark.parametrize(("rises", "fits"), [(0, False), (3, True)])
def test_points_leave_a_region_that_exceeds_its_quota(monkeypatch, rises, fits):
    monkeypatch.setattr(planning, "MOST_CELLS", 0)
    monkeypatch.setattr(planning, "RELIEVES", rises)
    demand = [[[[4300.0, 7900.0]], [[8600.0, 3200.0]], [[1900.0, 5800.0]]]]
    quotas = [[np.inf], [np.inf], [9.0]]
    plan = static_plan(make_problem(demand, gpu_usd_h=[[3.0], [3.0], [2.0]], quota_gpus=quotas))
    assert plan.static.is_within_quota
    assert plan.overflow_gpus.any() != fits


def test_a_gap_counts_at_home_and_does_not_move():
    # the second class stays: region b needs 500 of its own and 1,000 of the first class
    demand = [[[[1000.0]], [[0.0]]], [[[0.0]], [[500.0]]]]
    plan = static_plan(make_problem(demand, unmoved=[[False, False], [False, True]]))
    assert plan.replicas.ravel().tolist() == [1, 2]


def test_one_region_alone_needs_an_agreed_gap():
    plan = static_plan(make_problem([[[[2500.0]]]], unmoved=[[True]]))
    assert plan.total == plan.bound == 3


def test_shares_in_force_are_kept_where_they_cost_nothing():
    in_force = np.array([[[0, 21, 79], [20, 0, 80], [60, 40, 0]]])
    plan = static_plan(one_class(SEED), in_force)
    assert (plan.total, plan.shares_pct.tolist()) == (145, in_force.tolist())


def test_shares_in_force_that_no_longer_fit_are_replaced():
    gone = np.zeros((1, 3, 3), dtype=int)
    gone[0, 0] = [50, 50, 0]
    gone[0, 1] = [100, 0, -1]
    plan = static_plan(one_class(SEED), gone)
    assert check(one_class(SEED), plan.shares_pct, plan.replicas) == ()


def test_progress_is_told_from_nothing_to_all_of_each_phase():
    told = []
    static_plan(one_class(SEED), progress=lambda phase, done: told.append((phase, done)))
    hourly_bound(one_class(SEED), progress=lambda phase, done: told.append((phase, done)))
    assert {phase for phase, _ in told} == {"static bound", "shares", "replicas", "exact search", "hourly bound"}
    assert all(0 <= done <= 1 for _, done in told)


def test_covers_tighten_the_bound():
    problem = make_problem(PEAKS, replica_tok_s=[[350.0]], objective="replicas")
    assert static_bound(problem).total > static_bound(problem, covers=False).total


def broken(shares=None, replicas=None):
    """Breaches of a good plan with one number changed."""
    problem = replace(one_class(SEED), least_replicas=np.full((3, 1), 30.0))
    plan = static_plan(problem)
    points, counts = plan.shares_pct.copy(), plan.replicas.copy()
    if shares is not None:
        points[0, 0] = shares
    for region, count in (replicas or {}).items():
        counts[region, 0, 0] = count
    return {breach.what for breach in check(problem, points, counts)}


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({}, set()),
        ({"shares": [0, 50, 49]}, {"share"}),
        ({"shares": [100, 0, 0]}, {"share"}),
        ({"shares": [0, 100, 0]}, {"loss"}),
        ({"replicas": {0: 51}}, {"alone", "loss"}),
        ({"replicas": {2: 29}}, {"least", "loss"}),
        ({"replicas": {1: -1}}, {"place", "least", "alone", "loss"}),
    ],
)
def test_every_breach_of_a_changed_plan_is_found_and_a_good_one_has_none(change, found):
    assert found <= broken(**change)
    assert bool(found) == bool(broken(**change))


def test_a_fleet_without_demand_needs_nothing():
    plan = static_plan(make_problem(np.zeros((1, 3, 2, 4)), canary_replicas=[1.0, 1.0]))
    assert (plan.total, plan.gap_pct, plan.replicas.sum()) == (0, 0, 0)


def test_more_cells_and_covers_are_searched_where_few_do_not_fit_the_quotas(monkeypatch):
    monkeypatch.setattr(assignment, "FREE", 1)
    monkeypatch.setattr(assignment, "FEW", 1)
    demand = np.array([1495.0, 1468.0, 4944.0, 3396.0, 3868.0])[None, None, :, None]
    pools = {"replica_tok_s": np.tile([1000.0, 700.0], (5, 1)), "replica_gpus": np.tile([2.0, 1.0], (5, 1))}
    problem = make_problem(demand, unmoved=[[True]], gpu_usd_h=[[1.0, 1.5]], quota_gpus=[[13.0, 15.0]], **pools)
    replicas = assignment.assign(problem, problem.alone_tok_s, lambda _done_ratio: None)
    assert not problem.overflow_gpus(replicas).any()
