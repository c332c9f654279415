"""Checks of what a fleet holds against facts, regions, models and classes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from outlast.errors import Problem
from outlast.intent.capacity import Holdings
from outlast.intent.checks_forms import misread
from outlast.intent.checks_regions import strange_zones
from outlast.intent.intent import Intent
from outlast.intent.known import unknown

_QUOTA_UNITS = {"vCPU": "vcpu", "GPUs": "gpus", "GPU": "gpus"}
"""Unit as written -> unit of facts."""


def check_capacity(intent: Intent) -> Iterator[Problem]:
    """Quotas, reservations, hosted routes and discounts name things that exist where they are held."""
    for region, holdings in intent.capacity.regions.items():
        where = f"{intent.name}/capacity.yaml, regions.{region}"
        if region not in intent.regions:
            yield unknown(where, "region", region, intent.regions)
            continue
        yield from _check_quotas(intent, f"{where}.quotas", region, holdings)
        yield from _check_reservations(intent, f"{where}.reservations", region, holdings)
        yield from _check_routes(intent, f"{where}.hosted_routes", region, holdings)
    for index, discount in enumerate(intent.capacity.discounts):
        if discount.cloud not in intent.facts.clouds:
            where = f"{intent.name}/capacity.yaml, discounts.{index}"
            yield unknown(where, "cloud", discount.cloud, intent.facts.clouds)


def _check_quotas(intent: Intent, where: str, region: str, holdings: Holdings) -> Iterator[Problem]:
    cloud = intent.regions[region].cloud
    quotas = {quota.quota_code: quota for quota in intent.facts.quotas if quota.cloud == cloud}
    for code, quota in holdings.quotas.items():
        if code not in quotas:
            yield unknown(where, f"quota of {cloud}", code, quotas)
            continue
        for key, amount in (("granted", quota.granted), ("requested", quota.requested)):
            if amount is not None and _QUOTA_UNITS[amount.unit] != quotas[code].unit:
                yield Problem(
                    where=f"{where}.{code}.{key}",
                    what="the quota is counted in another unit",
                    got=f"{amount:g} {amount.unit}",
                    allowed=quotas[code].written_unit,
                    do="Write the amount as the cloud counts it",
                )


def ended(intent: Intent, region: str, reservation: str, today: date) -> Problem | None:
    """Return the problem of a reservation whose last day has passed."""
    held = intent.holdings(region).reservations.get(reservation)
    if held is None or held.ends is None or held.ends >= today:
        return None
    return Problem(
        where=f"{intent.name}/capacity.yaml, regions.{region}.reservations.{reservation}.ends",
        what="the reservation has ended, so its machines do not count",
        got=str(held.ends),
        allowed=f"{today} or later",
        do="Renew it and correct the date, or declare the node pool with other capacity",
    )


def ended_in_use(intent: Intent, *regions: str) -> Iterator[Problem]:
    """Yield reservations of node pools whose last day has passed; of all regions unless some are named.

    A day that passes must not stop what concerns other regions, so this is no check of loading.
    """
    for region in regions or intent.regions:
        used = {pool.reservation for pool in intent.regions[region].node_pools.values() if pool.reservation}
        yield from filter(None, (ended(intent, region, name, intent.today) for name in sorted(used)))


def _check_reservations(intent: Intent, where: str, region: str, holdings: Holdings) -> Iterator[Problem]:
    row = intent.regions[region]
    cloud, zones = row.cloud, row.zones
    machine_types = {machine for owner, machine in intent.facts.machine_types if owner == cloud}
    for name, reservation in holdings.reservations.items():
        yield from misread(intent, f"{where}.{name}", row, "reservation", name)
        if reservation.machine_type not in machine_types:
            yield unknown(f"{where}.{name}", f"machine type of {cloud}", reservation.machine_type, machine_types)
        if reservation.zone not in zones and not strange_zones(intent, row):
            yield unknown(f"{where}.{name}", f"zone of {region}", reservation.zone, zones)
        for key in ("starts", "ends"):
            if reservation.block and getattr(reservation, key) is None:
                yield Problem(
                    where=f"{where}.{name}.{key}",
                    what="missing: a block holds its machines for a fixed time",
                    do=f"Enter the {'first' if key == 'starts' else 'last'} day of the block",
                )


def _check_routes(intent: Intent, where: str, region: str, holdings: Holdings) -> Iterator[Problem]:
    hosted: dict[str, str] = {}
    for name, route in holdings.hosted_routes.items():
        if route.model in hosted:
            yield Problem(
                where=f"{where}.{name}",
                what=f"route '{hosted[route.model]}' serves '{route.model}' here already",
                do="Keep one route a model and region, with the quota of both",
            )
        hosted[route.model] = name
        if route.model not in intent.models:
            yield unknown(f"{where}.{name}.model", "model", route.model, intent.models)
        elif intent.models[route.model].unit == "requests/s":
            yield Problem(
                where=f"{where}.{name}.quota",
                what=f"'{route.model}' is planned in requests/s, and the route's quota counts tokens",
                do="Plan the model in tokens, or remove the route",
            )
        for residency in route.classes:
            if residency not in intent.tenants_file.classes:
                yield unknown(f"{where}.{name}", "residency class", residency, intent.tenants_file.classes)
            elif not intent.law_allows(residency, region):
                yield Problem(
                    where=f"{where}.{name}.classes",
                    what=f"class '{residency}' may not be in {intent.jurisdiction(region)}, where the route lies",
                    do="Take the class from the route",
                )
