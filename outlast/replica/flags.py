"""Flags of the serving engine, from the same record as the memory, so that plan and engine never disagree.

Names and values are vLLM's, checked against its documentation from 0.26 on. Weights of fewer than 16 bits are quantised
on loading only for FP8; any other precision has to be in the released checkpoint, which says so itself. Keys and values
of FP8 are ``fp8`` on every card: where the card's format is not the OCP one, the engine converts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from outlast.replica.memory import ReplicaMemory
from outlast.replica.precision import stored_width
from outlast.replica.spec import Replica

Flags = tuple[tuple[str, str], ...]
"""(flag, value) in a fixed order; a switch has an empty value."""
MOST_SEQUENCES = 1024
"""Upper limit of sequences in one batch. Source: vLLM's default for cards of 70 GiB and more.
As of: 2026-11.
"""

_DTYPES = MappingProxyType({"bf16": "bfloat16", "fp16": "float16"})
_CONVERT: Mapping[str, str] = MappingProxyType({"embed": "embed", "rerank": "classify", "classify": "classify"})
"""Task -> how the engine adapts a model; a reranker is a classifier of pairs."""


def engine_flags(memory: ReplicaMemory) -> Flags:
    """Return the engine's flags of a replica, in a fixed order."""
    return tuple(_flags(memory.replica, memory.replica.sequences or memory.sequences()))


def command_line(flags: Flags) -> str:
    """Return flags as they are typed."""
    return " ".join(f"{flag}={value}" if value else flag for flag, value in flags)


def _flags(replica: Replica, sequences: int | None) -> Iterator[tuple[str, str]]:
    yield "--tensor-parallel-size", str(replica.gpus)
    yield "--dtype", _DTYPES.get(replica.kv_precision, _DTYPES.get(replica.precision, "bfloat16"))
    if replica.precision == "fp8" and stored_width(replica.shape)[0] != "8 bit":
        yield "--quantization", "fp8"
    yield "--max-model-len", str(int(replica.context_tokens))
    yield "--gpu-memory-utilization", f"{_utilisation(replica):.4g}"
    if not replica.caches_nothing:
        yield "--kv-cache-dtype", "fp8" if replica.kv_precision == "fp8" else "auto"
    if sequences is not None:
        yield "--max-num-seqs", str(min(sequences, MOST_SEQUENCES))
    yield from _pooling_flags(replica)
    yield from _adapter_flags(replica)


def _utilisation(replica: Replica) -> float:
    """Return the part of the memory that the engine sees; engines that share a card's time all see the whole card."""
    seen = replica.part.memory_ratio if replica.part.kind == "share" else 1.0
    return replica.utilisation_ratio * seen


def _pooling_flags(replica: Replica) -> Iterator[tuple[str, str]]:
    task = replica.task or ("pool" if replica.caches_nothing else "generate")
    if task != "generate":
        yield "--runner", "pooling"
    if task in _CONVERT:
        yield "--convert", _CONVERT[task]


def _adapter_flags(replica: Replica) -> Iterator[tuple[str, str]]:
    if not replica.adapters:
        return
    yield "--enable-lora", ""
    yield "--max-loras", str(replica.adapters.slots)
    yield "--max-cpu-loras", str(replica.adapters.slots)
    yield "--max-lora-rank", str(replica.adapters.slot_rank)
    if replica.gpus > 1:
        # Without it every rank keeps about half of every adapter again, and the memory above would be too small.
        yield "--fully-sharded-loras", ""
