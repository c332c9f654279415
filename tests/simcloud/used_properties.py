"""The properties that our stacks set, with the shapes that the pinned SDKs give them.

`used_properties.json` keeps them as they were when someone last looked: type, then path of a property, then its shape
in words. A path has `[]` for the items of a list and `*` for the values of a map. Run as a module (`make shapes`) it
writes the file again.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from outlast.facts import load_facts
from outlast.intent import load_intent, stack_order
from outlast.intent.stacks import parse
from outlast.lock import read_lock
from outlast.view.resource import Resource
from simcloud import shapes
from simcloud.cloud import cloud_of, packages
from simcloud.shapes import Shape, Shapes
from stacks.run import declare as declare_stack
from tests.recording import declare

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_name("used_properties.json")
FLEET = "demo"
Table = Mapping[str, Mapping[str, str]]
GONE = "no longer an argument"


def declared() -> list[Resource]:
    """Every resource of every stack of the demo."""
    config = ROOT / "config"
    intent = load_intent(config, FLEET, load_facts(config))
    lock = read_lock(config / "fleets" / FLEET)
    return [
        resource
        for stack in stack_order(intent)
        for resource in declare(partial(declare_stack, parse(stack), intent, lock), preview=True, stack=stack)
    ]


def used_types(resources: Iterable[Resource]) -> dict[str, list[str]]:
    """Package to the types of its table that resources have; kinds of custom definitions have no class in an SDK."""
    kinds = {resource.type for resource in resources}
    return {package: sorted(kinds & cloud_of(package).rows.keys()) for package in packages()}


def sdk_shapes(used: Mapping[str, Iterable[str]], folder: Path) -> dict[str, Shapes]:
    """Read the shapes of types from the installed SDKs."""
    found = {}
    for package, tokens in used.items():
        path = folder / f"{package}.json"
        path.write_text(json.dumps(shapes.generate(package, tokens)), encoding="utf-8")
        found[package] = shapes.load(path)
    return found


def table(resources: Iterable[Resource], known: Mapping[str, Shapes]) -> dict[str, dict[str, str]]:
    """Look up the shape of every property that resources set."""
    found: dict[str, dict[str, str]] = {}
    types = {kind: (shape, package) for package in known.values() for kind, shape in package.types.items()}
    for resource in (one for one in resources if one.type in types):
        shape, package = types[resource.type]
        found.setdefault(resource.type, {}).update(_fields("", resource.inputs, shape.inputs, package))
    return {kind: dict(sorted(properties.items())) for kind, properties in sorted(found.items())}


def _fields(
    path: str, values: Mapping[str, Any], fields: Mapping[str, Shape], known: Shapes
) -> Iterator[tuple[str, str]]:
    for key, value in values.items():
        where = f"{path}.{key}".lstrip(".")
        if key in fields:
            yield where, word(fields[key])
            yield from _inside(where, value, fields[key], known)
        else:
            yield where, GONE


def _inside(path: str, value: Any, shape: Shape, known: Shapes) -> Iterator[tuple[str, str]]:
    """Walk a value beside its shape."""
    if isinstance(shape, str):
        return
    ((kind, inner),) = shape.items()
    if kind == "list" and isinstance(value, list | tuple):
        for item in value:
            yield from _inside(f"{path}[]", item, inner, known)
    elif kind == "map" and isinstance(value, Mapping):
        for item in value.values():
            yield from _inside(f"{path}.*", item, inner, known)
    elif kind == "object" and isinstance(value, Mapping):
        yield from _fields(path, value, known.objects[inner]["fields"], known)
    elif kind == "either":
        for option in inner:
            yield from _inside(path, value, option, known)


def word(shape: Shape) -> str:
    """Say a shape in words; an object's name is the SDK's own business."""
    if isinstance(shape, str):
        return shape
    ((kind, inner),) = shape.items()
    if kind == "object":
        return "object"
    if kind == "either":
        return " or ".join(sorted({word(option) for option in inner}))
    return f"{kind} of {word(inner)}"


def differences(before: Table, now: Table) -> list[str]:
    """Say what is not as it was, each with its type and property."""
    found = []
    for kind in sorted(before.keys() | now.keys()):
        old, new = before.get(kind, {}), now.get(kind, {})
        for path in sorted(old.keys() | new.keys()):
            was, is_ = old.get(path, "not used"), new.get(path, "not used")
            if was != is_:
                found.append(f"{kind} {path}: was {was}, is {is_}")
    return found


def kept() -> dict[str, dict[str, str]]:
    """What stands in the file."""
    return dict(json.loads(TABLE.read_text(encoding="utf-8")))


def write() -> None:
    """Write the file again."""
    resources = declared()
    with tempfile.TemporaryDirectory() as folder:
        known = sdk_shapes(used_types(resources), Path(folder))
    TABLE.write_text(json.dumps(table(resources, known), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
