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
from simcloud import fault_names
from simcloud.refusals import Refused, Throttled, Violation
from simcloud.row import Case, Nodes, Place
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

LASTING = frozenset({"lose-region", "lose-zone", "stockout", "revoke-quota"})
"""Kinds that stay until they are lifted; the others strike once, or as often as they are told to."""

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


def set_fault(clouds: Clouds, world: World, kind: str, arguments: Mapping[str, Any], times: int | None = None) -> Fault:
    """Put a fault into force.

    Raises:
        EnvironmentProblem: unknown kind or arguments, or one that could never strike.
    """
    if kind not in KINDS:
        do = did_you_mean(kind, KINDS) or "Use one of these"
        raise EnvironmentProblem(Problem(where=f"fault '{kind}'", what="no such fault", allowed=listed(KINDS), do=do))
    problems = [*_misshapen(kind, arguments, times)]
    problems = problems or [*fault_names.unknown(world, f"fault '{kind}'", arguments)]
    if problems:
        raise EnvironmentProblem(problems)
    once = times if times is not None or kind in LASTING else 1
    with clouds.change():
        number = clouds.add_fault(kind, arguments, once)
    return Fault(number=number, kind=kind, arguments=arguments, times=once)


def _misshapen(kind: str, arguments: Mapping[str, Any], times: int | None) -> Iterator[Problem]:
    where, needed = f"fault '{kind}'", KINDS[kind]
    if set(arguments) != set(needed):
        example = " ".join(f"{key}=..." for key in needed)
        yield Problem(
            where=where, what=f"needs {', '.join(needed)}", got=listed(arguments), do=f"Write {kind} {example}"
        )
    if times is not None and times < 1:
        yield Problem(where=where, what="strikes at least once", got=f"{times} times", do="Use 1 or more")
    elif times is not None and kind in LASTING:
        yield Problem(where=where, what="lasts until it is lifted", got=f"{times} times", do="Leave the number out")


def granted(world: World, clouds: Clouds, cloud: str, account: str, region: str, code: str) -> float:
    """Amount of a quota that is granted now."""
    for fault in reversed(in_force(clouds)):
        if fault.kind == "revoke-quota" and _meets(fault, cloud=cloud, region=region, code=code):
            return float(fault.arguments["granted"])
    return world.granted(cloud, account, region, code)


def lost_zones(clouds: Clouds, cloud: str, zones: frozenset[str]) -> frozenset[str]:
    """The zones among some that are lost now."""
    lost = [fault for fault in in_force(clouds) if fault.kind == "lose-zone"]
    return frozenset(zone for zone in zones if any(_meets(fault, cloud=cloud, zone=zone) for fault in lost))


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


def silent(clouds: Clouds, place: Place) -> Iterator[Violation]:
    """Refuse whatever is asked of a region that is lost, a read included; what is global lies in none."""
    for fault in in_force(clouds) if place.region else ():
        if fault.kind == "lose-region" and _meets(fault, cloud=place.cloud, region=place.region):
            yield Violation(what=f"{place.region} does not answer", do="Wait, or deploy elsewhere", source=_SOURCE)


def standing(case: Case, nodes: Nodes | None, *, more: bool) -> Iterator[Violation]:
    """Judge the machines of a create or update by the faults that stay until they are lifted.

    Args:
        case: the resource.
        nodes: the machines it asks for.
        more: whether some of them are not there yet; a stockout takes nothing from those that are.
    """
    if nodes is None:
        return
    for fault in in_force(case.clouds):
        if fault.kind == "lose-zone":
            yield from _lost(fault, case.place.cloud, nodes)
        elif fault.kind == "stockout" and more:
            yield from _stockout(fault, case.place.cloud, nodes)


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
