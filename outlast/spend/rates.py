"""Prices of nodes: one dated rate per machine type, place and basis, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from outlast.facts import LIST_BASIS
from outlast.intent import Intent

_NOT_SOLD = "list_only_not_sold_on_demand"


@dataclass(frozen=True)
class Rate:
    """Price of a node-hour."""

    usd_h: float | None
    """None where it is not known; never 0 for unknown."""
    basis: str
    as_of: date | None = None
    unknown: str = ""
    """Why there is no price."""


def rate(intent: Intent, region: str, machine_type: str, capacity: str) -> Rate:
    """Return the price of a node in one of our regions, less the discount that applies."""
    row = intent.regions[region]
    basis = LIST_BASIS.get(capacity)
    if basis is None:
        return Rate(None, "unknown", unknown=f"capacity type is {capacity}")
    price = intent.facts.prices.get((row.cloud, row.provider_region, machine_type, basis))
    if price is None:
        if (row.cloud, row.provider_region, machine_type, _NOT_SOLD) in intent.facts.prices:
            return Rate(None, basis, unknown=f"{machine_type} is listed but not sold {basis} in {row.provider_region}")
        return Rate(None, basis, unknown=f"no {basis} price of {machine_type} in {row.provider_region}")
    off = max((d.off for d in intent.capacity.discounts if (d.cloud, d.basis) == (row.cloud, capacity)), default=0.0)
    return Rate(price.usd_h * (1 - off), f"{basis} less {off:.0%}" if off else basis, price.as_of)
