"""Checks of how old prices, statements of quotas and goodput records are, and of how goodput is known.

Age limits come from guardrails.yaml; ages are counted to the day of the preflight.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from outlast.errors import Problem
from outlast.facts import LIST_BASIS
from outlast.intent.models import Goodput
from outlast.operations.findings import Situation, Verdict
from outlast.operations.holdings import quota_uses

_DAY_S = 86400.0


def check_price_age(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield prices of the region's machines that are too old to decide on."""
    row = situation.intent.regions[region]
    rows = situation.lock.regions[region].node_pools.values()
    limit_s = situation.intent.guardrails.ages.prices
    for machine_type, capacity in dict.fromkeys((pool.machine_type, pool.capacity) for pool in rows):
        price = situation.intent.facts.prices.get((row.cloud, row.provider_region, machine_type, LIST_BASIS[capacity]))
        if price:
            where = f"facts/prices.csv, {row.cloud} {row.provider_region} {machine_type} {price.basis}"
            yield from _age(situation, where, "the price", price.as_of, limit_s, "Renew it from its source")


def check_quota_age(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield statements of the region's quotas that nobody confirmed for too long."""
    limit_s = situation.intent.guardrails.ages.quotas
    for use in quota_uses(situation.intent, situation.lock, situation.applied):
        entry = use.grant.stated.get(region)
        if entry:
            where = f"{situation.capacity(region)}.quotas.{use.quota.quota_code}.as_of"
            do = "Ask the cloud again and write the date"
            yield from _age(situation, where, "the statement", entry.as_of, limit_s, do)


def check_goodput_age(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield goodput records in use that are older than the limit."""
    limit_s = situation.intent.guardrails.ages.goodput
    for where, goodput in _goodputs(situation, region):
        yield from _age(situation, f"{where}.date", "the goodput record", goodput.date, limit_s, "Measure it again")


def check_goodput_kind(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield goodput that nobody measured."""
    for where, goodput in _goodputs(situation, region):
        if goodput.kind != "measured":
            what = "nobody knows whether the counts serve the demand"
            found = Problem(where=f"{where}.kind", what=what, got=goodput.kind, allowed="measured", do="Measure it")
            yield "warning", found


def _goodputs(situation: Situation, region: str) -> Iterator[tuple[str, Goodput]]:
    for pool in situation.lock.regions[region].pools.values():
        model = situation.intent.models.get(pool.pool)
        how = model.accelerators.get(pool.accelerator) if model else None
        if how:
            where = f"{situation.intent.name}/models.yaml, models.{pool.pool}.accelerators.{pool.accelerator}.goodput"
            yield where, how.goodput


def _age(
    situation: Situation, where: str, what: str, as_of: date, limit_s: float, do: str
) -> Iterator[tuple[Verdict, Problem]]:
    days, limit_days = (situation.today - as_of).days, limit_s / _DAY_S
    if days < 0:
        yield (
            "failed",
            Problem(
                where=where,
                what=f"{what} is dated after today",
                got=str(as_of),
                allowed=f"{situation.today} or earlier",
                do="Correct the date",
            ),
        )
    elif days > limit_days:
        yield (
            "failed",
            Problem(
                where=where,
                what=f"{what} is too old",
                got=f"{as_of}, {days} days",
                allowed=f"at most {limit_days:g} days",
                do=do,
            ),
        )
