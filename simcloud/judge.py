"""The judgement common to all types: references, names and quotas, on top of what the rows say themselves."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from outlast.errors import listed
from simcloud import faults
from simcloud.refusals import Violation
from simcloud.row import Case, Nodes, Reference, Row, fill, words_of
from simcloud.state import Link, Stored

_REFERENCE = "the cloud's API: what an argument names must exist and be reachable from where it is used"
_TAKEN = "the cloud's API: names are unique in their scope"


@dataclass
class Previewed:
    """What a preview has promised so far in this process, so that the sum is judged and not only each resource."""

    keys: dict[str, str] = field(default_factory=dict)
    """Name taken to URN."""
    usage: dict[str, dict[str, float]] = field(default_factory=dict)
    """Quota key to URN to amount."""
    replaced: set[int] = field(default_factory=set)
    """Serials whose stored use is superseded."""


@dataclass(frozen=True, kw_only=True)
class Named:
    """How the engine names what is under judgement."""

    urn: str
    provider: str = ""
    """URN of its provider."""


def links_of(case: Case, row: Row, *, preview: bool) -> tuple[tuple[Link, ...], list[Violation]]:
    """Resolve every reference of a resource; list those that lead nowhere or too far."""
    links: list[Link] = []
    violations: list[Violation] = []
    for reference in row.references:
        for where, value in case.each(reference.path):
            if not isinstance(value, str) or (reference.outside and re.fullmatch(reference.outside, value)):
                continue
            target = _nearest(case, reference, value)
            if target is not None and _reachable(case, reference, target):
                links.append(Link(property=where, target=target, holds=reference.holds, cascades=reference.cascades))
            elif preview and reference.named:
                continue  # the same run may still make it
            elif target is not None:
                violations.append(_too_far(case, where, value, target))
            else:
                violations.append(_missing(where, value, reference))
    return tuple(links), violations


def _nearest(case: Case, reference: Reference, value: str) -> Stored | None:
    found = case.clouds.find(value, reference.types)
    found.sort(key=lambda item: (item.account != case.place.account, item.region not in ("", case.place.region)))
    return found[0] if found else None


def _reachable(case: Case, reference: Reference, target: Stored) -> bool:
    if target.account != case.place.account:
        return False
    return reference.anywhere or "" in (case.place.region, target.region) or target.region == case.place.region


def _too_far(case: Case, where: str, value: str, target: Stored) -> Violation:
    lies = f"account {target.account}" if target.account != case.place.account else target.region
    return Violation(
        property=where,
        what=f"'{value}' lies elsewhere",
        got=lies,
        allowed=str(case.place),
        do="Refer to a resource of the same place",
        source=_REFERENCE,
    )


def _missing(where: str, value: str, reference: Reference) -> Violation:
    kinds = " or ".join(kind.split(":")[-1] for kind in reference.types)
    return Violation(
        property=where,
        what=f"there is no {kinds} '{value}'",
        do="Create it first, or correct the reference",
        source=_REFERENCE,
    )


def keys_of(case: Case, row: Row) -> frozenset[str]:
    """Names that the resource takes, as far as they are known."""
    words = words_of(case.inputs, case.place)
    filled = (item(case) if callable(item) else fill(item, words) for item in row.unique)
    return frozenset(f"{row.type}={key}" for key in filled if key is not None)


def taken(case: Case, row: Row, keys: frozenset[str], previewed: Previewed | None, named: Named) -> Iterator[Violation]:
    """List the names among `keys` that another resource has."""
    for key in sorted(keys):
        owner = case.clouds.owner_of(key)
        if owner is None and previewed is not None and previewed.keys.get(key, named.urn) != named.urn:
            yield _taken(row, key, "another resource of this program", "Choose another name")
        elif owner is None or (case.own is not None and owner.serial == case.own.serial):
            continue
        elif owner.kept:
            yield Violation(
                property=row.name.path if row.name else "",
                what=f"'{owner.name}' exists already: this cloud never deletes it",
                got=f"id {owner.id}",
                do="Run 'outlast sim reset'; a real cloud wants it adopted, docs/teardown.md says how",
                source=row.kept_source,
            )
        elif not (previewed is not None and owner.urn == named.urn):
            do = f"Choose another name, or adopt it {adoption(owner, named)}"
            yield _taken(row, key, f"{owner.urn}, id {owner.id}", do)


def _taken(row: Row, key: str, owner: str, do: str) -> Violation:
    return Violation(
        property=row.name.path if row.name else "",
        what=f"'{key.split('=', 1)[1]}' exists already",
        got=f"taken by {owner}",
        do=do,
        source=_TAKEN,
    )


def adoption(owner: Stored, named: Named) -> str:
    """Return the command that takes what exists into the stack, as the resource that the program declares.

    Without provider and parent the engine would import another resource; of the parent a plugin learns only the type.
    """
    head, project, chain, name = named.urn.split("::", 3)
    *parents, kind = chain.split("$")
    words = ["pulumi", "import", kind, name, owner.id, "--stack", head.removeprefix("urn:pulumi:")]
    if named.provider:
        words += ["--provider", f"provider={named.provider}"]
    if parents:
        words += ["--parent", f"parent={head}::{project}::{'$'.join(parents)}::PARENT"]
    command = shlex.join([*words, "--generate-code=false", "--protect=false"])
    if parents:
        return f"with\n  {command}\nin which PARENT is the name of its {parents[-1]} in 'pulumi stack --show-urns'"
    return f"with\n  {command}\nand run the same command again"


def usage_of(case: Case, row: Row) -> dict[str, float]:
    """What the resource uses of quotas and reservations: key to amount."""
    nodes = row.nodes(case) if row.nodes else None
    if nodes is None:
        return {}
    machine = case.world.machines.get(f"{case.place.cloud}/{nodes.machine_type}")
    usage: dict[str, float] = {}
    for code in machine.quotas.get(nodes.capacity, ()) if machine else ():
        quota = case.world.quotas[f"{case.place.cloud}/{code}"]
        size = machine.vcpu if quota.unit == "vcpu" else machine.gpus  # type: ignore[union-attr]
        where = "" if quota.account_wide else case.place.region
        usage[f"quota|{code}|{case.place.account}|{where}"] = nodes.count * size
    if nodes.reservation and row.draws_down:
        usage[f"reservation|{nodes.reservation}"] = nodes.count
    return usage


def overdrawn(
    case: Case, row: Row, usage: Mapping[str, float], previewed: Previewed | None, urn: str
) -> Iterator[Violation]:
    """List quotas and reservations that the resource would exceed; what shrinks is never refused."""
    nodes = row.nodes(case) if row.nodes else None
    for key, amount in usage.items():
        besides = frozenset({case.own.serial} if case.own else ()) | (previewed.replaced if previewed else frozenset())
        promised = sum(v for k, v in (previewed.usage.get(key, {}) if previewed else {}).items() if k != urn)
        others = case.clouds.used(key, besides) + promised
        before = case.clouds.used(key) - case.clouds.used(key, frozenset({case.own.serial})) if case.own else 0.0
        if amount > before and nodes is not None:
            yield from _over(case, key, others, amount, nodes)


def _over(case: Case, key: str, others: float, amount: float, nodes: Nodes) -> Iterator[Violation]:
    kind, code, *_ = key.split("|")
    if kind == "reservation":
        held = case.world.reservations.get(code)
        if held is None or others + amount > held.nodes:
            yield Violation(
                property=nodes.property,
                what=f"reservation '{code}' is {'missing' if held is None else 'too small'}",
                got=f"{others + amount:,.0f} nodes",
                allowed=f"{held.nodes if held else 0:,} nodes",
                do="Use fewer nodes, or reserve more and enter them in capacity.yaml",
                source="Amazon EC2 User Guide and Compute Engine documentation: reserved capacity",
            )
        return
    limit = faults.granted(case.world, case.clouds, case.place.cloud, case.place.account, case.place.region, code)
    if others + amount > limit:
        quota = case.world.quotas[f"{case.place.cloud}/{code}"]
        unit = {"vcpu": "vCPU", "gpus": "GPUs"}[quota.unit]
        where = f"all regions of {case.place.account}" if quota.account_wide else str(case.place)
        yield Violation(
            property=nodes.property,
            what=f"quota {code} ({quota.name}) is exceeded in {where}",
            got=f"{others + amount:,.0f} {unit}, of which {amount:,.0f} here",
            allowed=f"{limit:,.0f} {unit}",
            do=f"Use fewer nodes, or raise the quota ({quota.raise_with}) and enter it in capacity.yaml",
            source="the cloud's quota documentation, as listed in config/facts/quotas.csv",
        )


def offered(case: Case, row: Row) -> Iterator[Violation]:
    """Refuse a machine type that the cloud does not offer where the nodes are to be."""
    nodes = row.nodes(case) if row.nodes else None
    machine = case.world.machines.get(f"{case.place.cloud}/{nodes.machine_type}") if nodes else None
    if nodes is None or machine is None:
        return
    where = machine.zones.get(case.place.region)
    missing = nodes.zones - frozenset(where) if where else nodes.zones if where is None else frozenset()
    if where is None or missing:
        allowed = listed(where) if where else listed(machine.zones)
        yield Violation(
            property=nodes.property,
            what=f"{nodes.machine_type} is not offered in {listed(missing or [case.place.region])}",
            allowed=allowed,
            do="Choose another zone or machine type",
            source="the cloud's instance type offerings, as listed in config/facts/offerings.csv",
        )


def in_use(stored: Stored, case: Case) -> Iterator[Violation]:
    """Refuse to delete what others hold."""
    users = case.clouds.users(stored, holding=True)
    if users:
        names = listed(f"{user.type.split(':')[-1]} {user.name}" for user in users)
        yield Violation(
            what="is in use and cannot be deleted",
            got=f"used by {names}",
            do="Delete what uses it first",
            source="the cloud's API: dependency violation",
        )
