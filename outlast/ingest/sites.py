"""The regions of a fleet to be scaffolded: chosen by name or place, completed from facts.

Machines, zones and quotas come from ``config/facts``, example accounts from the modules of `outlast.ingest.starters`.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from outlast.errors import ConfigError, Problem, listed
from outlast.facts import Facts, MachineType, Offering, QuotaFact
from outlast.intent.known import unknown

ACCELERATOR = "h100-sxm-80"
"""Accelerator of a scaffolded fleet: offered by every cloud that the repository can deploy."""
NODE_GPUS = 8
MOST_ZONES = 3
_FEWEST_ZONES = 2
"""The loss of a zone must leave one."""
_MOST_REGIONS = 14
"""Address ranges 10.16.0.0/16, 10.32.0.0/16, ... end there."""
_NAME = re.compile(r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")
_WHERE = "--regions"
_FORM = "NAME, or NAME=CLOUD:PROVIDER_REGION"


@dataclass(frozen=True, kw_only=True)
class Site:
    """One region of a scaffolded fleet."""

    name: str
    cloud: str
    provider_region: str
    jurisdiction: str
    zones: tuple[str, ...]
    machine: MachineType
    quotas: tuple[QuotaFact, ...]
    """What its on-demand nodes count against, caps over all regions of the account last."""
    cidr: str


@cache
def starters() -> Mapping[str, ModuleType]:
    """Return cloud -> the module that knows its example accounts; a new cloud is a new file."""
    package = importlib.import_module("outlast.ingest.starters")
    names = [f"{package.__name__}.{found.name}" for found in pkgutil.iter_modules(package.__path__)]
    return {module.CLOUD: module for module in map(importlib.import_module, names)}


def first_regions() -> tuple[tuple[str, str, str], ...]:
    """Return the regions that are scaffolded when none are named: our name, cloud, provider region."""
    found = sorted((*first, cloud) for cloud, starter in starters().items() for first in starter.FIRST)
    return tuple((name, cloud, place) for _, name, place, cloud in found)


def sites(regions: Sequence[str], facts: Facts) -> tuple[Site, ...]:
    """Return the sites that ``regions`` name, or the first ones.

    Raises:
        ConfigError: a name or place is wrong, twice there, or sells no node of the scaffold's kind.
    """
    chosen = [_parsed(text) for text in regions] if regions else list(first_regions())
    names = [name for name, _, _ in chosen]
    problems = [
        Problem(where=_WHERE, what=f"region '{name}' stands twice", do="Name each once")
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    if not 2 <= len(chosen) <= _MOST_REGIONS:
        do = "Name regions that can stand in for each other"
        allowed = f"2 to {_MOST_REGIONS}"
        problems.append(
            Problem(where=_WHERE, what="wrong number of regions", got=str(len(chosen)), allowed=allowed, do=do)
        )
    problems += [problem for _, cloud, place in chosen for problem in _place_problems(cloud, place, facts)]
    dns = [cloud for cloud, starter in starters().items() if starter.ANSWERS_DNS]
    if not any(cloud in dns for _, cloud, _ in chosen):
        do = f"Add a region on {listed(dns)}"
        problems.append(Problem(where=_WHERE, what="no region lies on a cloud whose DNS can route", do=do))
    if problems:
        raise ConfigError(problems)
    return tuple(_site(index, *choice, facts) for index, choice in enumerate(chosen))


def _parsed(text: str) -> tuple[str, str, str]:
    name, is_placed, place = text.strip().partition("=")
    first = {known: (known, cloud, region) for known, cloud, region in first_regions()}
    if not is_placed and name in first:
        return first[name]
    cloud, _, region = place.partition(":")
    if is_placed and _NAME.fullmatch(name) and len(name) <= 32 and cloud and region:
        return name, cloud, region
    if not is_placed and _NAME.fullmatch(name):
        problem = unknown(_WHERE, "region", name, first)
        do = problem.do if "mean" in problem.do else f"Say where it lies: {name}=CLOUD:PROVIDER_REGION"
        raise ConfigError(Problem(where=_WHERE, what=problem.what, allowed=problem.allowed, do=do))
    raise ConfigError(Problem(where=_WHERE, what="not a region", got=f"'{text}'", allowed=_FORM, do="Mend it"))


def _place_problems(cloud: str, place: str, facts: Facts) -> list[Problem]:
    if cloud not in starters():
        return [unknown(_WHERE, "cloud that the repository can deploy", cloud, starters())]
    places = {region for owner, region in facts.provider_regions if owner == cloud}
    if place not in places:
        return [unknown(_WHERE, f"provider region of {cloud}", place, places)]
    if _machine(cloud, place, facts) is None:
        sold = {region for region in places if _machine(cloud, region, facts)}
        what = f"{place} offers no {NODE_GPUS} × {ACCELERATOR} nodes in two zones"
        return [Problem(where=_WHERE, what=what, allowed=listed(sold, 20), do="Choose another place")]
    if _origin(facts.provider_regions[cloud, place].jurisdiction) is None:
        return [Problem(where=_WHERE, what=f"{place} has no geolocation of its own", do="Add the region by hand")]
    return []


def _machine(cloud: str, place: str, facts: Facts) -> MachineType | None:
    """Return a machine type with the scaffold's cards, zones and quotas, with one of its family's own if there is."""
    found = [
        facts.machine_types[cloud, machine_type]
        for (owner, region, machine_type), offering in facts.offerings.items()
        if (owner, region) == (cloud, place)
        and facts.machine_types[cloud, machine_type].accelerator == ACCELERATOR
        and facts.machine_types[cloud, machine_type].node_gpus == NODE_GPUS
        and len(_zones(cloud, place, offering, facts)) >= _FEWEST_ZONES
        and facts.quotas_for(cloud, machine_type, "on_demand")
    ]

    def preference(machine: MachineType) -> tuple[int, str]:
        return -len(facts.quotas_for(cloud, machine.machine_type, "on_demand")), machine.machine_type

    return min(found, key=preference, default=None)


def _zones(cloud: str, place: str, offering: Offering, facts: Facts) -> tuple[str, ...]:
    """Return the zones that offer a machine; all of the place's where the source says only the place."""
    offered = offering.zones or facts.provider_regions[cloud, place].zone_names
    return tuple(zone for zone in offered if (cloud, zone) not in facts.closed_zones)[:MOST_ZONES]


def _site(index: int, name: str, cloud: str, place: str, facts: Facts) -> Site:
    machine = _machine(cloud, place, facts)
    if machine is None:
        raise AssertionError(place)  # `sites` refused it
    return Site(
        name=name,
        cloud=cloud,
        provider_region=place,
        jurisdiction=facts.provider_regions[cloud, place].jurisdiction,
        zones=_zones(cloud, place, facts.offerings[cloud, place, machine.machine_type], facts),
        machine=machine,
        quotas=(
            *facts.quotas_for(cloud, machine.machine_type, "on_demand"),
            *facts.caps_for(cloud, machine.machine_type, "on_demand"),
        ),
        cidr=f"10.{16 * (index + 1)}.0.0/16",
    )


def nearest_dns_region(site: Site, dns: Site, facts: Facts) -> str:
    """Return the region of the DNS cloud nearest to a site: the same, of its country, of its law, or the zone's own."""
    if site.cloud == dns.cloud:
        return site.provider_region
    home = facts.provider_regions[site.cloud, site.provider_region]
    rows = [row for (cloud, _), row in sorted(facts.provider_regions.items()) if cloud == dns.cloud]
    same = [row for row in rows if row.country == home.country] or [
        row for row in rows if row.jurisdiction == home.jurisdiction
    ]
    return same[0].provider_region if same else dns.provider_region


_CONTINENTS: Mapping[str, tuple[str, ...]] = {
    "US": ("continent:NA", "continent:SA"),
    "EU": ("continent:EU", "continent:AF"),
}
"""Jurisdiction -> where its demand arises; one country for the others."""
_COUNTRY = {"UK": "GB"}
"""Jurisdiction -> country code, where they differ."""


def _origin(jurisdiction: str) -> tuple[str, ...] | None:
    code = _COUNTRY.get(jurisdiction, jurisdiction)
    country = (f"country:{code}",) if len(code) == 2 else None
    return _CONTINENTS.get(jurisdiction, country)


def origins(chosen: Sequence[Site]) -> Mapping[str, tuple[str, ...]]:
    """Return jurisdiction -> geolocation codes of the demand that arises there, in the order of the sites."""
    found = {site.jurisdiction: _origin(site.jurisdiction) for site in chosen}
    return {jurisdiction: codes for jurisdiction, codes in found.items() if codes}
