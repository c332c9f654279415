"""The language of the table: what one row says about one resource type, and what a refusal may look at.

A row is data. Text in braces is filled from the resource: `{name}`, any other top-level input, `{account}`, `{region}`,
`{id}`, and `{hash}`, 40 hexadecimal digits of its own (`{hash:.17}` takes the first 17).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simcloud.refusals import Violation
from simcloud.state import Clouds, Stored
from simcloud.values import at, has_unknown, is_unknown, lies_under
from simcloud.world import Reservation, World


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a resource lies."""

    cloud: str
    account: str
    region: str
    """Provider region; empty for what is global."""

    def __str__(self) -> str:
        """Return the place for messages."""
        return self.region or f"account {self.account}"


@dataclass(frozen=True, kw_only=True)
class Born:
    """A resource with everything that its computed outputs are made of."""

    id: str
    hash: str
    revision: int
    place: Place
    inputs: Mapping[str, Any]
    clouds: Clouds
    config: Mapping[str, Any]
    """The provider's configuration."""

    def fill(self, template: str) -> str:
        """Fill a template of the table."""
        return template.format_map(words_of(self.inputs, self.place) | {"id": self.id, "hash": self.hash})

    def number(self, low: int, high: int, salt: int = 0) -> int:
        """Return a number of the resource's own, low <= number < high."""
        return low + (int(self.hash, 16) >> (salt * 16)) % (high - low)


Computed = str | int | bool | None | list[Any] | Mapping[str, Any] | Callable[[Born], Any]
"""A computed output: a template, a plain value, a tree of these, or a function."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One resource under judgement."""

    type: str
    inputs: Mapping[str, Any]
    """Checked inputs without the bridge's marks; may hold unknowns in a preview."""
    old: Mapping[str, Any] | None = None
    """Inputs before an update; None at birth."""
    place: Place
    world: World
    clouds: Clouds
    own: Stored | None = None
    """What the cloud holds of this resource already."""

    def get(self, path: str, default: Any = None) -> Any:
        """Return the value at a path if it is known, else the default."""
        for _, value in at(self.inputs, path):
            return default if is_unknown(value) else value
        return default

    def each(self, path: str) -> list[tuple[str, Any]]:
        """Return every known (exact path, value) of a path with `*`."""
        return [(where, value) for where, value in at(self.inputs, path) if not is_unknown(value)]

    def has(self, path: str) -> bool:
        """Tell whether an input is set, known or not."""
        return bool(at(self.inputs, path))

    def unsure(self, *paths: str) -> bool:
        """Tell whether any of some inputs is not wholly known yet, so that nothing can be said of them together."""
        return any(has_unknown(value) for path in paths for _, value in at(self.inputs, path))

    def target(self, path: str, kind: str) -> Stored | None:
        """Return the one resource of a type that an input refers to, in this account, if the cloud holds it."""
        value = self.get(path)
        return self.resolve(value, kind) if isinstance(value, str) else None

    def users_of(self, target: Stored | None, kind: str) -> list[Stored]:
        """List the resources of a type, other than this one, that refer to a target."""
        users = self.clouds.users(target) if target else []
        return [user for user in users if user.type == kind and (self.own is None or user.serial != self.own.serial)]

    def resolve(self, value: str, kind: str) -> Stored | None:
        """Return the resource of a type that a value refers to: this place before others of the account."""
        found = [item for item in self.clouds.find(value, [kind]) if item.account == self.place.account]
        found.sort(key=lambda item: item.region not in ("", self.place.region))
        return found[0] if found else None


@dataclass(frozen=True, kw_only=True)
class Nodes:
    """Machines that a node pool asks the cloud for."""

    machine_type: str
    capacity: str
    """`on_demand`, `reserved` or `spot`."""
    count: int
    """Nodes wanted now."""
    zones: frozenset[str] = frozenset()
    """Zones they lie in, as far as they are known."""
    reservation: str = ""
    """Id of the reservation they consume."""
    property: str = ""
    """Input to blame for the machine type."""


Check = Callable[[Case], Iterable[Violation]]
Phase = Literal["check", "plan", "birth", "apply", "delete"]
"""When a refusal is judged.

`check`: whenever the program is run; only what the inputs themselves say. `plan`: at create and at an update of a
watched input, in previews too; what the world and known grants say. `apply`: the same without previews; what other
resources say. `birth`: as `apply`, at a create only. `delete`: before a deletion.
"""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """One reason for which a cloud says no."""

    claim: str
    """Short name in words with hyphens, used by tests."""
    check: Check
    source: str
    """Title of the public documentation, provider source or issue of the rule."""
    phase: Phase = "check"
    watch: tuple[str, ...] = ()
    """Inputs whose change makes an update be judged; empty: any change."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """An input that names other resources."""

    path: str
    """Dotted path; `*` stands for every item."""
    types: tuple[str, ...]
    anywhere: bool = False
    """True if the target may lie in another region."""
    holds: bool = False
    """The target cannot be deleted while this resource exists."""
    cascades: bool = False
    """Deleting the target deletes this resource."""
    named: bool = False
    """True if the value is a name that people choose, so that a preview cannot tell whether it will exist."""
    outside: str = ""
    """Pattern of values that the cloud itself or others provide, which are not looked up."""


@dataclass(frozen=True, kw_only=True)
class Name:
    """The input that people name a resource by."""

    path: str
    pattern: str = ""
    """Full pattern; empty: anything."""
    longest: int = 255
    shortest: int = 1
    source: str = ""
    auto: bool = True
    """True if an omitted name is made from the logical name."""
    says: str = ""
    """The pattern in words."""
    made: Callable[[str, str], str] | None = None
    """An omitted name, from the logical name and 40 hexadecimal digits; None: joined by a hyphen."""

    def make(self, logical: str, digits: str) -> str:
        """Make up an omitted name."""
        if self.made is not None:
            return self.made(logical, digits)
        return f"{logical[: self.longest - 8].rstrip('-')}-{digits[:7]}"


@dataclass(frozen=True)
class WorldwideName:
    """A name that only one resource of the whole world may take, and that capitals do not tell apart."""

    path: str

    def __call__(self, case: Case) -> str | None:
        """Return the name taken, None if it is not known."""
        return str(case.get(self.path, "")).lower() or None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One resource type."""

    type: str
    id: str | Callable[[Born], str]
    """Template."""
    name: Name | None = None
    place: str | None = None
    """Input that says where; None: the cloud's usual one; empty: the type is global."""
    outputs: Mapping[str, Computed] = field(default_factory=dict)
    """Outputs that only the cloud can say. Not listed: never returned."""
    moving: frozenset[str] = frozenset()
    """Outputs that an update may change: unknown in its preview."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Inputs that the provider fills in when they are omitted."""
    aliases: tuple[str | Callable[[Mapping[str, Any]], str | None], ...] = ()
    """Further values by which others refer to it: templates of inputs and outputs, or functions of the outputs."""
    immutable: frozenset[str] = frozenset()
    """Paths whose change replaces the resource."""
    references: tuple[Reference, ...] = ()
    unique: tuple[str | Callable[[Case], str | None], ...] = ()
    """Templates of names that only one resource may take."""
    refusals: tuple[Refusal, ...] = ()
    kept: bool = False
    """True for what the real cloud never deletes."""
    kept_source: str = ""
    nodes: Callable[[Case], Nodes | None] | None = None
    """The machines it needs, for quotas and faults."""
    draws_down: bool = False
    """True if its machines use up the reservation they name, so that it can be too small for them."""


def refusal(
    source: str, *, phase: Phase = "check", watch: tuple[str, ...] = (), claim: str = ""
) -> Callable[[Check], Refusal]:
    """Turn a function into a refusal named after it."""

    def wrap(check: Check, claim: str = claim) -> Refusal:
        claim = claim or getattr(check, "__name__", "").strip("_").replace("_", "-")
        return Refusal(claim=claim, check=check, source=source, phase=phase, watch=watch)

    return wrap


def judged(
    row: Row, case: Case, phases: tuple[Phase, ...], changed: Mapping[str, str] | None = None
) -> list[Violation]:
    """Collect what the row's refusals of some phases say; with `changed`, only those that watch a changed input."""
    found: list[Violation] = []
    for item in row.refusals:
        if item.phase not in phases or not _watches(item, changed):
            continue
        found.extend(violation.cite(item.source) for violation in item.check(case))
    return found


def _watches(item: Refusal, changed: Mapping[str, str] | None) -> bool:
    if changed is None or not item.watch:
        return True
    return any(lies_under(path, watched) for path in changed for watched in item.watch)


def computed(row: Row, born: Born) -> dict[str, Any]:
    """Work out the row's computed outputs."""
    return {key: _grow(value, born) for key, value in row.outputs.items()}


def _grow(value: Computed, born: Born) -> Any:
    if callable(value):
        return value(born)
    if isinstance(value, str):
        return born.fill(value)
    if isinstance(value, Mapping):
        return {key: _grow(item, born) for key, item in value.items()}
    if isinstance(value, list):
        return [_grow(item, born) for item in value]
    return value


def blur(value: Computed, mark: str) -> Any:
    """Return the shape of a computed output with every invented value unknown."""
    if isinstance(value, Mapping):
        return {key: blur(item, mark) for key, item in value.items()}
    return mark


def fill(template: str, words: Mapping[str, Any]) -> str | None:
    """Fill a template; None if a word it needs is missing or unknown."""
    needed = {word.split(":")[0] for word in re.findall(r"{([^{}]+)}", template)}
    if any(word not in words or has_unknown(words[word]) or words[word] in (None, "") for word in needed):
        return None
    return template.format_map(words)


def words_of(inputs: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """Words of a template that exist before the resource does; an omitted location is the provider's region."""
    region = place.region or "global"
    return {"location": region, **_words(inputs), "account": place.account, "region": region}


def _words(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in inputs.items() if isinstance(value, str | int | float)}


def one_of(path: str, allowed: Iterable[str | int], do: str = "") -> Check:
    """Make a check that every value at a path is one of some words; its refusal is called `<last step>-unknown`."""
    words = tuple(allowed)

    def check(case: Case) -> Iterator[Violation]:
        for where, value in case.each(path):
            if value not in words:
                yield Violation(
                    property=where,
                    what="is not a value the cloud knows",
                    got=repr(value),
                    allowed=", ".join(str(word) for word in words),
                    do=do or "Use one of these",
                )

    check.__name__ = f"{kebab(path)}-unknown"
    return check


def between(path: str, low: float, high: float, unit: str = "") -> Check:
    """Make a check that every number at a path lies in a range."""

    def check(case: Case) -> Iterator[Violation]:
        for where, value in case.each(path):
            if isinstance(value, int | float) and not low <= value <= high:
                yield Violation(
                    property=where,
                    what="is out of range",
                    got=f"{value}",
                    allowed=f"{low} to {high}{unit and ' '}{unit}",
                    do="Choose a value inside",
                )

    check.__name__ = f"{kebab(path)}-out-of-range"
    return check


def reservation_elsewhere(
    path: str,
    taken: Callable[[Case], tuple[Nodes | None, Reservation | None]],
    *,
    in_a_zone: bool = False,
) -> Check:
    """Make a check that machines are of the type and in the zone of the reservation they come from.

    Args:
        path: the input that names it.
        taken: the machines, and the reservation if there is one.
        in_a_zone: whether machines whose zone is not said take nothing from it.
    """

    def check(case: Case) -> Iterator[Violation]:
        nodes, held = taken(case)
        if not nodes or not held:
            return
        there = nodes.zones <= {held.zone} and (nodes.zones or not in_a_zone)
        if held.machine_type != nodes.machine_type or not there:
            yield Violation(
                property=path,
                what=f"reservation '{held.id}' is for other machines",
                got=f"{nodes.machine_type} in {', '.join(sorted(nodes.zones)) or 'no zone'}",
                allowed=f"{held.machine_type} in {held.zone}",
                do="Use the reservation's machine type and zone",
            )

    check.__name__ = "reservation-elsewhere"
    return check


def kebab(path: str) -> str:
    """The last step of a path in lower case with hyphens: `taints.*.maxSize` is `max-size`."""
    last = [step for step in path.split(".") if step != "*"][-1]
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", last).lower()
