"""Turns a run into the goodput record of ``models.yaml``, if it met the model's latency targets."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from outlast.errors import ConfigError, Problem, listed
from outlast.ingest.goodput import aiconfigurator, inference_perf, vllm
from outlast.ingest.goodput.run import Run
from outlast.ingest.sources import is_json, json_of, table_of, text_of
from outlast.ingest.writing import checked
from outlast.ingest.yaml_edit import quoted, with_keys
from outlast.intent import Intent
from outlast.intent.known import unknown
from outlast.intent.models import WHOLE, Model, ModelAccelerator

FILE = "models.yaml"
_TARGET = 95
"""Percentile of the targets ``ttft_p95`` and ``itl_p95``."""
_TOOLS = (vllm, inference_perf)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the run was of, where its file does not say it."""

    model: str
    accelerator: str
    gpus: int
    """GPUs that served the run: one replica or several whole ones."""
    day: date | None = None
    cache_hit: str | None = None
    force_model: bool = False


@dataclass(frozen=True, kw_only=True)
class GoodputImport:
    """A record that could enter a fleet."""

    record: Mapping[str, str | None]
    """Key -> value as YAML; None for a key that the record no longer has."""
    before: str
    """The value that stands in models.yaml."""
    met: tuple[str, ...]
    """Targets, and what the run shows for them."""
    notes: tuple[str, ...]


def read_goodput(path: Path, asked: Asked, intent: Intent) -> GoodputImport:
    """Return the record that a result file gives.

    Raises:
        ConfigError: the file is no known tool's, of another model, or its run misses the model's targets.
    """
    model, how = _known(asked, intent)
    run, advice = _run(path, asked, model)
    where = path.name
    problems = [*_other_model(run, asked, model, where), *_other_card(run, asked, where)]
    met, missed = _judged(run, model, where, advice)
    problems += missed
    replicas = asked.gpus / how.gpus_per_replica
    is_part = how.partition != WHOLE
    if replicas != int(replicas) or (is_part and replicas > 1):
        allowed = "1: one part of a divided card" if is_part else f"{how.gpus_per_replica} or a multiple"
        what, do = "is no whole number of replicas", "Say how many GPUs served the run"
        problems.append(Problem(where="--gpus", what=what, got=str(asked.gpus), allowed=allowed, do=do))
    day = run.date or asked.day
    if day is None:
        problems.append(Problem(where=where, what="does not say when it ran", do="Add --date, such as 2026-11-30"))
    if problems or day is None:
        raise ConfigError(problems)
    several = [f"the run had {replicas:g} replicas; the record is one of them"] if replicas > 1 else []
    parts = [f"taken as a run on one part of a card ({how.partition}) whose other parts were busy"] if is_part else []
    return GoodputImport(
        record=_record(run, asked, model, day, int(replicas), where),
        before=f"{how.goodput.value:g} {model.unit} ({how.goodput.kind}, {how.goodput.date})",
        met=met,
        notes=(*run.notes, *several, *parts),
    )


def _known(asked: Asked, intent: Intent) -> tuple[Model, ModelAccelerator]:
    model = intent.models.get(asked.model)
    if model is None:
        raise ConfigError(unknown("--model", "model", asked.model, intent.models))
    how = model.accelerators.get(asked.accelerator)
    if how is None:
        raise ConfigError(unknown("--accelerator", "accelerator of the model", asked.accelerator, model.accelerators))
    if asked.gpus < 1:
        raise ConfigError(
            Problem(where="--gpus", what="is no number of GPUs", got=str(asked.gpus), allowed="1 or more")
        )
    return model, how


def _run(path: Path, asked: Asked, model: Model) -> tuple[Run, str]:
    """Return the run of a file, and how to get what it lacks."""
    where, text = path.name, text_of(path)
    known = f"{vllm.NAME} --save-result, {inference_perf.NAME} stage reports, {aiconfigurator.NAME} tables"
    stranger = Problem(where=where, what="is no result file of a known tool", allowed=known, do="Name one of these")
    if is_json(text):
        document = json_of(text, where)
        for tool in _TOOLS:
            if tool.recognises(document):
                return tool.run_of(document, where), tool.ADVICE
        raise ConfigError(stranger)
    try:
        table = table_of(text, where)
    except ConfigError:
        raise ConfigError(stranger) from None
    if not aiconfigurator.recognises(table):
        raise ConfigError(stranger)
    slo = model.slo
    return aiconfigurator.run_of(table, where, asked.gpus, slo.ttft_p95, slo.itl_p95), aiconfigurator.ADVICE


def _other_model(run: Run, asked: Asked, model: Model, where: str) -> list[Problem]:
    names = (model.shape, asked.model, model.artifact)
    if run.model is None or asked.force_model or any(_letters(name) in _letters(run.model) for name in names):
        return []
    do = f"Name the model it was run with, or add --force-model if it is {model.shape}"
    what = f"is of another model than {asked.model}"
    return [Problem(where=where, what=what, got=run.model, allowed=listed(names), do=do)]


def _other_card(run: Run, asked: Asked, where: str) -> list[Problem]:
    if run.accelerator is None or asked.accelerator.startswith(f"{run.accelerator.replace('_', '-')}-"):
        return []
    what = "is of another accelerator"
    return [Problem(where=where, what=what, got=run.accelerator, allowed=asked.accelerator, do="Correct --accelerator")]


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _judged(run: Run, model: Model, where: str, advice: str) -> tuple[tuple[str, ...], list[Problem]]:
    """Return how each target was met, and the problems of those that were not."""
    met: list[str] = []
    problems: list[Problem] = []
    targets = (
        ("time to first token", run.ttft_s, model.slo.ttft_p95),
        ("inter-token latency", run.itl_s, model.slo.itl_p95),
    )
    for what, shown, target_s in targets:
        percentile = _percentile(run, shown)
        if percentile is None:
            got = listed(f"p{key:g}" for key in shown)
            missing = f"shows no percentile of the {what} at {_TARGET} or above"
            problems.append(Problem(where=where, what=missing, got=got, do=advice))
            continue
        value_s = shown[percentile]
        told = f"p{percentile:g}" if run.kind == "measured" else "predicted"
        if value_s > target_s:
            missed, got = f"the run misses the model's target of the {what}", f"{told} {value_s * 1000:,.1f} ms"
            do = "Run it with less load, and import that"
            allowed = f"{target_s * 1000:,.0f} ms at p{_TARGET}"
            problems.append(Problem(where=where, what=missed, got=got, allowed=allowed, do=do))
        met.append(f"{what}: {told} {value_s * 1000:,.1f} ms, target {target_s * 1000:,.0f} ms at p{_TARGET}")
    failed = run.failed / (run.completed + run.failed)
    if failed > 1 - _TARGET / 100:
        got = f"{run.failed} of {run.completed + run.failed} requests"
        what = f"so many requests failed that no target at p{_TARGET} holds"
        problems.append(Problem(where=where, what=what, got=got, do="Find out why, and run it again"))
    return tuple(met), problems


def _percentile(run: Run, shown: Mapping[float, float]) -> float | None:
    """Return the percentile to judge by: the lowest that is at least the target's."""
    if run.kind == "predicted":
        return 50
    return min((key for key in shown if key >= _TARGET), default=None)


def _record(run: Run, asked: Asked, model: Model, day: date, replicas: int, where: str) -> Mapping[str, str | None]:
    rates = {"output tok/s": run.output_tok_s, "input tok/s": run.input_tok_s, "requests/s": run.requests_s}
    rate = rates[model.unit] / replicas
    is_tokens = model.unit.endswith("tok/s")
    value = f"{math.floor(rate)}" if is_tokens and rate >= 1 else f"{math.floor(rate * 100) / 100:.2f}"
    if not float(value):
        what = f"serves almost no {model.unit}"
        raise ConfigError(Problem(where=where, what=what, got=f"{rate:g}", do="Name the right file"))
    cached = asked.cache_hit or (None if run.cached_ratio is None else f"{run.cached_ratio:.0%}".replace("%", " %"))
    return {
        "value": f"{value} {model.unit}",
        "kind": run.kind,
        "date": day.isoformat(),
        "source": quoted(f"{run.tool}, {where}"),
        "prompt_tokens": f"{run.prompt_tokens:.0f} tokens",
        "output_tokens": f"{run.output_tokens:.0f} tokens",
        "cache_hit": None if cached is None else quoted(cached),
    }


def changed_file(found: GoodputImport, asked: Asked, config_root: Path, intent: Intent) -> Mapping[Path, str]:
    """Return what models.yaml would hold; the whole fleet is checked with it.

    Raises:
        ConfigError: the file cannot be edited in place, or the fleet would be wrong.
    """
    path = config_root / "fleets" / intent.name / FILE
    place = ("models", asked.model, "accelerators", asked.accelerator, "goodput")
    edited = with_keys(text_of(path), place, found.record, f"{intent.name}/{FILE}")
    checked(config_root, intent.name, intent.facts, {FILE: edited})
    return {path: edited}
