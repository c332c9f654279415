"""Counts that fit beside what runs: a raise holds old and new together, and quotas and reservations have to hold both.

Asked for only where the best counts do not fit so: two plans that exchange pools on a full reservation, for example.
"""

from __future__ import annotations

from collections.abc import Mapping

from outlast.lock import LockNodePool, LockRegion
from outlast.planner.arrays import Arrays
from outlast.planner.constraints import lanes_on, node_devices
from outlast.planner.program import INFINITY, Program
from outlast.planner.variables import RowKey, Variables

LASTING = ("zone", "machine_type", "partition", "capacity", "reservation", "block", "interconnect", "scaling")
"""Fields that no cloud changes in place; a row that differs in one is a new generation, and runs beside the old."""


def define_fit_beside(program: Program, arrays: Arrays, variables: Variables, region: str, running: LockRegion) -> None:
    """Keep what runs in a region and what is planned there within its quotas and reservations, together.

        both[n,z]            >=  nodes that run in the row, and nodes[r,n,z]
        devices × both[n,z]  >=  sum over pools of replica devices × the larger of replicas running and planned
        m × both[n,z]        >=  the same larger counts of pools with replica devices > devices / (m + 1)
        sum over rows of what a node counts × both[n,z]  <=  granted or reserved, less what rows that only run count

    Names: ``fit_beside``, ``fit_beside_whole``, ``hold_beside``.
    """
    pools = arrays.intent.regions[region].node_pools
    used: dict[str, dict[int, float]] = {}
    left = dict(running.node_pools)
    for row, column in variables.nodes.items():
        pool = pools[row[1]]
        block = arrays.intent.is_block(region, pool.reservation)
        declared = pool.model_dump() | {"zone": row[2], "block": block}
        key = next((key for key, old in left.items() if old.id == row[1] and lasts(old, declared)), None)
        both = column if key is None else _both(program, arrays, variables, row, running, key)
        left.pop(key or "", None)
        for held, amount in _draws(arrays, region, pool.machine_type, pool.capacity, pool.reservation).items():
            used.setdefault(held, {})[both] = amount
    holdings = arrays.intent.holdings(region)
    room = {name: float(quota.granted) for name, quota in holdings.quotas.items()}
    room |= {name: float(reservation.nodes) for name, reservation in holdings.reservations.items()}
    for old in left.values():
        for held, amount in _draws(arrays, region, old.machine_type, old.capacity, old.reservation).items():
            room[held] = room.get(held, 0.0) - amount * old.nodes.max
    for held, terms in used.items():
        program.at_most(f"hold_beside {region} {held}", terms, room.get(held, 0.0))


def lasts(old: LockNodePool, wanted: Mapping[str, object]) -> bool:
    """Whether a row that runs may go on as one with these lasting fields."""
    return all(getattr(old, name) == wanted[name] for name in LASTING)


def _both(program: Program, arrays: Arrays, variables: Variables, row: RowKey, running: LockRegion, key: str) -> int:
    """Add the nodes of a row that hold what runs there and what is planned, and return their column."""
    text, devices = " ".join(row), node_devices(arrays, row[0], row[1])
    both = program.integer(f"both {text}", running.node_pools[key].nodes.max, INFINITY)
    program.at_least(f"fit_beside {text} nodes", {both: 1.0, variables.nodes[row]: -1.0}, 0)
    sizes: dict[int, int] = {}
    planned = {f"{lane.pool}-{lane.short}": lane for lane in lanes_on(arrays, variables, row)}
    for pool, lane in planned.items():
        held = running.pools[pool].places.get(key, 0) if pool in running.pools else 0
        larger = program.integer(f"larger {text} {pool}", held, INFINITY)
        here = {part: -one for part, one in variables.on_row(lane, row[1], row[2]).items()}
        program.at_least(f"fit_beside {text} {pool}", {larger: 1.0} | here, 0)
        sizes[larger] = lane.replica_devices
    ending = [
        (pool.replica_devices, pool.places[key])
        for name, pool in running.pools.items()
        if name not in planned and pool.places.get(key)
    ]
    terms = {larger: -float(size) for larger, size in sizes.items()} | {both: float(devices)}
    program.at_least(f"fit_beside {text} devices", terms, sum(size * count for size, count in ending))
    for most in sorted({devices // size for size in (*sizes.values(), *(size for size, _ in ending))}):
        large = {larger: -1.0 for larger, size in sizes.items() if size * (most + 1) > devices}
        fixed = sum(count for size, count in ending if size * (most + 1) > devices)
        program.at_least(f"fit_beside_whole {text} {most}", large | {both: float(most)}, fixed)
    return both


def _draws(arrays: Arrays, region: str, machine_type: str, capacity: str, reservation: str | None) -> dict[str, float]:
    """Return quota or reservation -> what one node counts against it."""
    cloud, facts = arrays.intent.regions[region].cloud, arrays.intent.facts
    machine = facts.machine_types[cloud, machine_type]
    found = {quota.quota_code: quota.of_node(machine) for quota in facts.quotas_for(cloud, machine_type, capacity)}
    return found | ({reservation: 1.0} if reservation else {})
