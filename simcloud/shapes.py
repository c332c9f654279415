"""What the pinned SDKs say about the types in the table: argument shapes, required inputs, computed outputs.

`generate` reads the argument classes of the installed SDKs and returns plain JSON; it is the only code here that
imports an SDK, and it runs once per SDK version and row list. The plugins read the JSON (`load`), so they start in a
fraction of a second. `problems` judges inputs by a shape: unknown keys, missing keys and plainly wrong types.

A shape is one of: a word (`string`, `integer`, `number`, `boolean`, `any`), `{"list": shape}`, `{"map": shape}`,
`{"object": name}` (a row of `objects`) or `{"either": [shape, ...]}`.
"""

import difflib
import enum
import importlib
import importlib.metadata
import inspect
import json
import typing
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from simcloud.values import DEFAULTS, MARKS, is_unknown

Shape = str | dict[str, Any]

_WORDS: dict[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True, kw_only=True)
class TypeShape:
    """Shape of one resource type."""

    inputs: Mapping[str, Shape]
    """Wire name to shape."""
    required: frozenset[str]
    """Wire names that must be present."""
    outputs: frozenset[str]
    """Wire names that only the cloud can set."""


@dataclass(frozen=True, kw_only=True)
class Shapes:
    """All shapes of one package."""

    version: str
    """Version of the SDK they come from, reported as the plugin's own."""
    types: Mapping[str, TypeShape]
    objects: Mapping[str, Mapping[str, Any]]
    """Nested argument objects: `fields` (wire name to shape) and `required`."""


@dataclass(frozen=True)
class Problem:
    """One thing wrong with an input."""

    path: str
    """Dotted wire names from the resource's inputs."""
    reason: str


def load(path: Path) -> Shapes:
    """Read what `generate` wrote."""
    document = json.loads(path.read_text(encoding="utf-8"))
    types = {
        token: TypeShape(
            inputs=entry["inputs"], required=frozenset(entry["required"]), outputs=frozenset(entry["outputs"])
        )
        for token, entry in document["types"].items()
    }
    return Shapes(version=document["version"], types=types, objects=document["objects"])


def problems(inputs: Mapping[str, Any], shape: TypeShape, shapes: Shapes) -> list[Problem]:
    """List everything in `inputs` that the SDK's argument classes do not allow; unknown values pass."""
    return list(_object_problems("", inputs, shape.inputs, shape.required, shapes))


def _object_problems(
    path: str, value: Mapping[str, Any], fields: Mapping[str, Shape], required: Iterable[str], shapes: Shapes
) -> Iterator[Problem]:
    for key in sorted(set(required) - {key for key, item in value.items() if item is not None}):
        yield Problem(_join(path, key), "is required and missing. Set it.")
    for key, item in value.items():
        if key in MARKS:
            continue
        if key not in fields:
            near = difflib.get_close_matches(key, fields, n=1)
            hint = f" Did you mean '{near[0]}'?" if near else " Remove it."
            yield Problem(_join(path, key), f"is not an argument the pinned SDK knows.{hint}")
            continue
        yield from _value_problems(_join(path, key), item, fields[key], shapes)


def _value_problems(path: str, value: Any, shape: Shape, shapes: Shapes) -> Iterator[Problem]:
    if value is None or is_unknown(value) or shape == "any":
        return
    if isinstance(shape, str):
        if not _is_word(value, shape):
            yield Problem(path, f"must be {_article(shape)} (got {value!r}). Pass one.")
        return
    ((kind, inner),) = shape.items()
    if kind == "either":
        findings = [list(_value_problems(path, value, option, shapes)) for option in inner]
        if all(findings):
            yield from min(findings, key=len)
    elif kind == "list":
        if not isinstance(value, list):
            yield Problem(path, f"must be a list (got {value!r}). Pass one.")
            return
        for index, item in enumerate(value):
            yield from _value_problems(f"{path}[{index}]", item, inner, shapes)
    elif not isinstance(value, dict):
        yield Problem(path, f"must be an object (got {value!r}). Pass one.")
    elif kind == "map":
        for key, item in value.items():
            yield from _value_problems(_join(path, key), item, inner, shapes)
    else:
        entry = shapes.objects[inner]
        yield from _object_problems(path, value, entry["fields"], entry["required"], shapes)


def with_defaults(value: Any, shape: Shape, shapes: Shapes) -> Any:
    """Add the empty `__defaults` list that bridged providers put into every nested argument object."""
    if isinstance(shape, str) or value is None or is_unknown(value):
        return value
    ((kind, inner),) = shape.items()
    if kind == "list" and isinstance(value, list):
        return [with_defaults(item, inner, shapes) for item in value]
    if kind == "object" and isinstance(value, dict):
        fields = shapes.objects[inner]["fields"]
        return {DEFAULTS: []} | {k: with_defaults(v, fields.get(k, "any"), shapes) for k, v in value.items()}
    return value


def _is_word(value: Any, word: str) -> bool:
    if word == "boolean":
        return isinstance(value, bool)
    if word == "string":
        return isinstance(value, str)
    if isinstance(value, bool):
        return False
    return isinstance(value, int) if word == "integer" else isinstance(value, int | float)


def _article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def sdk_version(package: str) -> str:
    """Version of the installed SDK of a Pulumi package, which the stand-in plugin reports as its own."""
    return importlib.metadata.version(f"pulumi-{package}")


def key(package: str, tokens: Iterable[str]) -> str:
    """Name a cached document by what it was made from: the SDK version, the row list and this file."""
    made_from = [sdk_version(package), *sorted(tokens), Path(__file__).read_text(encoding="utf-8")]
    return sha256("\n".join(made_from).encode()).hexdigest()[:16]


def generate(package: str, tokens: Iterable[str]) -> dict[str, Any]:
    """Read the SDK classes of `tokens` and of the package's provider; return the JSON document `load` reads."""
    reader = _Reader()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the SDKs warn of their own classes when imported
        types = {token: reader.resource(token) for token in sorted(tokens)}
        types[f"pulumi:providers:{package}"] = reader.resource(f"{package}:provider:Provider")
    return {"version": sdk_version(package), "types": types, "objects": reader.objects}


def _class_of(token: str) -> type:
    """Find the SDK class of a type token; the first part of the token's module is the SDK's module."""
    package, module, name = token.split(":")
    root = f"pulumi_{package.replace('-', '_')}"
    if module == "provider":
        return typing.cast("type", getattr(importlib.import_module(f"{root}.provider"), name))
    if package == "kubernetes":
        group, version = module.split("/")
        return typing.cast("type", getattr(importlib.import_module(f"{root}.{group.split('.')[0]}.{version}"), name))
    return typing.cast("type", getattr(importlib.import_module(f"{root}.{module.split('/')[0]}"), name))


class _Reader:
    """Walks argument classes; every nested class becomes one entry of `objects`."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}

    def resource(self, token: str) -> dict[str, Any]:
        cls = _class_of(token)
        scope = vars(importlib.import_module(cls.__module__))
        arguments = scope.get(f"{cls.__name__}InitArgs") or scope[f"{cls.__name__}Args"]
        fields, required = self._fields(arguments)
        outputs = set(_wire_names(cls).values()) - set(fields)
        return {"inputs": fields, "required": required, "outputs": sorted(outputs)}

    def _fields(self, arguments: type) -> tuple[dict[str, Shape], list[str]]:
        scope = vars(importlib.import_module(arguments.__module__))
        wire = _wire_names(arguments)
        fields: dict[str, Shape] = {}
        required = []
        for name, parameter in inspect.signature(arguments.__init__).parameters.items():  # type: ignore[misc]
            if name not in wire:
                continue
            fields[wire[name]] = self._shape(parameter.annotation, scope)
            if parameter.default is inspect.Parameter.empty:
                required.append(wire[name])
        return fields, sorted(required)

    def _shape(self, annotation: Any, scope: Mapping[str, Any]) -> Shape:
        if isinstance(annotation, typing.ForwardRef):
            annotation = annotation.__forward_arg__
        if isinstance(annotation, str):
            annotation = eval(annotation, dict(scope))
        if annotation in _WORDS:
            return _WORDS[annotation]
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Literal:
            return _WORDS[type(arguments[0])]
        if origin is typing.Union:
            return self._either(arguments, scope)
        if origin is not None and issubclass(origin, Mapping):
            return {"map": self._shape(arguments[1], scope)}
        if origin is not None and issubclass(origin, Sequence):
            return {"list": self._shape(arguments[0], scope)}
        return self._class(annotation)

    def _either(self, members: Sequence[Any], scope: Mapping[str, Any]) -> Shape:
        kept: list[Shape] = []
        for member in members:
            if member is type(None) or _is_wrapper(member):
                continue
            shape = self._shape(member, scope)
            if shape not in kept:
                kept.append(shape)
        return kept[0] if len(kept) == 1 else {"either": kept}

    def _class(self, cls: Any) -> Shape:
        if not isinstance(cls, type):
            return "any"
        if issubclass(cls, enum.Enum):
            return next((word for base, word in _WORDS.items() if issubclass(cls, typing.cast("type", base))), "any")
        if not hasattr(cls, "__init__") or not _wire_names(cls):
            return "any"
        name = f"{cls.__module__}.{cls.__name__}".removesuffix("Args")
        if name not in self.objects:
            self.objects[name] = {}
            fields, required = self._fields(cls)
            self.objects[name] |= {"fields": fields, "required": required}
        return {"object": name}


def _is_wrapper(member: Any) -> bool:
    """Tell the two wrappers of `pulumi.Input` (awaitable, output) from the value itself."""
    if isinstance(member, typing.ForwardRef):
        return member.__forward_arg__.startswith("Output[")
    origin = typing.get_origin(member)
    return getattr(origin, "__name__", "") in {"Awaitable", "Output"}


def _wire_names(cls: type) -> dict[str, str]:
    """Map Python property names to wire names."""
    found: dict[str, str] = {}
    for name, member in inspect.getmembers(cls, lambda item: isinstance(item, property)):
        wire = getattr(member.fget, "_pulumi_name", None)
        if wire is not None:
            found[name] = wire
    return found
