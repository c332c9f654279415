"""Whole replicas of one cell: the cheapest, against trying all."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.planner.scale.covers import Needs, cheapest_covers, near_covers, small_counts
from outlast.planner.scale.search import to_points
from outlast.planner.scale.staircase import LEAN, Staircase
from tests.scale_problems import make_problem

few = settings(max_examples=40, deadline=None, derandomize=True)
CAPACITY = np.array([[2500.0, 6200.0, 900.0]])


def cheapest_by_trying(need: float, least: int, capacity: np.ndarray, cost: np.ndarray) -> float:
    ranges = [range(int(need // one) + 2 + least) if one else [0] for one in capacity]
    fits = (counts for counts in itertools.product(*ranges) if counts @ capacity >= need and sum(counts) >= least)
    return float(min(counts @ cost for counts in fits))


@few
@given(
    st.integers(1, 20_000),
    st.integers(0, 4),
    st.lists(st.integers(1, 60), min_size=3, max_size=3),
    st.sampled_from([(1, 1, 1), (1, 0, 1), (0, 0, 1)]),
)
def test_the_cheapest_cover_is_found(need, least, cost, able):
    capacity = CAPACITY * able
    prices = np.array([cost], dtype=float)
    cover = cheapest_covers(Needs(np.array([float(need)]), np.array([float(least)]), capacity), prices)
    assert cover.cost[0] == pytest.approx(cheapest_by_trying(need, least, capacity[0], prices[0]))
    assert cover.counts[0] @ capacity[0] >= need
    assert cover.bound[0] <= cover.cost[0]


@few
@given(st.integers(50_000, 90_000), st.lists(st.integers(1, 9), min_size=2, max_size=2))
def test_the_bound_of_large_cells_holds_beyond_the_counts_tried(need, cost):
    capacity, prices = np.array([[1000.0, 1010.0]]), np.array([cost], dtype=float)
    cover = cheapest_covers(Needs(np.array([float(need)]), np.zeros(1), capacity), prices)
    assert cover.bound[0] <= cheapest_by_trying(need, 0, capacity[0], prices[0]) + 1e-9


def test_covers_lie_around_the_split_that_they_are_asked_for():
    needs = Needs(np.array([100_000.0]), np.zeros(1), np.array([[2500.0, 2400.0]]))
    counts, cost = near_covers(needs, np.array([[4.0, 4.0]]), np.array([[20.0, 21.0]]))
    assert {19, 20, 21, 22, 23} == {int(count) for count in counts[0, :, 1]}
    assert cost[0] == pytest.approx(counts[0].sum(axis=1) * 4)


@pytest.mark.parametrize("accelerators", [0, 1, 2, 5, 12])
def test_small_counts_are_distinct_and_begin_with_none(accelerators):
    counts = small_counts(accelerators)
    assert len(np.unique(counts, axis=0)) == len(counts) <= 200
    assert not counts[0].any()


@few
@given(st.integers(3000, 30_000))
def test_a_staircase_has_the_price_of_the_cheapest_cover_and_leans_to_smaller_needs(need):
    problem = make_problem(
        [[[[3000.0]], [[0.0]]]],
        replica_tok_s=CAPACITY,
        replica_gpus=[[4.0, 8.0, 2.0]],
        gpu_usd_h=np.tile([3.0, 2.2, 1.9], (2, 1)),
        canary_replicas=[1.0],
    )
    price = Staircase(problem, np.zeros((2, 3))).price(np.array([0]), np.array([float(need)]))
    cheapest = cheapest_by_trying(need, 0, CAPACITY[0], problem.cost[0, 0]) + problem.cost[0, 0].min()
    assert cheapest < price[0] < cheapest * (1 + LEAN)


def test_a_cell_that_needs_nothing_costs_nothing():
    problem = make_problem([[[[3000.0]], [[0.0]]]], canary_replicas=[1.0])
    assert Staircase(problem, np.zeros((2, 1))).price(np.array([1]), np.zeros(1))[0] == 0


@few
@given(st.lists(st.floats(0, 1), min_size=3, max_size=3).filter(lambda shares: sum(shares) > 0.1))
def test_points_are_the_shares_to_the_next_per_cent(shares):
    exact = np.array([[shares]]) / sum(shares)
    points = to_points(exact)
    assert points.sum() == 100
    assert (abs(points - exact * 100) < 1).all()


def test_the_bound_counts_what_a_split_beyond_the_counts_tried_would_save():
    # 50 of the second kind serve 50,500 for 505.5; with at most 16 of them 51 replicas are needed, for 510 and more
    cover = cheapest_covers(
        Needs(np.array([50_500.0]), np.zeros(1), np.array([[1000.0, 1010.0]])), np.array([[10.0, 10.11]])
    )
    assert cover.bound[0] <= 505.5 < cover.cost[0]
