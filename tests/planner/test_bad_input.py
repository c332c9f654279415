"""What planning refuses or must survive: absurd figures, missing places and holdings, tiers that cannot carry them."""

from collections.abc import Mapping
from typing import Any

import pytest

from outlast.errors import OutlastError, PlanError
from outlast.lock import overfull
from outlast.planner import plan, settle, settled_lock
from outlast.proof import prove
from tests.builders import (
    H100,
    P_QUOTA,
    RESERVATION,
    make_artifact,
    make_block,
    make_curve,
    make_intent,
    make_lock,
    merged,
    plain_lines,
)
from tests.tiers import cold_fleet, make_adapters

Changes = dict[str, Any]
EAST, NORTH = "us-east", "eu-north"
ONE = ["use1-az1"]
EU = {"serve_in": ["EU"], "fail_over_to": ["EU"], "legal_basis": "contract", "allowed_outage": "1 h"}
HELD = {"machine_type": "p5.48xlarge", "zone": "use1-az1", "nodes": 1}
ROUTE = {"model": "chat", "classes": ["open"], "quota": "60k tok/min"}
MIG = "mig-7x1g.10gb"


def all_of(*changes: Changes) -> Changes:
    result: Changes = {}
    for change in changes:
        result = merged(result, change)
    return result


def node_pool(**row: Any) -> Changes:
    return {"regions": {"regions": {EAST: {"node_pools": {"gh100": row}}}}}


def place(name: str, **row: Any) -> Changes:
    return {"regions": {"regions": {name: row}}}


def chat(**row: Any) -> Changes:
    return {"models": {"models": {"chat": row}}}


def how(**row: Any) -> Changes:
    return chat(accelerators={H100: row})


def goodput(value: str) -> Changes:
    return how(goodput={"value": value})


def rules(**row: Any) -> Changes:
    return {"guardrails": row}


def holdings(name: str = EAST, **row: Any) -> Changes:
    return {"capacity": {"regions": {name: row}}}


def quota(name: str, granted: str) -> Changes:
    return holdings(name, quotas={P_QUOTA: {"granted": granted}})


def demand(*curves: Mapping[str, Any]) -> Changes:
    return {"demand": {"demand": list(curves)}}


def hours(values: list[Any], **row: Any) -> Changes:
    return demand(make_curve("shop", EAST, 700) | {"hours": values} | row)


def shape(**row: Any) -> Changes:
    curve = make_curve("shop", EAST, 700)
    form = {"peak": "700 tok/s", "peak_utc_hour": 12, "trough": "25 %"} | row
    return demand({key: value for key, value in curve.items() if key != "hours"} | {"shape": form})


def classes(name: str = "open", **row: Any) -> Changes:
    return {"tenants": {"classes": {name: row}}}


def bank(*homes: str) -> Changes:
    """A tenant that may be in the EU alone, at home in some regions."""
    tenant = {"bank": {"residency": "eu", "models": ["chat"]}}
    curves = [make_curve("bank", home, 700) for home in homes]
    return {"tenants": {"classes": {"eu": EU}, "admits": {"EU": ["open", "eu"]}, "tenants": tenant}} | demand(*curves)


def tuned(adapter: dict[str, Any] | None = None, **row: Any) -> Changes:
    """A fine-tune on a base, and its artifact unless that is left out."""
    released = {"tuned": make_artifact() | {"size": "0.3 GiB", "residency": "tenant:shop"} | (adapter or {})}
    return all_of(
        {"models": {"models": {"chat": make_adapters(**row)}}},
        {"tenants": {"tenants": {"shop": {"models": ["tuned"]}}}},
        demand(make_curve("shop", EAST, 700, model="tuned")),
        {"artifacts": {"adapters": released if adapter is not None else {}}},
    )


RESERVED = all_of(node_pool(zones=ONE, capacity="reserved", reservation=RESERVATION), rules(losses={"zone": 0}))
UNPRICED = place(
    EAST, provider_region="sa-east-1", zones=["sae1-az1", "sae1-az3"], node_pools={"gh100": {"zones": ["sae1-az3"]}}
)
SMALL_GPUS = node_pool(machine_type="g6.xlarge", zones=ONE)
CURVES: dict[str, tuple[Changes, list[str]]] = {
    "a day of 23 hours": (hours(["1 tok/s"] * 23), ["demand.yaml, demand.0", "24 or 168", "23"]),
    "a week of 167 hours": (hours(["1 tok/s"] * 167), ["demand.yaml, demand.0", "24 or 168", "167"]),
    "a negative hour": (hours(["1 tok/s"] * 23 + ["-1 tok/s"]), ["demand.0.hours.23", "'-1 tok/s'", "0 or more"]),
    "an hour that is no number": (hours(["nan tok/s"] + ["1 tok/s"] * 23), ["demand.0.hours.0", "'nan tok/s'"]),
    "an endless hour": (hours(["1 tok/s"] * 23 + ["inf tok/s"]), ["demand.0.hours.23", "'inf tok/s'"]),
    "an unknown unit of time": (hours(["1 tok/s"] * 23 + ["1 tok/year"]), ["demand.0.hours.23", "tok/s"]),
    "requests without lengths": (hours(["1 requests/s"] * 24), ["demand.0", "requests/s", "lengths"]),
    "a peak beyond midnight": (shape(peak_utc_hour=24), ["demand.0.shape.peak_utc_hour", "24"]),
    "a trough above the peak": (shape(trough="120 %"), ["demand.0.shape.trough", "'120 %'", "100 %"]),
    "a peak without a unit": (shape(peak=5000), ["demand.0.shape.peak", "5000", "tok/s"]),
    "two forms of one curve": (hours(["1 tok/s"] * 24, trace={"file": "week.csv"}), ["demand.0"]),
    "an unknown model": (hours(["1 tok/s"] * 24, model="cht"), ["demand.0.model", "'cht'", "'chat'?"]),
}
ABSURD: dict[str, tuple[Changes, list[str]]] = {
    "a peak of 1e15": (
        hours([f"{10**15} tok/s"] * 24),
        ["models.chat.accelerators", "goodput", "1,000,000,000,000,000"],
    ),
    "a goodput of 1e-6": (goodput("0.000001 tok/s"), ["models.chat.accelerators", "goodput", "1e-06", "us-east"]),
    "a goodput below 0": (goodput("-5 tok/s"), ["h100-sxm-80.goodput.value", "'-5 tok/s'", "0 or more"]),
    "a goodput of another unit": (goodput("5 requests/s"), ["goodput.value", "requests/s", "output tok/s"]),
    "a goodput of prompts": (goodput("500 input tok/s"), ["goodput.value", "input tok/s", "output tok/s"]),
    "a surge of 11": (rules(prefill_surge={"factor": 11}), ["guardrails.yaml, prefill_surge.factor", "11", "10"]),
    "an occupancy of 0": (rules(occupancy={"normal": "0 %"}), ["guardrails.yaml, occupancy", "0%"]),
    "canaries below 0": (rules(canary_replicas=-1), ["guardrails.yaml, canary_replicas", "-1", "0 or more"]),
    "half a canary": (rules(canary_replicas=1.5), ["guardrails.yaml, canary_replicas", "1.5", "whole"]),
    "losses below 0": (rules(losses={"zone": -1}), ["guardrails.yaml, losses.zone", "-1", "0 or more"]),
    "a burst below 0": (rules(burst_margin="-5 %"), ["guardrails.yaml, burst_margin", "'-5 %'"]),
    "an artifact below 0": (
        {"artifacts": {"models": {"weights": {"size": "-1 GiB"}}}},
        ["artifacts.yaml, models.weights.size", "'-1 GiB'"],
    ),
    "an outage in words": (classes(allowed_outage="soon"), ["tenants.yaml, classes.open.allowed_outage", "'soon'"]),
    "an objective nobody knows": ({"fleet": {"objective": "cheap"}}, ["fleet.yaml, objective", "'money'", "'cheap'"]),
    "a router that is a bound": ({"fleet": {"router": "hourly"}}, ["fleet.yaml, router", "'hourly'", "'even'"]),
}
PLACES: dict[str, tuple[Changes, list[str]]] = {
    "homes that sum to 99": (
        {"regions": {"origins": {EAST: {"home": {"open": {EAST: 50, NORTH: 49}}}}}},
        ["regions.yaml, origins.us-east.home.open", "99", "100"],
    ),
    "a home nobody declared": (
        {"regions": {"origins": {EAST: {"home": {"open": {"mars": 100}}}}}},
        ["regions.yaml, origins.us-east.home.open", "'mars'", "us-east"],
    ),
    "a home outside the law": (
        all_of(bank(NORTH), {"regions": {"origins": {NORTH: {"home": {"eu": {EAST: 100}}}}}}),
        ["origins.eu-north.home.eu.us-east", "'eu'", "US", "allowed EU"],
    ),
    "a class with one region": (bank(NORTH), ["tenants.yaml, classes.eu", "'eu-north'", "fail_over_to EU", "gap"]),
    "a class that nobody admits": (
        {"tenants": {"admits": {"US": [], "EU": []}}},
        ["regions.yaml, origins.us-east.nearest", "'open'"],
    ),
    "a survival dropped silently": (classes(survive=["region", "zone"]), ["classes.open.survive", "replica", "gap"]),
    "one zone to lose": (
        node_pool(zones=ONE),
        ["us-east.node_pools.gh100.zones", "only zone", "use1-az2", "zone_excess"],
    ),
    "no machine for the model": (SMALL_GPUS, ["tenants.yaml, classes.open", "chat"]),
    "no node pool at all": (place(EAST, node_pools={"gh100": None}), ["us-east.node_pools", "at least one"]),
    "a machine without a price": (
        all_of(UNPRICED, {"tenants": {"admits": {"BR": ["open"]}}}, rules(losses={"zone": 0})),
        ["facts/prices.csv", "p5.48xlarge", "sa-east-1", "'us-east'"],
    ),
}
HOLDINGS: dict[str, tuple[Changes, list[str]]] = {
    "a quota of 0": (quota(EAST, "0 vCPU"), [f"capacity.yaml, regions.us-east.quotas.{P_QUOTA}", "0 vCPU", "576 vCPU"]),
    "a quota that is missing": (holdings(quotas=None), [f"regions.us-east.quotas.{P_QUOTA}", "0 vCPU", "Raise"]),
    "a quota one node short": (
        all_of(quota(NORTH, "384 vCPU"), demand(make_curve("shop", NORTH, 2800)), rules(losses={"region": 0})),
        [f"regions.eu-north.quotas.{P_QUOTA}", "576 vCPU", "384 vCPU granted", "'chat'"],
    ),
    "a quota below 0": (quota(EAST, "-1 vCPU"), [f"quotas.{P_QUOTA}.granted", "'-1 vCPU'", "0 or more"]),
    "a quota in another unit": (quota(EAST, "64 GPUs"), [f"quotas.{P_QUOTA}.granted", "64 GPUs", "vCPU"]),
    "a reservation that is too small": (
        all_of(RESERVED, holdings(reservations={RESERVATION: HELD})),
        ["capacity.yaml, regions.us-east.reservations.cr-0123456789abcdef0", "2 nodes", "Reserve 2 nodes"],
    ),
    "a reservation of another machine": (
        all_of(RESERVED, holdings(reservations={RESERVATION: HELD | {"machine_type": "p5.4xlarge"}})),
        ["us-east.node_pools.gh100.machine_type", "p5.4xlarge", "p5.48xlarge"],
    ),
    "a reservation of no nodes": (
        all_of(RESERVED, holdings(reservations={RESERVATION: HELD | {"nodes": 0}})),
        ["us-east.reservations.cr-0123456789abcdef0.nodes", "got 0", "1 or more"],
    ),
    "a reservation nobody holds": (
        RESERVED,
        ["us-east.node_pools.gh100.reservation", "'cr-0123456789abcdef0'", "capacity.yaml"],
    ),
    "a route where its class may not be": (
        all_of(bank(NORTH), holdings(hosted_routes={"r": ROUTE | {"classes": ["eu"]}})),
        ["us-east.hosted_routes.r.classes", "'eu'", "US"],
    ),
    "two routes of one model": (
        holdings(hosted_routes={"r": ROUTE, "s": ROUTE}),
        ["us-east.hosted_routes.s", "'r'", "'chat'", "one route"],
    ),
    "a route by the second": (
        holdings(hosted_routes={"r": ROUTE | {"quota": "60k tok/s"}}),
        ["hosted_routes.r.quota", "'60k tok/s'", "tok/min"],
    ),
    "a route below 0": (
        holdings(hosted_routes={"r": ROUTE | {"quota": "-1 tok/min"}}),
        ["hosted_routes.r.quota", "'-1 tok/min'"],
    ),
    "a route of an unknown class": (
        holdings(hosted_routes={"r": ROUTE | {"classes": ["opne"]}}),
        ["hosted_routes.r", "'opne'", "'open'?"],
    ),
}
TIERS: dict[str, tuple[Changes, list[str]]] = {
    "headroom on spot": (node_pool(capacity="spot"), ["us-east.node_pools", "'chat'", "gh100: spot", "on_demand"]),
    "headroom on elastic nodes": (node_pool(scaling="elastic"), ["us-east.node_pools", "'chat'", "elastic", "fixed"]),
    "scale-to-zero on fixed nodes": (
        all_of(chat(tier="scale-to-zero"), classes(allowed_outage="2 h")),
        ["us-east.node_pools", "scales to zero", "gh100: on_demand, fixed", "elastic"],
    ),
    "time-slices as headroom": (
        all_of(
            node_pool(partition="slice-4"),
            chat(tier="packed"),
            how(gpus_per_replica=None, partition="slice-4"),
            demand(make_curve("shop", EAST, 100)),
            rules(losses={"region": 0}),
        ),
        ["node_pools.gh100.partition", "time-slices", "slice-4", "MIG"],
    ),
    "MIG on a card without": (
        node_pool(machine_type="g6.xlarge", zones=ONE, partition=MIG),
        ["us-east.node_pools.gh100.partition", "l4-24", "1g.10gb", "time-slicing"],
    ),
    "a MIG profile of no card": (node_pool(partition="mig-7x1g.9gb"), ["gh100.partition", "1g.9gb", "1g.10gb"]),
    "one slice": (node_pool(partition="slice-1"), ["gh100.partition", "slice-1", "two parts"]),
    "GPUs of a part": (how(partition=MIG), ["models.chat.accelerators.h100-sxm-80", MIG, "gpus_per_replica"]),
    "a replica of 16 GPUs": (how(gpus_per_replica=16), ["h100-sxm-80.gpus_per_replica", "16 GPUs", "8 GPUs"]),
    "a rank above the engine's": (
        tuned({}, variants={"tuned": {"rank": 128}}),
        ["models.chat.variants.tuned.rank", "128", "64"],
    ),
    "more variants than most": (
        all_of(
            tuned({}, adapters={"most": 1}, variants={"other": {"owner": "shop", "size": "0.3 GiB", "rank": 16}}),
            {"artifacts": {"adapters": {"other": make_artifact() | {"residency": "tenant:shop"}}}},
        ),
        ["models.yaml, models.chat.variants", "got 2", "up to 1"],
    ),
    "a variant without an artifact": (tuned(None), ["models.chat.variants.tuned.artifact", "'tuned'"]),
    "a variant of nobody": (tuned({}, variants={"tuned": {"owner": "nobody"}}), ["variants.tuned.owner", "'nobody'"]),
    "adapters that cost it all": (tuned({}, adapters={"overhead": "100 %"}), ["models.chat.adapters", "below 100 %"]),
    "an artifact larger than the disks": (
        {"artifacts": {"models": {"weights": {"size": "40 TiB"}}}},
        ["us-east.node_pools.gh100", "weights", "40,960 GiB", "21,234 GiB"],
    ),
}
REFUSED = CURVES | ABSURD | PLACES | HOLDINGS | TIERS
SURVIVED: dict[str, Changes] = {
    "no demand anywhere": demand(make_curve("shop", EAST, 0), make_curve("shop", NORTH, 0)),
    "no demand in one region": demand(make_curve("shop", EAST, 0), make_curve("shop", NORTH, 3000)),
    "no demand of one class": all_of(
        bank(NORTH, "eu-west"),
        demand(make_curve("shop", EAST, 2000), make_curve("bank", NORTH, 0), make_curve("bank", "eu-west", 0)),
    ),
    "no demand but in one hour": hours(["0 tok/s"] * 23 + ["9000 tok/s"]),
    "hardly any demand": hours(["0.000001 tok/s"] * 24),
    "a replica larger than all demand": goodput("1000000 tok/s"),
    "replicas that do not divide a node": how(gpus_per_replica=3),
    "more canaries than need": rules(canary_replicas=9),
    "the largest surge and burst": rules(prefill_surge={"factor": 10}, burst_margin="300 %"),
    "nothing to survive": rules(losses={"region": 0, "zone": 0, "replica": 0}),
    "one zone, none to lose": all_of(node_pool(zones=ONE), rules(losses={"zone": 0})),
    "a quota that nothing needs": holdings(quotas={"L-DB2E81BA": {"granted": "0 vCPU", "as_of": "2026-11-01"}}),
    "a route that takes nothing": holdings(hosted_routes={"r": ROUTE | {"quota": "0 tok/min"}}),
}


def messages(changes: Changes, *regions: str) -> list[str]:
    with pytest.raises(OutlastError) as caught:
        plan(make_intent(*regions, **changes), None)
    return plain_lines(caught.value)


@pytest.mark.parametrize(("changes", "says"), REFUSED.values(), ids=list(REFUSED))
def test_a_mistake_is_told_in_one_message_with_its_facts(changes, says):
    lines = messages(changes)
    assert [line for line in lines if all(fact in line for fact in says)], lines
    # The same mistake may show in the other region, nowhere else.
    assert len(lines) <= 2, lines


@pytest.mark.parametrize("changes", SURVIVED.values(), ids=list(SURVIVED))
def test_a_plan_survives_with(changes):
    intent = make_intent(EAST, NORTH, *(["eu-west"] if "tenants" in changes else []), **changes)
    lock = settled_lock(intent)
    assert [*prove(lock, intent).failures, *overfull(lock)] == []
    assert plan(intent, lock).lock is lock


def test_a_fleet_of_one_region_cannot_lose_it():
    [line] = messages({}, EAST)
    assert all(fact in line for fact in ("tenants.yaml, classes.open", "'us-east'", "a second region", "gap"))


def test_a_fleet_of_one_region_that_need_not_lose_it_is_planned():
    gap = {"loss": "region", "owner": "ann", "reason": "a second site is being built", "expires": "2027-03-01"}
    intent = make_intent(EAST, **classes(survive=["zone", "replica"], gap=gap))
    assert prove(settled_lock(intent), intent).failures == ()


def test_a_cold_start_that_is_too_slow_names_the_slowest_step():
    with pytest.raises(OutlastError) as caught:
        plan(cold_fleet("30 s"), None)
    assert all("models.chat.tier" in line and "30 s" in line for line in plain_lines(caught.value))


def test_several_mistakes_are_said_at_once():
    lines = messages(all_of(goodput("-5 tok/s"), rules(canary_replicas=-1), quota(EAST, "9 cores")))
    assert len(lines) == 3


def test_a_raise_that_is_not_deployed_does_not_settle():
    old = settled_lock(make_intent(demand={"demand": [make_curve("shop", EAST, 9000)]}))
    intent = make_intent(demand={"demand": [make_curve("shop", EAST, 700)]})
    with pytest.raises(OutlastError) as caught:
        settle(intent, plan(intent, old).lock, None)
    assert any("outlast applied test" in line for line in plain_lines(caught.value))


def test_nodes_in_force_of_a_machine_type_that_facts_lack_are_a_problem_with_a_place():
    blocks = {name: make_block(name, 2, 2) for name in ("us-east", "eu-north")}
    blocks["us-east"]["node_pools"]["gh100-1-a"]["machine_type"] = "p5.unheard-of"
    with pytest.raises(PlanError, match=r"p5\.unheard-of") as caught:
        plan(make_intent(), make_lock(make_intent(), blocks))
    assert all(problem.where and problem.do for problem in caught.value.problems)
