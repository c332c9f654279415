"""The same fleets in another solver's words: one binary a count, every hour a row, nothing pruned."""

from typing import Any

import linopy
import pytest
import xarray

from outlast.intent import HOURS, Intent
from outlast.planner import Limits, plan
from outlast.planner.arrays import to_arrays
from outlast.planner.money import node_usd_h
from outlast.planner.target import find_target
from tests.builders import make_curve, make_intent, make_model

EU = {
    "classes": {"eu": {"serve_in": ["EU"], "fail_over_to": ["EU"], "legal_basis": "contract", "allowed_outage": "1 h"}},
    "admits": {"EU": ["open", "eu"]},
    "tenants": {"bank": {"residency": "eu", "models": ["chat"]}},
}
THREE = ("us-east", "eu-north", "eu-west")
FLEETS = {
    "two regions": make_intent(
        demand={"demand": [make_curve("shop", "us-east", 9100, 2000), make_curve("shop", "eu-north", 3000, 5000)]}
    ),
    "residency": make_intent(
        *THREE,
        tenants=EU,
        demand={
            "demand": [
                make_curve("shop", "us-east", 9000, 7000, 3000),
                make_curve("bank", "eu-north", 2500, 5100, 4000),
                make_curve("bank", "eu-west", 4000, 3100, 6000),
            ]
        },
        guardrails={"canary_replicas": 1},
    ),
    "two pools on one node pool": make_intent(
        *THREE,
        models={"models": {"chat": make_model(), "code": make_model()}},
        tenants={"tenants": {"shop": {"models": ["chat", "code"]}}},
        demand={
            "demand": [
                make_curve("shop", "us-east", 5000, 2000),
                make_curve("shop", "us-east", 1000, 4000, model="code"),
                make_curve("shop", "eu-west", 2000, 4300, model="code"),
            ]
        },
    ),
}


def holds_alone(intent: Intent, base: float, zones: int, count: int) -> bool:
    """Whether a count holds own demand, one replica and one zone; goodput 1000."""
    usable = count - intent.guardrails.canary_replicas
    gone = -(-count // zones)
    need = base * (1 + 0.6 * gone / count) if base else 0.0
    return (
        usable >= 2
        and usable * 700 >= base
        and (usable - 1) * 700 >= base
        and (not base or (usable - gone) * 900 >= need)
    )


def oracle_usd_h(intent: Intent) -> float:
    """The least money, by linopy."""
    model: Any = linopy.Model()
    demand = intent.home_demand
    shares: dict[tuple[str, str, str], Any] = {}
    used: dict[tuple[str, str], Any] = {}
    usable: dict[tuple[str, str], Any] = {}
    on_node: dict[tuple[str, int], list[Any]] = {}
    for residency, origins in intent.homes.items():
        for lost in {region for homes in origins.values() for region in homes}:
            row = {
                to: model.add_variables(0, 100, integer=True, name=f"s {residency} {lost} {to}")
                for to in intent.survivors(residency, lost)
            }
            model.add_constraints(sum(row.values()) == 100)
            shares |= {(residency, lost, to): variable for to, variable in row.items()}
    for region, place in intent.regions.items():
        zones = place.node_pools["gh100"].zones
        for index, pool in enumerate(intent.models):
            base = [sum(d[h] for (p, _, r), d in demand.items() if (p, r) == (pool, region)) for h in range(HOURS)]
            good = [n for n in range(1, 60) if holds_alone(intent, max(base), len(zones), n)]
            pick = model.add_variables(binary=True, coords=[range(len(good))], name=f"b {region} {pool}")
            used[region, pool] = pick.sum()
            is_home = any((p, r) == (pool, region) for p, _, r in demand)
            model.add_constraints(used[region, pool] == 1 if is_home else used[region, pool] <= 1)
            counts = xarray.DataArray(good, dims=pick.dims, coords=pick.coords)
            usable[region, pool] = (pick * (counts - intent.guardrails.canary_replicas)).sum()
            for position in range(len(zones)):
                zone = (index + position) % len(zones)
                here = xarray.DataArray(
                    [-(-(n - position) // len(zones)) for n in good], dims=pick.dims, coords=pick.coords
                )
                on_node.setdefault((region, zone), []).append((pick * here * 4).sum())
            for (residency, _, to), share in shares.items():
                if to == region and pool in intent.models_of_class[residency]:
                    model.add_constraints(share <= 100 * used[region, pool])
            for lost in {lost for _, lost, to in shares if to == region}:
                classes = [c for c, gone, to in shares if (gone, to) == (lost, region) and (pool, c, lost) in demand]
                for hour in range(24) if classes else ():
                    moved = sum(shares[c, lost, region] * (1.6 * demand[pool, c, lost][hour] / 100) for c in classes)
                    model.add_constraints(900 * usable[region, pool] - moved >= base[hour])
    money: list[Any] = []
    for (region, position), gpus in on_node.items():
        nodes = model.add_variables(0, integer=True, name=f"n {region} {position}")
        model.add_constraints(8 * nodes - sum(gpus) >= 0)
        machine = intent.regions[region].node_pools["gh100"].machine_type
        money.append(node_usd_h(intent, region, machine, "on_demand") * nodes)
    model.add_objective(sum(money))
    model.solve("highs", io_api="direct", threads=1, output_flag=False, mip_rel_gap=0.0, progress=False)
    return float(model.objective.value)


@pytest.mark.parametrize("name", FLEETS)
def test_the_money_is_that_of_an_independent_model(name, capfd):
    intent = FLEETS[name]
    assert plan(intent, None).lock.solver.usd_h == pytest.approx(oracle_usd_h(intent), abs=0.01)
    capfd.readouterr()


@pytest.mark.parametrize("name", FLEETS)
def test_the_bound_meets_the_money(name):
    target = find_target(to_arrays(FLEETS[name]), None, Limits())
    assert target.is_proven
    assert target.bound_usd_h == pytest.approx(plan(FLEETS[name], None).lock.solver.usd_h, abs=0.01)
