"""Builds a replica that is valid but for what a test says."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from outlast.replica import Replica
from tests.builders import H100, facts


def make_replica(
    model: str = "Llama-3.1-70B", card: str = H100, shape: Mapping[str, Any] = MappingProxyType({}), **changes: Any
) -> Replica:
    """A replica of published ``model`` on 8 of ``card``, FP8 weights, 16-bit keys and values, 8,000 tokens.

    ``shape`` changes columns of the model's row of facts.
    """
    row = facts().model_shapes[model].model_copy(update=dict(shape))
    record: dict[str, Any] = {"gpus": 8, "precision": "fp8", "kv_precision": "bf16", "context_tokens": 8000}
    return Replica(shape=row, accelerator=facts().accelerators[card], **{**record, **changes})
