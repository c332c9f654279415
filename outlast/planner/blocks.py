"""Turns counts into a region's block of the lock: node pool rows, pools, what nodes stage, quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from string import ascii_lowercase

from outlast.errors import PlanError, Problem
from outlast.lock import Binding, LockNodePool, LockPool, LockQuota, LockRegion, Nodes, Replicas, nodes_for
from outlast.planner.arrays import Arrays, Cell, CellKey
from outlast.planner.needs import Shares, binding_case
from outlast.planner.target import Target

_LASTING = ("zone", "machine_type", "partition", "capacity", "reservation", "scaling")
"""Fields that no cloud changes in place; a row that differs in one is a new generation."""


def block_of(arrays: Arrays, region: str, target: Target, in_force: LockRegion | None) -> LockRegion:
    """Return the block of a region that holds a target's counts, every row serving.

    Generations are those of the lock in force where it has the same row.

    Raises:
        PlanError: artifacts do not fit the disks of a node.
    """
    cells = [cell for cell in arrays.cells.values() if cell.region == region and target.replicas[region, cell.pool]]
    old_rows = in_force.node_pools if in_force else {}
    places: dict[str, dict[str, int]] = {cell.pool: {} for cell in cells}
    rows: dict[str, LockNodePool] = {}
    for node_pool, declared in arrays.intent.regions[region].node_pools.items():
        users = [cell for cell in cells if cell.node_pool == node_pool]
        for number, zone in enumerate(declared.zones, start=1):
            held = {cell.pool: cell.places(target.replicas[region, cell.pool])[zone] for cell in users}
            running = [cell for cell in users if held[cell.pool]]
            if not running:
                continue
            key, row = _named(f"{node_pool}-{number}", _row(arrays, node_pool, zone, running, held), old_rows)
            rows[key] = row
            for cell in running:
                places[cell.pool][key] = held[cell.pool]
    pools = {f"{cell.pool}-{cell.short}": _pool(arrays, cell, places[cell.pool]) for cell in cells}
    return finished(arrays, region, rows, pools, target.shares)


def finished(
    arrays: Arrays, region: str, rows: Mapping[str, LockNodePool], pools: Mapping[str, LockPool], shares: Shares
) -> LockRegion:
    """Return a block with what follows from its rows and places: nodes, binding cases, quotas, stranded GPUs.

    A pool that the plan cannot place here, because it is leaving, keeps its binding case.
    """
    rows = {key: _holding(key, row, pools.values()) for key, row in rows.items()}
    bound = {key: _bound(arrays, region, rows, pool, shares) for key, pool in pools.items()}
    used = sum(pool.replica_gpus * pool.replicas.planned for pool in pools.values())
    return LockRegion(
        node_pools=rows,
        pools=bound,
        quotas=_quotas(arrays, region, rows),
        stranded_gpus=sum(row.node_gpus * row.nodes.min for row in rows.values()) - used,
    )


def counted(places: Mapping[str, int], canary: int) -> Replicas:
    """Return the counts of a dedicated pool: all its replicas, all the time."""
    planned = sum(places.values())
    return Replicas(floor=planned, planned=planned, max=planned, canary=canary)


def staged(arrays: Arrays, artifacts: Iterable[str]) -> tuple[tuple[str, ...], float]:
    """Return artifacts without repeats and their size in GiB; one that is released no more is not staged."""
    known = arrays.intent.artifacts.models
    names = tuple(name for name in dict.fromkeys(artifacts) if name in known)
    return names, sum(known[name].size for name in names)


def _row(arrays: Arrays, node_pool: str, zone: str, running: list[Cell], held: Mapping[str, int]) -> LockNodePool:
    region = running[0].region
    place = arrays.intent.regions[region]
    declared = place.node_pools[node_pool]
    machine = arrays.intent.facts.machine_types[place.cloud, declared.machine_type]
    sizes: Counter[int] = Counter()
    for cell in running:
        sizes[cell.replica_gpus] += held[cell.pool]
    count = nodes_for(sizes, int(machine.node_gpus))
    names, size_gib = staged(arrays, (arrays.intent.models[cell.pool].artifact for cell in running))
    if size_gib > machine.disk_gib:
        raise PlanError(
            Problem(
                where=f"{arrays.intent.name}/regions.yaml, regions.{region}.node_pools.{node_pool}",
                what=f"the artifacts that {declared.machine_type} stages do not fit its disks ({', '.join(names)})",
                got=f"{size_gib:,.0f} GiB",
                allowed=f"up to {machine.disk_gib:,} GiB",
                do="Use a machine type with more local NVMe, or put fewer models on it",
            )
        )
    return LockNodePool(
        id=node_pool,
        zone=zone,
        generation="a",
        state="serving",
        machine_type=declared.machine_type,
        accelerator=machine.accelerator,
        node_gpus=machine.node_gpus,
        partition=declared.partition,
        capacity=declared.capacity,
        reservation=declared.reservation,
        scaling=declared.scaling,
        nodes=Nodes(min=count, expected=float(count), max=count),
        stage=names,
        stage_gib=size_gib,
        disk_gib=machine.disk_gib,
    )


def _named(stem: str, row: LockNodePool, old: Mapping[str, LockNodePool]) -> tuple[str, LockNodePool]:
    """Return the row under the generation of an old row like it, else under the first one that is free."""
    keys = {f"{stem}-{generation}": generation for generation in ascii_lowercase}
    alike = [key for key in keys if key in old and _lasts(old[key], row)]
    free = [key for key in keys if key not in old]
    if not alike and not free:
        raise PlanError(Problem(where=stem, what="every generation from a to z is in use", do="Settle the plan first"))
    key = (alike or free)[0]
    return key, row.model_copy(update={"generation": keys[key]})


def _lasts(old: LockNodePool, row: LockNodePool) -> bool:
    return all(getattr(old, name) == getattr(row, name) for name in _LASTING)


def _pool(arrays: Arrays, cell: Cell, places: dict[str, int]) -> LockPool:
    model = arrays.intent.models[cell.pool]
    return LockPool(
        pool=cell.pool,
        model=model.artifact,
        tier=model.tier,
        accelerator=cell.accelerator,
        replica_gpus=cell.replica_gpus,
        places=places,
        replicas=counted(places, arrays.canary),
        binding=Binding(lost="none", hour=0, need_tok_s=0),
    )


def _holding(key: str, row: LockNodePool, pools: Iterable[LockPool]) -> LockNodePool:
    """Return the row with at least the nodes that hold its replicas."""
    sizes: Counter[int] = Counter()
    for pool in pools:
        sizes[pool.replica_gpus] += pool.places.get(key, 0)
    count = max(row.nodes.min, nodes_for(sizes, int(row.node_gpus)))
    return row.model_copy(update={"nodes": Nodes(min=count, expected=float(count), max=count)})


def _bound(arrays: Arrays, region: str, rows: Mapping[str, LockNodePool], pool: LockPool, shares: Shares) -> LockPool:
    key: CellKey = (region, pool.pool)
    if key not in arrays.cells or arrays.cells[key].accelerator != pool.accelerator:
        return pool
    zones: Counter[str] = Counter()
    for row, replicas in pool.places.items():
        zones[rows[row].zone] += replicas
    case = binding_case(arrays, key, dict(sorted(zones.items())), shares)
    binding = Binding(lost=case.lost, hour=case.hour, need_tok_s=round(case.need_tok_s, 3))
    return pool.model_copy(update={"binding": binding})


def _quotas(arrays: Arrays, region: str, rows: Mapping[str, LockNodePool]) -> dict[str, LockQuota]:
    """Return what a block needs of every quota: ``min`` without rows that are leaving, ``peak`` with them."""
    facts = arrays.intent.facts
    cloud = arrays.intent.regions[region].cloud
    granted = arrays.intent.holdings(region).quotas
    found: dict[str, LockQuota] = {}
    for row in rows.values():
        machine = facts.machine_types[cloud, row.machine_type]
        for quota in facts.quotas_for(cloud, row.machine_type, row.capacity):
            each = machine.vcpu if quota.unit == "vcpu" else machine.node_gpus
            before = found.get(quota.quota_code)
            found[quota.quota_code] = LockQuota(
                unit=quota.unit,
                granted=granted[quota.quota_code].granted if quota.quota_code in granted else 0,
                min=(before.min if before else 0) + (row.nodes.min * each if row.state != "leaving" else 0),
                peak=(before.peak if before else 0) + row.nodes.max * each,
            )
    return found
