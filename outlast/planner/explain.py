"""What a plan says of itself, as plain rows; how they look is the command line's business."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from outlast.intent import Intent
from outlast.lock import Binding, Lock, LockRegion
from outlast.planner.money import node_usd_h
from outlast.planner.needs import Case
from outlast.planner.plan import Planned
from outlast.planner.shortage import in_words


@dataclass(frozen=True)
class PoolLine:
    """A pool in a region. Nodes that several pools share are divided by the GPUs that each uses."""

    region: str
    pool: str
    accelerator: str
    replicas: int
    nodes: float
    gpus: float
    """GPUs of the nodes, stranded ones included."""
    stranded_gpus: float
    usd_h: float
    binding: str
    """The tightest case, in words."""


@dataclass(frozen=True)
class ShareLine:
    """Where a class goes when a region is lost."""

    residency: str
    lost: str
    survivors: tuple[tuple[str, int], ...]
    """(region, per cent)."""


@dataclass(frozen=True)
class QuotaLine:
    """What a region needs of a quota."""

    region: str
    quota: str
    unit: str
    needed: float
    """At the peak, overlapping generations included."""
    granted: float


@dataclass(frozen=True)
class Explanation:
    """A plan in words and numbers."""

    first_line: str
    next_step: str
    """What remains to be done, or an empty string."""
    pools: tuple[PoolLine, ...]
    shares: tuple[ShareLine, ...]
    quotas: tuple[QuotaLine, ...]


def explain(intent: Intent, planned: Planned) -> Explanation:
    """Return what a plan holds, what each part costs and why, and how good it is."""
    lock = planned.lock
    return Explanation(
        first_line=_first_line(intent, planned),
        next_step=_next_step(planned),
        pools=tuple(line for region, block in lock.regions.items() for line in _pools(intent, region, block)),
        shares=tuple(
            ShareLine(residency, lost, tuple(survivors.items()))
            for residency, rows in lock.shares.items()
            for lost, survivors in rows.items()
        ),
        quotas=tuple(
            QuotaLine(region, code, quota.unit, quota.peak, quota.granted)
            for region, block in lock.regions.items()
            for code, quota in block.quotas.items()
        ),
    )


def _first_line(intent: Intent, planned: Planned) -> str:
    lock = planned.lock
    blocks = [block for block in lock.regions.values() if block.pools]
    replicas = sum(pool.replicas.planned for block in blocks for pool in block.pools.values())
    gpus = sum(row.node_gpus * row.nodes.max for block in blocks for row in block.node_pools.values())
    solver = lock.solver
    target = planned.target.solver.usd_h
    line = f"{lock.fleet}: {len(blocks)} regions, {replicas:,} replicas, {gpus:,.0f} GPUs, {solver.usd_h:,.2f} USD/h"
    if target < solver.usd_h:
        line += f" until it settles to {target:,.2f} USD/h"
    line += f" (bound {solver.bound_usd_h:,.2f}, gap {solver.gap_pct:g} %)"
    if solver.stopped != "optimal":
        line += f", search stopped at its {solver.stopped}"
    return "; ".join([line, *_unmeasured(intent, lock)])


def _unmeasured(intent: Intent, lock: Lock) -> Iterator[str]:
    used = {(pool.pool, pool.accelerator) for block in lock.regions.values() for pool in block.pools.values()}
    for model, detail in intent.models.items():
        for accelerator, how in detail.accelerators.items():
            if (model, accelerator) in used and how.goodput.kind != "measured":
                yield f"goodput of {model} on {accelerator} is {how.goodput.kind}"


def _next_step(planned: Planned) -> str:
    lock, target = planned.lock, planned.target
    settle = f"outlast plan {lock.fleet} --settle"
    if lock.step == "settle":
        return "" if lock.regions == target.regions else f"next: '{settle}' lowers what hours do not need"
    if lock.regions == target.regions:
        return f"next: deploy this raise, regions before routing; '{settle}' then lowers nothing"
    money = f"{target.solver.usd_h:,.2f} USD/h"
    return f"next: deploy this raise, regions before routing; '{settle}' then lowers it to {money}"


def _pools(intent: Intent, region: str, block: LockRegion) -> Iterator[PoolLine]:
    used: dict[str, int] = dict.fromkeys(block.node_pools, 0)
    for pool in block.pools.values():
        for key, replicas in pool.places.items():
            used[key] += replicas * pool.replica_gpus
    for pool in block.pools.values():
        own = sum(replicas * pool.replica_gpus for replicas in pool.places.values())
        parts = {key: replicas * pool.replica_gpus / used[key] for key, replicas in pool.places.items() if replicas}
        rows = {key: (block.node_pools[key], part) for key, part in parts.items()}
        gpus = sum(row.nodes.max * row.node_gpus * part for row, part in rows.values())
        yield PoolLine(
            region=region,
            pool=pool.pool,
            accelerator=pool.accelerator,
            replicas=pool.replicas.planned,
            nodes=sum(row.nodes.max * part for row, part in rows.values()),
            gpus=gpus,
            stranded_gpus=gpus - own,
            usd_h=sum(
                row.nodes.max * part * node_usd_h(intent, region, row.machine_type, row.capacity)
                for row, part in rows.values()
            ),
            binding=_in_words(pool.binding),
        )


def _in_words(binding: Binding) -> str:
    return in_words(Case(binding.lost, binding.hour, binding.need_tok_s, 0.0), need=False)
