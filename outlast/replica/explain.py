"""The arithmetic of a replica's memory in lines that a person can follow; text only, every number from `memory`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from outlast.facts import Facts
from outlast.replica.memory import (
    ACTIVATIONS_GIB,
    LOADED_WEIGHTS_RATIO,
    NOMINAL_OVERHEAD_RATIO,
    OUTSIDE_GIB,
    ReplicaMemory,
    memory_of,
)
from outlast.replica.partition import WHOLE
from outlast.replica.precision import GIB, WIDTH_BYTES, stored_width
from outlast.replica.spec import MOST_GPUS, heads_divide

_SLOW_LINK_GB_PER_S = 100.0
"""Links between cards below this carry tensor parallel over two cards at most with profit."""
_CRAMPED_RATIO = 4.0
"""Twice the cards with this many times the sequences: the weights take most of the memory."""
_LENGTHS = (1, 2, 4)
"""Multiples of the context that concurrency is shown at."""


@dataclass(frozen=True)
class Line:
    """One line of the arithmetic."""

    term: str
    how: str
    result: str


def arithmetic(memory: ReplicaMemory) -> tuple[Line, ...]:
    """Return the lines from a card's memory to concurrent sequences."""
    return (*_budget(memory), *_cache(memory), *_concurrency(memory))


def lengths(memory: ReplicaMemory) -> tuple[float, ...]:
    """Return the context and its multiples that the model can hold."""
    most = memory.replica.shape.max_context or 0.0
    context = memory.replica.context_tokens
    return tuple(context * times for times in _LENGTHS if times == 1 or context * times <= most)


def notes(memory: ReplicaMemory, facts: Facts) -> tuple[str, ...]:
    """Return what is worth knowing before the figures are used."""
    replica, found = memory.replica, []
    largest = _largest_node(facts, replica.accelerator.accelerator)
    if replica.gpus > largest:
        found.append(f"no machine type has more than {largest:g} of the card: fleets keep a replica on one node")
    link = replica.accelerator.interconnect_gb_per_s_bidir
    if replica.gpus > 2 and link is not None and link < _SLOW_LINK_GB_PER_S:
        found.append(
            f"{replica.accelerator.accelerator} has only {replica.accelerator.interconnect}: "
            f"tensor parallel over {replica.gpus} cards may be slower than over 2"
        )
    roomy = _roomy(memory)
    if roomy:
        found.append(
            f"weights leave little room: {roomy.replica.gpus} GPUs hold {roomy.sequences()} sequences, "
            f"{replica.gpus} hold {memory.sequences()}"
        )
    if replica.part.kind == "share":
        found.append("engines that share a card's time have no memory of their own: each must keep to its flag")
    if replica.shape.window and not replica.caches_nothing:
        found.append("windows free memory only if the engine's cache drops what lies before them: measure it")
    if memory.kv.copies > 1:
        found.append(f"tensor parallel keeps {memory.kv.copies:g} copies of keys and values; fewer GPUs keep fewer")
    if replica.accounting == "nominal":
        found.append("nominal accounting: labels and a flat tenth; use it for sketches, not beside reported figures")
    return tuple(found)


def _largest_node(facts: Facts, accelerator: str) -> float:
    sizes = [row.node_gpus for row in facts.machine_types.values() if row.accelerator == accelerator]
    return max(sizes, default=float(MOST_GPUS))


def _roomy(memory: ReplicaMemory) -> ReplicaMemory | None:
    """Return the replica of twice the cards, if it holds far more than twice the sequences."""
    replica, sequences = memory.replica, memory.sequences()
    gpus = 2 * replica.gpus
    if sequences is None or replica.partition != WHOLE or gpus > MOST_GPUS or not heads_divide(replica.shape, gpus):
        return None
    twice = memory_of(dataclasses.replace(replica, gpus=gpus))
    return twice if (twice.sequences() or 0) > _CRAMPED_RATIO * sequences else None


def _budget(memory: ReplicaMemory) -> Iterator[Line]:
    replica = memory.replica
    unit = "" if replica.partition == WHOLE else f" of {replica.partition}"
    basis = "nominal" if replica.accounting == "nominal" else "reported"
    cards = f"{replica.gpus} × {_size(memory, memory.gpu_bytes)}{unit} ({basis})"
    yield Line("memory", cards, _size(memory, memory.memory_bytes))
    if memory.kept_free_bytes:
        free = f"{1 - replica.utilisation_ratio:.0%} that the engine leaves"
        yield Line("kept free", free, _size(memory, memory.kept_free_bytes))
    yield Line(f"weights, {replica.precision}", _weights(memory), _size(memory, memory.weights_bytes))
    yield Line("runtime overhead", _overhead(memory), _size(memory, memory.overhead_bytes))
    if replica.adapters:
        slots = replica.adapters
        how = f"{slots.slots} × {slots.size_gib:g} GiB of rank {slots.rank} in slots of {slots.slot_rank}"
        yield Line("adapters", how, _size(memory, memory.adapter_bytes))
    term = "left for activations" if replica.caches_nothing else "KV budget"
    yield Line(term, "what is left", _size(memory, memory.kv_budget_bytes))


def _weights(memory: ReplicaMemory) -> str:
    width = WIDTH_BYTES[memory.replica.precision]
    if memory.replica.accounting == "nominal":
        return f"{memory.weights_basis} × {width:g} byte{'' if width == 1 else 's'}"
    scale = width / stored_width(memory.replica.shape)[1]
    scaled = "" if scale == 1 else f" × {scale:g}"
    return f"{memory.weights_basis}{scaled} × {LOADED_WEIGHTS_RATIO:g} loaded"


def _overhead(memory: ReplicaMemory) -> str:
    if memory.replica.accounting == "nominal":
        return f"{NOMINAL_OVERHEAD_RATIO:.0%} of all memory"
    return f"{memory.replica.gpus} × ({ACTIVATIONS_GIB:g} GiB activations + {OUTSIDE_GIB:g} GiB outside)"


def _cache(memory: ReplicaMemory) -> Iterator[Line]:
    shape, kv = memory.replica.shape, memory.kv
    if memory.replica.caches_nothing:
        return
    copies = f" × {kv.copies:g} copies" if kv.copies > 1 else ""
    width = WIDTH_BYTES[memory.replica.kv_precision]
    if shape.plain_formula_kv_bytes_per_token_16bit == shape.growing_kv_bytes_per_token_16bit:
        values = f"2 × {shape.layers} layers × {shape.kv_heads:g} KV heads × {shape.head_dim:g}"
    else:
        values = f"{shape.growing_kv_bytes_per_token_16bit or 0:,.0f} bytes at 16 bit / 2 ({shape.attention})"
    how = f"{values} × {width:g} byte{'' if width == 1 else 's'}{copies}"
    yield Line("KV per token", how, f"{kv.token_bytes:,.0f} bytes")
    if kv.fixed_bytes:
        bound = (
            f"windows of {kv.window_tokens:,.0f} tokens, when full" if kv.window_tokens else "state of linear layers"
        )
        yield Line("KV per sequence", f"{bound}{copies}", f"{kv.fixed_bytes:,.0f} bytes")
    yield Line("tokens in memory", "KV budget / KV per token", f"{memory.tokens:,}")


def _concurrency(memory: ReplicaMemory) -> Iterator[Line]:
    for length in lengths(memory):
        sequences = memory.sequences(length)
        result = (
            "not bound by memory" if sequences is None else f"{sequences:,} sequence{'' if sequences == 1 else 's'}"
        )
        yield Line(f"at {length:,.0f} tokens", "concurrent sequences", result)


def _size(memory: ReplicaMemory, size_bytes: float) -> str:
    if memory.replica.accounting == "nominal":
        return f"{size_bytes / 1e9:,.4g} GB"
    return f"{size_bytes / GIB:,.1f} GiB"
