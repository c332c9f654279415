"""The planner of large fleets, made to plan small ones: as safe as the exact one, and hardly dearer."""

import pytest
from hypothesis import given

from outlast.lock import Lock, overfull
from outlast.planner import settled_lock, target
from outlast.proof import misplaced, prove
from tests.random_fleets import Fleet, few, fleets

DEARER, NODE_USD_H = 0.05, 112.54048
"""Arrays know neither nodes nor zones of several accelerators: a few per cent, or the dearest node if that is more."""
LARGE = fleets(regions=(3, 4)).map(lambda fleet: fleet.times(20))
"""With tens of replicas a pool, as fleets have that are planned from arrays."""


def from_arrays(fleet: Fleet) -> Lock:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(target, "EXACT_CELLS", 0)
        return settled_lock(fleet.intent)


@few(6)
@given(fleets(regions=(3, 4)))
def test_a_plan_from_arrays_survives(fleet):
    lock, intent = from_arrays(fleet), fleet.intent
    assert [*prove(lock, intent).failures, *overfull(lock), *misplaced(lock, intent)] == []


@few(5)
@given(LARGE)
def test_a_plan_from_arrays_is_hardly_dearer_than_the_exact_one(fleet):
    exact, found = settled_lock(fleet.intent).solver, from_arrays(fleet).solver
    assert exact.bound_usd_h - 0.011 <= found.usd_h <= exact.usd_h + max(DEARER * exact.usd_h, NODE_USD_H)


@few(6)
@given(fleets(regions=(3, 4)))
def test_the_bound_from_arrays_is_not_above_what_the_exact_plan_costs(fleet):
    assert from_arrays(fleet).solver.bound_usd_h <= settled_lock(fleet.intent).solver.usd_h + 0.011
