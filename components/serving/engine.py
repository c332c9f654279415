"""What a replica runs: image, flags, weights and adapters, decided from lock and intent, without any cluster.

Flags that depend on the model's shape and the card come from the record that the plan's memory comes from; they are the
same for the engine of every vendor, which is another build of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from components.base import Place
from components.images.contract import address
from components.serving.contract import ServedPool
from components.serving.devices import device, spot_tolerations
from outlast.intent import Intent
from outlast.intent.images import ENGINES
from outlast.lock import LockPool, LockRegion
from outlast.replica import engine_flags, memory_of, part_of_partition, replica_of

MODELS = "/models"
"""Where a replica sees its weights."""
ADAPTERS = "/adapters"
"""Where it sees its adapters, each in a folder of the fine-tune's name."""
PORT = 8000
_DRAIN_S = 90
_ENVIRONMENT: Mapping[str, Mapping[str, str]] = MappingProxyType({"amd.com/gpu": {"VLLM_ROCM_USE_AITER": "1"}})
"""Resource of a whole GPU -> settings of its engine: AMD's own kernels, which are off unless asked for.
Source: AMD ROCm documentation, vLLM V1 performance optimization.
"""


def served_pool(intent: Intent, place: Place, key: str, block: LockRegion) -> ServedPool:
    """Return what the Deployment of a pool in a region's block of the lock runs.

    Raises:
        ConfigError: there can be no such replica.
        InfeasiblePlan: the replica's memory does not hold it.
    """
    pool = block.pools[key]
    rows = [block.node_pools[key] for key in pool.places]
    partition = rows[0].partition
    gpu_resource = intent.facts.accelerators[pool.accelerator].resource
    engine = ENGINES[gpu_resource]
    adapters = _adapters(intent, place, pool)
    return ServedPool(
        key=key,
        model=pool.pool,
        image=f"{address(place, engine)}@{intent.artifacts.images[engine].digest}",
        arguments=(
            f"--model={MODELS}",
            f"--served-model-name={pool.pool}",
            *_flags(intent, pool, partition),
            f"--shutdown-timeout={_DRAIN_S}",
            "--enable-force-include-usage",
            *(("--lora-modules", *(f"{name}={ADAPTERS}/{name}" for name in adapters)) if adapters else ()),
        ),
        environment=_ENVIRONMENT.get(gpu_resource, {}),
        artifact=intent.artifacts.models[pool.model].digest,
        adapters=adapters,
        gpu_resource=gpu_resource,
        also_tolerates=spot_tolerations(place.cloud) if any(row.capacity == "spot" for row in rows) else (),
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
