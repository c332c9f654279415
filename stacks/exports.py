"""What one stack hands another: only values that a cloud invents, typed, written and read in one place.

A value that the other stack does not export yet is unknown in a preview, with a warning, because the pull request that
adds it previews both stacks; in an update it ends the run. A stack that does not exist at all ends even a preview, so
`outlast previews` looks for the stacks first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, cast

import pulumi

from outlast.errors import EnvironmentProblem, Problem
from outlast.intent.stacks import GLOBAL

EXPORTS_FILE = "OUTLAST_EXPORTS"
"""Names a file `{stack: {output: value}}` that stands in for stacks whose state is out of reach."""
ZONE = "zone"


@dataclass(frozen=True, kw_only=True)
class GlobalExports:
    """What the global stack invents."""

    keys: Mapping[str, pulumi.Input[str]]
    """Region -> id of its key."""
    dns: Mapping[str, pulumi.Input[str]]
    """``zone`` -> id of the DNS zone."""


@dataclass(frozen=True, kw_only=True)
class RegionExports:
    """What a region's stack invents."""

    gateway_addresses: Mapping[str, pulumi.Input[str]]
    """Slot -> IPv4 address of the gateway."""


@dataclass(frozen=True, kw_only=True)
class RoutingExports:
    """What the routing stack tells people."""

    hosts: Mapping[str, pulumi.Input[str]]
    """Residency class -> host name."""


def write(exports: GlobalExports | RegionExports | RoutingExports) -> None:
    """Export every table as a stack output of its name."""
    for field in fields(exports):
        pulumi.export(field.name, dict(getattr(exports, field.name)))


def export_applied(value: Mapping[str, object], after: Sequence[pulumi.Output[Any]]) -> None:
    """Export what a stack has deployed, once what it claims exists.

    The engine keeps exports even of a run that failed half-way; a half-made region must not claim its full capacity.
    """
    pulumi.export("applied", pulumi.Output.all(*after).apply(lambda _: value))


def read_global(fleet: str, regions: Iterable[str] = (), *, dns: bool = False) -> GlobalExports:
    """Read what a stack needs of the global stack: keys of some regions, and the DNS zone if asked for."""
    source = _Source(f"{fleet}.{GLOBAL}")
    return GlobalExports(keys=source.table("keys", regions), dns=source.table("dns", [ZONE] if dns else []))


def read_region(fleet: str, region: str, slots: Iterable[str]) -> RegionExports:
    """Read the addresses of a region's gateway."""
    return RegionExports(gateway_addresses=_Source(f"{fleet}.{region}").table("gateway_addresses", slots))


class _Source:
    """One stack's outputs, from its state or from the file that stands in for it."""

    def __init__(self, stack: str) -> None:
        self._stack = stack
        file = os.environ.get(EXPORTS_FILE)
        self._outputs: pulumi.Output[Mapping[str, Any]]
        if file:
            self._outputs = pulumi.Output.from_input(_exports_of(Path(file), stack))
        else:
            reference = pulumi.StackReference(f"{pulumi.get_organization()}/{pulumi.get_project()}/{stack}")
            self._outputs = reference.outputs

    def table(self, name: str, keys: Iterable[str]) -> dict[str, pulumi.Output[str]]:
        """Return the wanted entries of a table, each a value of its own."""
        return {key: self._outputs.apply(partial(self._pick, name, key)) for key in keys}

    def _pick(self, name: str, key: str, outputs: Mapping[str, Any]) -> str:
        table = outputs.get(name)
        found = table.get(key) if isinstance(table, Mapping) else None
        if found is not None:
            return str(_whole(found))
        if pulumi.runtime.is_dry_run():
            pulumi.log.warn(f"{name}.{key} of {self._stack}: pending {self._stack} in this pull request")
            return cast("str", pulumi.UNKNOWN)
        problem = Problem(
            where=f"stack {self._stack}",
            what=f"does not export {name}.{key}",
            do=f"Run 'pulumi up -s {self._stack}' first",
        )
        raise pulumi.RunError(str(problem))


def _exports_of(path: Path, stack: str) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        return dict(document.get(stack, {}))
    except (OSError, ValueError, AttributeError, TypeError) as error:
        problem = Problem(
            where=f"{EXPORTS_FILE}={path.name}",
            what=f"cannot read the exports: {error}",
            do="Run 'outlast exports FLEET' to write it again, or unset the variable",
        )
        raise EnvironmentProblem(problem) from error


def _whole(value: object) -> object:
    """Return an integral number as an int: numbers of a stack reference arrive as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
