"""Documents for the program `programs/batch`: many examples in one run of the engine.

A place is an account of its own (for Kubernetes, a cluster in one). Place 0 holds the whole plan and every example that
is one more resource beside it; an example that needs other surroundings has a place with what it refers to, no more.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from simcloud.row import WorldwideName
from tests.simcloud.conftest import CONFIG, DROP, WORLD_DOCUMENT, changed
from tests.simcloud.examples import PROVIDER, Example, Plan, needs, plan, row
from tests.simcloud.standing import CLUSTER, kubeconfig

Entry = dict[str, Any]
REFERENCE = re.compile(r'"@([\w-]+)\.(\w+)')
KUBERNETES, ITS_CLOUD = "kubernetes", "gcp"
REFUSED = "refused"
"""Name of the one resource of a preview."""


def world(places: int) -> dict[str, Any]:
    """The small world with every account as often as there are places."""
    document = copy.deepcopy(WORLD_DOCUMENT)
    for number in range(1, places):
        for cloud, accounts in WORLD_DOCUMENT["accounts"].items():
            document["accounts"][cloud].extend(_numbered(account, number) for account in accounts)
        for key, amount in WORLD_DOCUMENT["granted"].items():
            cloud, account, *rest = key.split("/")
            document["granted"]["/".join([cloud, _numbered(account, number), *rest])] = amount
    return document


def _numbered(account: str, number: int) -> str:
    """Another account of the same form; those of the small world differ in more than their ends."""
    return f"{account[:-3]}{number:03d}" if number else account


@dataclass(frozen=True)
class Place:
    """One account."""

    package: str
    number: int

    def called(self, name: str) -> str:
        """Name of a plan's resource here."""
        return f"{name}-{self.number}" if self.number else name

    @property
    def provider(self) -> str:
        return f"{self.package}-{self.number}"

    def localised(self, value: Any) -> Any:
        """Move inputs here: references, and accounts in whatever text."""
        text = json.dumps(value)
        for accounts in WORLD_DOCUMENT["accounts"].values():
            for account in accounts:
                text = text.replace(account, _numbered(account, self.number))
        return json.loads(REFERENCE.sub(lambda match: f'"@{self.called(match[1])}.{match[2]}', text))

    def opened(self) -> list[Entry]:
        """The provider; for Kubernetes, its cloud's and a cluster first."""
        if self.package != KUBERNETES:
            config = self.localised(CONFIG[self.package])
            return [{"name": self.provider, "package": self.package, "config": config}]
        cloud = Place(ITS_CLOUD, self.number)
        wanted = plan(ITS_CLOUD)
        entries = cloud.opened() + cloud.chain({name: wanted[name] for name in CLUSTER})
        return [*entries, {"name": self.provider, "package": KUBERNETES, "config": {"kubeconfig": self._kubeconfig()}}]

    def _kubeconfig(self) -> list[str]:
        before, after = kubeconfig("https://SERVER").split("SERVER")
        return [before, f"@{self.called('cluster')}.endpoint", after]

    def chain(self, wanted: Plan, after: tuple[str, ...] = ()) -> list[Entry]:
        """Declare resources one after the other, as the plan has them."""
        entries: list[Entry] = []
        for name, (kind, inputs) in wanted.items():
            entries.append(self.entry(self.called(name), kind, inputs, after))
            after = (self.called(name),)
        return entries

    def entry(self, name: str, kind: str, inputs: Mapping[str, Any], after: tuple[str, ...]) -> Entry:
        """Declare one resource; a name that the whole world shares is made one of this place."""
        shared = row(kind).name
        worldwide = shared and {f"{{{shared.path}}}", WorldwideName(shared.path)} & {*row(kind).unique}
        if self.number and shared and worldwide and shared.path in inputs:
            inputs = {**inputs, shared.path: f"{inputs[shared.path]}{self.number}"}
        return {
            "name": name,
            "type": kind,
            "inputs": self.localised(inputs),
            "provider": self.provider,
            "after": list(after),
        }


@dataclass(frozen=True)
class Shown:
    """Where an example is shown."""

    example: Example
    place: Place
    name: str
    """Name of the resource that is refused."""


def first_run(package: str, shown: Iterable[Shown]) -> list[Entry]:
    """Make the plan, and beside it everything that a create refuses; prepare what later runs change or delete."""
    shared = Place(package, 0)
    entries = shared.opened() + shared.chain(plan(package))
    last = (entries[-1]["name"],)
    for item in shown:
        example = item.example
        kind, inputs = plan(package)[example.of]
        if not example.alone:
            entries.append(shared.entry(item.name, kind, changed(inputs, example.change), last))
        else:
            entries += _surroundings(item)
    return with_outputs(entries)


def second_run(shown: Iterable[Shown], state: Mapping[str, Mapping[str, Any]]) -> list[Entry]:
    """Keep what changes and change it; leave out what is to be deleted, and name it to its users by plain values."""
    entries: list[Entry] = []
    for item in shown:
        example = item.example
        if example.how == "update":
            entries += _surroundings(item, update=True)
        elif example.how == "delete":
            entries += [
                entry if "package" in entry else {**entry, "inputs": filled(entry["inputs"], state), "after": []}
                for entry in _surroundings(item)
                if entry["name"] != item.name
            ]
    return with_outputs(entries)


def previewed(group: list[Example], state: Mapping[str, Mapping[str, Any]]) -> list[Entry]:
    """Declare one resource with the changes of all examples of a group; what it refers to stands already."""
    example, change = group[0], together(group)
    place, name = Place(example.package, 0), REFUSED
    config = dict(CONFIG.get(example.package, {}))
    if example.package == KUBERNETES:
        config = {"kubeconfig": "".join(filled(Place(KUBERNETES, 0)._kubeconfig(), state))}
    if example.of == PROVIDER:
        return [{"name": name, "package": example.package, "config": {**config, **change}}]
    kind, inputs = plan(example.package)[example.of]
    entry = place.entry(name, kind, filled(changed(inputs, change), state), ())
    return with_outputs([{"name": place.provider, "package": example.package, "config": config}, entry])


def together(group: list[Example]) -> dict[str, Any]:
    """The changes of all examples of a group."""
    return {path: value for example in group for path, value in example.change.items()}


def packed(examples: Iterable[Example], heard: Callable[[list[Example]], bool]) -> list[list[Example]]:
    """Put examples of one resource into one run where their changes leave each other alone.

    Args:
        examples: what the inputs alone decide.
        heard: tells whether all of a group are heard at once.
    """
    groups: list[list[Example]] = []
    for example in examples:
        fitting = [group for group in groups if _apart(example, group) and heard([*group, example])]
        if fitting:
            fitting[0].append(example)
        else:
            groups.append([example])
    return groups


def _apart(one: Example, group: list[Example]) -> bool:
    """Tell whether an example changes the resource of a group, and no path that the group changes."""
    taken = [path for other in group for path in other.change]
    crossing = (a for a in one.change for b in taken if f"{a}.".startswith(f"{b}.") or f"{b}.".startswith(f"{a}."))
    return group[0].of == one.of != PROVIDER and not any(crossing)


def _surroundings(item: Shown, *, update: bool = False) -> list[Entry]:
    """A place with all that an example refers to and the example's resource, refused at once or later."""
    example, place = item.example, item.place
    kind, inputs = plan(example.package)[example.of]
    changes = example.how != "update" or update
    refused = (kind, changed(inputs, example.change if changes else {}))
    known: dict[str, tuple[str, dict[str, Any]]] = {**plan(example.package), **example.also, example.of: refused}
    names = {example.of, *example.also, *example.beforehand}
    before = {**known, example.of: (kind, inputs)} if example.how == "update" else known
    wanted = _closure(known, names, needs(example.package)) | _closure(before, names, needs(example.package))
    wanted -= set(example.without)
    if example.how == "create":
        wanted -= {example.of}
        order = [*(name for name in known if name in wanted), example.of]
    else:
        # What only the change refers to goes before what is changed.
        asked = {name for name in example.also if f"@{name}." in json.dumps(example.change)}
        first = [name for name in known if name in wanted & asked - plan(example.package).keys()]
        rest = [name for name in known if name in wanted and name not in first]
        at = rest.index(example.of)
        order = [*rest[:at], *first, *rest[at:]]
    return place.opened() + place.chain({name: known[name] for name in order})


def _closure(known: Plan, names: set[str], needed: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Names and all that they refer to or need, directly or not."""
    found = set(names)
    for name in names:
        referred = {match[1] for match in REFERENCE.finditer(_dumped(known[name][1]))} - {name}
        found |= _closure(known, {*referred, *needed.get(name, ())}, needed)
    return found


def with_outputs(entries: list[Entry]) -> list[Entry]:
    """Note for every resource which of its outputs others refer to."""
    wanted: dict[str, set[str]] = {}
    for entry in entries:
        for match in REFERENCE.finditer(_dumped([entry.get("inputs"), entry.get("config")])):
            wanted.setdefault(match[1], set()).add(match[2])
    return [{**entry, "outputs": sorted(wanted.get(entry["name"], set()) - {"id"})} for entry in entries]


def resources(entries: list[Entry]) -> set[str]:
    """Names of what a document declares, providers apart."""
    return {entry["name"] for entry in entries if "type" in entry}


def filled(value: Any, state: Mapping[str, Mapping[str, Any]]) -> Any:
    """Put the outputs of a state in the place of references."""
    if isinstance(value, dict):
        return {key: filled(item, state) for key, item in value.items() if item is not DROP}
    if isinstance(value, list):
        return [filled(item, state) for item in value]
    match = re.fullmatch(r"@([\w-]+)\.([\w.]+)", value) if isinstance(value, str) else None
    if match is None:
        return value
    found: Any = state[match[1]]
    for step in match[2].split("."):
        found = found[int(step)] if isinstance(found, list) else found[step]
    return found


def _dumped(value: Any) -> str:
    return json.dumps(value)
