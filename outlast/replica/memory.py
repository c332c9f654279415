"""Memory of a replica: weights, overhead, adapters, and what is left for keys and values; concurrency follows from it.

    KV budget   =  memory − kept free − weights − overhead − adapters
    tokens      =  KV budget / KV bytes per token
    sequences   =  KV budget / KV bytes of a sequence of the context

Two accountings that are never mixed: ``reported`` takes what driver and engine really report, ``nominal`` takes labels
(decimal GB, parameters of the name, a tenth of overhead), which is good for a first sketch and for comparing sketches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from outlast.errors import FactError, InfeasiblePlan, Problem
from outlast.replica.kv import KvCache, kv_cache
from outlast.replica.partition import WHOLE
from outlast.replica.precision import GIB, WIDTH_BYTES, labelled_params, stored_width
from outlast.replica.spec import MOST_GPUS, Adapters, Replica, heads_divide

NOMINAL_OVERHEAD_RATIO = 0.10
"""Runtime overhead of the nominal accounting, of all memory. Source: the planning programme. Assumed."""
LOADED_WEIGHTS_RATIO = 1.02
"""Loaded weights over their files. Source: KAITO planner notes, vLLM 0.10.1. As of: 2026-08-21. Measured."""
ACTIVATIONS_GIB = 1.7
"""Peak of activations, a GPU. Source and day as above. Measured."""
OUTSIDE_GIB = 0.6
"""Memory outside the framework's allocator, a GPU. Source and day as above. Measured."""

_SLIP = 1e-9
"""Relative slack against rounding when whole sequences are counted."""


@dataclass(frozen=True)
class ReplicaMemory:
    """Where a replica's memory goes; bytes over all its GPUs."""

    replica: Replica
    gpu_bytes: float
    """Memory of one GPU, or of the part of it that the replica gets."""
    kept_free_bytes: float
    weights_bytes: float
    weights_basis: str
    """What the weights were scaled from."""
    overhead_bytes: float
    adapter_bytes: float
    kv: KvCache

    @property
    def memory_bytes(self) -> float:
        """Return all memory."""
        return self.gpu_bytes * self.replica.gpus

    @property
    def kv_budget_bytes(self) -> float:
        """Return what is left for keys and values; below 0 if the rest does not fit."""
        taken = self.kept_free_bytes + self.weights_bytes + self.overhead_bytes + self.adapter_bytes
        return self.memory_bytes - taken

    @property
    def tokens(self) -> int | None:
        """Return the tokens whose growing part fits; None if nothing grows."""
        return int(self.kv_budget_bytes / self.kv.token_bytes * (1 + _SLIP)) if self.kv.token_bytes else None

    def sequences(self, context_tokens: float | None = None) -> int | None:
        """Return how many sequences of a length fit at once (default: the context); None if memory is no limit."""
        needed = self.kv.sequence_bytes(context_tokens or self.replica.context_tokens)
        return math.floor(max(0.0, self.kv_budget_bytes) / needed * (1 + _SLIP)) if needed else None


def memory_of(replica: Replica) -> ReplicaMemory:
    """Return where the memory of a replica goes.

    Raises:
        FactError: a figure of the model or the card is not in facts.
        InfeasiblePlan: the weights, or one sequence beside them, do not fit; says how many GPUs would do.
    """
    memory = _memory(replica)
    if not _fits(memory):
        raise InfeasiblePlan(_too_small(memory))
    return memory


def least_gpus(replica: Replica) -> int | None:
    """Return the fewest whole cards on which a replica holds one sequence of its context, or None."""
    for gpus in range(1, MOST_GPUS + 1):
        if heads_divide(replica.shape, gpus) and _fits(_memory(replace(replica, gpus=gpus, partition=WHOLE))):
            return gpus
    return None


def on_fewest_gpus(replica: Replica) -> Replica:
    """Return the replica on `least_gpus`, or as it is if it runs on a part of a card or fits nowhere."""
    if replica.partition != WHOLE:
        return replica
    return replace(replica, gpus=least_gpus(replica) or replica.gpus)


def _fits(memory: ReplicaMemory) -> bool:
    return memory.kv_budget_bytes >= 0 and memory.sequences() != 0


def _memory(replica: Replica) -> ReplicaMemory:
    kv = kv_cache(replica.shape, replica.kv_precision, replica.gpus)
    adapter_bytes = _adapter_bytes(replica.adapters)
    if replica.accounting == "nominal":
        gpu_bytes = replica.part.nominal_gb * 1e9
        params = labelled_params(replica.shape)
        return ReplicaMemory(
            replica=replica,
            gpu_bytes=gpu_bytes,
            kept_free_bytes=0.0,
            weights_bytes=params * WIDTH_BYTES[replica.precision],
            weights_basis=f"{params / 1e9:g}e9 parameters",
            overhead_bytes=gpu_bytes * replica.gpus * NOMINAL_OVERHEAD_RATIO,
            adapter_bytes=adapter_bytes,
            kv=kv,
        )
    gpu_bytes = _reported_bytes(replica)
    stored, stored_bytes = stored_width(replica.shape)
    return ReplicaMemory(
        replica=replica,
        gpu_bytes=gpu_bytes,
        kept_free_bytes=gpu_bytes * replica.gpus * (1 - replica.utilisation_ratio),
        weights_bytes=_scaled_weights(replica, stored_bytes) * LOADED_WEIGHTS_RATIO,
        weights_basis=f"{replica.shape.weights_gib:g} GiB published at {stored} ({replica.shape.weights_basis})",
        overhead_bytes=(ACTIVATIONS_GIB + OUTSIDE_GIB) * GIB * replica.gpus,
        adapter_bytes=adapter_bytes,
        kv=kv,
    )


def weights_bytes(replica: Replica) -> float:
    """Return the bytes of the weights' files at the replica's precision: what is downloaded and read."""
    return _scaled_weights(replica, stored_width(replica.shape)[1])


def _scaled_weights(replica: Replica, stored_bytes: float) -> float:
    return replica.shape.weights_gib * GIB * WIDTH_BYTES[replica.precision] / stored_bytes


def _reported_bytes(replica: Replica) -> float:
    card = replica.accelerator
    if card.mem_mib_reported is None:
        raise FactError(
            Problem(
                where=f"facts/accelerators.csv, {card.accelerator}",
                what="facts do not say what memory the driver reports",
                do="Fill in mem_mib_reported with its source, or use the nominal accounting",
            )
        )
    return card.mem_mib_reported * 2**20 * replica.part.memory_ratio * replica.part.usable_ratio


def _adapter_bytes(adapters: Adapters | None) -> float:
    """Return the memory of all slots; each is as large as the engine's rank makes it, split over the ranks."""
    return adapters.slots * adapters.size_gib * GIB * adapters.slot_rank / adapters.rank if adapters else 0.0


def _too_small(memory: ReplicaMemory) -> Problem:
    replica = memory.replica
    least = least_gpus(replica)
    unit = "GPU" if replica.partition == WHOLE else replica.partition
    lacking = "its weights do not fit" if memory.kv_budget_bytes < 0 else "not one sequence of its context fits"
    needed = memory.memory_bytes - memory.kv_budget_bytes
    needed += memory.kv.sequence_bytes(replica.context_tokens)
    return Problem(
        where=replica.at("gpus"),
        what=f"{replica.shape.model} at {replica.precision}: {lacking} on {replica.accelerator.accelerator}",
        got=f"{replica.gpus} {unit}{'' if replica.gpus == 1 else 's'} with {memory.memory_bytes / GIB:,.1f} GiB",
        allowed=f"{needed / GIB:,.1f} GiB or more, for one sequence of {replica.context_tokens:,.0f} tokens",
        do=(
            f"Use {least} {'' if replica.partition == WHOLE else 'whole '}GPU{'' if least == 1 else 's'} a replica"
            if least
            else "Use a larger card, a lower precision or a shorter context"
        ),
    )
