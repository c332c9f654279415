"""The command ``outlast replica``: reads what one replica is from options, and from a fleet's files if one is named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from outlast.errors import Problem
    from outlast.facts import Facts
    from outlast.intent import Intent
    from outlast.intent.models import Model
    from outlast.replica import Replica

_CONTEXT = "8,000 tokens"
_FORMATS = ("text", "json")


@dataclass(frozen=True)
class Chosen:
    """What the options and the fleet's files say together."""

    facts: Facts
    replica: Replica
    intent: Intent | None
    weights_bytes: float
    """Of the released artifact, or of the published weights at the chosen precision."""


def replica(
    model: Annotated[str, typer.Argument(help="Published model in facts; with --fleet, a model of that fleet.")],
    accelerator: Annotated[str | None, typer.Option(help="Card; with --fleet, the model's first.")] = None,
    gpus: Annotated[int | None, typer.Option(help="GPUs a replica; default: the fleet's, or the fewest.")] = None,
    precision: Annotated[str | None, typer.Option(help="Of the weights; default: the fleet's, or published.")] = None,
    kv_precision: Annotated[str | None, typer.Option(help="Of keys and values: bf16, fp16, fp8.")] = None,
    context: Annotated[str | None, typer.Option(help=f"Tokens a sequence may hold; default '{_CONTEXT}'.")] = None,
    partition: Annotated[str, typer.Option(help="Part of a card: mig-1g.10gb, cpx-nps4, slice-4.")] = "whole",
    adapters: Annotated[int, typer.Option(help="Adapters in GPU memory; with --fleet, its variants.")] = 0,
    adapter_size: Annotated[str | None, typer.Option(help="Of the largest adapter, such as '0.3 GiB'.")] = None,
    rank: Annotated[int, typer.Option(help="Rank of the adapters.")] = 16,
    task: Annotated[str | None, typer.Option(help="generate, pool, embed, rerank, classify.")] = None,
    accounting: Annotated[
        str, typer.Option(help="reported: what driver and engine say. nominal: labels and a flat tenth.")
    ] = "reported",
    fleet: Annotated[str | None, typer.Option(help="Folder below config/fleets: read the model there.")] = None,
    form: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
) -> None:
    """Say what one replica holds: memory, concurrent sequences, engine flags, published goodput, cold start."""
    from outlast.cli.replica_shown import show_json, show_text
    from outlast.errors import ConfigError
    from outlast.intent.known import unknown
    from outlast.replica import memory_of

    if form not in _FORMATS:
        raise ConfigError(unknown("--format", "format", form, _FORMATS))
    options = {
        "accelerator": accelerator,
        "gpus": gpus,
        "precision": precision,
        "kv_precision": kv_precision,
        "context": context,
        "partition": partition,
        "adapters": adapters,
        "adapter_size": adapter_size,
        "rank": rank,
        "task": task,
        "accounting": accounting,
    }
    chosen = _of_fleet(model, fleet, options) if fleet is not None else _of_facts(model, options)
    memory = memory_of(chosen.replica)
    show = {"text": show_text, "json": show_json}[form]
    show(chosen, memory)


def _of_facts(model: str, options: Mapping[str, Any]) -> Chosen:
    from outlast.cli.context import config_root
    from outlast.errors import ConfigError, Problem
    from outlast.facts import load_facts
    from outlast.intent.known import unknown
    from outlast.replica import stored_precision

    facts, problems = load_facts(config_root()), list[Problem]()
    if model not in facts.model_shapes:
        problems.append(unknown("MODEL", "model", model, facts.model_shapes))
    if options["accelerator"] is None:
        problems.append(Problem(where="--accelerator", what="a card is needed", do="Name one, or a fleet with --fleet"))
    elif options["accelerator"] not in facts.accelerators:
        problems.append(unknown("--accelerator", "accelerator", options["accelerator"], facts.accelerators))
    context = _quantity("context", _given(options["context"], _CONTEXT), problems)
    adapters = _adapters(options, problems)
    if problems:
        raise ConfigError(problems)
    shape = facts.model_shapes[model]
    record = {
        "shape": shape,
        "accelerator": facts.accelerators[options["accelerator"]],
        "precision": _given(options["precision"], stored_precision(shape)),
        "kv_precision": _given(options["kv_precision"], "fp16" if options["precision"] == "fp16" else "bf16"),
        "context_tokens": context,
        "adapters": adapters,
        "task": options["task"],
    }
    return _chosen(facts, record, options["gpus"], options)


def _of_fleet(name: str, fleet: str, options: Mapping[str, Any]) -> Chosen:
    from outlast.cli.context import load
    from outlast.errors import ConfigError, Problem
    from outlast.intent.known import unknown

    intent, problems = load(fleet).intent, list[Problem]()
    if name not in intent.models:
        raise ConfigError(unknown(f"{fleet}/models.yaml", "model", name, intent.models))
    model = intent.models[name]
    accelerator = _given(options["accelerator"], next(iter(model.accelerators)))
    if accelerator not in intent.facts.accelerators:
        problems.append(unknown("--accelerator", "accelerator", accelerator, intent.facts.accelerators))
    text = options["context"]
    context = model.context if text is None else _quantity("context", text, problems)
    adapters = _adapters(options, problems) or _variants(model, options["rank"])
    if problems:
        raise ConfigError(problems)
    how = model.accelerators.get(accelerator)
    record = {
        "shape": intent.facts.model_shapes[model.shape],
        "accelerator": intent.facts.accelerators[accelerator],
        "precision": _given(options["precision"], model.precision),
        "kv_precision": _given(options["kv_precision"], model.kv_precision),
        "context_tokens": context,
        "adapters": adapters,
        "task": _given(options["task"], None if model.unit == "output tok/s" else "pool"),
        "where": f"{fleet}/models.yaml, models.{name}",
    }
    gpus = _given(options["gpus"], how.gpus_per_replica if how else None)
    size_gib = None if options["precision"] is not None else intent.artifacts.models[model.artifact].size
    return _chosen(intent.facts, record, gpus, options, intent, size_gib)


def _chosen(
    facts: Facts,
    record: Mapping[str, Any],
    gpus: int | None,
    options: Mapping[str, Any],
    intent: Intent | None = None,
    artifact_gib: float | None = None,
) -> Chosen:
    from outlast.replica import Replica, least_gpus, weights_bytes

    fixed = {"partition": options["partition"], "accounting": options["accounting"]}
    found = Replica(**record, **fixed, gpus=1 if gpus is None else gpus)
    if gpus is None and found.partition == "whole":
        found = Replica(**record, **fixed, gpus=least_gpus(found) or 1)
    return Chosen(facts, found, intent, artifact_gib * 2**30 if artifact_gib else weights_bytes(found))


def _given(option: Any, default: Any) -> Any:
    return default if option is None else option


def _adapters(options: Mapping[str, Any], problems: list[Problem]) -> Any:
    from outlast.errors import Problem
    from outlast.replica import Adapters

    size, slots = options["adapter_size"], options["adapters"]
    if not slots and size is None:
        return None
    if size is None:
        do = "Say how large the largest is, such as --adapter-size '0.3 GiB'"
        problems.append(Problem(where="--adapter-size", what="adapters have a size", do=do))
        return None
    size_gib = _quantity("adapter-size", size, problems)
    return None if size_gib is None else Adapters(slots, size_gib, options["rank"])


def _variants(model: Model, rank: int) -> Any:
    from outlast.replica import Adapters

    sizes = [variant.size for variant in model.variants.values()]
    return Adapters(len(sizes), max(sizes), rank) if sizes else None


def _quantity(option: str, text: str, problems: list[Problem]) -> float | None:
    from outlast.errors import Problem
    from outlast.units import parse

    units: dict[str, tuple[dict[str, float], str]] = {
        "context": ({"tokens": 1.0, "token": 1.0}, _CONTEXT),
        "adapter-size": ({"GiB": 1.0, "TiB": 1024.0, "MiB": 1 / 1024}, "0.3 GiB"),
    }
    try:
        return parse(text, *units[option])
    except ValueError as error:
        problems.append(Problem(where=f"--{option}", what=str(error)))
        return None
