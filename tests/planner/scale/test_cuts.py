"""What sets of survivors need together, against flows hour by hour."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.planner.scale import hourly_bound, static_bound
from outlast.planner.scale.cuts import unions
from outlast.planner.scale.sparse import SparseProgram
from tests.scale_problems import make_problem

few = settings(max_examples=12, deadline=None, derandomize=True)
amounts = st.integers(0, 9000)
CROSSING = np.array(
    [
        [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [1, 1, 0, 0]],
        [[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]],
    ],
    dtype=bool,
)
"""Two classes whose survivor sets cross. Shape: class, lost, region."""


def sets_of(*members: str) -> list[np.ndarray]:
    return [np.array([region in text for region in "abcd"]) for text in members]


@pytest.mark.parametrize(
    ("sets", "count"),
    [(("ab", "ab"), 1), (("abc", "ab", "d"), 3), (("ab", "bc"), 3), (("ab", "bc", "cd"), 6)],
)
def test_unions_are_taken_only_of_sets_that_cross(sets, count):
    assert len(unions(sets_of(*sets))) == count


def replicas_by_flows(problem) -> float:
    """The fewest replicas, by a flow for every lost region, class, survivor and hour."""
    classes, regions, _, _, hours = problem.shape
    program = SparseProgram()
    replicas = program.add_columns(np.ones(regions))
    flows: dict[tuple[int, ...], int] = {}
    for lost, index, hour in np.ndindex(regions, classes, hours):
        if problem.moves[index, lost]:
            columns = program.add_columns(np.zeros(int(problem.survivors[index, lost].sum())))
            flows |= {
                (lost, index, hour, region): column
                for region, column in zip(
                    np.flatnonzero(problem.survivors[index, lost]).tolist(), columns.tolist(), strict=True
                )
            }
            moved = np.array([problem.moved_tok_s[index, lost, 0, hour]])
            program.add_rows(moved, moved, columns[None], np.ones((1, len(columns))))
    for lost, region, hour in np.ndindex(regions, regions, hours):
        arriving = [flows[key] for index in range(classes) if (key := (lost, index, hour, region)) in flows]
        need = np.array([problem.base_tok_s[region, 0, hour]])
        columns = np.array([[replicas[region], *arriving]])
        program.add_rows(need, np.array([np.inf]), columns, np.array([[1000.0] + [-1.0] * len(arriving)]))
    return program.solve().total


@few
@given(st.lists(amounts, min_size=16, max_size=16))
def test_cuts_of_crossing_sets_are_as_good_as_flows(values):
    demand = np.array(values, dtype=float).reshape(2, 4, 1, 2)
    problem = make_problem(demand, CROSSING, surge=1.5, objective="replicas")
    assert hourly_bound(problem).total == pytest.approx(replicas_by_flows(problem), abs=1e-6)


@few
@given(st.lists(amounts, min_size=16, max_size=16))
def test_prices_of_cuts_and_own_needs_add_up_to_the_bound(values):
    demand = np.array(values, dtype=float).reshape(2, 4, 1, 2)
    problem = make_problem(demand, CROSSING, surge=1.5, objective="replicas")
    bound = hourly_bound(problem)
    own = (bound.capacity_price * problem.alone_tok_s).sum()
    assert own + bound.cut_price @ bound.cuts.extra_tok_s == pytest.approx(bound.total, abs=1e-6)


@few
@given(st.lists(amounts, min_size=16, max_size=16))
def test_loads_and_cuts_account_for_no_more_than_the_price_of_capacity(values):
    demand = np.array(values, dtype=float).reshape(2, 4, 1, 2)
    bound = static_bound(make_problem(demand, CROSSING, objective="replicas"), covers=False)
    rest = bound.capacity_price.copy()
    np.subtract.at(rest, (bound.loads.region, bound.loads.pool), bound.loads.price)
    for price, pool, members in zip(bound.cut_price, bound.cuts.pool, bound.cuts.members, strict=True):
        rest[members, pool] -= price
    assert (rest >= -1e-9).all()
