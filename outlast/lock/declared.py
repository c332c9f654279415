"""Whether the rows of a lock are what the files declare; a slip of the hand in the lock shows here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from outlast.errors import Problem, listed
from outlast.facts.models import QuotaFact
from outlast.intent import Intent
from outlast.intent.models import WHOLE
from outlast.lock.models import Lock, LockNodePool, LockRegion
from outlast.lock.zones import zoneless


def undeclared(lock: Lock, intent: Intent, regions: Iterable[str] | None = None) -> Iterator[Problem]:
    """Yield every row and home of a lock that differs from what regions.yaml and models.yaml declare.

    Rows that are leaving, and pools on nothing else, may differ: they are what was declared before. Only their zones
    have to be there still.

    Args:
        lock: what was planned.
        intent: what the files declare.
        regions: the regions to look at; None: all. What belongs to no region of the files is always looked at.
    """
    where, looked_at = f"{intent.name}/plan.lock.yaml", set(lock.regions if regions is None else regions)
    for region in lock.regions:
        if region not in intent.regions:
            yield Problem(
                where=f"{where}, regions",
                what=f"unknown region '{region}'",
                allowed=listed(intent.regions),
                do="Put the region back into regions.yaml",
            )
        elif region in looked_at:
            yield from _region(f"{where}, regions.{region}", lock, intent, region)
    for residency, origins in intent.homes.items():
        if {o: dict(shares) for o, shares in origins.items()} != lock.homes.get(residency, {}):
            yield Problem(
                where=f"{where}, homes.{residency}",
                what="homes are not those of regions.yaml",
                got=str(lock.homes.get(residency) or "none"),
                allowed=str({o: dict(s) for o, s in origins.items()}),
                do=_PLAN.format(intent.name),
            )


def _region(where: str, lock: Lock, intent: Intent, region: str) -> Iterator[Problem]:
    block = lock.regions[region]
    yield from zoneless(lock, intent, [region])
    for key, row in block.node_pools.items():
        if row.state != "leaving":
            yield from _node_pool(f"{where}.node_pools.{key}", intent, region, row)
    for key, pool in block.pools.items():
        if all(block.node_pools[place].state == "leaving" for place in pool.places if place in block.node_pools):
            continue
        model = intent.models.get(pool.pool)
        how = model.accelerators.get(pool.accelerator) if model else None
        divided = how is not None and how.partition != WHOLE
        if (
            how is None
            or (how.gpus_per_replica, divided) != (pool.replica_gpus, pool.replica_slices is not None)
            or (model is not None and model.tier != pool.tier)
        ):
            expected = (
                f"{model.tier}, {how.gpus_per_replica} GPUs a replica, {how.partition}"
                if how and model
                else "a model and accelerator of models.yaml"
            )
            got = f"{pool.pool} on {pool.accelerator}, {pool.tier}, {pool.replica_gpus} GPUs a replica"
            yield Problem(
                where=f"{where}.pools.{key}",
                what="not as declared",
                got=got,
                allowed=expected,
                do=_PLAN.format(intent.name),
            )
    yield from _quotas(where, intent, region, block)


_ROUNDING = 0.5
"""Quotas are whole numbers."""
_PLAN = "Run 'outlast plan {}' and commit the result; do not edit the lock by hand"


def _node_pool(where: str, intent: Intent, region: str, row: LockNodePool) -> Iterator[Problem]:
    declared = intent.regions[region].node_pools.get(row.id)
    if declared is None:
        yield Problem(
            where=where,
            what=f"regions.yaml declares no node pool '{row.id}' in {region}",
            allowed=listed(intent.regions[region].node_pools),
            do=_PLAN.format(intent.name),
        )
        return
    machine = intent.facts.machine_types[intent.regions[region].cloud, declared.machine_type]
    if row.zone in intent.regions[region].zones and row.zone not in declared.zones:
        yield Problem(
            where=f"{where}.zone",
            what="a wrong zone",
            got=row.zone,
            allowed=listed(declared.zones),
            do=_PLAN.format(intent.name),
        )
    expected = {
        "machine_type": declared.machine_type,
        "accelerator": machine.accelerator,
        "node_gpus": machine.node_gpus,
        "partition": declared.partition,
        "capacity": declared.capacity,
        "reservation": declared.reservation,
        "block": intent.is_block(region, declared.reservation),
        "interconnect": declared.interconnect,
        "scaling": declared.scaling,
    }
    for field, wanted in expected.items():
        if getattr(row, field) != wanted:
            yield Problem(
                where=f"{where}.{field}",
                what="not as declared in regions.yaml",
                got=_said(getattr(row, field)),
                allowed=_said(wanted),
                do=_PLAN.format(intent.name),
            )


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value or "none")


def quota_needs(
    rows: Iterable[LockNodePool], intent: Intent, region: str, *, at: Literal["min", "max"] = "max"
) -> Mapping[str, float]:
    """Return quota code -> what node pools of a region need at their most, or at their least, in the quota's unit."""
    needs: dict[str, float] = {}
    for row in rows:
        nodes = row.nodes.min if at == "min" else row.nodes.max
        for quota in intent.facts.quotas_for(intent.regions[region].cloud, row.machine_type, row.capacity):
            drawn = nodes * _of_node(intent, region, row, quota)
            needs[quota.quota_code] = needs.get(quota.quota_code, 0.0) + drawn
    return needs


def cap_needs(blocks: Mapping[str, LockRegion], intent: Intent) -> Mapping[tuple[str, str], float]:
    """Return (region that holds it, cap) -> what all regions of its account need together, in the cap's unit."""
    needs: dict[tuple[str, str], float] = {}
    for region, block in blocks.items():
        for row in block.node_pools.values() if region in intent.regions else ():
            for cap in intent.facts.caps_for(intent.regions[region].cloud, row.machine_type, row.capacity):
                key = intent.cap_holder(region, cap.quota_code), cap.quota_code
                needs[key] = needs.get(key, 0.0) + row.nodes.max * _of_node(intent, region, row, cap)
    return needs


def _of_node(intent: Intent, region: str, row: LockNodePool, quota: QuotaFact) -> float:
    """Return what a node of a row counts against a quota; of a machine type that facts lack, its GPUs only."""
    machine = intent.facts.machine_types.get((intent.regions[region].cloud, row.machine_type))
    if machine is None:
        return 0.0 if quota.unit == "vcpu" else row.node_gpus
    return quota.of_node(machine)


def _quotas(where: str, intent: Intent, region: str, block: LockRegion) -> Iterator[Problem]:
    needs = quota_needs(block.node_pools.values(), intent, region)
    for code, row in block.quotas.items():
        need = needs.get(code, 0.0)
        if abs(row.peak - need) > _ROUNDING:
            what = "the lock's quota is not what its node pools need"
            do = _PLAN.format(intent.name)
            yield Problem(
                where=f"{where}.quotas.{code}", what=what, got=f"{row.peak:,.0f}", allowed=f"{need:,.0f}", do=do
            )


@dataclass(frozen=True)
class ShortQuota:
    """A quota that does not cover what a region's node pools need at their most."""

    region: str
    code: str
    unit: str
    need: float
    granted: float


def short_quotas(lock: Lock, intent: Intent) -> Iterator[ShortQuota]:
    """Yield every quota that the lock's node pools exceed; needs are counted from the rows, not believed."""
    units = {quota.quota_code: quota.unit for quota in intent.facts.quotas}
    for region, block in lock.regions.items():
        if region in intent.regions:
            held = intent.holdings(region).quotas
            for code, need in quota_needs(block.node_pools.values(), intent, region).items():
                granted = held[code].granted if code in held else 0.0
                if need > granted + _ROUNDING:
                    yield ShortQuota(region, code, units[code], need, granted)
    yield from short_caps(lock.regions, intent)


def short_caps(blocks: Mapping[str, LockRegion], intent: Intent) -> Iterator[ShortQuota]:
    """Yield every cap over all regions of an account that they exceed together, under the region that holds it."""
    units = {quota.quota_code: quota.unit for quota in intent.facts.quotas}
    for (region, code), need in cap_needs(blocks, intent).items():
        granted = intent.cap_granted(region, code)
        if need > granted + _ROUNDING:
            yield ShortQuota(region, code, units[code], need, granted)
