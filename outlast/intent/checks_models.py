"""Checks of models, their variants and the demand for them against facts, regions and tenants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from outlast.errors import Problem, listed
from outlast.intent.demand import Demand
from outlast.intent.intent import Intent
from outlast.intent.known import unknown
from outlast.intent.models import Model, ModelAccelerator, in_unit
from outlast.intent.partitions import why_not_divided


def check_models(intent: Intent) -> Iterator[Problem]:
    """Models name known artifacts, shapes, accelerators and owners; a replica fits a node; units agree."""
    names: dict[str, str] = {}
    for name, model in intent.models.items():
        where = f"{intent.name}/models.yaml, models.{name}"
        if model.artifact not in intent.artifacts.models:
            yield unknown(f"{where}.artifact", "artifact", model.artifact, intent.artifacts.models)
        if model.shape not in intent.facts.model_shapes:
            yield unknown(f"{where}.shape", "model shape", model.shape, intent.facts.model_shapes)
        for accelerator, how in model.accelerators.items():
            yield from _check_accelerator(intent, f"{where}.accelerators.{accelerator}", accelerator, how, model.unit)
        for variant in (name, *model.variants):
            if variant in names:
                yield Problem(
                    where=where,
                    what=f"'{variant}' is a name of model '{names[variant]}' already",
                    do="Give every model and variant its own name",
                )
            names[variant] = name
        yield from _check_variants(intent, where, model)


def _check_accelerator(
    intent: Intent, where: str, accelerator: str, how: ModelAccelerator, unit: str
) -> Iterator[Problem]:
    if accelerator not in intent.facts.accelerators:
        yield unknown(where, "accelerator", accelerator, intent.facts.accelerators)
        return
    if not in_unit(how.goodput.value, unit):
        yield Problem(
            where=f"{where}.goodput.value",
            what="goodput must count what the model is planned in",
            got=how.goodput.value.unit,
            allowed=unit,
            do="Measure the goodput in that unit, or correct the model's unit",
        )
    if problem := why_not_divided(intent.facts.accelerators[accelerator], how.partition):
        yield replace(problem, where=f"{where}.partition")
    for region, row in intent.regions.items():
        for pool_id, pool in intent.node_pools_for(region, accelerator, how.partition).items():
            node_gpus = intent.facts.machine_types[row.cloud, pool.machine_type].node_gpus
            if how.gpus_per_replica > node_gpus:
                yield Problem(
                    where=f"{where}.gpus_per_replica",
                    what=f"a replica does not fit a node of {region} node pool '{pool_id}'",
                    got=f"{how.gpus_per_replica} GPUs",
                    allowed=f"up to {node_gpus:g} GPUs of {pool.machine_type}",
                    do="Use a larger machine type or fewer GPUs per replica",
                )


def _check_variants(intent: Intent, where: str, model: Model) -> Iterator[Problem]:
    if model.adapters is None:
        return
    limits = model.adapters
    if len(model.variants) > limits.most:
        yield Problem(
            where=f"{where}.variants",
            what="more variants than the base may have",
            got=str(len(model.variants)),
            allowed=f"up to {limits.most}",
            do="Raise adapters.most after measuring, or put some on a second base",
        )
    for variant, detail in model.variants.items():
        artifact = detail.artifact or variant
        if detail.owner not in intent.tenants_file.tenants:
            yield unknown(f"{where}.variants.{variant}.owner", "tenant", detail.owner, intent.tenants_file.tenants)
        if artifact not in intent.artifacts.adapters:
            yield unknown(f"{where}.variants.{variant}.artifact", "adapter", artifact, intent.artifacts.adapters)
        if detail.rank > limits.max_rank:
            yield Problem(
                where=f"{where}.variants.{variant}.rank",
                what="the engine is started for smaller ranks",
                got=str(detail.rank),
                allowed=f"up to {limits.max_rank}",
                do="Raise adapters.max_rank, which costs memory on every replica",
            )


def check_demand(intent: Intent) -> Iterator[Problem]:
    """Curves name known tenants of one class, origins and models, and no demand is counted twice."""
    file = intent.tenants_file
    seen: dict[tuple[str, str, str], int] = {}
    for index, curve in enumerate(intent.demand_file.demand):
        where = f"{intent.name}/demand.yaml, demand.{index}"
        for tenant in curve.tenants:
            if tenant not in file.tenants:
                yield unknown(f"{where}.tenants", "tenant", tenant, file.tenants)
            elif curve.model in intent.base_of and curve.model not in file.tenants[tenant].models:
                yield Problem(
                    where=f"{where}.model",
                    what=f"tenant '{tenant}' does not use this model",
                    got=curve.model,
                    allowed=listed(file.tenants[tenant].models),
                    do="Add the model to the tenant, or correct the curve",
                )
            key = (tenant, curve.origin, curve.model)
            if key in seen:
                yield Problem(
                    where=where,
                    what=(
                        f"demand of tenant '{tenant}' from '{curve.origin}' for '{curve.model}' stands in "
                        f"demand.{seen[key]} already"
                    ),
                    do="Keep one curve",
                )
            seen[key] = index
        classes = {file.tenants[tenant].residency for tenant in curve.tenants if tenant in file.tenants}
        if len(classes) > 1:
            yield Problem(
                where=f"{where}.tenants",
                what="tenants of one curve must be of one residency class",
                got=listed(classes),
                do="Write one curve per class",
            )
        if curve.origin not in intent.regions_file.origins:
            yield unknown(f"{where}.origin", "origin", curve.origin, intent.regions_file.origins)
        if curve.model not in intent.base_of:
            yield unknown(f"{where}.model", "model", curve.model, intent.base_of)
        else:
            yield from _check_owner(intent, where, curve)
            yield from _check_unit(intent, where, curve)


def _check_owner(intent: Intent, where: str, curve: Demand) -> Iterator[Problem]:
    variant = intent.models[intent.base_of[curve.model]].variants.get(curve.model)
    strangers = [tenant for tenant in curve.tenants if variant and tenant != variant.owner]
    if variant and strangers:
        yield Problem(
            where=f"{where}.tenants",
            what=f"variant '{curve.model}' answers its owner alone",
            got=listed(strangers),
            allowed=variant.owner,
            do="Take the tenant from the curve, or release a variant of its own",
        )


def _check_unit(intent: Intent, where: str, curve: Demand) -> Iterator[Problem]:
    unit = intent.models[intent.base_of[curve.model]].unit
    written = curve.units
    if len(written) > 1:
        yield Problem(where=where, what="a curve is written in one unit", got=listed(written), do="Keep one")
        return
    if written == ("requests/s",) and unit != "requests/s":
        if curve.lengths is None:
            yield Problem(
                where=where,
                what=f"'{curve.model}' is planned in {unit}, the curve in requests/s",
                do="Add lengths: {prompt: 2,000 tokens, output: 300 tokens}, or write tokens per second",
            )
    elif not all(in_unit(rate, unit) for rate in curve.written):
        yield Problem(
            where=where,
            what="demand must count what the model is planned in",
            got=listed(written),
            allowed=unit if unit == "requests/s" else f"{unit}, or requests/s with lengths",
            do="Correct the unit",
        )
