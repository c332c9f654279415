"""``models.yaml``: the portfolio, with measured goodput per accelerator."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, field_validator

from outlast.intent.base import Name, Strict, planner_input
from outlast.units import Gib, Seconds, Tokens, TokensPerSecond

Unit = Literal["output tok/s", "input tok/s", "requests/s"]
Precision = Literal["bf16", "fp16", "fp8", "int8", "int4", "mxfp4"]


class Goodput(Strict):
    """What one replica sustains at the SLO, and how that is known."""

    value: TokensPerSecond = planner_input()
    """In the model's unit."""
    kind: Literal["measured", "predicted", "assumed"]
    """A plan on anything but measurements says so in its first line."""
    date: date
    source: str
    prompt_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cache_hit: str | None = None
    """Conditions of the run: share of prompt tokens served from the prefix cache."""

    @field_validator("value")
    @classmethod
    def _positive(cls, value: float) -> float:
        if value == 0:
            message = "goodput must be above 0 (got 0 tok/s)"
            raise ValueError(message)
        return value


class ModelAccelerator(Strict):
    """How a model runs on one accelerator."""

    gpus_per_replica: Annotated[int, Field(ge=1, le=64)] = planner_input()
    goodput: Goodput = planner_input()


class Slo(Strict):
    """Latency targets at which goodput counts."""

    ttft_p95: Seconds
    """Time to first token."""
    itl_p95: Seconds
    """Inter-token latency."""


class Variant(Strict):
    """A fine-tune served as an adapter on its base."""

    owner: Name
    """Tenant; the adapter is loaded only for its requests."""
    size: Gib


class Model(Strict):
    """A base model and how it is hosted."""

    artifact: Name = planner_input()
    """Released weights in artifacts.yaml."""
    shape: str
    """Published shape in facts."""
    unit: Unit = planner_input("output tok/s")
    precision: Precision
    kv_precision: Precision
    context: Tokens
    """Prompt and output tokens a sequence may hold."""
    tier: Literal["dedicated", "adapters", "packed", "scale-to-zero"] = planner_input()
    accelerators: dict[str, ModelAccelerator] = planner_input(min_length=1)
    """Accelerator -> how the model runs on it, in order of preference."""
    slo: Slo
    variants: dict[Name, Variant] = {}


class ModelsFile(Strict):
    """Models by name; a model's replicas in a region are a pool of the same name."""

    models: dict[Name, Model] = planner_input(min_length=1)
