"""Layers say what each GPU pays for, and sum to what the lock holds."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.intent import Intent
from outlast.planner import attribution, plan, settled_lock
from outlast.planner.attribution import NO_POOL
from tests.builders import H100, make_block, make_curve, make_holdings, make_intent, make_lock, make_model
from tests.tiers import cold_fleet

FLAT = {"demand": [make_curve("shop", "us-east", 2800)]}
REGIONS = ("us-east", "eu-north", "eu-west")
SHARES = {"us-east": {"eu-north": 100}, "eu-north": {"us-east": 100}}


def layers(intent, lock, region="us-east") -> dict[str, tuple[int, float]]:
    """Return layer -> (replicas, GPUs) of a region."""
    return {p.layer: (p.replicas, p.gpus) for p in attribution(intent, lock) if p.region == region}


def check_sums(intent, lock):
    replicas: Counter[tuple[str, str]] = Counter()
    gpus: dict[str, float] = dict.fromkeys(lock.regions, 0.0)
    usd_h = 0.0
    for paid in attribution(intent, lock):
        replicas[paid.region, paid.pool] += paid.replicas
        gpus[paid.region] += paid.gpus
        usd_h += paid.usd_h
    for region, block in lock.regions.items():
        for pool in block.pools.values():
            assert replicas[region, pool.pool] == pool.replicas.planned
        assert gpus[region] == pytest.approx(sum(row.nodes.max * row.node_gpus for row in block.node_pools.values()))
    assert usd_h == pytest.approx(lock.solver.usd_h, abs=0.01)


def test_layers_of_a_region_that_is_at_home():
    # own 2800 / 700 -> 4; a replica -> 5; a zone: 6 in 3 zones hold 4 x 900 >= 2800 x 1.2; 3 nodes hold 6
    intent = make_intent(demand=FLAT)
    assert layers(intent, settled_lock(intent)) == {"own demand": (4, 16), "replica loss": (1, 4), "zone loss": (1, 4)}


def test_layers_of_a_region_that_only_takes_in():
    # 1.6 x 2800 / 900 -> 5 on 3 nodes of 8 GPUs
    intent = make_intent(demand=FLAT)
    assert layers(intent, settled_lock(intent), "eu-north") == {"region loss": (5, 20), "stranded": (0, 4)}


def test_the_lost_region_and_hour_are_named():
    curves = [make_curve("shop", "us-east", 700, 1400, 2800, 700), make_curve("shop", "eu-north", 700)]
    intent = make_intent(demand={"demand": curves})
    paid = {p.layer: p for p in attribution(intent, settled_lock(intent)) if p.region == "eu-north"}
    assert (paid["region loss"].lost, paid["region loss"].hour) == ("us-east", 2)
    assert (paid["own demand"].lost, paid["own demand"].hour) == ("none", 0)


def test_a_minimum_and_canaries_are_layers_of_their_own():
    curves = {"demand": [make_curve("shop", "us-east", 100)]}
    rules = {"canary_replicas": 2, "losses": {"region": 0, "zone": 0, "replica": 0}}
    intent = make_intent(demand=curves, guardrails=rules)
    found = layers(intent, settled_lock(intent))
    assert {name: found[name][0] for name in ("own demand", "minimum", "canary")} == {
        "own demand": 1,
        "minimum": 1,
        "canary": 2,
    }


def test_losses_that_are_not_survived_pay_for_nothing():
    intent = make_intent(demand=FLAT, guardrails={"losses": {"region": 0, "zone": 0, "replica": 0}})
    assert set(layers(intent, settled_lock(intent))) <= {"own demand", "more", "stranded"}


def test_a_class_that_does_not_survive_a_loss_is_not_paid_for():
    gap = {"loss": "region", "owner": "a test", "reason": "a test", "expires": "2027-01-01"}
    intent = make_intent(demand=FLAT, tenants={"classes": {"open": {"survive": ["zone", "replica"], "gap": gap}}})
    assert "region loss" not in {p.layer for p in attribution(intent, settled_lock(intent))}


def test_what_nobody_needs_is_more():
    intent = make_intent(demand=FLAT)
    lock = make_lock(
        intent, {"us-east": make_block("us-east", 4, 4, 4), "eu-north": make_block("eu-north", 2, 2, 1)}, SHARES
    )
    assert layers(intent, lock)["more"] == (6, 24)


def test_a_lock_that_holds_too_little_ends_where_it_ends():
    intent = make_intent(demand=FLAT)
    lock = make_lock(intent, {"us-east": make_block("us-east", 1, 1, 1)}, SHARES)
    assert layers(intent, lock) == {"own demand": (3, 12), "stranded": (0, 12)}


def test_nodes_without_replicas_belong_to_no_pool():
    intent = make_intent(demand=FLAT)
    block = make_block("us-east", 6, 6, 0, nodes=[3, 3, 1])
    paid = [p for p in attribution(intent, make_lock(intent, {"us-east": block}, SHARES)) if p.pool == NO_POOL]
    assert [(p.layer, p.replicas, p.gpus) for p in paid] == [("stranded", 0, 8)]


GOODPUT = {"kind": "measured", "date": "2026-11-01", "source": "a test"}
G_QUOTA = {"L-DB2E81BA": {"granted": "20k vCPU", "as_of": "2026-11-01"}}


def on(accelerator: str, value: float, **how: Any) -> dict[str, Any]:
    return {accelerator: {"goodput": GOODPUT | {"value": f"{value} tok/s"}, **how}}


def with_pool(model: dict[str, Any], **node_pool: Any) -> Intent:
    """us-east and eu-north with a node pool ``more`` beside the usual one, and ``model`` as their only model."""
    zones = {"us-east": ["use1-az1", "use1-az2"], "eu-north": ["eun1-az1", "eun1-az2"]}
    regions = {name: {"node_pools": {"more": {"zones": zones[name], **node_pool}}} for name in zones}
    held = {name: {"quotas": G_QUOTA | make_holdings(name)["quotas"]} for name in zones}
    kept = model | {"accelerators": {H100: None} | model["accelerators"]}
    return make_intent(
        regions={"regions": regions}, capacity={"regions": held}, models={"models": {"chat": kept}}, demand=FLAT
    )


L4 = {"machine_type": "g6.xlarge"}
MIG = "mig-7x1g.10gb"
PACKED = {"tier": "packed", "accelerators": on(H100, 100, partition=MIG, gpus_per_replica=None)}
SLICES = on("l4-24", 50, partition="slice-4") | on(H100, 1000, gpus_per_replica=4)
TWO = on("l4-24", 90) | on(H100, 1000, gpus_per_replica=4)
TIERS: dict[str, Callable[[], Intent]] = {
    "packed": lambda: with_pool(PACKED, machine_type="p5.4xlarge", partition=MIG),
    "sliced": lambda: with_pool({"tier": "packed", "accelerators": SLICES}, **L4, partition="slice-4"),
    "scale to zero": lambda: cold_fleet("1 h"),
    "two accelerators": lambda: with_pool({"accelerators": TWO}, **L4),
}


@pytest.mark.parametrize("tier", TIERS)
def test_layers_of_every_tier_sum_to_the_lock(tier):
    intent = TIERS[tier]()
    lock = settled_lock(intent)
    check_sums(intent, lock)
    assert all(paid.replicas >= 0 and paid.gpus >= 0 for paid in attribution(intent, lock))


def test_packed_pools_pay_for_a_node_and_cold_ones_for_no_replica_or_zone():
    fleets = {tier: TIERS[tier]() for tier in ("packed", "scale to zero")}
    losses = {tier: set(layers(intent, settled_lock(intent))) for tier, intent in fleets.items()}
    assert "node loss" in losses["packed"]
    assert "replica loss" not in losses["packed"]
    assert losses["scale to zero"] & {"replica loss", "zone loss", "minimum"} == set()


def test_accelerators_of_a_model_share_its_demand_by_their_goodput():
    # 4000 of 6000 tok/s of goodput carry 2/3 of 2800 tok/s: 1867 / 700 -> 3; the others 933 / 350 -> 3
    intent = with_pool({"accelerators": on(H100, 1000, gpus_per_replica=4) | on("l4-24", 500)}, **L4)
    block = make_block("us-east", 2, 2)
    more = make_block("us-east", 2, 2, accelerator="l4-24", replica_gpus=1)["pools"]["chat-h100"]
    lock = make_lock(intent, {"us-east": {**block, "pools": {**block["pools"], "chat-l4": more}}}, SHARES)
    own = [(p.accelerator, p.replicas) for p in attribution(intent, lock) if p.layer == "own demand"]
    assert own == [(H100, 3), ("l4-24", 3)]


def test_a_pool_that_is_leaving_is_there_for_no_layer():
    old = settled_lock(make_intent(demand=FLAT))
    renamed = {"chat": None, "code": make_model()}
    tenants = {"tenants": {"shop": {"models": ["code"]}}}
    curves = {"demand": [make_curve("shop", "us-east", 2800, model="code")]}
    intent = make_intent(models={"models": renamed}, tenants=tenants, demand=curves)
    assert set(layers(intent, old)) == {"more"}
    check_sums(intent, plan(intent, old).lock)


def test_pools_that_share_nodes_divide_them():
    intent = make_intent(
        models={"models": {"chat": make_model(), "code": make_model()}},
        tenants={"tenants": {"shop": {"models": ["chat", "code"]}}},
        demand={"demand": [make_curve("shop", "us-east", 2800, model=model) for model in ("chat", "code")]},
    )
    check_sums(intent, settled_lock(intent))


@settings(max_examples=6, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from(REGIONS), st.lists(st.integers(0, 9000), min_size=3, max_size=3)), min_size=1),
    st.integers(0, 2),
    st.fixed_dictionaries({kind: st.integers(0, 1) for kind in ("region", "zone", "replica")}),
    st.sampled_from([1.2, 2.5]),
)
def test_layers_sum_to_the_lock(curves, canary, losses, surge):
    demand = [make_curve("shop", name, *hours) for name, hours in dict(curves).items()]
    rules = {"canary_replicas": canary, "losses": losses, "prefill_surge": {"factor": surge}}
    intent = make_intent(*REGIONS, demand={"demand": demand}, guardrails=rules)
    check_sums(intent, settled_lock(intent))
    assert all(paid.replicas >= 0 and paid.gpus >= 0 for paid in attribution(intent, settled_lock(intent)))


@settings(max_examples=5, deadline=None, derandomize=True)
@given(st.integers(1, 9000), st.integers(1, 9000))
def test_layers_of_a_raise_sum_as_well(before, after):
    old = settled_lock(make_intent(demand={"demand": [make_curve("shop", "us-east", before)]}))
    intent = make_intent(demand={"demand": [make_curve("shop", "eu-north", after)]})
    check_sums(intent, plan(intent, old).lock)
