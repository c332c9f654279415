"""The plan within what is held: whole where it fits, else the fewest losses given up, each named, none silently."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from outlast.errors import ConfigError, InfeasiblePlan, PlanError
from outlast.intent import Intent
from outlast.lock import (
    Applied,
    AppliedFile,
    Lock,
    applied_output,
    freshness,
    lock_digest,
    lock_text,
    parse_lock,
    short_quotas,
)
from outlast.planner import plan, settle, settled_lock
from outlast.planner.bounds import bounds_of, within
from outlast.planner.within import Deployable, deployable, pairs_of, settle_within
from outlast.proof import judge, prove
from tests.builders import P_QUOTA, RESERVATION, demo_intent, make_curve, make_intent

REGIONS = ("us-east", "eu-north", "us-west")
NODE_VCPU = 192
DEMAND = {"us-east": 20000, "eu-north": 4000, "us-west": 4000}


def fleet(nodes: Mapping[str, int], demand: Mapping[str, int] | None = None, **more: Any) -> Intent:
    """Three regions with so many nodes granted; the demand of us-east is the largest."""
    wanted = demand or DEMAND
    grants = {
        region: {"quotas": {P_QUOTA: {"granted": f"{NODE_VCPU * count} vCPU"}}} for region, count in nodes.items()
    }
    return make_intent(
        *REGIONS,
        demand={"demand": [make_curve("shop", *item) for item in wanted.items()]},
        capacity={"regions": grants},
        **more,
    )


def nodes_of(lock) -> dict[str, int]:
    return {region: sum(row.nodes.max for row in block.node_pools.values()) for region, block in lock.regions.items()}


@cache
def target() -> dict[str, int]:
    """Nodes of the whole plan."""
    return nodes_of(settled_lock(fleet({})))


def granted() -> dict[str, int]:
    """Nodes granted, four too few where us-east would go."""
    return {**target(), "us-west": target()["us-west"] - 4}


@cache
def narrow() -> Intent:
    """The fleet with too few nodes granted."""
    return fleet(granted())


@cache
def narrowed() -> Deployable:
    """Its plan."""
    return deployable(narrow(), None)


def given_up(found: Deployable) -> list[tuple[str, str]]:
    return [(lack.residency, lack.lost) for lack in found.lacks]


def test_what_fits_is_the_plan_itself():
    found = deployable(fleet({}), None)
    assert found.planned == plan(fleet({}), None)
    assert found.lacks == ()
    assert nodes_of(found.target) == nodes_of(found.planned.target)


def test_the_target_ignores_quotas():
    assert nodes_of(narrowed().target) == target()


def test_the_smallest_loss_that_suffices_is_given_up():
    assert given_up(narrowed()) == [("open", "us-east")]


def test_the_plan_keeps_what_is_granted():
    intent, lock = narrow(), narrowed().planned.lock
    for region, nodes in nodes_of(lock).items():
        assert nodes * NODE_VCPU <= intent.holdings(region).quotas[P_QUOTA].granted


def test_it_survives_all_but_what_it_says():
    intent, found = narrow(), narrowed()
    failures = prove(found.planned.lock, intent).failures
    assert {(margin.case.region, margin.case.lost) for margin in failures} == {("us-east", "us-east")}


def test_what_is_given_up_is_said_with_its_need():
    [lack] = narrowed().lacks
    [margin] = prove(narrowed().planned.lock, narrow()).failures
    assert (lack.pool, lack.hour) == ("chat", margin.hour)
    assert lack.need_tok_s == pytest.approx(margin.need_tok_s)


def test_what_would_lift_it_does():
    [lack] = narrowed().lacks
    assert lack.lift
    assert all(problem.where.startswith("test/capacity.yaml, regions.") for problem in lack.lift)
    assert deployable(fleet({}), None).lacks == ()


def test_shares_of_what_is_given_up_are_absent_and_homes_stay():
    intent, lock = narrow(), narrowed().planned.lock
    assert set(lock.shares["open"]) == {"eu-north", "us-west"}
    assert lock.homes == {name: {o: dict(h) for o, h in rows.items()} for name, rows in intent.homes.items()}


def test_the_lock_holds_together_and_fits_the_files():
    intent, lock = narrow(), narrowed().planned.lock
    assert parse_lock(lock_text(lock), "a lock") == lock
    assert freshness(lock, intent).is_fresh
    assert list(lock.regions) == list(REGIONS)


def test_money_is_that_of_the_regions_that_exist():
    intent, found = narrow(), narrowed()
    prices = {
        r: intent.facts.prices["aws", row.provider_region, "p5.48xlarge", "on_demand"].usd_h
        for r, row in intent.regions.items()
    }
    usd_h = sum(nodes * prices[region] for region, nodes in nodes_of(found.planned.lock).items())
    assert found.planned.lock.solver.usd_h == pytest.approx(usd_h, abs=0.05)
    assert found.planned.lock.solver.bound_usd_h <= found.planned.lock.solver.usd_h


def test_several_losses_are_given_up_where_one_is_not_enough():
    # Every region has just what it needs alone, so none can take anything.
    even, others = dict.fromkeys(REGIONS, 4000), {"zone": 0, "replica": 0}
    alone = settled_lock(fleet({}, even, guardrails={"losses": others | {"region": 0}}))
    found = deployable(fleet(nodes_of(alone), even, guardrails={"losses": others}), None)
    assert given_up(found) == [("open", region) for region in REGIONS]
    assert nodes_of(found.planned.target) == nodes_of(alone)


def test_planning_again_from_what_was_written_changes_nothing():
    first = narrowed().planned.lock
    again = deployable(narrow(), first)
    assert not again.planned.changed
    assert again.planned.lock is first


def applied_of(lock: Lock) -> AppliedFile:
    outputs = {f"{lock.fleet}.{region}": applied_output(lock, region) for region in lock.regions}
    outputs[f"{lock.fleet}.routing"] = applied_output(lock, None, routing=True)
    return {stack: Applied.model_validate(output) for stack, output in outputs.items()}


@cache
def lowered() -> tuple[Intent, Lock]:
    """The narrow fleet whose us-east came down, and the raise that still holds what ran before."""
    before = narrowed().planned.lock
    intent = fleet(granted(), DEMAND | {"us-east": 18000})
    return intent, deployable(intent, before).planned.lock


def test_a_settle_follows_a_raise_that_gives_something_up():
    intent, raised = lowered()
    found = settle_within(intent, raised, applied_of(raised))
    lock = found.planned.lock
    assert (lock.step, lock.against, given_up(found)) == ("settle", lock_digest(raised), [("open", "us-east")])
    assert sum(nodes_of(lock).values()) < sum(nodes_of(raised).values())
    assert lock.regions == deployable(intent, None).planned.target.regions


def test_a_settle_that_lowers_nothing_needs_no_deployment():
    raised = narrowed().planned.lock
    settled = settle_within(narrow(), raised, None).planned
    assert (settled.changed, settled.lock.step) == (True, "settle")
    assert settled.lock.regions == raised.regions


def test_a_settle_again_changes_nothing():
    intent, raised = lowered()
    settled = settle_within(intent, raised, applied_of(raised)).planned.lock
    assert not settle_within(intent, settled, None).planned.changed
    assert not deployable(intent, settled).planned.changed


@pytest.mark.parametrize("stacks", [(), ("us-east", "eu-north", "us-west"), ("us-east", "routing")])
def test_a_settle_that_lowers_waits_for_every_stack(stacks):
    intent, raised = lowered()
    applied = {stack: entry for stack, entry in applied_of(raised).items() if stack.split(".")[1] in stacks}
    with pytest.raises(PlanError, match="not deployed"):
        settle_within(intent, raised, applied)


def test_a_settle_that_lowers_needs_to_know_what_is_deployed():
    intent, raised = lowered()
    with pytest.raises(PlanError, match="what is deployed is not known"):
        settle_within(intent, raised, None)


def test_a_settle_of_another_plan_is_refused():
    _, raised = lowered()
    with pytest.raises(PlanError, match="no raise to the plan within what is granted"):
        settle_within(narrow(), raised, applied_of(raised))


def test_a_settle_of_a_whole_plan_is_the_plain_one():
    raised = plan(fleet({}), None).lock
    found = settle_within(fleet({}), raised, None)
    assert found.planned.lock == settle(fleet({}), raised, None).lock


def test_a_later_grant_gives_the_whole_plan():
    first = narrowed().planned.lock
    later = deployable(fleet({}), first)
    assert later.lacks == ()
    assert prove(later.planned.lock, fleet({})).failures == ()


def test_the_rules_refuse_what_is_given_up_while_nothing_is_known_of_the_deployment():
    judgement = judge(narrowed().planned.lock, narrow(), None, None)
    assert {margin.case.lost for margin in judgement.refused} == {"us-east"}


@pytest.mark.parametrize("stack", [*REGIONS, None])
def test_the_rules_let_a_first_deployment_pass_as_not_yet_proven(stack):
    judgement = judge(narrowed().planned.lock, narrow(), {}, stack, () if stack else REGIONS)
    assert judgement.refused == ()
    assert any(margin.case.lost == "us-east" for margin in judgement.not_yet_proven)


def test_the_rules_refuse_to_give_up_what_is_survived_now():
    running = applied_of(settled_lock(fleet({})))
    judgement = judge(narrowed().planned.lock, narrow(), running, None, REGIONS)
    assert "us-east" in {margin.case.lost for margin in judgement.refused}


def test_normal_demand_is_never_given_up():
    with pytest.raises(InfeasiblePlan) as caught:
        deployable(fleet({"us-east": 1}), None)
    first, *others = caught.value.problems
    assert "no plan fits" in first.what
    assert any(P_QUOTA in problem.where for problem in others)


def test_without_losses_of_regions_there_is_nothing_to_give_up():
    intent = fleet({"us-east": 1}, guardrails={"losses": {"region": 0}})
    assert pairs_of(intent) == ()
    with pytest.raises(InfeasiblePlan):
        deployable(intent, None)


def test_what_runs_beyond_the_grant_is_said():
    running = settled_lock(fleet({}))
    with pytest.raises(InfeasiblePlan, match="side by side"):
        deployable(narrow(), running)


def test_classes_that_may_be_lost_are_no_pairs():
    gap = {"loss": "region", "owner": "a test", "reason": "new", "expires": "2026-12-31"}
    intent = fleet({}, tenants={"classes": {"open": {"survive": ["zone", "replica"], "gap": gap}}})
    assert pairs_of(intent) == ()


def with_request(granted: str, requested: str) -> Intent:
    quota = {P_QUOTA: {"granted": granted, "requested": requested}}
    return make_intent(capacity={"regions": {"us-east": {"quotas": quota}}})


@pytest.mark.parametrize(
    ("granted", "requested", "counted"), [("1k vCPU", "5k vCPU", 5000), ("5k vCPU", "1k vCPU", 5000)]
)
def test_requested_counts_the_larger_of_grant_and_request(granted, requested, counted):
    intent = within(with_request(granted, requested), "requested")
    assert intent.holdings("us-east").quotas[P_QUOTA].granted == counted


def test_granted_is_the_fleet_itself():
    intent = with_request("1k vCPU", "5k vCPU")
    assert within(intent, "granted") is intent


def test_unlimited_covers_quotas_that_nobody_stated_and_reservations():
    held = {"machine_type": "p5.48xlarge", "zone": "use1-az1", "nodes": 1}
    us_east = {"quotas": {P_QUOTA: None}, "reservations": {RESERVATION: held}}
    holdings = within(make_intent(capacity={"regions": {"us-east": us_east}}), "unlimited").holdings("us-east")
    assert holdings.quotas[P_QUOTA].granted > 1e6
    assert holdings.reservations[RESERVATION].nodes > 1000


def test_nothing_but_holdings_is_changed():
    intent = with_request("1k vCPU", "5k vCPU")
    for bounds in ("requested", "unlimited"):
        assert replace(within(intent, bounds), capacity=intent.capacity) == intent


def test_requests_may_carry_the_whole_plan():
    asked = {
        region: {"quotas": {P_QUOTA: {"granted": f"{NODE_VCPU * nodes} vCPU", "requested": "100k vCPU"}}}
        for region, nodes in granted().items()
    }
    curves = [make_curve("shop", *item) for item in DEMAND.items()]
    intent = make_intent(*REGIONS, demand={"demand": curves}, capacity={"regions": asked})
    assert deployable(intent, None).lacks
    assert deployable(intent, None, "requested").lacks == ()


H100_QUOTAS = (P_QUOTA, "GPUS-PER-GPU-FAMILY-per-project-region/NVIDIA_H100", "standardNDSH100v5Family")
MI300X_QUOTA, OWN_VCPU = "standardNDISv5MI300XFamily", 960
"""What eu-central needs of it for its own, and no more."""


def demo_with(**granted: float) -> Intent:
    """The demo with other grants of H100, by region, and of MI300X no more than its region needs for its own."""
    intent = demo_intent()
    regions = {}
    for region, held in intent.capacity.regions.items():
        amount = granted.get(region.replace("-", "_"))
        quotas = {
            code: quota if amount is None or code not in H100_QUOTAS else quota.model_copy(update={"granted": amount})
            for code, quota in held.quotas.items()
        }
        if MI300X_QUOTA in quotas:
            quotas[MI300X_QUOTA] = quotas[MI300X_QUOTA].model_copy(update={"granted": OWN_VCPU})
        regions[region] = held.model_copy(update={"quotas": quotas})
    return replace(intent, capacity=intent.capacity.model_copy(update={"regions": regions}))


@pytest.mark.parametrize(
    "granted",
    [
        {"eu_west": 128, "eu_north": 3000, "eu_central": 192, "ap_south": 3000},
        {"eu_west": 128, "eu_north": 2880, "eu_central": 192, "ap_south": 2880},
        {"us_east": 7488, "eu_west": 136, "eu_north": 2880, "eu_central": 192, "ap_south": 3000},
    ],
)
def test_of_several_classes_only_what_is_named_is_given_up_and_every_grant_is_kept(granted):
    intent = demo_with(**granted)
    found = deployable(intent, None)
    failures = prove(found.planned.lock, intent).failures
    assert found.lacks
    assert {margin.case.lost for margin in failures} == {lack.lost for lack in found.lacks}
    assert all(margin.case.region == margin.case.lost for margin in failures)
    assert list(short_quotas(found.planned.lock, intent)) == []


@pytest.mark.parametrize("word", ["grantd", "", "GRANTED", "all"])
def test_other_bounds_are_refused(word):
    with pytest.raises(ConfigError, match="unknown bounds"):
        bounds_of(word)
