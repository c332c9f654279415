"""Checks of places, machines and accounts against facts; each yields only what is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from outlast.errors import FactError, Problem, listed
from outlast.facts import LIST_BASIS
from outlast.intent import region_stack
from outlast.intent.checks_forms import without_admin
from outlast.intent.intent import REDUNDANT_NAT
from outlast.intent.known import unknown
from outlast.lock import (
    LockNodePool,
    changed_zones,
    freshness,
    overstaged,
    short_ranges,
    stale_problem,
    undeclared,
)
from outlast.operations.findings import Situation, Verdict
from outlast.replica import misfits

NOT_SOLD = "list_only_not_sold_on_demand"
"""Basis of a list price for which nobody can buy the machine by the hour."""


def check_lock(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield inputs that changed since the lock was made, and rows that are not as declared."""
    fresh = freshness(situation.lock, situation.intent)
    if fresh.stale:
        yield "failed", stale_problem(situation.intent, fresh)
    for problem in undeclared(situation.lock, situation.intent, [region]):
        yield "failed", problem


def check_account(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield an account of the credentials at hand that is not the region's."""
    allowed = situation.intent.regions[region].account
    if region not in dict(situation.accounts) and situation.intent.fleet.clouds == "real":
        do = f"Give --account {region}=ACCOUNT, the one the credentials at hand belong to"
        yield "warning", Problem(where=f"--account {region}", what="not compared", do=do)
    for owner, account in situation.accounts:
        if owner == region and account != allowed:
            yield (
                "failed",
                Problem(
                    where=f"--account {region}",
                    what="the credentials at hand are of another account",
                    got=account,
                    allowed=allowed,
                    do="Sign in to the region's account",
                ),
            )


def check_access(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield that nobody may administer the cluster."""
    yield from (("failed", problem) for problem in without_admin(situation.intent, region))


def check_network(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield ranges of the region's network that do not hold the lock's nodes and their pods."""
    yield from (("failed", problem) for problem in short_ranges(situation.lock, situation.intent, [region]))


def check_way_out(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield one way out for all zones that lies in one of them."""
    intent, row = situation.intent, situation.intent.regions[region]
    if (
        row.network.existing is None
        and intent.nat(region) == "regional"
        and not intent.facts.can(row.cloud, REDUNDANT_NAT)
    ):
        problem = Problem(
            where=f"{situation.declared(region)}.network.nat",
            what=f"the one way out lies in a single zone on {row.cloud}: without that zone no node reaches the world",
            got="regional",
            do="Remove it, or write zonal",
        )
        yield "warning", problem


def check_zones(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield that the region's zones are not those that it is deployed with, where its cloud keeps them for good."""
    applied = (situation.applied or {}).get(region_stack(situation.intent.name, region))
    yield from (("failed", problem) for problem in changed_zones(situation.intent, region, applied))


def check_offering(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield machine types that the provider region, or a zone used, does not offer or that facts know no zones of."""
    facts = situation.intent.facts
    row = situation.intent.regions[region]
    for key, node_pool in _rows(situation, region):
        where = f"{situation.intent.name}/plan.lock.yaml, regions.{region}.node_pools.{key}"
        offering = facts.offerings.get((row.cloud, row.provider_region, node_pool.machine_type))
        if offering is None:
            what = f"{node_pool.machine_type} is not offered in {row.provider_region}"
            yield "failed", Problem(where=where, what=what, do="Choose another machine type or region, and plan again")
        elif not offering.zones:
            what = f"no source says which zones of {row.provider_region} offer {node_pool.machine_type}"
            do = f"Ask the cloud whether account {row.account} may have it in {node_pool.zone}"
            yield "warning", Problem(where=where, what=what, do=do)
        elif node_pool.zone not in offering.zones:
            yield (
                "failed",
                Problem(
                    where=where,
                    what=f"{node_pool.machine_type} is not offered in zone {node_pool.zone}",
                    allowed=listed(offering.zones),
                    do="Use a zone that offers it, and plan again",
                ),
            )


def check_capacity_type(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield machine types with a list price for which nobody can buy them by the hour."""
    row = situation.intent.regions[region]
    for kind in dict.fromkeys((pool.machine_type, pool.capacity) for _, pool in _rows(situation, region)):
        machine_type, capacity = kind
        if capacity == "on_demand" and (row.cloud, row.provider_region, machine_type, NOT_SOLD) in (
            situation.intent.facts.prices
        ):
            yield (
                "failed",
                Problem(
                    where=f"{situation.declared(region)}.node_pools",
                    what=f"{machine_type} is listed in {row.provider_region}, but not sold on demand",
                    got=capacity,
                    allowed="reserved or spot",
                    do="Reserve it, or use a larger machine type that is sold on demand",
                ),
            )


def check_memory(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield models that cannot run as they are declared, and those that facts do not let anybody judge."""
    try:
        yield from (("failed", problem) for problem in misfits(situation.intent, region))
    except FactError as error:
        yield from (("warning", problem) for problem in error.problems)


def check_disks(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield rows whose artifacts, at the sizes released now, exceed the local disks that facts know."""
    intent = situation.intent
    sizes = {name: row.size for name, row in (*intent.artifacts.models.items(), *intent.artifacts.adapters.items())}
    for key, node_pool in _rows(situation, region):
        where = f"{intent.name}/plan.lock.yaml, regions.{region}.node_pools.{key}.stage"
        lacking = [name for name in node_pool.stage if name not in sizes]
        if lacking:
            yield "failed", unknown(where, "artifact", lacking[0], sizes)
            continue
        machine = intent.facts.machine_types.get((intent.regions[region].cloud, node_pool.machine_type))
        if machine is None:
            continue  # the offering check says so
        staged_gib = sum(sizes[name] for name in node_pool.stage)
        if machine.nvme_count is None:
            what = f"no source says what local disks {machine.machine_type} has"
            yield "warning", Problem(where=where, what=what, got=f"{staged_gib:g} GiB staged", do="Look at one node")
        elif problem := overstaged(where, staged_gib, machine.disk_gib, machine.machine_type):
            yield "failed", problem


def check_prices(situation: Situation, region: str) -> Iterator[tuple[Verdict, Problem]]:
    """Yield machines without a price; a deployment needs none, but nobody knows what it costs."""
    row = situation.intent.regions[region]
    for kind in dict.fromkeys((pool.machine_type, pool.capacity) for _, pool in _rows(situation, region)):
        machine_type, capacity = kind
        if (row.cloud, row.provider_region, machine_type, LIST_BASIS[capacity]) not in situation.intent.facts.prices:
            what = f"no {LIST_BASIS[capacity]} price of {machine_type} in {row.provider_region}"
            where = f"facts/prices.csv, {row.cloud} {row.provider_region}"
            yield "warning", Problem(where=where, what=what, do="Add the price with its source")


def _rows(situation: Situation, region: str) -> list[tuple[str, LockNodePool]]:
    """Return the rows of a region that a deployment creates or keeps."""
    rows = situation.lock.regions[region].node_pools
    return [(key, row) for key, row in rows.items() if row.state != "leaving"]
