"""More to hold is never cheaper, more freedom never dearer, and no bound is above a plan."""

from hypothesis import assume, given
from hypothesis import strategies as st

from outlast.lock import Solver
from outlast.planner import plan, with_router
from outlast.planner.arrays import to_arrays
from outlast.planner.scale import hourly_bound, static_bound
from outlast.planner.scaling import to_scale
from tests.random_fleets import LAW, Fleet, few, fleets

CENT = 0.011
"""Money in a lock is rounded to cents."""


def planned(fleet: Fleet) -> Solver:
    return plan(fleet.intent, None).lock.solver


@few(8)
@given(fleets(), st.integers(0, 9), st.integers(1, 5000))
def test_more_demand_is_not_cheaper_than_what_less_must_cost(fleet, index, more):
    assert planned(fleet.grown(index, more)).usd_h >= planned(fleet).bound_usd_h - CENT


@few(8)
@given(fleets(), st.sampled_from(sorted(set(LAW.values()))))
def test_more_residency_is_not_cheaper_than_what_less_must_cost(fleet, law):
    free = fleet.but(fleet={"router": "static"}, capacity=without_routes(fleet))
    laws = [
        other for other in dict.fromkeys(LAW[name] for name in fleet.documents["regions"]["regions"]) if other != law
    ]
    closed = free.but(tenants={"classes": {"open": {"fail_over_to": laws}}})
    lost = [region for homes in free.intent.homes["open"].values() for region in homes]
    assume(all(any(LAW[name] in laws for name in free.intent.regions if name != region) for region in lost))
    assert planned(closed).usd_h >= planned(free).bound_usd_h - CENT


@few(8)
@given(fleets())
def test_a_fleet_that_gives_up_a_loss_is_not_dearer(fleet):
    alert = planned(fleet).usd_h
    for loss in ("region", "zone", "replica"):
        careless = planned(fleet.but(fleet={"router": "static"}, guardrails={"losses": {loss: 0}}))
        assert careless.bound_usd_h <= alert + CENT


@few(8)
@given(fleets())
def test_chosen_shares_are_never_dearer_than_even_ones(fleet):
    static = fleet.but(fleet={"router": "static"}).intent
    assert plan(static, None).lock.solver.usd_h <= plan(with_router(static, "even"), None).lock.solver.usd_h + CENT


@few(8)
@given(fleets())
def test_hourly_bound_static_bound_and_plan_are_in_order(fleet):
    intent = fleet.but(fleet={"router": "static"}, capacity=without_routes(fleet)).intent
    arrays = to_scale(to_arrays(intent))
    hourly, static = hourly_bound(arrays).total, static_bound(arrays).total
    solver = plan(intent, None).lock.solver
    assert hourly <= static + CENT
    assert static <= solver.usd_h + CENT
    assert solver.bound_usd_h <= solver.usd_h


def without_routes(fleet: Fleet) -> dict:
    """Hosted routes are unknown to the arrays."""
    return {"regions": {name: {"hosted_routes": None} for name in fleet.documents["capacity"]["regions"]}}
