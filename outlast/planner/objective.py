"""What makes one plan better than another, stage by stage, so that the answer is unique.

Shares first, for all regions together; with shares given, every region on its own:

1. ``replicas`` (only with that objective): fewest replicas.
2. ``money``: USD per hour of nodes.
3. ``shift``: least change of shares, ``change``: least growth of replicas over the lock in force. A raise holds
   the larger of both, so growth is what it costs until it settles, and a plan from it returns it.
4. A fixed order: shares, or replicas and node pools, each as small as can be, in the order of the files, the
   accelerators that a model prefers last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from outlast.lock import Lock
from outlast.planner.arrays import Arrays, LaneKey
from outlast.planner.money import node_usd_h
from outlast.planner.needs import Shares
from outlast.planner.program import INFINITY, Program, Terms
from outlast.planner.variables import RowKey, Variables

HALF = 0.5
"""Slack when a sum of whole numbers is held at its optimum."""
CENTS = 1e-6
"""USD per hour below which two plans cost the same."""
_LEAST_DUTY = 1e-3
"""Part of the time that a node which scales to zero is priced for at the least, so that fewer are better."""


@dataclass(frozen=True)
class Stage:
    """A sum to minimise, then to hold."""

    name: str
    costs: Terms
    slack: float
    """How far later stages may rise above the optimum; smaller than any true difference."""


def cost_stages(arrays: Arrays, variables: Variables) -> list[Stage]:
    """Return the stages that make a plan good."""
    stages = []
    if arrays.intent.fleet.objective == "replicas":
        stages.append(Stage("replicas", dict.fromkeys(variables.replicas.values(), 1.0), HALF))
    return [*stages, Stage("money", dict(_money(arrays, variables)), CENTS)]


def shift_stage(program: Program, variables: Variables, shares: Shares) -> Stage:
    """Return the stage of least change of shares, adding columns that measure it."""
    costs: dict[int, float] = {}
    for (residency, lost, survivor), column in variables.share.items():
        held = shares.get(residency, {}).get(lost, {}).get(survivor, 0)
        costs |= _change(program, f"shift {residency} {lost} {survivor}", column, held, down=True)
    return Stage("shift", costs, HALF)


def change_stage(program: Program, arrays: Arrays, variables: Variables, in_force: Lock) -> Stage:
    """Return the stage of least growth of replicas and of their node pools, adding columns that measure it.

    Only what rises counts: a raise holds the larger of both, so a plan from it sees the same change as the plan that
    made it, and returns it. What moves between node pools of a zone rises too: it runs twice until it settles.
    """
    costs: dict[int, float] = {}
    for key, column in variables.replicas.items():
        held = replicas_in_force(in_force, arrays, key)
        costs |= _change(program, f"change {' '.join(key)}", column, held, down=False)
    for (key, node_pool, zone), column in variables.split.items():
        held = split_in_force(in_force, arrays, key, node_pool, zone)
        costs |= _change(program, f"change {' '.join((*key, node_pool, zone))}", column, held, down=False)
    return Stage("change", costs, HALF)


def split_in_force(lock: Lock, arrays: Arrays, key: LaneKey, node_pool: str, zone: str) -> int:
    """Return the replicas that a lock holds for a lane on a node pool in a zone, without those that are leaving."""
    lane = arrays.lanes[key]
    block = lock.regions.get(lane.region)
    pool = block.pools.get(f"{lane.pool}-{lane.short}") if block else None
    if block is None or pool is None:
        return 0
    rows = {name: block.node_pools[name] for name in pool.places}
    return sum(
        replicas
        for name, replicas in pool.places.items()
        if (rows[name].id, rows[name].zone) == (node_pool, zone) and rows[name].state != "leaving"
    )


def fixed_order(arrays: Arrays, variables: Variables) -> list[int]:
    """Return the columns of counts whose order decides between plans that are equal in every stage."""
    lanes = [lane.key for key, cell in arrays.cells.items() if key in variables.in_use for lane in reversed(cell.lanes)]
    return [*(variables.replicas[key] for key in lanes), *variables.split.values()]


def replicas_in_force(lock: Lock, arrays: Arrays, key: LaneKey) -> int:
    """Return the replicas that a lock holds for a lane, without those that are leaving."""
    lane = arrays.lanes[key]
    block = lock.regions.get(lane.region)
    pool = block.pools.get(f"{lane.pool}-{lane.short}") if block else None
    if block is None or pool is None:
        return 0
    return sum(replicas for row, replicas in pool.places.items() if block.node_pools[row].state != "leaving")


def duty(arrays: Arrays, row: RowKey) -> float:
    """Return the part of the week that the nodes of a row run: all of it, unless they come and go with demand."""
    region, node_pool, _ = row
    if arrays.intent.regions[region].node_pools[node_pool].scaling == "fixed":
        return 1.0
    busy = [
        float(hours.mean() / hours.max())
        for lane in arrays.lanes.values()
        if lane.region == region and node_pool in lane.node_pools
        if (hours := arrays.base((region, lane.pool), "none")).any()
    ]
    return max([_LEAST_DUTY, *busy])


def _money(arrays: Arrays, variables: Variables) -> Iterator[tuple[int, float]]:
    for row, column in variables.nodes.items():
        region, node_pool, _ = row
        pool = arrays.intent.regions[region].node_pools[node_pool]
        yield column, node_usd_h(arrays.intent, region, pool.machine_type, pool.capacity) * duty(arrays, row)


def _change(program: Program, name: str, column: int, held: int, *, down: bool) -> dict[int, float]:
    """Add ``column − up + fallen = held`` and return the cost of rising and, if ``down`` counts, of falling."""
    up, fallen = program.real(f"{name} up", 0, INFINITY), program.real(f"{name} down", 0, INFINITY)
    program.equal(name, {column: 1.0, up: -1.0, fallen: 1.0}, held)
    return {up: 1.0, fallen: 1.0} if down else {up: 1.0}
