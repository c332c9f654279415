"""What a replica runs: image, flags and weights, decided from lock and intent, without any cluster."""

from __future__ import annotations

from components.base import Place
from components.images.contract import address
from components.serving.contract import ServedPool
from outlast.intent import Intent
from outlast.lock import LockPool

ENGINE = "engine"
"""Image in artifacts.yaml that every pool runs."""
MODELS = "/models"
"""Where a replica sees its weights."""
PORT = 8000
_DRAIN_S = 90


def served_pool(intent: Intent, place: Place, key: str, pool: LockPool) -> ServedPool:
    """Return what the Deployment of a lock's pool runs."""
    model = intent.models[pool.pool]
    image = intent.artifacts.images[ENGINE]
    artifact = intent.artifacts.models[pool.model]
    cache = "fp8" if model.kv_precision == "fp8" else "auto"
    return ServedPool(
        key=key,
        model=pool.pool,
        image=f"{address(place, ENGINE)}@{image.digest}",
        arguments=(
            f"--model={MODELS}",
            f"--served-model-name={pool.pool}",
            f"--tensor-parallel-size={pool.replica_gpus}",
            f"--max-model-len={int(model.context)}",
            f"--kv-cache-dtype={cache}",
            f"--shutdown-timeout={_DRAIN_S}",
            "--enable-force-include-usage",
        ),
        artifact=artifact.digest,
        gpu_resource=intent.facts.accelerators[pool.accelerator].resource,
        replica_gpus=pool.replica_gpus,
        replicas=pool.born,
        node_pools=tuple(sorted(pool.places)),
    )
