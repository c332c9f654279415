"""Demand from another tool's file: a trace beside ``demand.yaml``, and the entry that names it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from outlast.errors import ConfigError, Problem
from outlast.ingest.samples import samples_of
from outlast.ingest.series import READINGS, Curve, curve, filled, hourly, said
from outlast.ingest.sources import text_of
from outlast.ingest.writing import checked
from outlast.ingest.yaml_edit import flow, with_item
from outlast.intent import Intent
from outlast.intent.demand import WEEK_HOURS
from outlast.intent.known import unknown

FILE = "demand.yaml"
REQUESTS = "requests/s"
UNITS = ("output tok/s", "input tok/s", REQUESTS)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the series is the demand of, and how to read it."""

    model: str
    origin: str
    tenants: tuple[str, ...]
    reading: str = "largest day"
    form: str | None = None
    unit: str | None = None
    """What the series counts; None: what its model is planned in."""
    lengths: tuple[int, int] | None = None
    """Mean prompt and output tokens of a request, for requests/s of a model in tokens."""
    column: str | None = None
    zone: str | None = None
    interpolate: bool = False


@dataclass(frozen=True, kw_only=True)
class DemandImport:
    """A curve that could enter a fleet."""

    trace: str
    """Name of the trace file."""
    text: str
    """What it holds."""
    entry: str
    """The entry of demand.yaml, YAML of one line."""
    says: str
    """Which part of the series it shows."""
    curve: Curve
    unit: str
    stands: int | None
    """Position of the curve that demand.yaml holds of the same tenants, origin and model."""

    @property
    def peak(self) -> tuple[int, float]:
        """The hour of the curve's highest value, and the value."""
        value = max(self.curve.values)
        return self.curve.values.index(value), value


def read_demand(path: Path, asked: Asked, intent: Intent) -> DemandImport:
    """Return the demand that a file holds.

    Raises:
        ConfigError: the file, or what was asked of it, is wrong.
    """
    _check(asked, intent)
    where = path.name
    samples = samples_of(text_of(path), where, asked.form, asked.column, asked.zone)
    hours, gaps = filled(hourly(samples.points), where, interpolate=asked.interpolate)
    reading = next(known for known in READINGS if known == asked.reading)
    found = curve(hours, reading, where)
    if not max(found.values):
        raise ConfigError(Problem(where=where, what="the demand is 0 in every hour", do="Correct the query"))
    unit = asked.unit or _units(intent)[asked.model]
    name = f"trace-{asked.model}-{asked.origin}-{asked.tenants[0]}.txt"
    days = f", {len(hours)} hours from {said(min(hours))}" if samples.is_dated else ""
    says = found.says if samples.is_dated else f"the {reading} of the table"
    head = (
        f"source: {where}, {samples.tool}{days}",
        f"shows: {says}",
        f"filled: {gaps} hours, on the line between their neighbours" if gaps else "filled: none",
        f"zone: {samples.zone}; line 1 is {'Monday ' if len(found.values) == WEEK_HOURS else ''}00:00 UTC",
        f"unit: {unit}, the mean of each hour",
    )
    text = "".join(f"# {line}\n" for line in head) + "".join(f"{value:.10g}\n" for value in found.values)
    digest = f"sha256:{sha256(text.encode()).hexdigest()}"
    entry = _entry(asked, flow({"file": name, "digest": digest, "reading": reading, "unit": unit}))
    stands = _standing(asked, intent)
    return DemandImport(trace=name, text=text, entry=entry, says=says, curve=found, unit=unit, stands=stands)


def _entry(asked: Asked, trace: str) -> str:
    values = {"tenants": f"[{', '.join(asked.tenants)}]", "origin": asked.origin, "model": asked.model}
    if asked.lengths:
        prompt, output = asked.lengths
        values["lengths"] = flow({"prompt": f"{prompt} tokens", "output": f"{output} tokens"})
    return flow(values | {"trace": trace})


def _check(asked: Asked, intent: Intent) -> None:
    known = intent.tenants_file.tenants
    problems = [unknown("--tenants", "tenant", tenant, known) for tenant in asked.tenants if tenant not in known]
    if not asked.tenants:
        problems.append(Problem(where="--tenants", what="names no tenant", do="Name one or more, with commas between"))
    if asked.origin not in intent.regions_file.origins:
        problems.append(unknown("--origin", "origin", asked.origin, intent.regions_file.origins))
    if asked.model not in _units(intent):
        problems.append(unknown("--model", "model", asked.model, _units(intent)))
    elif asked.unit is not None:
        problems += _unit_problems(asked.unit, _units(intent)[asked.model], has_lengths=asked.lengths is not None)
    if asked.reading not in READINGS:
        problems.append(unknown("--reading", "reading", asked.reading, READINGS))
    if problems:
        raise ConfigError(problems)


def _unit_problems(unit: str, planned: str, *, has_lengths: bool) -> list[Problem]:
    if unit not in UNITS:
        return [unknown("--unit", "unit", unit, UNITS)]
    if unit == planned:
        return []
    if unit != REQUESTS:
        what = f"the model is planned in {planned}"
        return [Problem(where="--unit", what=what, got=unit, allowed=f"{planned}, {REQUESTS}", do="Export that")]
    if not has_lengths:
        what = f"requests become {planned} by their mean length"
        return [Problem(where="--lengths", what=what, do="Add --lengths PROMPT:OUTPUT, such as 2000:300")]
    return []


def lengths_of(text: str | None) -> tuple[int, int] | None:
    """Return prompt and output tokens written as ``2000:300``.

    Raises:
        ConfigError: they are not.
    """
    if text is None:
        return None
    prompt, _, output = text.partition(":")
    if not (prompt.isdecimal() and output.isdecimal() and int(prompt) + int(output)):
        do = "Write mean tokens of prompt and output, such as 2000:300"
        raise ConfigError(Problem(where="--lengths", what="are no lengths", got=f"'{text}'", do=do))
    return int(prompt), int(output)


def _units(intent: Intent) -> Mapping[str, str]:
    """Return the unit of every model and variant of a model."""
    variants = {variant: model.unit for model in intent.models.values() for variant in model.variants}
    return {name: model.unit for name, model in intent.models.items()} | variants


def _standing(asked: Asked, intent: Intent) -> int | None:
    """Return the position of the curve that this one would repeat.

    Raises:
        ConfigError: it would repeat a part of one, or parts of several.
    """
    shared = {
        index: curve.tenants
        for index, curve in enumerate(intent.demand_file.demand)
        if (curve.origin, curve.model) == (asked.origin, asked.model) and set(curve.tenants) & set(asked.tenants)
    }
    for index, tenants in shared.items():
        if set(tenants) != set(asked.tenants):
            where = f"{intent.name}/{FILE}, demand.{index}"
            what = "holds demand of some of these tenants, from there and for that model"
            do = "Name the same tenants, or take them out of that curve first"
            raise ConfigError(Problem(where=where, what=what, got=", ".join(tenants), do=do))
    return next(iter(shared), None)


def changed_files(found: DemandImport, config_root: Path, intent: Intent, *, replace: bool) -> Mapping[Path, str]:
    """Return what the fleet's files would hold; the whole fleet is checked with them.

    Raises:
        ConfigError: the curve or the trace stands there already and may not be replaced, or the fleet would be wrong.
    """
    folder = config_root / "fleets" / intent.name
    problems: list[Problem] = []
    if found.stands is not None and not replace:
        where = f"{intent.name}/{FILE}, demand.{found.stands}"
        what = "holds the demand of these tenants, from there and for that model"
        problems.append(Problem(where=where, what=what, do="Add --replace to put this curve in its place"))
    trace = folder / found.trace
    if trace.exists() and not replace and trace.read_bytes() != found.text.encode():
        problems.append(
            Problem(where=f"{intent.name}/{found.trace}", what="is there already", do="Add --replace to write it anew")
        )
    if problems:
        raise ConfigError(problems)
    text = text_of(folder / FILE)
    edited = with_item(text, ("demand",), found.entry, f"{intent.name}/{FILE}", found.stands)
    texts = {found.trace: found.text, FILE: edited}
    checked(config_root, intent.name, intent.facts, texts)
    return {folder / name: content for name, content in texts.items()}


def split(words: Sequence[str]) -> tuple[str, ...]:
    """Return words given one by one or with commas between, without repeats."""
    return tuple(dict.fromkeys(word.strip() for text in words for word in text.split(",") if word.strip()))
