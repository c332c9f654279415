"""One thing wrong in the demo fleet: the message names the file, the key, what was got, what is right and what to do.

A row holds the facts that one message must state, never its prose.
"""

from typing import Any

import pytest

from tests.builders import P_QUOTA, messages_of, write_demo

FIRST = "demand/0"
POOL = "regions/us-east/node_pools/gh100"
INCIDENT = {"lost": "us-east", "since": "2026-11-30T08:00:00Z", "by": "ann", "ticket": "INC-1"}
WAIVER = {
    "rule": "R-36",
    "urn": "urn:x",
    "reason": "a test",
    "owner": "ann",
    "approver": "bob",
    "created": "2026-11-01",
}
LOST = INCIDENT | {"lost": "mars", "expires": "2026-11-30T09:00:00Z"}
HOW = {
    "gpus_per_replica": 1,
    "goodput": {"value": "1 tok/s", "kind": "assumed", "date": "2026-01-01", "source": "x"},
}
GRANT = {"granted": "1 vCPU", "as_of": "2026-01-01"}
DISCOUNT = {"cloud": "aw", "basis": "reserved", "off": "5 %", "reference": "x"}
DIGEST = "sha256:" + "0" * 64

TYPOS = {
    "fleet": ("routers", "static", "router"),
    "regions": ("regions/us-east/acount", "x", "account"),
    "models": ("models/chat-large/shap", "x", "shape"),
    "tenants": ("classes/open/survives", ["zone"], "survive"),
    "demand": (f"{FIRST}/tenant", "x", "tenants"),
    "guardrails": ("occupancy/failures", "90 %", "failure"),
    "capacity": ("regions/us-east/quota", {}, "quotas"),
    "artifacts": ("models/llama-70b/digests", DIGEST, "digest"),
    "operations": ("region", {}, "regions"),
    "waivers": ("waiver", {}, "waivers"),
    "variants": ("variant", {}, "variants"),
}

UNITS = [
    ("missing", "demand", f"{FIRST}/shape/peak", 90000, ["demo/demand.yaml, demand.0.shape.peak", "90000", "tok/s"]),
    ("missing from a fraction", "guardrails", "occupancy/normal", 0.7, ["occupancy.normal", "0.7", "%"]),
    ("wrong", "demand", f"{FIRST}/shape/peak", "90k tok/min", ["demand.0.shape.peak", "'90k tok/min'", "tok/s"]),
    ("of another kind", "artifacts", "models/llama-70b/size", "66 GB", ["llama-70b.size", "'66 GB'", "GiB"]),
    ("of a quota", "capacity", f"regions/us-east/quotas/{P_QUOTA}/granted", "9 cores", [P_QUOTA, "'9 cores'", "vCPU"]),
    ("of a budget", "guardrails", "budgets/total", "6M USD", ["budgets.total", "'6M USD'", "USD/month"]),
    ("negative", "demand", f"{FIRST}/shape/peak", "-1 tok/s", ["demand.0.shape.peak", "'-1 tok/s'", "0 or more tok/s"]),
    ("above all", "guardrails", "occupancy/failure", "110 %", ["occupancy.failure", "'110 %'", "0 to 100 %"]),
    ("not a number", "models", "models/chat-large/context", "many", ["chat-large.context", "'many'", "8,000 tokens"]),
]

UNKNOWN = [
    ("region", "regions", "origins/us/nearest", ["us-eats"], ["origins.us.nearest", "'us-eats'", "mean 'us-east'?"]),
    ("class", "tenants", "tenants/shop-us/residency", "opne", ["shop-us.residency", "'opne'", "mean 'open'?"]),
    ("class of a home", "regions", "origins/eu/home/eu-only", {"eu-west": 100}, ["eu.home.eu-only", "eu-resident"]),
    ("admitted class", "tenants", "admits/US", ["opn"], ["tenants.yaml, admits.US", "'opn'", "mean 'open'?"]),
    ("cloud", "regions", "regions/us-east/cloud", "awss", ["us-east.cloud", "'awss'", "gcp", "mean 'aws'?"]),
    ("DNS cloud", "fleet", "dns/cloud", "awss", ["fleet.yaml, dns.cloud", "'awss'", "mean 'aws'?"]),
    ("DNS region", "fleet", "dns/region", "us-eest", ["fleet.yaml, dns.region", "'us-eest'", "mean 'us-east'?"]),
    (
        "cloud's region",
        "regions",
        "regions/us-east/provider_region",
        "us-easst-1",
        ["'us-easst-1'", "mean 'us-east-1'?"],
    ),
    ("machine", "regions", f"{POOL}/machine_type", "p5.48xlrge", ["gh100.machine_type", "mean 'p5.48xlarge'?"]),
    ("accelerator", "models", "models/chat-large/accelerators/H100-SXM", HOW, ["'H100-SXM'", "mean 'h100-sxm-80'?"]),
    ("shape", "models", "models/chat-large/shape", "Llama-3.1-71B", ["'Llama-3.1-71B'", "mean 'Llama-3.1-70B'?"]),
    ("artifact", "models", "models/chat-large/artifact", "llama-7b", ["chat-large.artifact", "mean 'llama-70b'?"]),
    ("model", "tenants", "tenants/shop-us/models", ["chat-larg"], ["shop-us.models", "mean 'chat-large'?"]),
    ("model of a curve", "demand", f"{FIRST}/model", "chat-smal", ["demand.0.model", "'chat-smal'", "chat-small"]),
    ("tenant", "demand", f"{FIRST}/tenants", ["shop-uk"], ["demand.0.tenants", "'shop-uk'", "mean 'shop-us'?"]),
    ("origin", "demand", f"{FIRST}/origin", "usa", ["demand.0.origin", "'usa'", "mean 'us'?"]),
    ("quota", "capacity", "regions/us-east/quotas/L-417A185C", GRANT, ["'L-417A185C'", f"mean '{P_QUOTA}'?"]),
    ("held region", "capacity", "regions/us-eest", {}, ["capacity.yaml, regions.us-eest", "mean 'us-east'?"]),
    ("discount cloud", "capacity", "discounts", [DISCOUNT], ["discounts.0", "'aw'", "mean 'aws'?"]),
    ("jurisdiction", "tenants", "classes/eu-resident/serve_in", ["XX"], ["eu-resident.serve_in", "'XX'", "EU"]),
    ("drained region", "operations", "regions/eu-nort", "serving", ["operations.yaml, regions", "mean 'eu-north'?"]),
    ("wave", "operations", "rollout/waves", [["us-eest"]], ["rollout.waves.0", "mean 'us-east'?"]),
    ("lost region", "operations", "incident", LOST, ["operations.yaml, incident.lost", "'mars'", "us-east"]),
    ("patched file", "variants", "variants/more", {"demnd": {}}, ["variants.more", "'demnd'", "mean 'demand'?"]),
    ("word", "fleet", "router", "statik", ["fleet.yaml, router", "'statik'", "'static'", "mean 'static'?"]),
    ("capacity type", "regions", f"{POOL}/capacity", "on-demand", ["gh100.capacity", "mean 'on_demand'?"]),
]

DATES = [
    (
        "a tag for a digest",
        "artifacts",
        {"models/llama-70b/digest": "v1.2"},
        ["llama-70b.digest", "'v1.2'", "never a tag"],
    ),
    ("no engine image", "artifacts", {"images/engin": "x", "images/engine": None}, ["images.engin", "key: value"]),
    (
        "a long waiver",
        "waivers",
        {"waivers/a": WAIVER | {"expires": "2026-12-15"}},
        ["waivers.yaml, waivers.a.expires", "30 days", "2026-12-15"],
    ),
    (
        "a waiver that ends early",
        "waivers",
        {"waivers/a": WAIVER | {"expires": "2026-10-01"}},
        ["waivers.a.expires", "got 2026-10-01", "2026-11-01"],
    ),
    (
        "a waiver approved by its owner",
        "waivers",
        {"waivers/a": WAIVER | {"expires": "2026-11-05", "approver": "ann"}},
        ["waivers.a.approver", "ann"],
    ),
    (
        "a long incident",
        "operations",
        {"incident": INCIDENT | {"expires": "2026-12-03T08:00:01Z"}},
        ["incident.expires", "72 h", "2026-12-03"],
    ),
    (
        "an incident without a time zone",
        "operations",
        {"incident": INCIDENT | {"expires": "2026-12-01T08:00:00"}},
        ["incident.expires", "time zone", "2026-12-01"],
    ),
    (
        "an incident that ends early",
        "operations",
        {"incident": INCIDENT | {"expires": "2026-11-29T08:00:00Z"}},
        ["incident.expires", "2026-11-29"],
    ),
    ("a date in words", "fleet", {"today": "tomorrow"}, ["fleet.yaml, today", "'tomorrow'", "2026-11-30"]),
    ("a version without quotes", "fleet", {"kubernetes": 1.36}, ["fleet.yaml, kubernetes", "1.36", "quotes"]),
    ("a missing key", "fleet", {"clouds": None}, ["fleet.yaml, clouds", "Add 'clouds'"]),
    (
        "a word for a list",
        "tenants",
        {"tenants/shop-us/models": "chat-large"},
        ["shop-us.models", "'chat-large'", "[a, b]"],
    ),
    ("a word for a count", "guardrails", {"canary_replicas": "one"}, ["canary_replicas", "'one'", "whole number"]),
    ("a word for a block", "fleet", {"dns": "aws"}, ["fleet.yaml, dns", "'aws'", "key: value"]),
    ("a capital in a name", "tenants", {"tenants/Shop_US": {}}, ["tenants.Shop_US", "lower-case"]),
]
SINGLE: list[Any] = [(name, stem, {key: value}, says) for name, stem, key, value, says in UNKNOWN]
SINGLE += [(f"unit {name}", stem, {key: value}, says) for name, stem, key, value, says in UNITS]
CASES = [*SINGLE, *DATES]


@pytest.mark.parametrize("stem", TYPOS)
def test_a_typo_in_a_key_names_file_key_and_nearest_key(stem, tmp_path):
    key, value, right = TYPOS[stem]
    write_demo(tmp_path, stem, {key: value})
    wrong = key.replace("/", ".")
    says = [f"demo/{stem}.yaml, {wrong}:", f"'{key.split('/')[-1]}'", f"Did you mean '{right}'?"]
    assert any(all(word in line for word in says) for line in messages_of(tmp_path))


@pytest.mark.parametrize(("stem", "changes", "says"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_mistake_is_told_in_one_message_with_its_facts(stem, changes, says, tmp_path):
    write_demo(tmp_path, stem, changes)
    lines = messages_of(tmp_path)
    assert [line for line in lines if line.startswith("demo/") and all(word in line for word in says)], lines
