"""Builds small fleets of tiers that need more than a few keys changed."""

from typing import Any

from outlast.intent import Intent
from tests.builders import H100, make_curve, make_intent, make_model, merged


def make_adapters(**changes: Any) -> dict[str, Any]:
    """A base of adapters that cost a tenth of its goodput, with one variant of tenant ``shop``."""
    cost = {"overhead": "10 %", "kind": "measured", "date": "2026-11-01", "source": "a test", "slots": 8}
    variants = {"tuned": {"owner": "shop", "size": "0.3 GiB", "rank": 16}}
    return merged(make_model(tier="adapters", adapters=cost, variants=variants), changes)


def cold_fleet(allowed_outage: str) -> Intent:
    """The small fleet whose model scales to zero on L4 nodes, for a class that may wait as long as said."""
    goodput = {"value": "100 tok/s", "kind": "measured", "date": "2026-11-01", "source": "a test"}
    zones = {"us-east": ["use1-az1", "use1-az2"], "eu-north": ["eun1-az1", "eun1-az2"]}
    pools = {name: {"machine_type": "g6.xlarge", "zones": zones[name], "scaling": "elastic"} for name in zones}
    quota = {"L-DB2E81BA": {"granted": "20k vCPU", "as_of": "2026-11-01"}}
    return make_intent(
        regions={"regions": {name: {"node_pools": {"cold": pool, "gh100": None}} for name, pool in pools.items()}},
        models={
            "models": {
                "chat": {
                    "tier": "scale-to-zero",
                    "shape": "Llama-3.1-8B",
                    "accelerators": {H100: None, "l4-24": {"gpus_per_replica": 1, "goodput": goodput}},
                }
            }
        },
        tenants={"classes": {"open": {"allowed_outage": allowed_outage}}},
        capacity={"regions": {name: {"quotas": quota} for name in zones}},
        demand={"demand": [make_curve("shop", "us-east", 500, 0)]},
    )
