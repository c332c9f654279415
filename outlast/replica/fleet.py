"""Replicas as a fleet's files describe them: one record for plan, engine flags and command line."""

from __future__ import annotations

from typing import Any

from outlast.intent import Intent
from outlast.intent.models import Model
from outlast.replica.memory import on_fewest_gpus
from outlast.replica.spec import DEFAULT_RANK, Adapters, Replica


def replica_of(intent: Intent, name: str, accelerator: str, rank: int = DEFAULT_RANK, **changes: Any) -> Replica:
    """Return a replica of the fleet's model on an accelerator of facts.

    Its GPUs are those of the model's record for the accelerator; without one, the fewest that hold it.

    Args:
        intent: the fleet.
        name: a model of the fleet.
        accelerator: a card of facts.
        rank: rank of the model's variants.
        changes: fields of `Replica` that go before the model's record.

    Raises:
        ConfigError: there can be no such replica.
    """
    model = intent.models[name]
    how = model.accelerators.get(accelerator)
    record: dict[str, Any] = {
        "shape": intent.facts.model_shapes[model.shape],
        "accelerator": intent.facts.accelerators[accelerator],
        "precision": model.precision,
        "kv_precision": model.kv_precision,
        "context_tokens": model.context,
        "adapters": adapters_of(model, rank),
        "task": None if model.unit == "output tok/s" else "pool",
        "where": f"{intent.name}/models.yaml, models.{name}",
    }
    counted = {"gpus": how.gpus_per_replica} if how and changes.get("partition", "whole") == "whole" else {}
    found = Replica(**{**record, **counted, **changes})
    return found if counted or "gpus" in changes else on_fewest_gpus(found)


def adapters_of(model: Model, rank: int = DEFAULT_RANK) -> Adapters | None:
    """Return slots for all variants of a model, each as large as the largest; None if it has none."""
    sizes = [variant.size for variant in model.variants.values()]
    return Adapters(len(sizes), max(sizes), rank) if sizes else None
