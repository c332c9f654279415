"""``docs/resources.md``: what every stack of the demo creates, from the program itself, declared against a recorder.

The recorder is the component tests' own: one stand-in for the engine, and the pages need it only where tests run too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from outlast.facts import load_facts
from outlast.intent import Intent, load_intent, stack_order
from outlast.intent.stacks import parse
from outlast.lock import Lock, read_lock
from outlast.view import Resource, Value, View, view_of
from simcloud import shapes
from stacks.run import declare as declare_stack
from tests.recording import declare
from tools.pages.table import table

FLEET = "demo"
_CONFIG = Path(__file__).parents[2] / "config"
_LABELS = ("labels", "metadata", "resourceLabels", "tags", "userLabels")
"""Inputs by which SDKs take labels or tags."""
_OURS = "outlast:"
_PROVIDER = "pulumi:providers:"
_HEAD = f"""# What each stack creates

Made by `make resources` from the program, the facts and the lock of `{FLEET}`; `tests/tools/test_pages.py` fails while
it is out of date. Components, providers and references to other stacks are left out: they make nothing in a cloud.

- **tagged**: bears our labels, its own, those of its nodes, or the provider's; a dash where the type takes none.
- **protected**: the engine refuses to delete it while the region has `protect: true`.
"""


def page() -> str:
    """Return the page."""
    intent = load_intent(_CONFIG, FLEET, load_facts(_CONFIG))
    lock = read_lock(_CONFIG / "fleets" / FLEET)
    views = {parse(stack).region or parse(stack).kind: _view(stack, intent, lock) for stack in stack_order(intent)}
    lines = [_HEAD]
    for package in sorted({resource.package for view in views.values() for resource in _made(view)}):
        lines += [f"## `{package}`", "", *_section(package, views), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _view(stack: str, intent: Intent, lock: Lock) -> View:
    resources = declare(lambda: declare_stack(parse(stack), intent, lock), preview=True, stack=stack)
    return view_of(resources, intent.facts)


def _made(view: View) -> list[Resource]:
    return [resource for resource in view.cloud_resources if not resource.type.startswith(_PROVIDER)]


def _section(package: str, views: Mapping[str, View]) -> Iterator[str]:
    found: dict[tuple[str, str], dict[str, list[Resource]]] = {}
    for name, view in views.items():
        for resource in _made(view):
            if resource.package == package:
                found.setdefault((_part(resource), resource.type), {}).setdefault(name, []).append(resource)
    columns = [name for name in views if any(name in stacks for stacks in found.values())]
    takes = _taking_labels(package, tuple(sorted({type_ for _, type_ in found})))
    rows = [
        [
            part,
            f"`{type_}`",
            *(len(stacks.get(name, ())) or "" for name in columns),
            _tagged(stacks, views, takes=type_ in takes),
            _all_or_some(resource.protect for made in stacks.values() for resource in made),
        ]
        for (part, type_), stacks in sorted(found.items())
    ]
    headings = ["part", "type", *columns, "tagged", "protected"]
    yield from table(headings, rows, right=range(2, 2 + len(columns)))


def _part(resource: Resource) -> str:
    """Return the role of the component that declares a resource: ``network`` of ``outlast:network:…``."""
    kinds = resource.urn.split("::")[2].split("$")
    ours = [kind for kind in kinds if kind.startswith(_OURS)]
    return ours[-1].split(":")[1] if ours else "–"


@cache
def _taking_labels(package: str, types: tuple[str, ...]) -> frozenset[str]:
    """Return the types whose SDK class has an input for labels or tags."""
    document = shapes.generate(package, types)["types"]
    return frozenset(type_ for type_ in types if any(name in document[type_]["inputs"] for name in _LABELS))


def _tagged(stacks: Mapping[str, Iterable[Resource]], views: Mapping[str, View], *, takes: bool) -> str:
    made = [(views[name], resource) for name, found in stacks.items() for resource in found]
    bears = {
        _holds_label(resource.inputs) or (takes and view.label(resource, "fleet") == FLEET) for view, resource in made
    }
    return "–" if not takes and bears == {False} else _all_or_some(bears)


def _holds_label(value: Value) -> bool:
    """Whether our label is anywhere in a resource's own inputs, for example in those of its nodes."""
    if isinstance(value, Mapping):
        return "outlast-fleet" in value or any(map(_holds_label, value.values()))
    return isinstance(value, tuple) and any(map(_holds_label, value))


def _all_or_some(each: Iterable[bool]) -> str:
    answers = set(each)
    return "some" if len(answers) > 1 else "yes" if answers == {True} else "no"
