"""What ``outlast replica`` prints: tables for people, or one JSON document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.facts import Facts
    from outlast.intent import Intent
    from outlast.replica import ColdStart, Replica, ReplicaMemory


@dataclass(frozen=True)
class Chosen:
    """What the options and the fleet's files say together."""

    facts: Facts
    replica: Replica
    intent: Intent | None
    weights_bytes: float
    """Of the released artifact, or of the published weights at the chosen precision."""


def _cold_starts(chosen: Chosen) -> list[ColdStart]:
    """Return the cold starts on every machine type of the fleet that carries the card; none without a fleet."""
    from outlast.replica import STARTS, cold_start

    if chosen.intent is None:
        return []
    accelerator = chosen.replica.accelerator.accelerator
    machines = {
        (row.cloud, pool.machine_type)
        for region, row in chosen.intent.regions.items()
        for pool in chosen.intent.node_pools_for(region, accelerator).values()
    }
    return [
        cold_start(chosen.facts, chosen.facts.machine_types[key], chosen.weights_bytes, chosen.replica.gpus, start)
        for key in sorted(machines)
        for start in STARTS
    ]


def show_text(chosen: Chosen, memory: ReplicaMemory) -> None:
    """Print the arithmetic line by line, then flags, published goodput and cold starts."""
    from outlast.cli.printing import table
    from outlast.replica import arithmetic, command_line, engine_flags, notes

    found = chosen.replica
    cards = f"{found.gpus} × {found.accelerator.accelerator}"
    part = "" if found.partition == "whole" else f", {found.partition}"
    print(f"{found.shape.model} on {cards}{part}: weights {found.precision}, keys and values {found.kv_precision}")
    rows = [(line.term, line.how, line.result) for line in arithmetic(memory)]
    table(("", "arithmetic", "result"), rows, right=(2,))
    for note in notes(memory, chosen.facts):
        print(f"  note: {note}")
    print(f"engine flags: {command_line(engine_flags(memory))}")
    _show_goodput(chosen)
    _show_cold_starts(_cold_starts(chosen))


def _show_goodput(chosen: Chosen) -> None:
    from outlast.cli.printing import table
    from outlast.replica import records_for

    found = chosen.replica
    rows = records_for(chosen.facts, found.shape, found.accelerator)
    if not rows:
        print(f"no published goodput of {found.shape.model} on {found.accelerator.accelerator}: measure it")
        return
    print("published goodput (compare only what has the same lengths and latency target):")
    table(
        ("kind", "GPUs", "out tok/s a replica", "at", "prompt", "output", "precision", "engine", "as of"),
        [
            (
                row.kind,
                row.gpus_per_replica,
                f"{row.out_tok_s_per_replica:,.0f}",
                row.slo,
                row.isl,
                row.osl,
                row.precision,
                row.engine,
                row.as_of,
            )
            for row in rows
        ],
        right=(1, 2),
    )


def _show_cold_starts(starts: list[ColdStart]) -> None:
    from outlast.cli.printing import table

    if not starts:
        return
    parts = list(dict.fromkeys(step.name for found in starts[::-1] for step in found.steps))
    rows = []
    for found in starts:
        taken = {step.name: f"{step.seconds:,.0f} s" for step in found.steps}
        cells = [taken.get(part, "") for part in parts]
        rows.append((f"{found.cloud} {found.machine_type}", found.start, *cells, f"{found.total_s:,.0f} s"))
    print("cold start of a replica, part by part:")
    table(("machine type", "start", *parts, "total"), rows, right=tuple(range(2, len(parts) + 3)))
    for line in dict.fromkeys(f"{step.name}: {step.how} ({step.basis})" for found in starts for step in found.steps):
        print(f"  {line}")


def show_json(chosen: Chosen, memory: ReplicaMemory) -> None:
    """Print every number as one JSON document."""
    import json

    from outlast.replica import engine_flags, lengths, notes, records_for

    found = chosen.replica
    document = {
        "model": found.shape.model,
        "accelerator": found.accelerator.accelerator,
        "gpus": found.gpus,
        "partition": found.partition,
        "precision": found.precision,
        "kv_precision": found.kv_precision,
        "context_tokens": found.context_tokens,
        "accounting": found.accounting,
        "memory_bytes": memory.memory_bytes,
        "kept_free_bytes": memory.kept_free_bytes,
        "weights_bytes": memory.weights_bytes,
        "weights_basis": memory.weights_basis,
        "overhead_bytes": memory.overhead_bytes,
        "adapter_bytes": memory.adapter_bytes,
        "kv_budget_bytes": memory.kv_budget_bytes,
        "kv_bytes_per_token": memory.kv.token_bytes,
        "kv_bytes_per_sequence": memory.kv.fixed_bytes,
        "tokens": memory.tokens,
        "sequences": {f"{length:.0f}": memory.sequences(length) for length in lengths(memory)},
        "engine_flags": [list(pair) for pair in engine_flags(memory)],
        "notes": list(notes(memory, chosen.facts)),
        "goodput": [row.model_dump(mode="json") for row in records_for(chosen.facts, found.shape, found.accelerator)],
        "cold_starts": [
            {
                "cloud": start.cloud,
                "machine_type": start.machine_type,
                "start": start.start,
                "total_s": start.total_s,
                "parts_s": {step.name: step.seconds for step in start.steps},
            }
            for start in _cold_starts(chosen)
        ],
    }
    print(json.dumps(document, indent=2, sort_keys=True))
