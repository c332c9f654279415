"""Checks of address ranges: of regions' networks, and of who may reach an API server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network

from outlast.errors import Problem
from outlast.intent.intent import Intent
from outlast.intent.ranges import NARROWEST_PREFIX
from outlast.intent.regions import ApiAccess

_PRIVATE = tuple(map(IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
"""Ranges that the Internet gives to nobody. Source: RFC 1918."""


def check_ranges(intent: Intent) -> Iterator[Problem]:
    """Ranges of networks are private, of a size that the cloud takes, free of its own, and none overlaps another."""
    known: dict[str, IPv4Network] = {}
    for name, region in intent.regions.items():
        where = f"{intent.name}/regions.yaml, regions.{name}.cidr"
        try:
            network = IPv4Network(region.cidr)
        except ValueError as error:
            yield Problem(where=where, what=str(error), got=region.cidr, do=_instead(intent, name))
            continue
        if wrong := list(_check_place(intent, where, name, network)):
            yield from wrong
            continue
        for other, taken in known.items():
            if network.overlaps(taken):
                yield Problem(
                    where=where,
                    what=f"overlaps the range of '{other}'",
                    got=region.cidr,
                    allowed=f"anything outside {taken}",
                    do=_instead(intent, name, network.prefixlen),
                )
        known[name] = network


def _check_place(intent: Intent, where: str, name: str, network: IPv4Network) -> Iterator[Problem]:
    """Yield what is wrong with a range by itself; of a network that exists, only that its cloud takes none there."""
    region, use = intent.regions[name], intent.facts.networks.get(intent.regions[name].cloud)
    ours, what, allowed = region.network.existing is None, "", ""
    if use is None:
        return  # the check of the cloud says so
    if ours and not use.widest_prefix <= network.prefixlen <= NARROWEST_PREFIX:
        is_wide = network.prefixlen < use.widest_prefix
        what = f"a network of {region.cloud} is not that large" if is_wide else _TOO_SMALL
        allowed = " to ".join(f"/{size}" for size in sorted({use.widest_prefix, NARROWEST_PREFIX}))
    elif taken := use.taken_by(network):
        what = f"overlaps {taken}, which {region.cloud} or its clusters use themselves"
        allowed = f"anything outside {', '.join(map(str, use.taken))}"
    elif ours and not any(network.subnet_of(private) for private in _PRIVATE):
        what, allowed = "is no private range", f"inside {', '.join(map(str, _PRIVATE))}"
    if what:
        do = _instead(intent, name, network.prefixlen)
        yield Problem(where=where, what=what, got=region.cidr, allowed=allowed, do=do)


_TOO_SMALL = "too small for node, pod and gateway subnets"


def _instead(intent: Intent, name: str, prefix: int = NARROWEST_PREFIX) -> str:
    """Return what to do: of a network that we make, which range is free, as large as asked for if one is."""
    region = intent.regions[name]
    if region.network.existing is not None:
        return "State the range that the network has, and let no two regions have the same"
    use = intent.facts.networks.get(region.cloud)
    kept = list(_read(other.cidr for key, other in intent.regions.items() if key != name))
    widest = use.widest_prefix if use else 0
    for size in dict.fromkeys((max(widest, min(prefix, NARROWEST_PREFIX)), NARROWEST_PREFIX)):
        for space in _PRIVATE:
            for found in space.subnets(new_prefix=size) if size >= space.prefixlen else ():
                if not (use and use.taken_by(found)) and not any(found.overlaps(other) for other in kept):
                    return f"Use {found}, which is free"
    return "Use an existing network, or fewer regions: no private range is free"


def _read(ranges: Iterable[str]) -> Iterator[IPv4Network]:
    for text in ranges:
        try:
            yield IPv4Network(text)
        except ValueError:
            continue


def check_reach(where: str, api: ApiAccess) -> Iterator[Problem]:
    """Yield what is wrong with the ranges that reach an API server: none where it is public, all, or needless ones."""
    if not api.private and not api.allow:
        yield Problem(
            where=where,
            what="a public API server without an allow list is open to the world",
            do="List the ranges that may reach it, or set private: true",
        )
    if api.private and api.allow:
        yield Problem(
            where=where,
            what="a private API server answers to no range outside its network",
            got=", ".join(api.allow),
            allowed="none while private is true",
            do="Remove the ranges, or set private: false",
        )
    for text in api.allow:
        try:
            size = IPv4Network(text).prefixlen
        except ValueError as error:
            yield Problem(where=where, what=str(error), got=text, do="Write a network address such as 203.0.113.0/24")
            continue
        if size == 0:
            do = "List the ranges that need it"
            yield Problem(where=where, what="this range is the whole world", got=text, do=do)
