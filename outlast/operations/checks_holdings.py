"""Checks of quotas, caps and reservations against what the lock needs at its peak."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from outlast.errors import Problem
from outlast.intent.checks_capacity import ended
from outlast.intent.known import unknown
from outlast.operations.findings import Situation, Verdict
from outlast.operations.holdings import QuotaUse, quota_uses, uncounted


def check_quotas(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield quotas of one region that the peak exceeds, and deployed nodes that cannot be counted."""
    for use in quota_uses(situation.intent, situation.lock, situation.applied):
        if use.regions == (region,) and not use.quota.is_account_wide:
            yield from _short(situation, use)
    for key in uncounted(situation.intent, situation.lock, situation.applied, region):
        what = f"'{key}' is deployed, but nothing says what machines it has, so it counts against no quota"
        do = "Deploy the region, which removes it, or put it back into regions.yaml"
        yield "warning", Problem(where=f"{situation.declared(region)}.node_pools", what=what, do=do)


def check_caps(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield grants over several regions that their peaks together exceed, or that regions state differently."""
    for use in quota_uses(situation.intent, situation.lock, situation.applied):
        if region not in use.regions or not (use.quota.is_account_wide or len(use.regions) > 1):
            continue
        yield from _short(situation, use)
        if use.grant.differs:
            amounts = ", ".join(f"{name} {entry.granted:,.0f}" for name, entry in use.grant.stated.items())
            yield (
                "failed",
                Problem(
                    where=f"{situation.intent.name}/capacity.yaml, {use.quota.quota_code}",
                    what="one grant, but its regions state different amounts",
                    got=amounts,
                    do="Write what the cloud grants, the same everywhere",
                ),
            )


def check_reservations(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield reservations that do not exist, are of another machine type or zone, or hold too few nodes."""
    used: dict[str, int] = {}
    held = situation.intent.holdings(region).reservations
    for key, row in situation.lock.regions[region].node_pools.items():
        if row.reservation is None:
            continue
        where = f"{situation.intent.name}/plan.lock.yaml, regions.{region}.node_pools.{key}"
        reservation = held.get(row.reservation)
        if reservation is None:
            kind = f"reservation of {region} in capacity.yaml"
            yield "failed", unknown(f"{where}.reservation", kind, row.reservation, held)
            continue
        used[row.reservation] = used.get(row.reservation, 0) + row.nodes.max
        for field in ("machine_type", "zone"):
            got, wanted = getattr(reservation, field), getattr(row, field)
            if got != wanted:
                what = f"reservation '{row.reservation}' is of another {field.replace('_', ' ')}"
                do = "Correct the node pool or the reservation, and plan again"
                yield "failed", Problem(where=f"{where}.{field}", what=what, got=wanted, allowed=got, do=do)
    for name, nodes in used.items():
        if nodes > held[name].nodes:
            yield (
                "failed",
                Problem(
                    where=f"{situation.capacity(region)}.reservations.{name}.nodes",
                    what="the reservation holds fewer nodes than the lock needs at its peak",
                    got=f"{held[name].nodes}",
                    allowed=f"{nodes} or more",
                    do="Enlarge the reservation, or plan again within it",
                ),
            )


def check_terms(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield reservations in use that have not started, have ended, or end before the horizon."""
    held = situation.intent.holdings(region).reservations
    needed = situation.today + timedelta(days=situation.horizon_days)
    rows = situation.lock.regions[region].node_pools.values()
    for name in dict.fromkeys(row.reservation for row in rows if row.reservation in held):
        starts, ends = held[name].starts, held[name].ends
        if starts is not None and starts > situation.today:
            yield (
                "failed",
                Problem(
                    where=f"{situation.capacity(region)}.reservations.{name}.starts",
                    what="the reservation has not started: its nodes would not come",
                    got=str(starts),
                    allowed=f"{situation.today} or earlier",
                    do="Deploy on its first day, or plan without it",
                ),
            )
        if problem := ended(situation.intent, region, name, situation.today):
            yield "failed", problem
        elif ends is not None and ends < needed:
            yield (
                "failed",
                Problem(
                    where=f"{situation.capacity(region)}.reservations.{name}.ends",
                    what=f"the reservation ends within {situation.horizon_days} days",
                    got=str(ends),
                    allowed=f"{needed} or later",
                    do="Extend it before anything depends on it, or accept a shorter --horizon",
                ),
            )


def _short(situation: Situation, use: QuotaUse) -> Iterator[tuple[Verdict, Problem]]:
    if not use.missing:
        return
    code, fleet = use.quota.quota_code, situation.intent.name
    need = f"{use.peak:,.0f} {use.unit}"
    asked = "" if use.missing_after_requests else f" ({use.grant.requested:,.0f} are requested)"
    yield (
        "failed",
        Problem(
            where=f"{situation.capacity(next(iter(use.grant.stated), use.regions[0]))}.quotas.{code}",
            what=f"the grant does not cover the peak of {' and '.join(use.regions)}{asked}",
            got=f"{use.grant.granted:,.0f} {use.unit} granted",
            allowed=f"{need} or more",
            do=f"Ask for more ('outlast quotas {fleet} --requests' says how) and write the grant into capacity.yaml",
        ),
    )
