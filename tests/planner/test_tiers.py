"""Every tier, several accelerators, reservations and hosted routes: counted, proven, and no node too many."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from outlast.errors import InfeasiblePlan, PlanError
from outlast.intent import Intent
from outlast.intent.capacity import Holdings
from outlast.lock import Lock, LockPool, overfull
from outlast.planner import plan, settled_lock
from outlast.planner.floors import to_floors
from outlast.proof import Case, prove
from tests.builders import H100, REGION_PLACES, RESERVATION, make_curve, make_holdings, make_intent, make_model, merged
from tests.tiers import cold_fleet, make_adapters

L4 = "l4-24"
G_QUOTA = {"L-DB2E81BA": {"granted": "20k vCPU", "as_of": "2026-11-01"}}
GOODPUT = {"kind": "measured", "date": "2026-11-01", "source": "a test"}
BOTH = ("us-east", "eu-north")
ZONES = {"us-east": ["use1-az1", "use1-az2", "use1-az4"], "eu-north": ["eun1-az1", "eun1-az2"]}


def fleet(model: dict[str, Any], node_pool: dict[str, Any], *tok_s: float, **changes: Any) -> Intent:
    """The small fleet with node pool ``more`` in every zone, and ``model`` as its only model."""
    kept = {H100: None} | model["accelerators"]
    regions = {name: {"node_pools": {"more": {"zones": ZONES[name]} | node_pool}} for name in BOTH}
    start = {
        "regions": {"regions": regions},
        "models": {"models": {"chat": model | {"accelerators": kept}}},
        "capacity": {"regions": {name: {"quotas": G_QUOTA | make_holdings(name)["quotas"]} for name in BOTH}},
        "demand": {"demand": [make_curve("shop", "us-east", *tok_s, model=changes.pop("asked", "chat"))]},
    }
    return make_intent(**merged(start, changes))


def pools_of(lock: Lock) -> dict[str, LockPool]:
    return {f"{region} {key}": pool for region, block in lock.regions.items() for key, pool in block.pools.items()}


def proven(intent: Intent) -> Lock:
    """The settled plan, which must survive."""
    lock = settled_lock(intent)
    assert prove(lock, intent).failures == ()
    assert list(overfull(lock)) == []
    return lock


def on(accelerator: str, value: float, **how: Any) -> dict[str, Any]:
    return {accelerator: {"goodput": GOODPUT | {"value": f"{value} tok/s"}, **how}}


def test_adapters_are_planned_on_their_base_with_its_overhead_and_staged_with_it():
    # 10 % overhead: 900 a replica × 0.7 = 630; the replica lost: 7000 / 630 -> 12 + 1; without overhead 10 + 1
    with_adapters = make_intent(
        models={"models": {"chat": make_adapters()}},
        artifacts={"adapters": {"tuned": adapter()}},
        tenants={"tenants": {"shop": {"models": ["tuned"]}}},
        demand={"demand": [make_curve("shop", "us-east", 7000, model="tuned")]},
        guardrails={"losses": {"zone": 0}},
    )
    lock = proven(with_adapters)
    assert pools_of(lock)["us-east chat-h100"].replicas.planned == 13
    row = next(iter(lock.regions["us-east"].node_pools.values()))
    assert set(row.stage) == {"weights", "tuned"}


def adapter() -> dict[str, Any]:
    return {
        "digest": f"sha256:{'1' * 64}",
        "size": "0.3 GiB",
        "residency": "tenant:shop",
        "signer": "release@x.example",
    }


def test_adapters_of_an_owner_that_may_not_be_there_are_not_staged():
    eu = {"serve_in": ["EU"], "fail_over_to": ["EU"], "legal_basis": "contract", "allowed_outage": "1 h"}
    intent = make_intent(
        "us-east",
        "eu-north",
        "eu-west",
        models={"models": {"chat": make_adapters(variants={"tuned": {"owner": "bank"}})}},
        artifacts={"adapters": {"tuned": adapter()}},
        tenants={
            "classes": {"eu": eu},
            "admits": {"EU": ["open", "eu"]},
            "tenants": {"bank": {"residency": "eu", "models": ["tuned"]}},
        },
        demand={
            "demand": [
                make_curve("shop", "us-east", 2000),
                make_curve("bank", "eu-north", 2000, model="tuned"),
            ]
        },
    )
    blocks = proven(intent).regions
    staged = {
        region: {name for row in block.node_pools.values() for name in row.stage} for region, block in blocks.items()
    }
    assert {region for region, names in staged.items() if "tuned" in names} == {"eu-north", "eu-west"}
    assert "weights" in staged["us-east"]


MIG = {"machine_type": "p5.4xlarge", "partition": "mig-7x1g.10gb"}


def packed() -> dict[str, Any]:
    how = {"gpus_per_replica": None, "partition": "mig-7x1g.10gb", "goodput": GOODPUT | {"value": "100 tok/s"}}
    return make_model(tier="packed") | {"accelerators": {H100: how}}


def test_packed_replicas_take_parts_of_cards_and_a_lost_node_keeps_the_need():
    # 0.7 × 100 = 70 a replica; 700 needs 10; a node of 7 lost may take what its zone holds
    lock = proven(fleet(packed(), MIG, 700))
    pool = pools_of(lock)["us-east chat-h100"]
    assert pool.replica_slices is not None
    assert pool.replica_slices.profile == "1g.10gb"
    fullest = max(pool.places.values())
    assert (pool.replicas.planned - min(fullest, 7)) * 70 >= 700
    nodes = {key: row.nodes.min for key, row in lock.regions["us-east"].node_pools.items()}
    assert all(-(-pool.places[key] // 7) == count for key, count in nodes.items())


def test_a_lost_node_is_a_case_of_packed_pools_alone():
    intent = fleet(packed(), MIG, 700)
    losses = {case.lost for case in prove(settled_lock(intent), intent).margins if case.region == "us-east"}
    assert "node" in losses
    assert "replica" not in losses


SLICED = {"machine_type": "g6.xlarge", "partition": "slice-4"}


def test_time_slices_alone_are_no_headroom():
    model = make_model(tier="packed") | {"accelerators": on(L4, 50, partition="slice-4")}
    with pytest.raises(InfeasiblePlan, match=r"more\.partition: 'chat' cannot survive a loss on time-slices alone"):
        settled_lock(fleet(model, SLICED, 100))


def test_time_slices_beside_whole_cards_keep_their_own_demand_and_take_no_other():
    accelerators = on(L4, 50, partition="slice-4") | on(H100, 1000, gpus_per_replica=4)
    model = make_model(tier="packed") | {"accelerators": accelerators}
    intent = fleet(model, SLICED, 2000)
    lock = proven(intent)
    whole = {key: pool for key, pool in pools_of(lock).items() if pool.replica_slices is None}
    moved = prove(lock, intent).margins[Case("chat", "eu-north", "us-east")].need_tok_s
    assert 900 * sum(pool.replicas.planned for key, pool in whole.items() if key.startswith("eu-north")) >= moved


def test_a_model_that_scales_to_zero_keeps_no_node_and_its_quota_holds_the_cold_start():
    lock = proven(cold_fleet("1 h"))
    block = lock.regions["us-east"]
    assert {row.nodes.min for row in block.node_pools.values()} == {0}
    assert pools_of(lock)["us-east chat-l4"].replicas.floor == 0
    # 500 / 70 -> 8 replicas, a node of 4 vCPU each
    assert sum(row.nodes.max for row in block.node_pools.values()) == 8
    assert block.quotas["L-DB2E81BA"].peak == 32


@pytest.mark.parametrize("cloud", ["aws", "gcp", "azure"])
def test_a_raise_never_lifts_the_least_nodes_of_an_elastic_row_in_place(cloud):
    # no cloud takes a minimum above the count that it keeps, and the count is not ours any more
    old = settled_lock(elastic_fleet(500))
    new = plan(elastic_fleet(30000), old).lock
    (region,) = [name for name in old.regions if REGION_PLACES[name][0] == cloud]
    before, after = old.regions[region].node_pools, new.regions[region].node_pools
    kept = before.keys() & after.keys()
    assert all(after[key].nodes.min <= before[key].nodes.min for key in kept)
    assert any(after[key].nodes.max > before[key].nodes.max for key in kept), "there is something to raise"


@cache
def elastic_fleet(tok_s: float) -> Intent:
    """A region on every cloud, with a model that scales to zero on each."""
    names = ("us-east", "eu-west", "eu-central")
    return make_intent(
        *names,
        regions={"regions": {name: {"node_pools": {"gh100": {"scaling": "elastic"}}} for name in names}},
        models={"models": {"chat": {"tier": "scale-to-zero", "shape": "Llama-3.1-8B"}}},
        tenants={"classes": {"open": {"allowed_outage": "1 h"}}},
        demand={"demand": [make_curve("shop", name, tok_s, 0) for name in names]},
    )


def test_a_quota_that_cannot_hold_the_cold_start_is_no_plan():
    intent = cold_fleet("1 h")
    held = intent.capacity.regions | {"us-east": quota("28 vCPU")}
    short = replace(intent, capacity=intent.capacity.model_copy(update={"regions": held}))
    with pytest.raises(InfeasiblePlan, match=r"L-DB2E81BA.*needs 32 vCPU"):
        settled_lock(short)


def quota(granted: str) -> Holdings:
    return Holdings.model_validate({"quotas": {"L-DB2E81BA": {"granted": granted, "as_of": "2026-11-01"}}})


def test_a_cold_start_longer_than_a_class_allows_is_no_plan():
    with pytest.raises(
        PlanError, match=r"models\.chat\.tier: 'chat' starts too slowly on us-east.*allowed up to 120 s"
    ):
        settled_lock(cold_fleet("2 min"))


def test_a_model_that_scales_to_zero_needs_nodes_that_come_and_go():
    model = make_model(tier="scale-to-zero") | {"accelerators": on(L4, 100)}
    patient = {"classes": {"open": {"allowed_outage": "1 h"}}}
    with pytest.raises(PlanError, match=r"scales to zero.*allowed .*elastic"):
        settled_lock(fleet(model, {"machine_type": "g6.xlarge"}, 500, tenants=patient))


def test_two_accelerators_share_a_pool_where_that_is_cheaper():
    # an L4 node costs 0.80 USD/h for 200 tok/s, 8 H100 55.04 for 2000: all on L4, until quota ends
    accelerators = on(H100, 1000, gpus_per_replica=4) | on(L4, 200)
    model = make_model() | {"accelerators": accelerators}
    cheap = proven(fleet(model, {"machine_type": "g6.xlarge"}, 4000))
    assert all(pool.accelerator == L4 for pool in pools_of(cheap).values())
    tight = {
        "regions": {name: {"quotas": {"L-DB2E81BA": {"granted": "60 vCPU", "as_of": "2026-11-01"}}} for name in BOTH}
    }
    both = proven(fleet(model, {"machine_type": "g6.xlarge"}, 4000, capacity=tight))
    assert {pool.accelerator for key, pool in pools_of(both).items() if key.startswith("us-east")} == {H100, L4}


def test_reserved_nodes_are_used_before_bought_ones_and_zones_stay_even():
    held = {RESERVATION: {"machine_type": "p5.48xlarge", "zone": "use1-az1", "nodes": 2}}
    reserved = {
        "machine_type": "p5.48xlarge",
        "zones": ["use1-az1"],
        "capacity": "reserved",
        "reservation": RESERVATION,
    }
    intent = make_intent(
        regions={"regions": {"us-east": {"node_pools": {"gh100r": reserved}}}},
        capacity={
            "regions": {"us-east": {"reservations": held}},
            "discounts": [{"cloud": "aws", "basis": "reserved", "off": "40 %", "reference": "order 1"}],
        },
        demand={"demand": [make_curve("shop", "us-east", 7000)]},
    )
    lock = proven(intent)
    rows = lock.regions["us-east"].node_pools
    assert sum(row.nodes.min for row in rows.values() if row.reservation == RESERVATION) == 2
    zones: dict[str, int] = {}
    for key, count in pools_of(lock)["us-east chat-h100"].places.items():
        zones[rows[key].zone] = zones.get(rows[key].zone, 0) + count
    assert max(zones.values()) - min(zones.values()) <= 1


@pytest.mark.parametrize(("quota", "replicas"), [("0 tok/min", 18), ("180k tok/min", 13), ("9M tok/min", 2)])
def test_a_hosted_route_carries_moved_demand_up_to_its_quota(quota, replicas):
    # 10,000 moved × 1.6 / 900 -> 18; 3,000 tok/s hosted leave 7,000 × 1.6 / 900 -> 13; all hosted leaves the minimum
    route = {"model": "chat", "classes": ["open"], "quota": quota}
    intent = make_intent(
        capacity={"regions": {"eu-north": {"hosted_routes": {"cloud-chat": route}}}},
        demand={"demand": [make_curve("shop", "us-east", 10_000)]},
        guardrails={"losses": {"zone": 0}},
    )
    assert pools_of(proven(intent))["eu-north chat-h100"].replicas.planned == replicas


def test_floors_follow_the_day_in_few_windows_and_survive_at_every_hour():
    intent = make_intent(demand={"demand": [make_curve("shop", "us-east", 3000, 5000, 9000, 9000, 5000, 3000)]})
    lock = proven(intent)
    pool = pools_of(lock)["us-east chat-h100"]
    assert pool.replicas.floor < pool.replicas.planned
    assert 0 < len(pool.floors) <= 8


def test_floors_of_one_height_are_one_window():
    floor, windows = to_floors([1] * 5 + [3] * 10 + [1] * 9 + [1] * 24 * 6)
    assert (floor, [(w.from_h, w.to_h, w.replicas) for w in windows]) == (1, [(5, 15, 3)])


def test_rollout_windows_are_hours_whose_spare_replicas_are_not_needed():
    intent = make_intent(demand={"demand": [make_curve("shop", "us-east", 3000, 9000)]})
    lock = proven(intent)
    pool = pools_of(lock)["us-east chat-h100"]
    assert pool.rollout
    for window in pool.rollout:
        fewer = pool.replicas.model_copy(update={"floor": pool.replicas.planned - window.replicas})
        held = pool.model_copy(update={"replicas": fewer, "floors": ()})
        block = lock.regions["us-east"]
        block = block.model_copy(update={"pools": {"chat-h100": held}})
        proof = prove(lock.model_copy(update={"regions": {**lock.regions, "us-east": block}}), intent)
        margins = [margin for margin in proof.margins.values() if margin.case.region == "us-east"]
        assert all(
            margin.slack_by_hour[hour] >= -1e-6 for margin in margins for hour in range(168) if window.holds(hour)
        )


@pytest.mark.parametrize(("excess", "replicas"), [("stays", 15), ("spills", 11)])
def test_a_zones_excess_stays_or_goes_where_the_region_would_go(excess, replicas):
    # stays: 7000 × (1 + 0.6 / 3) / 900 -> 10 in two zones of three; spills: 7000 / 700 and a replica
    curves = [make_curve("shop", "us-east", 7000)]
    intent = make_intent(demand={"demand": curves}, guardrails={"zone_excess": excess})
    assert pools_of(proven(intent))["us-east chat-h100"].replicas.planned == replicas


def test_a_class_that_survives_no_region_holds_its_zones_whatever_spills():
    gap = {"loss": "region", "owner": "a team", "reason": "a second region is late", "expires": "2027-01-31"}
    classes = {"classes": {"open": {"survive": ["zone", "replica"], "gap": gap}}}
    plans = [
        settled_lock(make_intent(tenants=classes, guardrails={"zone_excess": excess})) for excess in ("stays", "spills")
    ]
    assert plans[0].regions == plans[1].regions


@pytest.mark.parametrize("tok_s", [300, 600])
def test_a_lost_node_of_a_packed_pool_asks_no_more_where_a_second_accelerator_could_help(tok_s):
    # a node has 56 places, but never more replicas than the fullest zone
    mig = on(H100, 110, partition="mig-7x1g.10gb", gpus_per_replica=1)
    zones = {name: list(REGION_PLACES[name][2]) for name in BOTH}
    divided = {n: {"machine_type": "p5.48xlarge", "zones": zones[n], "partition": "mig-7x1g.10gb"} for n in BOTH}
    small = {n: {"machine_type": "g6.xlarge", "zones": ZONES[n]} for n in BOTH}
    alone, both = (
        make_intent(
            regions={"regions": {n: {"node_pools": {"mig": divided[n], "small": small[n]}} for n in BOTH}},
            models={"models": {"chat": make_model(tier="packed", shape="Llama-3.1-8B") | {"accelerators": cards}}},
            demand={"demand": [make_curve("shop", "us-east", tok_s)]},
        )
        for cards in (mig, mig | on(L4, 70, gpus_per_replica=1))
    )
    assert pools_of(proven(both))["us-east chat-h100"].places == pools_of(proven(alone))["us-east chat-h100"].places
