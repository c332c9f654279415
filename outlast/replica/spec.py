"""What one replica is: the one record that memory, engine flags and concurrency are derived from, and its checks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from outlast.errors import ConfigError, Problem
from outlast.facts import Accelerator, ModelShape
from outlast.intent.known import unknown
from outlast.replica.partition import WHOLE, Part, no_such_part, part_of
from outlast.replica.precision import KV_PRECISIONS, PRECISIONS

_KEYS = ("context", "kv_precision", "precision")
"""What models.yaml calls as the options do; the rest are options only."""
Accounting = Literal["reported", "nominal"]
"""``reported``: memory that driver or cloud reports, measured overheads. ``nominal``: labels and a flat tenth."""
Task = Literal["generate", "pool", "embed", "rerank", "classify"]
"""What the engine does with a model; ``pool`` leaves the kind of pooling to the model's own architecture."""
ADAPTER_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""Ranks that the engine can be started with. Source: vLLM documentation, option --max-lora-rank. As of: 2026-11."""
DEFAULT_RANK = 16
"""Rank of adapters when nobody says. Source: the engine's own default."""
MOST_GPUS = 64
"""Upper limit of GPUs a replica, as in models.yaml."""
MEMORY_UTILISATION_RATIO = 0.90
"""Part of a GPU's memory that the engine may use; the rest stays free for graphs and the driver. A choice of ours:
the engine's own default was 0.90 for years and is 0.92 since; the flag is always written, so both are the same number.
"""


@dataclass(frozen=True)
class Adapters:
    """Adapters that a replica keeps in GPU memory."""

    slots: int
    size_gib: float
    """Of the largest one."""
    rank: int = DEFAULT_RANK

    @property
    def slot_rank(self) -> int:
        """Return the rank a slot is made for: the smallest that the engine knows and that holds the adapter's."""
        return next(rank for rank in ADAPTER_RANKS if rank >= self.rank)


@dataclass(frozen=True, kw_only=True)
class Replica:
    """One serving copy of a model; its tensor-parallel ranks are its GPUs."""

    shape: ModelShape
    accelerator: Accelerator
    precision: str
    kv_precision: str
    context_tokens: float
    """Prompt and output tokens that a sequence may hold."""
    gpus: int = 1
    partition: str = WHOLE
    """Part of a card that it runs on alone: ``whole``, ``mig-1g.10gb``, ``cpx-nps4``, ``slice-4``."""
    adapters: Adapters | None = None
    accounting: Accounting = "reported"
    utilisation_ratio: float = MEMORY_UTILISATION_RATIO
    sequences: int | None = None
    """Sequences that it serves at once at the goodput of its record; None: as many of the whole context as fit."""
    task: Task | None = None
    """None: generate, or pool where the model keeps no keys and values."""
    where: str = ""
    """File and key of the model, for messages; empty where all comes from options."""

    def __post_init__(self) -> None:
        """Refuse what cannot be, all problems at once."""
        problems = list(_problems(self))
        if problems:
            raise ConfigError(problems)

    @property
    def caches_nothing(self) -> bool:
        """Whether the model keeps no keys and values between steps."""
        return self.shape.growing_kv_bytes_per_token_16bit == 0 and not self.shape.fixed_kv_bytes_per_sequence_16bit

    @property
    def part(self) -> Part:
        """Return what it gets of each card."""
        found = part_of(self.accelerator, self.partition)
        if found is None:
            raise ConfigError(no_such_part(self.at("partition"), self.accelerator, self.partition))
        return found

    def at(self, field: str) -> str:
        """Return where a field was written, for messages."""
        if self.where and field == "gpus":
            return f"{self.where}.accelerators.{self.accelerator.accelerator}.gpus_per_replica"
        return f"{self.where}.{field}" if self.where and field in _KEYS else f"--{field.replace('_', '-')}"


def heads_divide(shape: ModelShape, gpus: int) -> bool:
    """Whether tensor parallel over ``gpus`` can share out the heads; KV heads are shared out or repeated, whole."""
    if shape.q_heads % gpus:
        return False
    kv_heads = int(shape.kv_heads or 0)
    latent = shape.attention.startswith("mla")
    return latent or not kv_heads or kv_heads % gpus == 0 or gpus % kv_heads == 0


def _problems(replica: Replica) -> Iterator[Problem]:
    yield from _size_problems(replica)
    yield from _precision_problems(replica)
    if part_of(replica.accelerator, replica.partition) is None:
        yield no_such_part(replica.at("partition"), replica.accelerator, replica.partition)
    if replica.adapters:
        yield from _adapter_problems(replica, replica.adapters)
    for field, value, known in (
        ("accounting", replica.accounting, get_args(Accounting)),
        ("task", "generate" if replica.task is None else replica.task, get_args(Task)),
    ):
        if value not in known:
            yield unknown(replica.at(field), field, value, known)


def _size_problems(replica: Replica) -> Iterator[Problem]:
    if not 1 <= replica.gpus <= MOST_GPUS:
        yield Problem(
            where=replica.at("gpus"),
            what="a replica has at least one GPU",
            got=f"{replica.gpus}",
            allowed=f"1 to {MOST_GPUS}",
        )
    elif replica.partition != WHOLE and replica.gpus != 1:
        yield Problem(
            where=replica.at("gpus"),
            what="a replica on a part of a card runs on that part alone",
            got=f"{replica.gpus} of {replica.partition}",
            do="Leave the GPUs at 1, or take whole cards",
        )
    elif not heads_divide(replica.shape, replica.gpus):
        fitting = [str(gpus) for gpus in range(1, MOST_GPUS + 1) if heads_divide(replica.shape, gpus)]
        yield Problem(
            where=replica.at("gpus"),
            what=f"tensor parallel cannot share out the heads of {replica.shape.model}",
            got=f"{replica.gpus} GPUs for {replica.shape.q_heads} heads and {replica.shape.kv_heads or 0:g} KV heads",
            allowed=", ".join(fitting),
        )
    most = replica.shape.max_context or math.inf
    if not 1 <= replica.context_tokens <= most:
        yield Problem(
            where=replica.at("context"),
            what=f"a context that {replica.shape.model} cannot hold",
            got=f"{replica.context_tokens:,.0f} tokens",
            allowed=f"1 to {most:,.0f} tokens",
        )
    if not 0 < replica.utilisation_ratio <= 1:
        yield Problem(
            where=replica.at("utilisation"),
            what="the part of memory that the engine may use is out of range",
            got=f"{replica.utilisation_ratio:.0%}",
            allowed="above 0 to 100 %",
        )


def _precision_problems(replica: Replica) -> Iterator[Problem]:
    if replica.precision not in PRECISIONS:
        yield unknown(replica.at("precision"), "precision", replica.precision, PRECISIONS)
    if replica.kv_precision not in KV_PRECISIONS:
        yield unknown(replica.at("kv_precision"), "precision of keys and values", replica.kv_precision, KV_PRECISIONS)
    for field in ("precision", "kv_precision"):
        if getattr(replica, field) == "fp8" and not replica.accelerator.fp8_formats:
            yield Problem(
                where=replica.at(field),
                what=f"{replica.accelerator.accelerator} has no FP8 in hardware",
                got="fp8",
                do="Take a 16-bit precision, or a card that has it",
            )
    if {replica.precision, replica.kv_precision} == {"bf16", "fp16"}:
        yield Problem(
            where=replica.at("kv_precision"),
            what="16-bit keys and values have the type of the model",
            got=f"{replica.kv_precision} beside {replica.precision}",
            allowed=f"{replica.precision}, fp8",
        )


def _adapter_problems(replica: Replica, adapters: Adapters) -> Iterator[Problem]:
    if adapters.slots < 1:
        yield Problem(where=replica.at("adapters"), what="adapters are counted from 1", got=f"{adapters.slots}")
    if not 0 < adapters.size_gib < math.inf:
        yield Problem(
            where=replica.at("adapter_size"), what="an adapter has a size above 0", got=f"{adapters.size_gib:g} GiB"
        )
    if not 1 <= adapters.rank <= ADAPTER_RANKS[-1]:
        yield Problem(
            where=replica.at("rank"),
            what="no slot of the engine holds this rank",
            got=f"{adapters.rank}",
            allowed=f"1 to {ADAPTER_RANKS[-1]}",
        )
