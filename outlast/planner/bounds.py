"""How much a plan may hold: what is granted, what is requested too, or anything."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Literal, get_args

from outlast.errors import ConfigError
from outlast.intent import Intent
from outlast.intent.capacity import Holdings, Quota
from outlast.intent.known import unknown

Bounds = Literal["granted", "requested", "unlimited"]
_ANY_AMOUNT = 1e9
"""Of a quota, in its unit; more than any fleet needs."""
_ANY_NODES = 1_000_000
"""Of a reservation; more than any fleet needs."""


def bounds_of(word: str) -> Bounds:
    """Return the bounds that a person named.

    Raises:
        ConfigError: there are no such bounds.
    """
    for known in get_args(Bounds):
        if word == known:
            return word  # type: ignore[return-value]  # one of the literals, as just seen
    raise ConfigError(unknown("--within", "bounds", word, get_args(Bounds)))


def within(intent: Intent, bounds: Bounds) -> Intent:
    """Return the intent with its holdings taken as granted, as granted or requested, or as large as anybody needs."""
    if bounds == "granted":
        return intent
    regions = {
        region: requested(intent.holdings(region)) if bounds == "requested" else unlimited(intent, region)
        for region in intent.regions
    }
    return replace(intent, capacity=intent.capacity.model_copy(update={"regions": regions}))


def requested(holdings: Holdings) -> Holdings:
    """Return holdings in which every request is granted."""
    quotas = {
        code: quota.model_copy(update={"granted": max(quota.granted, quota.requested or 0.0)})
        for code, quota in holdings.quotas.items()
    }
    return holdings.model_copy(update={"quotas": quotas})


def unlimited(intent: Intent, region: str) -> Holdings:
    """Return a region's holdings with every quota of its cloud, and its reservations, larger than any need."""
    holdings = intent.holdings(region)
    codes = [quota.quota_code for quota in intent.facts.quotas if quota.cloud == intent.regions[region].cloud]
    quota = Quota.model_construct(granted=_ANY_AMOUNT, as_of=date.max)
    reservations = {name: row.model_copy(update={"nodes": _ANY_NODES}) for name, row in holdings.reservations.items()}
    return holdings.model_copy(update={"quotas": dict.fromkeys(codes, quota), "reservations": reservations})
