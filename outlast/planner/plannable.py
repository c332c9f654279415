"""Says what this planner does not plan, before it plans anything."""

from __future__ import annotations

from collections.abc import Iterator

from outlast.errors import Problem, listed
from outlast.intent import Intent
from outlast.intent.regions import NodePool


def used_models(intent: Intent) -> tuple[str, ...]:
    """Return the models that some class uses, in file order."""
    used = frozenset[str]().union(*intent.models_of_class.values())
    return tuple(model for model in intent.models if model in used)


def headroom_pools(intent: Intent, region: str, accelerator: str) -> dict[str, NodePool]:
    """Return the node pools that can carry headroom: kept at a fixed count and never taken away."""
    pools = intent.node_pools_for(region, accelerator)
    return {name: pool for name, pool in pools.items() if pool.capacity != "spot" and pool.scaling == "fixed"}


def check_plannable(intent: Intent) -> Iterator[Problem]:
    """Yield what is declared and used but not planned, or cannot carry headroom."""
    for model in used_models(intent):
        tier = intent.models[model].tier
        if tier != "dedicated":
            yield Problem(
                where=f"{intent.name}/models.yaml, models.{model}.tier",
                what="this tier is not planned yet",
                got=tier,
                allowed="dedicated",
                do="Set tier: dedicated, or take the model from the tenants",
            )
        for region in intent.regions:
            for accelerator in intent.accelerators_for(model, region):
                yield from _check_node_pools(intent, model, region, accelerator)


def _check_node_pools(intent: Intent, model: str, region: str, accelerator: str) -> Iterator[Problem]:
    where = f"{intent.name}/regions.yaml, regions.{region}.node_pools"
    pools = headroom_pools(intent, region, accelerator)
    if not pools:
        declared = intent.node_pools_for(region, accelerator)
        kinds = listed(f"{name}: {pool.capacity}, {pool.scaling}" for name, pool in declared.items())
        yield Problem(
            where=where,
            what=f"no node pool with {accelerator} can carry the headroom of '{model}'",
            got=kinds,
            allowed="capacity on_demand or reserved, with scaling fixed",
            do="Add a fixed node pool that is not spot",
        )
    if len(pools) > 1:
        yield Problem(
            where=where,
            what=f"two fixed node pools with {accelerator} in one region are not planned yet",
            got=listed(pools),
            allowed="one",
            do="Keep one of them",
        )
    for name, pool in pools.items():
        if pool.partition != "whole":
            yield Problem(
                where=f"{where}.{name}.partition",
                what=f"'{model}' would run on a part of a card, which is not planned yet",
                got=pool.partition,
                allowed="whole",
                do="Set partition: whole",
            )
