"""One resource of a deployment, as every reader sees it: checked inputs only, never outputs.

Four readers build these records: the recorder of component tests, the policy pack, a preview, and a state export. They
must give equal views, so a record holds nothing that one of them cannot know.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias


class Unknown(Enum):
    """A value that is not known before the deployment."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        """Return the word a message shows."""
        return "unknown"

    __str__ = __repr__


UNKNOWN: Final = Unknown.UNKNOWN
Value: TypeAlias = "bool | int | float | str | Unknown | tuple[Value, ...] | Mapping[str, Value] | None"
"""A plain input value: mappings, tuples, scalars, or UNKNOWN; integral numbers are ints."""

_SENTINELS = frozenset(
    {
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
    }
)
"""Strings that stand for an unknown value. Source: the engine's resource property marshaller."""
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"
_HIDDEN = "[secret]"


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A registered resource."""

    urn: str
    type: str
    """Wire token, for example ``kubernetes:apps/v1:Deployment``."""
    name: str
    """Logical name, the last part of the URN."""
    inputs: Mapping[str, Value]
    parent: str = ""
    """URN of the parent, empty for the stack."""
    provider: str = ""
    """URN of the provider resource that serves it; empty for a default provider, or none."""
    provider_inputs: Mapping[str, Value] = field(default_factory=dict)
    """Inputs of the provider resource that serves it."""
    dependencies: tuple[str, ...] = ()
    """URNs, sorted."""
    property_dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Top-level input -> URNs it was computed from, sorted."""
    protect: bool = False
    ignore_changes: tuple[str, ...] = ()

    @property
    def stack(self) -> str:
        """Stack in the URN."""
        return stack_of(self.urn)

    @property
    def package(self) -> str:
        """Package of the type; for a provider resource the package it configures."""
        parts = self.type.split(":")
        return parts[2] if self.type.startswith("pulumi:providers:") else parts[0]

    def get(self, path: str) -> Value:
        """Return the input at a dotted path such as ``scalingConfig.minSize`` or ``zones.0``; None if absent."""
        return value_at(self.inputs, path)

    def provider_get(self, path: str) -> Value:
        """Return the provider's input at a dotted path; None if absent."""
        head, _, rest = path.partition(".")
        found = _decoded(self.provider_inputs.get(head))
        return value_at(found, rest) if rest else found


def provider_of(reference: str | None) -> str:
    """Return the URN of the provider in a reference, ``<urn>::<id>``; empty for a default provider, or none."""
    return named_provider(reference.rsplit("::", 1)[0]) if reference else ""


def named_provider(urn: str) -> str:
    """Return a provider's URN, or nothing for a default provider, which no program declares."""
    name = name_of(urn)
    return "" if name == "default" or name.startswith("default_") else urn


def _decoded(value: Value) -> Value:
    """Return a provider's input with its parts: SDKs hand over its mappings and lists as JSON."""
    if not isinstance(value, str) or not value.startswith(("{", "[")):
        return value
    try:
        return normalise(json.loads(value))
    except ValueError:
        return UNKNOWN


def stack_of(urn: str) -> str:
    """Return the stack of a URN, ``urn:pulumi:<stack>::<project>::<types>::<name>``."""
    return urn.split("::", 1)[0].removeprefix("urn:pulumi:")


def type_of(urn: str) -> str:
    """Return the resource type of a URN."""
    return urn.split("::")[2].rsplit("$", 1)[-1]


def name_of(urn: str) -> str:
    """Return the logical name of a URN."""
    return urn.split("::", 3)[-1]


def value_at(value: Value, path: str) -> Value:
    """Follow a dotted path; an unknown on the way is unknown, a missing key is None."""
    current: Value = value
    for part in path.split("."):
        if current is UNKNOWN:
            return UNKNOWN
        if isinstance(current, Mapping):
            current = current.get(part)
        elif isinstance(current, tuple) and part.isdigit():
            current = current[int(part)] if int(part) < len(current) else None
        else:
            return None
    return current


def normalise(raw: object) -> Value:
    """Return a raw property value of any reader as a plain value.

    Sentinels and hidden secrets become UNKNOWN, secrets in clear are unwrapped, integral floats become ints.
    """
    if raw is None or isinstance(raw, (bool, int, Unknown)):
        return raw
    if isinstance(raw, float):
        return int(raw) if raw.is_integer() else raw
    if isinstance(raw, str):
        return UNKNOWN if raw in _SENTINELS or raw == _HIDDEN else raw
    if isinstance(raw, Mapping):
        if raw.get(_SIGNATURE) == _SECRET:
            return normalise(raw["value"]) if "value" in raw else UNKNOWN
        return {str(key): normalise(value) for key, value in raw.items() if not str(key).startswith("__")}
    if isinstance(raw, Sequence):
        return tuple(normalise(value) for value in raw)
    return UNKNOWN


def unknown_paths(value: Value, prefix: str = "") -> Iterator[str]:
    """Yield the dotted paths of all unknown values inside ``value``."""
    if value is UNKNOWN:
        yield prefix
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from unknown_paths(entry, f"{prefix}.{key}" if prefix else key)
    elif isinstance(value, tuple):
        for index, entry in enumerate(value):
            yield from unknown_paths(entry, f"{prefix}.{index}" if prefix else str(index))
