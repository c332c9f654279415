"""What a plan says of itself, as plain rows; how they look is the command line's business."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from outlast.errors import FactError
from outlast.intent import Intent
from outlast.lock import Binding, Lock, LockRegion, Window
from outlast.planner.arrays import Arrays, CellKey, to_arrays
from outlast.planner.holdings import holdings_of, needed
from outlast.planner.loads import Crowded, Fullness, Strip, crowded, fullness, strips
from outlast.planner.money import node_usd_h
from outlast.planner.needs import Case
from outlast.planner.plan import Planned
from outlast.planner.scale import hourly_bound, static_bound
from outlast.planner.scaling import to_scale
from outlast.planner.shortage import in_words
from outlast.replica import misfits

_FEW = 2
"""Names that fit into the first line."""


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
    full: Fullness | None
    """How full the pool runs in the region; None of a pool that is leaving."""


@dataclass(frozen=True)
class ShareLine:
    """Where a class goes when a region is lost."""

    residency: str
    lost: str
    survivors: tuple[tuple[str, int], ...]
    """(region, per cent)."""


@dataclass(frozen=True)
class QuotaLine:
    """What a region, or the account of one, needs of a quota."""

    region: str
    quota: str
    unit: str
    needed: float
    """At the peak, overlapping generations included."""
    granted: float


@dataclass(frozen=True)
class RolloutLine:
    """Hours in which a pool can give up replicas for a rollout."""

    region: str
    pool: str
    replicas: int
    windows: tuple[Window, ...]


@dataclass(frozen=True)
class Bounds:
    """What no plan costs less than, whatever the counts of nodes."""

    static: float
    """With one set of shares of any fraction."""
    hourly: float
    """With shares that differ by hour."""
    unit: str


@dataclass(frozen=True)
class Explanation:
    """A plan in words and numbers."""

    first_line: str
    next_step: str
    """What remains to be done, or an empty string."""
    pools: tuple[PoolLine, ...]
    shares: tuple[ShareLine, ...]
    quotas: tuple[QuotaLine, ...]
    strips: tuple[Strip, ...]
    rollouts: tuple[RolloutLine, ...]
    bounds: Bounds | None
    """None where hosted routes carry a part, which the bounds do not know."""
    warnings: tuple[str, ...]


def explain(intent: Intent, planned: Planned) -> Explanation:
    """Return what a plan holds, what each part costs and why, and how good it is."""
    lock, arrays = planned.lock, to_arrays(intent)
    full = {(line.region, line.pool): line for line in fullness(arrays, lock)}
    needs = needed(lock, intent)
    return Explanation(
        first_line=_first_line(intent, planned),
        next_step=_next_step(planned),
        pools=tuple(line for region, block in lock.regions.items() for line in _pools(intent, region, block, full)),
        shares=tuple(
            ShareLine(residency, lost, tuple(survivors.items()))
            for residency, rows in lock.shares.items()
            for lost, survivors in rows.items()
        ),
        quotas=tuple(
            QuotaLine(held.region, held.name, held.unit, need, held.held)
            for key, held in holdings_of(intent).items()
            if held.kind == "quotas" and (need := needs.get(key))
        ),
        strips=tuple(strips(arrays, lock)),
        rollouts=tuple(
            RolloutLine(region, pool.pool, pool.replicas.planned, pool.rollout)
            for region, block in lock.regions.items()
            for pool in block.pools.values()
            if pool.rollout
        ),
        bounds=bounds_of(arrays),
        warnings=(*_unused(lock), *_misfits(intent), *(_too_full(line) for line in crowded(arrays, lock))),
    )


def bounds_of(arrays: Arrays) -> Bounds | None:
    """Return the bounds of a fleet's plan in the unit of its objective; None where they say nothing."""
    if any(cell.hosted is not None for cell in arrays.cells.values()):
        return None
    problem = to_scale(arrays)
    unit = "USD/h" if problem.objective == "money" else "replicas"
    return Bounds(static_bound(problem).total, hourly_bound(problem).tightened, unit)


def _misfits(intent: Intent) -> tuple[str, ...]:
    """Return what says that a replica cannot run as declared, each once; what facts do not know is left out."""
    found: dict[str, None] = {}
    for region in intent.regions:
        with suppress(FactError):
            found |= dict.fromkeys(str(problem).removesuffix(".") for problem in misfits(intent, region))
    return tuple(found)


def _too_full(line: Crowded) -> str:
    when = "when a region is lost" if line.is_failure else "at its peak"
    return (
        f"{line.pool} in {line.region} runs {line.planned_ratio:.0%} full {when}; {line.replicas} replicas of "
        f"{line.sequences} sequences keep 99 of 100 waits below {line.arrivals.wait_p99:g} s only up to "
        f"{line.allowed_ratio:.0%} (arrivals {line.arrivals.peakedness:g} times as uneven as independent ones)"
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
    if solver.stopped == "running":
        line += ", a cheaper plan does not fit beside what runs: settle, then plan again"
    elif solver.stopped != "optimal":
        line += f", search stopped at its {solver.stopped}"
    return "; ".join([line, *_unmeasured(intent, lock)])


def _unmeasured(intent: Intent, lock: Lock) -> Iterator[str]:
    used = {(pool.pool, pool.accelerator) for block in lock.regions.values() for pool in block.pools.values()}
    kinds = {
        f"{model} on {accelerator}": how.goodput.kind
        for model, detail in intent.models.items()
        for accelerator, how in detail.accelerators.items()
        if (model, accelerator) in used
    }
    for kind in ("predicted", "assumed"):
        names = [name for name, found in kinds.items() if found == kind]
        if len(names) > _FEW:
            yield f"goodput of {len(names)} of {len(kinds)} pairs of model and card is {kind}"
        elif names:
            yield f"goodput of {' and '.join(names)} is {kind}"
    if len(kinds) > 1 and "measured" not in kinds.values():
        yield "none is measured"
    for model in dict.fromkeys(pool for pool, _ in sorted(used)):
        adapters = intent.models[model].adapters if model in intent.models else None
        if adapters is not None and adapters.kind != "measured":
            yield f"overhead of {model}'s adapters is {adapters.kind}"


def _unused(lock: Lock) -> Iterator[str]:
    for region, block in lock.regions.items():
        if not block.pools:
            yield f"{region} holds no replicas, and its cluster still costs"


def _next_step(planned: Planned) -> str:
    lock, target = planned.lock, planned.target
    settle = f"outlast plan {lock.fleet} --settle"
    if lock.step == "settle":
        return "" if lock.regions == target.regions else f"next: '{settle}' lowers what hours do not need"
    if lock.regions == target.regions:
        return f"next: deploy this raise, regions before routing; '{settle}' then lowers nothing"
    saves = target.solver.usd_h < lock.solver.usd_h
    money = f"it to {target.solver.usd_h:,.2f} USD/h" if saves else "what hours do not need"
    return f"next: deploy this raise, regions before routing; '{settle}' then lowers {money}"


def _pools(intent: Intent, region: str, block: LockRegion, full: Mapping[CellKey, Fullness]) -> Iterator[PoolLine]:
    used: dict[str, int] = dict.fromkeys(block.node_pools, 0)
    for pool in block.pools.values():
        for key, replicas in pool.places.items():
            used[key] += replicas * pool.replica_devices
    for pool in block.pools.values():
        own = sum(replicas * pool.gpus_on(block.node_pools[key]) for key, replicas in pool.places.items())
        parts = {key: replicas * pool.replica_devices / used[key] for key, replicas in pool.places.items() if replicas}
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
                row.nodes.expected * part * node_usd_h(intent, region, row.machine_type, row.capacity)
                for row, part in rows.values()
            ),
            binding=_in_words(pool.binding),
            full=full.get((region, pool.pool)),
        )


def _in_words(binding: Binding) -> str:
    return in_words(Case(binding.lost, binding.hour, binding.need_tok_s, 0.0), need=False)
