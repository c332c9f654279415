"""The command ``outlast replica``: reads what one replica is from options, and from a fleet's files if one is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from outlast.cli.replica_shown import Chosen, show_json, show_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from outlast.errors import Problem

_CONTEXT = "8,000 tokens"
_DEFAULT_CONTEXT_TOKENS = 8000.0
_FORMATS = ("text", "json")


def replica(
    model: Annotated[str, typer.Argument(help="Published model in facts; with --fleet, a model of that fleet.")],
    accelerator: Annotated[str | None, typer.Option(help="Card; with --fleet, the model's first.")] = None,
    gpus: Annotated[int | None, typer.Option(help="GPUs a replica; default: the fleet's, or the fewest.")] = None,
    precision: Annotated[str | None, typer.Option(help="Of the weights; default: the fleet's, or published.")] = None,
    kv_precision: Annotated[str | None, typer.Option(help="Of keys and values: bf16, fp16, fp8.")] = None,
    context: Annotated[str | None, typer.Option(help=f"Tokens a sequence may hold; default '{_CONTEXT}'.")] = None,
    partition: Annotated[str | None, typer.Option(help="Part of a card: mig-1g.10gb, cpx-nps4, slice-4.")] = None,
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
    from outlast.replica import Replica, on_fewest_gpus, stored_precision, weights_bytes

    facts, problems = load_facts(config_root()), list[Problem]()
    if model not in facts.model_shapes:
        problems.append(unknown("MODEL", "model", model, facts.model_shapes))
    if options["accelerator"] is None:
        problems.append(Problem(where="--accelerator", what="a card is needed", do="Name one, or a fleet with --fleet"))
    elif options["accelerator"] not in facts.accelerators:
        problems.append(unknown("--accelerator", "accelerator", options["accelerator"], facts.accelerators))
    fields = _fields(options, problems)
    if problems:
        raise ConfigError(problems)
    shape = facts.model_shapes[model]
    record = {
        "shape": shape,
        "accelerator": facts.accelerators[options["accelerator"]],
        "precision": stored_precision(shape),
        "kv_precision": "fp16" if options["precision"] == "fp16" else "bf16",
        "context_tokens": _DEFAULT_CONTEXT_TOKENS,
    }
    found = Replica(**{**record, **fields})
    found = found if "gpus" in fields else on_fewest_gpus(found)
    return Chosen(facts, found, None, weights_bytes(found))


def _of_fleet(name: str, fleet: str, options: Mapping[str, Any]) -> Chosen:
    from outlast.cli.context import load
    from outlast.errors import ConfigError, Problem
    from outlast.intent.known import unknown
    from outlast.replica import replica_of, weights_bytes

    intent, problems = load(fleet).intent, list[Problem]()
    if name not in intent.models:
        raise ConfigError(unknown(f"{fleet}/models.yaml", "model", name, intent.models))
    model = intent.models[name]
    accelerator = _given(options["accelerator"], next(iter(model.accelerators)))
    if accelerator not in intent.facts.accelerators:
        problems.append(unknown("--accelerator", "accelerator", accelerator, intent.facts.accelerators))
    fields = _fields(options, problems)
    if problems:
        raise ConfigError(problems)
    found = replica_of(intent, name, accelerator, **fields)
    released = intent.artifacts.models[model.artifact].size * 2**30
    return Chosen(intent.facts, found, intent, released if "precision" not in fields else weights_bytes(found))


def _fields(options: Mapping[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """Return the fields of a replica that options set."""
    fields = {
        "gpus": options["gpus"],
        "precision": options["precision"],
        "kv_precision": options["kv_precision"],
        "task": options["task"],
        "context_tokens": _quantity("context", options["context"], problems),
        "adapters": _adapters(options, problems),
        "partition": options["partition"],
        "accounting": options["accounting"],
    }
    return {name: value for name, value in fields.items() if value is not None}


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


def _quantity(option: str, text: str | None, problems: list[Problem]) -> float | None:
    if text is None:
        return None
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
