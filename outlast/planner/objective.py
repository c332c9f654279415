"""What makes one plan better than another, stage by stage, so that the answer is unique.

1. ``replicas`` (only with that objective): fewest replicas.
2. ``money``: USD per hour of nodes.
3. ``change``: least change of replicas against the lock in force. A raise still holds what is about to leave, so
   against a raise only growth counts.
4. ``shift``: least change of shares against the lock in force.
5. A fixed order: replicas, then shares, each as small as can be, in the order of the files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from outlast.lock import Lock
from outlast.planner.arrays import Arrays, CellKey
from outlast.planner.money import node_usd_h
from outlast.planner.program import INFINITY, Program, Terms
from outlast.planner.variables import ShareKey, Variables

WHOLE = 0.5
"""Slack when a sum of whole numbers is held at its optimum."""
CENTS = 1e-6
"""USD per hour below which two plans cost the same."""


@dataclass(frozen=True)
class Stage:
    """A sum to minimise, then to hold."""

    name: str
    costs: Terms
    slack: float
    """How far later stages may rise above the optimum; smaller than any true difference."""


def define_stages(program: Program, arrays: Arrays, variables: Variables, in_force: Lock | None) -> list[Stage]:
    """Return the stages in order, adding columns that measure change."""
    stages = []
    if arrays.intent.fleet.objective == "replicas":
        stages.append(Stage("replicas", dict.fromkeys(variables.replicas.values(), 1.0), WHOLE))
    stages.append(Stage("money", dict(_money(arrays, variables)), CENTS))
    if in_force is not None:
        held = {key: replicas_in_force(in_force, arrays, key) for key in variables.replicas}
        costs: dict[int, float] = {}
        for key, column in variables.replicas.items():
            costs |= _change(program, f"change {key[0]} {key[1]}", column, held[key], down=in_force.step == "settle")
        stages.append(Stage("change", costs, WHOLE))
        shift: dict[int, float] = {}
        for share, column in variables.share.items():
            shift |= _change(program, f"shift {' '.join(share)}", column, share_in_force(in_force, share), down=True)
        stages.append(Stage("shift", shift, WHOLE))
    return stages


def fixed_order(variables: Variables) -> list[int]:
    """Return the columns whose order decides between plans that are equal in every stage."""
    return [*variables.replicas.values(), *variables.share.values()]


def replicas_in_force(lock: Lock, arrays: Arrays, key: CellKey) -> int:
    """Return the replicas that a lock holds for a cell, without those that are leaving."""
    cell = arrays.cells[key]
    block = lock.regions.get(cell.region)
    pool = block.pools.get(f"{cell.pool}-{cell.short}") if block else None
    if block is None or pool is None:
        return 0
    return sum(replicas for row, replicas in pool.places.items() if block.node_pools[row].state != "leaving")


def share_in_force(lock: Lock, key: ShareKey) -> int:
    """Return a share of a lock; 0 where it has none."""
    residency, lost, survivor = key
    return lock.shares.get(residency, {}).get(lost, {}).get(survivor, 0)


def _money(arrays: Arrays, variables: Variables) -> Iterator[tuple[int, float]]:
    for (region, node_pool, _), column in variables.nodes.items():
        pool = arrays.intent.regions[region].node_pools[node_pool]
        yield column, node_usd_h(arrays.intent, region, pool.machine_type, pool.capacity)


def _change(program: Program, name: str, column: int, held: int, *, down: bool) -> dict[int, float]:
    """Add ``column − up + fallen = held`` and return the cost of rising and, if ``down`` counts, of falling."""
    up, fallen = program.real(f"{name} up", 0, INFINITY), program.real(f"{name} down", 0, INFINITY)
    program.equal(name, {column: 1.0, up: -1.0, fallen: 1.0}, held)
    return {up: 1.0, fallen: 1.0} if down else {up: 1.0}
