"""``models.yaml``: the portfolio, with measured goodput per accelerator."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from outlast.intent.base import Name, Strict, planner_input
from outlast.intent.regions import Partition
from outlast.units import Gib, Quantity, Rate, Ratio, Seconds, Tokens

Unit = Literal["output tok/s", "input tok/s", "requests/s"]
Precision = Literal["bf16", "fp16", "fp8", "int8", "int4", "mxfp4"]
Tier = Literal["dedicated", "adapters", "packed", "scale-to-zero"]
COLD: Tier = "scale-to-zero"
"""Tier that holds nothing while nobody asks: quota and node limits hold its replicas, not running nodes."""
Evidence = Literal["measured", "predicted", "assumed"]
WHOLE = "whole"
"""Partition of a node pool whose cards are not divided."""


def in_unit(rate: Quantity, unit: str) -> bool:
    """Whether a rate counts what a model is planned in; ``tok/s`` alone are tokens of either kind."""
    return rate.unit == unit or (rate.unit == "tok/s" and unit.endswith("tok/s"))


class Goodput(Strict):
    """What one replica sustains at the SLO, and how that is known."""

    value: Rate = planner_input()
    """In the model's unit."""
    kind: Evidence
    """A plan on anything but measurements says so in its first line."""
    date: date
    source: str
    prompt_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cache_hit: str | None = None
    """Conditions of the run: share of prompt tokens served from the prefix cache."""

    @field_validator("value")
    @classmethod
    def _positive(cls, value: Quantity) -> Quantity:
        if value <= 0:
            message = f"goodput must be above 0 (got 0 {value.unit})"
            raise ValueError(message)
        return value


class ModelAccelerator(Strict):
    """How a model runs on one accelerator: on whole GPUs, or on one part of a divided card."""

    gpus_per_replica: Annotated[int, Field(ge=1, le=64)] = planner_input(1)
    partition: Partition = planner_input(WHOLE)
    """Division of the cards it runs on; a replica takes one part. Node pools must be divided alike."""
    goodput: Goodput = planner_input()
    """Of a time-sliced part: measured while the other parts are busy."""
    sequences: Annotated[int, Field(ge=1)] | None = None
    """Sequences a replica serves at once at that goodput; absent: computed from memory."""

    @model_validator(mode="after")
    def _one_part(self) -> ModelAccelerator:
        if self.partition != WHOLE and self.gpus_per_replica != 1:
            message = f"a replica takes one part of a card divided as {self.partition}; remove gpus_per_replica"
            raise ValueError(message)
        return self


class Slo(Strict):
    """Latency targets at which goodput counts."""

    ttft_p95: Seconds
    """Time to first token."""
    itl_p95: Seconds
    """Inter-token latency."""


class Arrivals(Strict):
    """How unevenly requests come, for the check of occupancy by pool size."""

    peakedness: Annotated[float, Field(ge=1, le=1000)]
    """Variance over mean of the requests in service, slow change removed; 1 for independent arrivals."""
    service: Seconds
    """Mean time a request is in service."""
    wait_p99: Seconds
    """Longest wait for a free sequence that 99 of 100 requests may meet."""


class Adapters(Strict):
    """What serving fine-tunes as adapters on one base costs and allows."""

    overhead: Ratio = planner_input()
    """Part of the goodput lost to batches of several adapters."""
    kind: Evidence
    date: date
    source: str
    slots: Annotated[int, Field(ge=1, le=512)] = planner_input()
    """Adapters in the memory of a replica at once; their memory is taken from the KV budget."""
    most: Annotated[int, Field(ge=1, le=10_000)] = planner_input(500)
    """Adapters that a base may have in one region."""
    max_rank: Annotated[int, Field(ge=1, le=512)] = planner_input(64)
    """Largest rank the engine is started for."""

    @model_validator(mode="after")
    def _leaves_something(self) -> Adapters:
        if self.overhead >= 1:
            message = "overhead must be below 100 %"
            raise ValueError(message)
        return self


class Variant(Strict):
    """A fine-tune served as an adapter on its base."""

    owner: Name = planner_input()
    """Tenant; the adapter is loaded only for its requests."""
    size: Gib
    rank: Annotated[int, Field(ge=1)] = planner_input()
    artifact: Name | None = planner_input(None)
    """Released adapter in artifacts.yaml; absent: the one of the variant's own name."""


class Model(Strict):
    """A base model and how it is hosted."""

    artifact: Name = planner_input()
    """Released weights in artifacts.yaml."""
    shape: str
    """Published shape in facts."""
    unit: Unit = planner_input("output tok/s")
    """What demand and goodput count: input tokens or requests for embedding, reranking and classifying models."""
    precision: Precision
    kv_precision: Precision
    context: Tokens
    """Prompt and output tokens a sequence may hold."""
    tier: Tier = planner_input()
    accelerators: dict[str, ModelAccelerator] = planner_input(min_length=1)
    """Accelerator -> how the model runs on it, in order of preference among equal prices."""
    slo: Slo
    adapters: Adapters | None = planner_input(None)
    """Needed by the tier ``adapters``, and only there."""
    variants: dict[Name, Variant] = planner_input({})
    """Fine-tunes; demand names them as it names models."""
    arrivals: Arrivals | None = None

    @model_validator(mode="after")
    def _adapters_are_described(self) -> Model:
        message = ""
        if (self.tier == "adapters") != (self.adapters is not None):
            message = f"'adapters' and 'tier: adapters' go together (got tier: {self.tier})"
        elif self.variants and self.adapters is None:
            message = f"variants need 'tier: adapters' (got tier: {self.tier})"
        elif self.adapters is not None and not self.variants:
            message = "a base of adapters has one variant or more"
        if message:
            raise ValueError(message)
        return self

    @property
    def overhead(self) -> float:
        """Part of the goodput lost to adapters."""
        return float(self.adapters.overhead) if self.adapters else 0.0


class ModelsFile(Strict):
    """Models by name; a model's replicas in a region are a pool of the same name."""

    models: dict[Name, Model] = planner_input(min_length=1)
