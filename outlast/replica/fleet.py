"""Replicas as a fleet's files describe them: one record for plan, engine flags and command line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from outlast.errors import ConfigError, InfeasiblePlan, Problem
from outlast.intent import Intent
from outlast.intent.models import COLD, WHOLE, Model
from outlast.intent.partitions import MIG, profile_of
from outlast.replica.cold_start import ColdStart, cold_start
from outlast.replica.memory import memory_of, on_fewest_gpus
from outlast.replica.precision import GIB
from outlast.replica.spec import Adapters, Replica


def replica_of(intent: Intent, name: str, accelerator: str, **changes: Any) -> Replica:
    """Return a replica of the fleet's model on an accelerator of facts.

    Its GPUs are those of the model's record for the accelerator; without one, the fewest that hold it.

    Args:
        intent: the fleet.
        name: a model of the fleet.
        accelerator: a card of facts.
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
        "adapters": adapters_of(model),
        "task": None if model.unit == "output tok/s" else "pool",
        "where": f"{intent.name}/models.yaml, models.{name}",
    }
    part = part_of_partition(how.partition) if how else WHOLE
    counted = (
        {"gpus": how.gpus_per_replica, "partition": part} if how and changes.get("partition", part) == part else {}
    )
    record |= counted
    if how and counted and all(record.get(field) == value for field, value in changes.items()):
        record["sequences"] = how.sequences
    found = Replica(**{**record, **changes})
    return found if counted or "gpus" in changes else on_fewest_gpus(found)


def adapters_of(model: Model) -> Adapters | None:
    """Return the slots that a model's replicas keep for adapters, each for the largest variant; None if it has none."""
    if model.adapters is None:
        return None
    largest = max(model.variants.values(), key=lambda variant: variant.size / variant.rank)
    slots = min(model.adapters.slots, len(model.variants))
    size_gib = largest.size * model.adapters.max_rank / largest.rank
    return Adapters(slots, size_gib, model.adapters.max_rank)


def misfits(intent: Intent, region: str) -> Iterator[Problem]:
    """Yield what keeps a replica of a model from holding one sequence on an accelerator that a region has for it."""
    for name in intent.models:
        for accelerator in intent.accelerators_for(name, region):
            try:
                memory_of(replica_of(intent, name, accelerator))
            except (ConfigError, InfeasiblePlan) as error:
                yield from error.problems


@dataclass(frozen=True)
class SlowStart:
    """A model that scales to zero and starts too slowly for a class."""

    region: str
    model: str
    node_pool: str
    residency: str
    start: ColdStart
    allowed_s: float
    """Outage that the class allows."""


def slow_starts(intent: Intent) -> Iterator[SlowStart]:
    """Yield every cold start on a new node that takes longer than a class that may wait for it allows.

    Raises:
        FactError: facts lack the network or the disks of a machine type.
    """
    for name, model in intent.models.items():
        artifact = intent.artifacts.models.get(model.artifact)
        if model.tier != COLD or artifact is None:
            continue
        for region, row in intent.regions.items():
            for accelerator, how in intent.accelerators_for(name, region).items():
                for node_pool, pool in intent.node_pools_for(region, accelerator, how.partition).items():
                    machine = intent.facts.machine_types[row.cloud, pool.machine_type]
                    start = cold_start(intent.facts, machine, artifact.size * GIB, how.gpus_per_replica, "new-node")
                    for residency, detail in intent.tenants_file.classes.items():
                        waits = name in intent.models_of_class[residency] and intent.may_hold(residency, region)
                        if waits and start.total_s > detail.allowed_outage:
                            yield SlowStart(region, name, node_pool, residency, start, detail.allowed_outage)


def part_of_partition(partition: str) -> str:
    """Return the name of one part of cards divided so."""
    return f"{MIG}{profile_of(partition)}" if partition.startswith(MIG) else partition
