"""A lock is stale when a planner's input changed, repriced when only money did, and fresh otherwise."""

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from outlast.errors import ConfigError
from outlast.intent import Intent, load_intent
from outlast.lock import Lock, freshness, input_digests
from tests.builders import CONFIG, H100, P_QUOTA, facts, make_block, make_curve, make_intent, make_lock, write_demo

SHARES = {"us-east": {"eu-north": 100}, "eu-north": {"us-east": 100}}
GOODPUT = {"accelerators": {H100: {"goodput": {"value": "2000 tok/s"}}}}
BLOCKS = {"us-east": make_block("us-east", 2), "eu-north": make_block("eu-north", 2)}

STALE = [
    ("demand", "demand", {"demand": [make_curve("shop", "us-east", 701), make_curve("shop", "eu-north", 700)]}),
    ("occupancy", "guardrails", {"occupancy": {"failure": "91 %"}}),
    ("surge", "guardrails", {"prefill_surge": {"factor": 1.7}}),
    ("burst margin", "guardrails", {"burst_margin": "1 %"}),
    ("canary", "guardrails", {"canary_replicas": 1}),
    ("losses", "guardrails", {"losses": {"zone": 0}}),
    ("router", "fleet", {"router": "even"}),
    ("objective", "fleet", {"objective": "replicas"}),
    ("zones", "regions", {"regions": {"us-east": {"node_pools": {"gh100": {"zones": ["use1-az1", "use1-az2"]}}}}}),
    ("interconnect", "regions", {"regions": {"us-east": {"node_pools": {"gh100": {"interconnect": True}}}}}),
    ("home", "regions", {"origins": {"us-east": {"home": {"open": {"eu-north": 100}}}}}),
    ("goodput", "models", {"models": {"chat": GOODPUT}}),
    ("GPUs a replica", "models", {"models": {"chat": {"accelerators": {H100: {"gpus_per_replica": 8}}}}}),
    ("residency", "tenants", {"classes": {"open": {"serve_in": ["US", "EU"]}}}),
    ("quota", "capacity", {"regions": {"us-east": {"quotas": {P_QUOTA: {"granted": "9 vCPU"}}}}}),
]
FRESH = [
    ("tags", "regions", {"regions": {"us-east": {"tags": {"team": "x"}}}}),
    ("access", "regions", {"regions": {"us-east": {"access": {"viewer": ["arn:aws:iam::111122223333:user/ann"]}}}}),
    ("account", "regions", {"regions": {"us-east": {"account": "444455556666", "access": None}}}),
    ("address range", "regions", {"regions": {"us-east": {"cidr": "10.240.0.0/16"}}}),
    ("protection", "regions", {"regions": {"us-east": {"protect": False}}}),
    ("budgets", "guardrails", {"budgets": {"total": "1 USD/month"}}),
    ("ages", "guardrails", {"ages": {"prices": "1 d"}}),
    ("date of a grant", "capacity", {"regions": {"us-east": {"quotas": {P_QUOTA: {"as_of": "2026-11-02"}}}}}),
    ("source of goodput", "models", {"models": {"chat": {"accelerators": {H100: {"goodput": {"source": "another"}}}}}}),
    ("latency targets", "models", {"models": {"chat": {"slo": {"ttft_p95": "3 s"}}}}),
    ("legal basis", "tenants", {"classes": {"open": {"legal_basis": "other terms"}}}),
    ("prompt logging", "tenants", {"classes": {"open": {"prompt_logging": "permitted"}}}),
    ("token limits", "tenants", {"tenants": {"shop": {"limits": {"tokens": "1M tok/min"}}}}),
    ("versions", "fleet", {"kubernetes": "1.35"}),
    ("day", "fleet", {"today": "2026-12-01"}),
    ("operations", "operations", {"regions": {"us-east": "drained"}}),
    ("artifacts", "artifacts", {"models": {"weights": {"size": "67 GiB"}}}),
    ("variants", "variants", {"variants": {"more": {"fleet": {"router": "even"}}}}),
]


def lock_of(intent: Intent) -> Lock:
    return make_lock(intent, BLOCKS, SHARES)


def with_facts(intent: Intent, **tables) -> Intent:
    changed: dict[str, Any] = {
        name: MappingProxyType({**getattr(intent.facts, name), **rows}) for name, rows in tables.items()
    }
    return replace(intent, facts=replace(intent.facts, **changed))


@pytest.mark.parametrize(("stem", "change"), [case[1:] for case in STALE], ids=[case[0] for case in STALE])
def test_a_lock_is_stale_after_a_change_of(stem, change):
    found = freshness(lock_of(make_intent()), make_intent(**{stem: change}))
    assert found.stale == (stem,)
    assert not found.repriced


@pytest.mark.parametrize(("stem", "change"), [case[1:] for case in FRESH], ids=[case[0] for case in FRESH])
def test_a_lock_is_fresh_after_a_change_of(stem, change):
    assert freshness(lock_of(make_intent()), make_intent(**{stem: change})).is_fresh


def test_comments_and_the_order_of_keys_do_not_count(tmp_path):
    (tmp_path / "a").mkdir()
    folder = write_demo(tmp_path, "tenants")  # written without comments, in the order of the file
    text = (folder / "models.yaml").read_text()
    (folder / "models.yaml").write_text(f"# a comment\n{text}\n")
    now = load_intent(tmp_path, "demo", facts())
    assert input_digests(now) == input_digests(load_intent(CONFIG, "demo", facts()))


def test_a_quantity_counts_by_its_value():
    curves = [make_curve("shop", "us-east", 700), make_curve("shop", "eu-north", 700)]
    written_out = [curve | {"hours": ["0.7k tok/s"] * 24} for curve in curves]
    assert freshness(lock_of(make_intent()), make_intent(demand={"demand": written_out})).is_fresh


def test_a_price_alone_makes_a_lock_repriced():
    intent = make_intent()
    key = ("aws", "us-east-1", "p5.48xlarge", "on_demand")
    price = intent.facts.prices[key]
    dearer = with_facts(intent, prices={key: price.model_copy(update={"usd_h": price.usd_h + 1})})
    found = freshness(lock_of(intent), dearer)
    assert (found.stale, found.repriced) == ((), True)


def test_the_day_and_source_of_a_price_do_not_count():
    intent = make_intent()
    key = ("aws", "us-east-1", "p5.48xlarge", "on_demand")
    price = intent.facts.prices[key].model_copy(update={"source": "another", "as_of": "2026-11-29"})
    assert freshness(lock_of(intent), with_facts(intent, prices={key: price})).is_fresh


def test_a_price_that_the_fleet_does_not_pay_does_not_count():
    intent = make_intent()
    key = ("aws", "us-west-2", "p5.48xlarge", "on_demand")
    price = intent.facts.prices[key].model_copy(update={"usd_h": 1.0})
    assert freshness(lock_of(intent), with_facts(intent, prices={key: price})).is_fresh


@pytest.mark.parametrize(
    ("table", "key", "change"),
    [
        ("machine_types", ("aws", "p5.48xlarge"), {"node_gpus": 4}),
        ("offerings", ("aws", "us-east-1", "p5.48xlarge"), {"zones": ("use1-az1",)}),
        ("provider_regions", ("aws", "us-east-1"), {"jurisdiction": "CA"}),
    ],
)
def test_a_fact_that_the_fleet_uses_counts(table, key, change):
    intent = make_intent()
    row = getattr(intent.facts, table)[key].model_copy(update=change)
    assert freshness(lock_of(intent), with_facts(intent, **{table: {key: row}})).stale == ("facts",)


def test_a_fact_that_the_fleet_does_not_use_does_not_count():
    intent = make_intent()
    row = intent.facts.machine_types["aws", "g6.xlarge"].model_copy(update={"vcpu": 1})
    assert freshness(lock_of(intent), with_facts(intent, machine_types={("aws", "g6.xlarge"): row})).is_fresh


def test_an_input_that_the_lock_lacks_is_stale():
    lock = lock_of(make_intent())
    without = lock.model_copy(update={"inputs": {k: v for k, v in lock.inputs.items() if k != "demand"}})
    assert freshness(without, make_intent()).stale == ("demand",)


def test_a_changed_input_must_still_be_right():
    with pytest.raises(ConfigError, match="demand"):
        make_intent(demand={"demand": []})
