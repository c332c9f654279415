"""What a replica runs: image, flags, weights and adapters, decided from lock and intent, without any cluster.

Flags that depend on the model's shape and the card come from the record that the plan's memory comes from.
"""

from __future__ import annotations

from components.base import Place
from components.images.contract import address
from components.serving.contract import ServedPool
from components.serving.devices import device
from outlast.intent import Intent
from outlast.lock import LockPool, LockRegion
from outlast.replica import engine_flags, memory_of, part_of_partition, replica_of

ENGINE = "engine"
"""Image in artifacts.yaml that every pool runs."""
MODELS = "/models"
"""Where a replica sees its weights."""
ADAPTERS = "/adapters"
"""Where it sees its adapters, each in a folder of the fine-tune's name."""
PORT = 8000
_DRAIN_S = 90


def served_pool(intent: Intent, place: Place, key: str, block: LockRegion) -> ServedPool:
    """Return what the Deployment of a pool in a region's block of the lock runs.

    Raises:
        ConfigError: there can be no such replica.
        InfeasiblePlan: the replica's memory does not hold it.
    """
    pool = block.pools[key]
    partition = block.node_pools[next(iter(pool.places))].partition
    image = intent.artifacts.images[ENGINE]
    gpu_resource = intent.facts.accelerators[pool.accelerator].resource
    adapters = _adapters(intent, place, pool)
    return ServedPool(
        key=key,
        model=pool.pool,
        image=f"{address(place, ENGINE)}@{image.digest}",
        arguments=(
            f"--model={MODELS}",
            f"--served-model-name={pool.pool}",
            *_flags(intent, pool, partition),
            f"--shutdown-timeout={_DRAIN_S}",
            "--enable-force-include-usage",
            *(("--lora-modules", *(f"{name}={ADAPTERS}/{name}" for name in adapters)) if adapters else ()),
        ),
        artifact=intent.artifacts.models[pool.model].digest,
        adapters=adapters,
        gpu_resource=gpu_resource,
        device=device(place.cloud, gpu_resource, partition),
        replica_devices=pool.replica_devices,
        replicas=pool.born,
        node_pools=tuple(sorted(pool.places)),
    )


def _flags(intent: Intent, pool: LockPool, partition: str) -> tuple[str, ...]:
    replica = replica_of(
        intent, pool.pool, pool.accelerator, gpus=pool.replica_gpus, partition=part_of_partition(partition)
    )
    return tuple(f"{flag}={value}" if value else flag for flag, value in engine_flags(memory_of(replica)))


def _adapters(intent: Intent, place: Place, pool: LockPool) -> dict[str, str]:
    """Return the adapters whose owners may be in the region: fine-tune -> digest."""
    return {
        name: intent.artifacts.adapters[variant.artifact or name].digest
        for name, variant in intent.models[pool.pool].variants.items()
        if intent.may_hold(intent.class_of(variant.owner), place.region)
    }
