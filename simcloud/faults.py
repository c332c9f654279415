"""Faults on demand: what goes wrong in a simulated cloud, and when it strikes.

Stored in the clouds' own file, so that a fault set by one command meets the plugins of the next. A fault with `times`
is used up; without, it stays until it is lifted.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from outlast.errors import EnvironmentProblem, Problem, did_you_mean, listed
from simcloud.refusals import Refused, Throttled, Violation
from simcloud.row import Case, Nodes
from simcloud.state import Clouds
from simcloud.world import World

KINDS: Mapping[str, tuple[str, ...]] = {
    "lose-region": ("cloud", "region"),
    "lose-zone": ("cloud", "zone"),
    "stockout": ("cloud", "machine_type", "zone"),
    "revoke-quota": ("cloud", "region", "code", "granted"),
    "throttle": ("cloud",),
    "fail-before": ("type", "name"),
    "fail-half-way": ("type", "name"),
    "kill": ("type", "name"),
}
"""Kind to arguments. `region` is the provider's, `name` the resource's logical name; both may be `*`."""

_SOURCE = "a fault set with 'outlast sim faults'"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault in force."""

    number: int
    kind: str
    arguments: Mapping[str, Any]
    times: int | None
    """Times left; None: until lifted."""


def in_force(clouds: Clouds) -> list[Fault]:
    """List faults, oldest first."""
    return [Fault(number=n, kind=k, arguments=a, times=t) for n, k, a, t in clouds.faults()]


def set_fault(clouds: Clouds, kind: str, arguments: Mapping[str, Any], times: int | None = None) -> Fault:
    """Put a fault into force.

    Raises:
        EnvironmentProblem: unknown kind or arguments.
    """
    if kind not in KINDS:
        do = did_you_mean(kind, KINDS) or "Use one of these"
        raise EnvironmentProblem(Problem(where=f"fault '{kind}'", what="no such fault", allowed=listed(KINDS), do=do))
    if set(arguments) != set(KINDS[kind]):
        raise EnvironmentProblem(
            Problem(
                where=f"fault '{kind}'",
                what="needs other arguments",
                got=listed(arguments),
                allowed=listed(KINDS[kind]),
                do="Give each of them once",
            )
        )
    once = times if times is not None or kind in ("lose-region", "lose-zone", "stockout", "revoke-quota") else 1
    with clouds.change():
        number = clouds.add_fault(kind, arguments, once)
    return Fault(number=number, kind=kind, arguments=arguments, times=once)


def granted(world: World, clouds: Clouds, cloud: str, account: str, region: str, code: str) -> float:
    """Amount of a quota that is granted now."""
    for fault in reversed(in_force(clouds)):
        if fault.kind == "revoke-quota" and _meets(fault, cloud=cloud, region=region, code=code):
            return float(fault.arguments["granted"])
    return world.granted(cloud, account, region, code)


def lost_zones(clouds: Clouds, cloud: str, region: str, zones: frozenset[str]) -> frozenset[str]:
    """The zones among some that are lost now; a lost region loses all its zones."""
    found: set[str] = set()
    for fault in in_force(clouds):
        if fault.kind == "lose-region" and _meets(fault, cloud=cloud, region=region):
            return zones
        found |= {zone for zone in zones if fault.kind == "lose-zone" and _meets(fault, cloud=cloud, zone=zone)}
    return frozenset(found)


def strike(case: Case, name: str) -> None:
    """Let a consumable fault hit an operation before anything exists.

    Raises:
        Throttled: the cloud asks to come back later.
        Refused: the operation fails.
    """
    for fault in in_force(case.clouds):
        if fault.kind == "throttle" and _meets(fault, cloud=case.place.cloud):
            case.clouds.spend_fault(fault.number)
            raise Throttled(Violation(what="rate exceeded", do="Run the same command again", source=_SOURCE))
        if fault.kind == "fail-before" and _meets(fault, type=case.type, name=name):
            case.clouds.spend_fault(fault.number)
            raise Refused(Violation(what="internal error; nothing was made", do="Run it again", source=_SOURCE))


def standing(case: Case, nodes: Nodes | None) -> Iterator[Violation]:
    """Judge a create or update by the faults that stay until they are lifted."""
    cloud = case.place.cloud
    for fault in in_force(case.clouds):
        if fault.kind == "lose-region" and _meets(fault, cloud=cloud, region=case.place.region):
            yield Violation(what=f"{case.place.region} does not answer", do="Wait, or deploy elsewhere", source=_SOURCE)
        elif fault.kind == "lose-zone" and nodes:
            yield from _lost(fault, cloud, nodes)
        elif fault.kind == "stockout" and nodes and case.own is None:
            yield from _stockout(fault, cloud, nodes)


def after_create(clouds: Clouds, kind: str, name: str) -> str:
    """Strike once the cloud has the resource and the engine does not know it yet; return why it is half made."""
    for fault in in_force(clouds):
        if fault.kind in ("kill", "fail-half-way") and _meets(fault, type=kind, name=name):
            with clouds.change():
                clouds.spend_fault(fault.number)
            if fault.kind == "kill":
                _die(clouds)
            return f"created, but it never became ready. Run the same command again. Source: {_SOURCE}."
    return ""


def _die(clouds: Clouds) -> NoReturn:
    clouds.close()
    os.kill(os.getpid(), signal.SIGKILL)
    raise SystemExit(1)


def _lost(fault: Fault, cloud: str, nodes: Nodes) -> Iterator[Violation]:
    for zone in sorted(nodes.zones):
        if _meets(fault, cloud=cloud, zone=zone):
            yield Violation(
                property=nodes.property, what=f"zone {zone} does not answer", do="Use another zone", source=_SOURCE
            )


def _stockout(fault: Fault, cloud: str, nodes: Nodes) -> Iterator[Violation]:
    for zone in sorted(nodes.zones):
        if _meets(fault, cloud=cloud, zone=zone, machine_type=nodes.machine_type):
            yield Violation(
                property=nodes.property,
                what=f"the cloud has no {nodes.machine_type} left in {zone}",
                do="Use another zone or machine type, or a reservation",
                source=_SOURCE,
            )


def _meets(fault: Fault, **facts: str) -> bool:
    return all(fault.arguments.get(key) in (value, "*") for key, value in facts.items())
