"""Says what cannot be planned as declared, before anything is planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from outlast.errors import Problem, listed
from outlast.intent import Intent
from outlast.intent.models import COLD
from outlast.intent.regions import NodePool
from outlast.replica import slow_starts


def used_models(intent: Intent) -> tuple[str, ...]:
    """Return the models that some class uses, in file order."""
    used = frozenset[str]().union(*intent.models_of_class.values())
    return tuple(model for model in intent.models if model in used)


def usable_node_pools(intent: Intent, region: str, model: str, accelerator: str) -> Mapping[str, NodePool]:
    """Return the node pools that a model's replicas on an accelerator may count on.

    Headroom is a fixed count that nobody takes away; what scales to zero needs nodes that come and go. Spot is neither.
    """
    detail = intent.models[model]
    scaling = "elastic" if detail.tier == COLD else "fixed"
    pools = intent.node_pools_for(region, accelerator, detail.accelerators[accelerator].partition)
    return {name: pool for name, pool in pools.items() if pool.capacity != "spot" and pool.scaling == scaling}


def check_plannable(intent: Intent) -> Iterator[Problem]:
    """Yield models on nodes that none of their replicas may count on, and cold starts that a class cannot wait for."""
    for slow in slow_starts(intent):
        longest = max(slow.start.steps, key=lambda step: step.seconds)
        yield Problem(
            where=f"{intent.name}/models.yaml, models.{slow.model}.tier",
            what=f"'{slow.model}' starts too slowly on {slow.region} '{slow.node_pool}' for class '{slow.residency}'",
            got=f"{slow.start.total_s:,.0f} s, of them {longest.seconds:,.0f} s {longest.name}",
            allowed=f"up to {slow.allowed_s:,.0f} s, the class's allowed_outage",
            do="Use another tier, a faster machine type or smaller weights, or agree on a longer outage",
        )
    for model in used_models(intent):
        for region in intent.regions:
            found = intent.accelerators_for(model, region)
            if not found or any(usable_node_pools(intent, region, model, accelerator) for accelerator in found):
                continue
            declared = {
                name: pool
                for accelerator, how in found.items()
                for name, pool in intent.node_pools_for(region, accelerator, how.partition).items()
            }
            is_cold = intent.models[model].tier == COLD
            yield Problem(
                where=f"{intent.name}/regions.yaml, regions.{region}.node_pools",
                what=(
                    f"no node pool with {listed(found)} can start and end with '{model}', which scales to zero"
                    if is_cold
                    else f"no node pool with {listed(found)} can carry the headroom of '{model}'"
                ),
                got=listed(f"{name}: {pool.capacity}, {pool.scaling}" for name, pool in declared.items()),
                allowed=f"capacity on_demand or reserved, with scaling {'elastic' if is_cold else 'fixed'}",
                do=f"Add {'an elastic' if is_cold else 'a fixed'} node pool that is not spot",
            )
