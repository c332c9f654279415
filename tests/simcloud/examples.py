"""The tables of examples in `cases/`: what every row makes, and for every refusal a change that it refuses.

`python -m tests.simcloud.examples` counts them by cloud.

One file a Pulumi package, the single source of the tests in this process (`test_rows`) and of those on the real engine
(`test_refused`). To add a refusal, add its row code and one line here; both tests find it.

    plan:    one create of every row that succeeds, in order. "@name.output" refers to an earlier one.
             with: what it needs though it does not refer to it, such as a grant.
    broken:  of: name in the plan; claim: that of the refusal; change: dotted path to value, null leaves an input out,
             {repeat, times} is a long text.
             how: create (usual), update (made as planned, then changed) or delete (made with the change, then deleted).
             without: what is not built first. also: what is built besides, by name if it stands in the plan.
             with: what must stand first though nothing refers to it.
    common:  the same for the refusals of the package and those of `COMMON`, once for all types.
             `of: provider` changes the provider's configuration.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from simcloud.cloud import cloud_of, packages
from simcloud.row import Refusal, Row
from simcloud.rows.kubernetes.custom import row_of
from tests.simcloud.conftest import DROP, rows_of

CASES = Path(__file__).with_name("cases")
PROVIDER = "provider"
Plan = Mapping[str, tuple[str, dict[str, Any]]]

COMMON: Mapping[str, str] = {
    "argument-unknown": "is not an argument the pinned SDK knows",
    "argument-missing": "is required and missing",
    "argument-of-another-type": "must be a",
    "provider-refused": "",
    "name-malformed": "is not a name the cloud takes",
    "name-taken": "exists already",
    "reference-missing": "there is no ",
    "reference-elsewhere": "lies elsewhere",
    "machine-type-not-offered": "is not offered in",
    "quota-exceeded": "is exceeded in",
    "reservation-too-small": "is too small",
    "held": "is in use and cannot be deleted",
}
"""Claim of a refusal that no row states, and words of its sentence; empty: whatever this process said."""

OF_INPUTS = frozenset(claim for claim in COMMON if claim.startswith(("argument-", "provider-", "name-malformed")))
"""Common claims that are judged whenever the program runs."""


@dataclass(frozen=True)
class Example:
    """One refusal to be shown."""

    package: str
    number: int
    """Its place in the table."""
    entry: Mapping[str, Any]
    common: bool

    @property
    def of(self) -> str:
        return str(self.entry["of"])

    @property
    def claim(self) -> str:
        return str(self.entry["claim"])

    @property
    def how(self) -> str:
        return str(self.entry.get("how", "create"))

    @property
    def change(self) -> dict[str, Any]:
        return {path: _value(value) for path, value in self.entry.get("change", {}).items()}

    @property
    def without(self) -> tuple[str, ...]:
        return tuple(self.entry.get("without", ()))

    @property
    def also(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """What is built besides."""
        planned = plan(self.package)
        given = self.entry.get("also", {})
        return {name: planned.get(name) or (new["type"], new["inputs"]) for name, new in given.items()}

    @property
    def beforehand(self) -> tuple[str, ...]:
        return tuple(self.entry.get("with", ()))

    @property
    def type(self) -> str:
        return f"pulumi:providers:{self.package}" if self.of == PROVIDER else plan(self.package)[self.of][0]

    @property
    def refusal(self) -> Refusal | None:
        """The refusal of the row or of the package; None for one of `COMMON`."""
        found = cloud_of(self.package).refusals if self.common else row(self.type).refusals
        return next((item for item in found if item.claim == self.claim), None)

    @property
    def of_inputs(self) -> bool:
        """Tell whether the inputs alone are refused, at every run of the program."""
        return self.claim in OF_INPUTS if self.refusal is None else self.refusal.phase == "check"

    @property
    def alone(self) -> bool:
        """Tell whether it needs clouds of its own, since it is not just one more resource beside the plan."""
        return bool(self.without or self.also or self.how != "create")

    def __str__(self) -> str:
        return f"{self.package}-{self.of}-{self.claim}"


def _value(given: Any) -> Any:
    if isinstance(given, dict) and given.keys() == {"repeat", "times"}:
        return given["repeat"] * given["times"]
    return DROP if given is None else given


@cache
def _table(package: str) -> dict[str, Any]:
    return dict(yaml.safe_load((CASES / f"{package}.yaml").read_text(encoding="utf-8")))


def plan(package: str) -> Plan:
    """One create of every row, in order."""
    return {name: (entry["type"], entry["inputs"]) for name, entry in _table(package)["plan"].items()}


def needs(package: str) -> Mapping[str, tuple[str, ...]]:
    """What resources of a plan need though they do not refer to it."""
    return {name: tuple(entry["with"]) for name, entry in _table(package)["plan"].items() if "with" in entry}


def examples(package: str) -> list[Example]:
    """Every refusal to be shown of a package."""
    table = _table(package)
    entries = [(entry, part == "common") for part in ("broken", "common") for entry in table.get(part) or ()]
    return [Example(package, number, entry, common) for number, (entry, common) in enumerate(entries, 1)]


def row(kind: str) -> Row:
    """The row of a type that a plan names."""
    found = cloud_of(kind.split(":")[0]).rows.get(kind) or row_of(kind)
    assert found
    return found


def demanded(package: str) -> set[tuple[str, str]]:
    """(type, claim) of every refusal that needs an example; those of no row have no type."""
    stated = {(kind, item.claim) for kind in kinds(package) for item in row(kind).refusals}
    shared = {item.claim for item in cloud_of(package).refusals}
    return stated | {("", claim) for claim in (*shared, *_common(rows_of(package)))}


def kinds(package: str) -> set[str]:
    """Every type of a package: those of rows, and those that a plan adds by a definition."""
    return {item.type for item in rows_of(package)} | {kind for kind, _ in plan(package).values()}


def _common(rows: list[Row]) -> Iterator[str]:
    """Common claims that a package with such rows can make."""
    references = [reference for item in rows for reference in item.references]
    yield from OF_INPUTS
    if any(item.unique for item in rows):
        yield "name-taken"
    if any(item.nodes for item in rows):
        yield from ("machine-type-not-offered", "quota-exceeded")
    if any(item.draws_down for item in rows):
        yield "reservation-too-small"
    if references:
        yield "reference-missing"
    if any(not reference.anywhere for reference in references):
        yield "reference-elsewhere"
    if any(reference.holds for reference in references):
        yield "held"


def counted(package: str) -> str:
    """Say how many refusals of a package are shown, and when they are heard."""
    every = examples(package)
    previews = sum(example.of_inputs for example in every)
    claims = len({example.claim for example in every})
    return (
        f"{package}: {len(every)} refusals of {len(kinds(package))} types are shown through the engine,"
        f" {claims} by name; {previews} in previews, {len(every) - previews} in updates"
    )


if __name__ == "__main__":
    sys.stdout.write("".join(f"{counted(package)}\n" for package in packages()))
