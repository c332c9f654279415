"""What routing promises, and the tree of records of a residency class, decided without any cloud.

    entry  <class>.<zone>                    by origin        -> home of the origin
    home   <origin>.home.<class>.<zone>      by homes         -> node of a home region
    node   <region>.node.<class>.<zone>      self 100 : spill 0
    spill  <region>.spill.<class>.<zone>     by lock's shares -> leaf of a survivor
    leaf   <region>.leaf.<class>.<zone>      addresses of the region's gateway, health-checked

No record of a class leads outside its tree, so that even when every check fails traffic stays where the class may be.
A region's loss makes its leaf unhealthy; then only the spill record of its node is left, and the shares act without
anybody doing anything. Set identifiers are names of regions and origins and never change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pulumi

from components import names
from components.base import PlatformComponent, class_of

DEFAULT = "default"
SELF, SPILL = "self", "spill"
_WHOLE = 100


@dataclass(frozen=True, kw_only=True)
class Route:
    """One record: an alias of another name, or an address of a region."""

    level: str
    """``entry``, ``home``, ``node``, ``spill`` or ``leaf``."""
    host: str
    key: str
    """Unique among the routes of a class."""
    set_identifier: str
    weight: int | None = None
    """Absent at the entry, which goes by place."""
    geolocation: str = ""
    """``continent:XX``, ``country:XX``, or ``default``; entry only."""
    target: str = ""
    """Host it is an alias of; empty for a leaf."""
    address: tuple[str, str] | None = None
    """(region, slot) whose address a leaf holds."""


@dataclass(frozen=True, kw_only=True)
class ClassRoutesArgs:
    """The tree of one residency class."""

    fleet: str
    residency: str
    zone: str
    """Name of the DNS zone."""
    zone_id: pulumi.Input[str]
    homes: Mapping[str, Mapping[str, int]]
    """Origin -> region -> per cent; from the lock."""
    shares: Mapping[str, Mapping[str, int]]
    """Lost region -> survivor -> per cent; from the lock."""
    geolocations: Mapping[str, tuple[str, ...]]
    """Origin -> places it stands for."""
    slots: Mapping[str, tuple[str, ...]]
    """Region that serves -> slots of its addresses; a region that is absent gets no traffic."""
    addresses: Mapping[str, Mapping[str, pulumi.Input[str]]]
    """Region -> slot -> address, as the region's stack exports them."""


class ClassRoutes(PlatformComponent):
    """The tree of one class."""

    host: str
    """Name that clients of the class use."""
    records: pulumi.Output[Sequence[str]]
    """Names of the records, known once they exist."""


@dataclass(frozen=True, kw_only=True)
class DnsZoneArgs:
    """The zone below which all hosts of the fleet lie."""

    fleet: str
    zone: str
    protect: bool


class DnsZone(PlatformComponent):
    """The zone."""

    zone_id: pulumi.Output[str]


def tree(args: ClassRoutesArgs) -> tuple[Route, ...]:
    """Return all records of a class, targets before what leads to them."""
    leaves = tuple(_leaves(args))
    spills = tuple(_spills(args))
    nodes = tuple(_nodes(args, {route.key.split("/")[0] for route in spills}))
    reachable = {route.key.split("/")[0] for route in nodes}
    homes = tuple(_homes(args, reachable))
    return (*leaves, *spills, *nodes, *homes, *_entries(args, {route.key.split("/")[0] for route in homes}))


def host_of(args: ClassRoutesArgs, level: str = "", key: str = "") -> str:
    """Return the host of a level, or the host of the class itself."""
    return names.host(*((key, level) if level else ()), args.residency, zone=args.zone)


def _home_regions(args: ClassRoutesArgs) -> list[str]:
    return sorted({region for shares in args.homes.values() for region, share in shares.items() if share})


def _leaves(args: ClassRoutesArgs) -> Iterator[Route]:
    survivors = {region for shares in args.shares.values() for region, share in shares.items() if share}
    for region in sorted(survivors | set(_home_regions(args))):
        for slot in args.slots.get(region, ()):
            host = host_of(args, "leaf", region)
            yield Route(
                level="leaf", host=host, key=f"{region}/{slot}", set_identifier=slot, weight=1, address=(region, slot)
            )


def _spills(args: ClassRoutesArgs) -> Iterator[Route]:
    for lost in _home_regions(args):
        for region, share in args.shares.get(lost, {}).items():
            if share and region in args.slots:
                yield Route(
                    level="spill",
                    host=host_of(args, "spill", lost),
                    key=f"{lost}/{region}",
                    set_identifier=region,
                    weight=share,
                    target=host_of(args, "leaf", region),
                )


def _nodes(args: ClassRoutesArgs, spilling: set[str]) -> Iterator[Route]:
    for region in _home_regions(args):
        serves = region in args.slots
        ways = ((SELF, "leaf", _WHOLE, serves), (SPILL, "spill", 0 if serves else _WHOLE, region in spilling))
        for identifier, level, weight, exists in ways:
            if exists:
                yield Route(
                    level="node",
                    host=host_of(args, "node", region),
                    key=f"{region}/{identifier}",
                    set_identifier=identifier,
                    weight=weight,
                    target=host_of(args, level, region),
                )


def _homes(args: ClassRoutesArgs, reachable: set[str]) -> Iterator[Route]:
    for origin, shares in args.homes.items():
        for region, share in shares.items():
            if share and region in reachable:
                yield Route(
                    level="home",
                    host=host_of(args, "home", origin),
                    key=f"{origin}/{region}",
                    set_identifier=region,
                    weight=share,
                    target=host_of(args, "node", region),
                )


def _entries(args: ClassRoutesArgs, origins: set[str]) -> Iterator[Route]:
    """Yield one record a place of an origin; the first origin of the class also answers for the rest of the world."""
    served = [origin for origin in args.homes if origin in origins]
    for index, origin in enumerate(served):
        for place in (*args.geolocations[origin], *((DEFAULT,) if index == 0 else ())):
            identifier = place if place == DEFAULT else f"{origin}-{place.replace(':', '-').lower()}"
            yield Route(
                level="entry",
                host=host_of(args),
                key=identifier,
                set_identifier=identifier,
                geolocation=place,
                target=host_of(args, "home", origin),
            )


def declare_zone(name: str, cloud: str, args: DnsZoneArgs, opts: pulumi.ResourceOptions | None = None) -> DnsZone:
    """Declare the zone on the DNS cloud."""
    return class_of(DnsZone, cloud)(name, args, opts)


def declare_routes(
    name: str, cloud: str, args: ClassRoutesArgs, opts: pulumi.ResourceOptions | None = None
) -> ClassRoutes:
    """Declare the tree of a class on the DNS cloud."""
    return class_of(ClassRoutes, cloud)(name, args, opts)
