from dataclasses import replace

import pytest

from outlast.planner import explain, plan, settled_lock
from tests.builders import H100, make_artifact, make_curve, make_intent, make_model
from tests.tiers import make_adapters

DEMAND = {"demand": [make_curve("shop", "us-east", 2800)]}


def test_the_first_line_counts_and_prices():
    planned = plan(make_intent(demand=DEMAND), None)
    solver = planned.lock.solver
    first = explain(make_intent(demand=DEMAND), planned).first_line
    # us-east 6 (a zone), eu-north 1.6 × 2800 / 900 -> 5, on 3 + 3 nodes of 8 GPUs
    assert (
        first
        == f"test: 2 regions, 11 replicas, 48 GPUs, {solver.usd_h:,.2f} USD/h (bound {solver.usd_h:,.2f}, gap 0 %)"
    )


def test_goodput_that_nobody_measured_is_named():
    guess = make_model(accelerators={H100: {"goodput": {"kind": "assumed"}}})
    intent = make_intent(models={"models": {"chat": guess}})
    assert explain(intent, plan(intent, None)).first_line.endswith("; goodput of chat on h100-sxm-80 is assumed")


def test_an_overhead_of_adapters_that_nobody_measured_is_named():
    base = make_adapters(adapters={"kind": "assumed"})
    intent = make_intent(
        models={"models": {"chat": base}},
        tenants={"tenants": {"shop": {"models": ["chat", "tuned"]}}},
        artifacts={"adapters": {"tuned": make_artifact()}},
    )
    assert "adapters is assumed" in explain(intent, plan(intent, None)).first_line


def test_lines_add_up_to_the_plan():
    intent = make_intent(
        models={"models": {"chat": make_model(), "code": make_model()}},
        tenants={"tenants": {"shop": {"models": ["chat", "code"]}}},
        demand={"demand": [make_curve("shop", "us-east", 2800, model=model) for model in ("chat", "code")]},
    )
    planned = plan(intent, None)
    lines = explain(intent, planned).pools
    blocks = planned.lock.regions.values()
    assert sum(line.usd_h for line in lines) == pytest.approx(planned.lock.solver.usd_h, abs=0.01)
    assert sum(line.nodes for line in lines) == sum(row.nodes.max for b in blocks for row in b.node_pools.values())
    assert sum(line.stranded_gpus for line in lines) == pytest.approx(sum(block.stranded_gpus for block in blocks))


def test_parts_of_a_card_are_counted_as_parts():
    how = {"gpus_per_replica": None, "partition": "mig-7x1g.10gb"}
    divided = {name: {"node_pools": {"gh100": {"partition": "mig-7x1g.10gb"}}} for name in ("us-east", "eu-north")}
    packed = {"tier": "packed", "accelerators": {H100: how}}
    intent = make_intent(regions={"regions": divided}, models={"models": {"chat": packed}})
    planned = plan(intent, None)
    for line in explain(intent, planned).pools:
        assert line.gpus - line.stranded_gpus == pytest.approx(line.replicas / 7)


def test_the_binding_case_is_in_words():
    intent = make_intent(demand=DEMAND)
    words = {line.region: line.binding for line in explain(intent, plan(intent, None)).pools}
    assert words == {
        "us-east": "losing a zone, Mon 00:00 UTC",
        "eu-north": "losing us-east, Mon 00:00 UTC",
    }


def test_quotas_and_shares_are_listed():
    intent = make_intent(demand=DEMAND)
    explanation = explain(intent, plan(intent, None))
    assert [(line.lost, line.survivors) for line in explanation.shares] == [("us-east", (("eu-north", 100),))]
    assert [(line.region, line.needed) for line in explanation.quotas] == [("us-east", 576), ("eu-north", 576)]


def test_a_region_that_holds_nothing_is_said():
    one_sided = make_intent(demand={"demand": [make_curve("shop", "eu-north", 900)]})
    planned = plan(one_sided, None)
    block = planned.lock.regions["us-east"].model_copy(update={"pools": {}})
    lock = planned.lock.model_copy(update={"regions": {**planned.lock.regions, "us-east": block}})
    assert [said for said in explain(one_sided, replace(planned, lock=lock)).warnings if "us-east" in said]


def test_the_next_step_follows_the_lock():
    intent = make_intent(demand=DEMAND)
    grown = make_intent(demand={"demand": [make_curve("shop", "eu-north", 900)]})
    assert "lowers nothing" in explain(intent, plan(intent, None)).next_step
    assert explain(intent, plan(intent, settled_lock(intent))).next_step == ""
    assert "deploy this raise" in explain(grown, plan(grown, settled_lock(intent))).next_step
