"""What a node-hour costs: list price less the discounts we hold; a missing price is an error, never zero."""

from __future__ import annotations

from outlast.errors import PlanError, Problem
from outlast.facts.models import Capacity
from outlast.intent import Intent
from outlast.lock import LockRegion


def node_usd_h(intent: Intent, region: str, machine_type: str, capacity: Capacity) -> float:
    """Return the price of one node for one hour.

        list price × (1 − largest discount of this cloud and capacity type)

    Spot nodes start from the spot price, all others from the on-demand price.

    Raises:
        PlanError: facts hold no such price.
    """
    row = intent.regions[region]
    basis = "spot" if capacity == "spot" else "on_demand"
    price = intent.facts.prices.get((row.cloud, row.provider_region, machine_type, basis))
    if price is None:
        raise PlanError(
            Problem(
                where="facts/prices.csv",
                what=f"no {basis} price of {machine_type} in {row.provider_region}, which region '{region}' uses",
                do="Add the price with its source and date, or use another machine type",
            )
        )
    discounts = (d.off for d in intent.capacity.discounts if (d.cloud, d.basis) == (row.cloud, capacity))
    return float(price.usd_h * (1 - max(discounts, default=0.0)))


def block_usd_h(intent: Intent, region: str, block: LockRegion) -> float:
    """Return the price of the nodes that a region runs on average for one hour, leaving ones included."""
    return sum(
        row.nodes.expected * node_usd_h(intent, region, row.machine_type, row.capacity)
        for row in block.node_pools.values()
    )
