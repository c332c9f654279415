"""One fleet, one answer: not the seed, nor the order of columns and rows, nor the version of a heuristic decides."""

import random
from dataclasses import replace

import pytest

from outlast.lock import lock_text
from outlast.planner import Limits, plan, settled_lock
from outlast.planner.arrays import to_arrays
from outlast.planner.counts import define_model
from outlast.planner.objective import Stage, cost_stages, fixed_order
from outlast.planner.program import Program, Row
from outlast.planner.solve import minimise, optimise
from outlast.planner.variables import to_replicas, to_shares
from outlast.proof import prove
from tests.builders import demo_intent, make_curve, make_intent

TIED = make_intent(
    "us-east",
    "us-west",
    "eu-north",
    demand={"demand": [make_curve("shop", name, 9000, 6000) for name in ("us-east", "us-west", "eu-north")]},
)
"""us-east and us-west cost the same, so that many plans do."""


@pytest.mark.parametrize("seed", [1, 2, 99])
@pytest.mark.parametrize("intent", [TIED, demo_intent()], ids=["tied", "demo"])
def test_the_seed_does_not_decide(intent, seed):
    assert lock_text(plan(intent, None, Limits(seed=seed)).lock) == lock_text(plan(intent, None).lock)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("intent", [TIED, demo_intent()], ids=["tied", "demo"])
def test_the_order_of_columns_and_rows_does_not_decide(intent, seed):
    arrays = to_arrays(intent)
    model = define_model(arrays, tuple(intent.regions), None, {})
    program, variables, stages = model.program, model.variables, cost_stages(arrays, model.variables)
    new = list(range(len(program.columns)))
    random.Random(seed).shuffle(new)
    shuffled = Program([None] * len(new), [moved(row, new) for row in program.rows])  # type: ignore[list-item]
    for old, column in enumerate(program.columns):
        shuffled.columns[new[old]] = column
    random.Random(seed).shuffle(shuffled.rows)
    there = [Stage(s.name, {new[c]: v for c, v in s.costs.items()}, s.slack) for s in stages]
    order = [*variables.share.values(), *fixed_order(arrays, variables)]
    straight = optimise(program, stages, order, Limits())
    other = optimise(shuffled, there, [new[column] for column in order], Limits())
    assert straight is not None
    assert other is not None
    back = [other.values[new[column]] for column in range(len(new))]
    assert to_replicas(variables, back) == to_replicas(variables, straight.values)
    assert to_shares(variables, back) == to_shares(variables, straight.values)


def moved(row: Row, new: list[int]) -> Row:
    return Row(row.name, row.lower, row.upper, {new[column]: value for column, value in row.terms.items()})


def test_planning_twice_gives_the_same_bytes():
    assert lock_text(plan(TIED, None).lock) == lock_text(plan(TIED, None).lock)


def test_a_search_that_is_cut_short_keeps_its_bound():
    # five knapsacks of 40 things: thousands of nodes
    draw = random.Random(7)
    program = Program()
    things = [program.integer(f"thing {i}", 0, 1) for i in range(40)]
    for i in range(5):
        sizes = {thing: float(draw.randint(10, 99)) for thing in things}
        program.at_most(f"sack {i}", sizes, sum(sizes.values()) / 2)
    found = minimise(program, {thing: -float(draw.randint(10, 99)) for thing in things}, Limits(nodes=1))
    assert found is not None
    assert not found.is_proven
    assert found.bound < found.total


def test_a_count_that_presolving_loses_among_held_optima_is_found():
    base = demo_intent()
    surge = base.guardrails.prefill_surge.model_copy(update={"factor": 1.0})
    guardrails = base.guardrails.model_copy(update={"canary_replicas": 0, "prefill_surge": surge})
    intent = replace(base, guardrails=guardrails)
    assert prove(settled_lock(intent), intent).failures == ()
