"""Constraints of the plan, one function a family; a row's name begins with the family's.

Symbols as in `outlast.planner.variables`; N replicas, k canaries, Z zones of a cell.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from outlast.planner.arrays import Arrays, CellKey
from outlast.planner.needs import TOLERANCE, counts_alone
from outlast.planner.program import Program
from outlast.planner.pruning import binding_hours
from outlast.planner.variables import RowKey, Variables, holdings_of


def define_constraints(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Add every family."""
    define_spread_zones(program, arrays, variables)
    define_survive_alone(program, arrays, variables)
    define_move_whole_class(program, arrays, variables)
    define_use_pools(program, arrays, variables)
    define_survive_region(program, arrays, variables)
    define_fit_nodes(program, arrays, variables)
    define_hold_quota(program, arrays, variables)
    define_hold_reservation(program, arrays, variables)


def define_spread_zones(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Spread a cell's replicas over its zones within one.

        replicas[r,p] = Z × whole[r,p] + sum over i of extra[r,p,i],   extra[r,p,i] >= extra[r,p,i+1]

    Names: ``spread_zones``, ``spread_zones_order``.
    """
    for key, cell in arrays.cells.items():
        extra = variables.extra[key]
        terms = {variables.replicas[key]: 1.0, variables.whole[key]: -len(cell.zones)} | dict.fromkeys(extra, -1.0)
        program.equal(f"spread_zones {_text(key)}", terms, 0)
        for i, (first, second) in enumerate(pairwise(extra)):
            program.at_least(f"spread_zones_order {_text(key)} {i}", {first: 1.0, second: -1.0}, 0)


def define_survive_alone(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Hold what does not depend on shares: own demand, one replica, one zone, the tier's minimum.

        lowest × in_use[r,p]  <=  replicas[r,p]  <=  highest × in_use[r,p]

    with ``lowest`` the smallest count that holds them, by enumeration; a count g above it that does not is forbidden by
    a binary b: ``replicas <= g − 1 + (highest − g + 1) b`` and ``replicas >= (g + 1) b``.

    Names: ``survive_alone``, ``survive_alone_gap``.
    """
    for key in arrays.cells:
        good = counts_alone(arrays, key)
        lowest, highest = int(np.argmax(good)), len(good) - 1
        replicas, in_use = variables.replicas[key], variables.in_use[key]
        program.at_least(f"survive_alone {_text(key)} low", {replicas: 1.0, in_use: -lowest}, 0)
        program.at_most(f"survive_alone {_text(key)} high", {replicas: 1.0, in_use: -highest}, 0)
        for gap in (count for count in range(lowest, highest) if not good[count]):
            name = f"survive_alone_gap {_text(key)} {gap}"
            above = program.integer(name, 0, 1)
            program.at_most(f"{name} below", {replicas: 1.0, above: -(highest - gap + 1)}, gap - 1)
            program.at_least(f"{name} above", {replicas: 1.0, above: -(gap + 1)}, 0)


def define_move_whole_class(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Send all of a class somewhere when a region is lost.

        sum over r of share[c,l,r] = 100

    Name: ``move_whole_class``.
    """
    for move in arrays.moves:
        terms = {variables.share[move.residency, move.lost, survivor]: 1.0 for survivor in move.survivors}
        program.equal(f"move_whole_class {move.residency} {move.lost}", terms, 100)


def define_use_pools(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Use a pool where a class that uses its model may arrive, and only there and at home.

        share[c,l,r] <= 100 × in_use[r,p]  for every model p of class c
        in_use[r,p]  <= sum over c, l of share[c,l,r]  where no demand is at home

    Names: ``use_pools``, ``use_pools_only``.
    """
    for key, cell in arrays.cells.items():
        if cell.is_home:
            continue
        arriving = {
            column: f"{residency} {lost}"
            for (residency, lost, survivor), column in variables.share.items()
            if survivor == cell.region and cell.pool in arrays.intent.models_of_class[residency]
        }
        in_use = variables.in_use[key]
        for column, name in arriving.items():
            program.at_most(f"use_pools {_text(key)} {name}", {column: 1.0, in_use: -100.0}, 0)
        program.at_most(f"use_pools_only {_text(key)}", {in_use: 1.0} | dict.fromkeys(arriving, -1.0), 0)


def define_survive_region(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Hold own demand and what moves in when another region is lost.

        u_f (replicas[r,p] − k in_use[r,p])  >=  base[r,p,h] + surge × sum over c of demand[c,l,p,h] share[c,l,r] / 100

    for every lost region l and each of its hours that can bind; base and demand of the classes that survive a region.
    Rows are divided by u_f; the right side is lowered by the relative tolerance of all comparisons.
    Name: ``survive_region``.
    """
    for key, cell in arrays.cells.items():
        base = arrays.base(key, "region")
        for lost in arrays.lost_regions:
            moved = arrays.moved(key, lost) if lost != cell.region else {}
            if not moved:
                continue
            unit = (1 - TOLERANCE) / cell.failure_tok_s
            for hour in binding_hours(base, list(moved.values())):
                terms = {variables.replicas[key]: 1.0, variables.in_use[key]: -float(arrays.canary)}
                for residency, hours in moved.items():
                    terms[variables.share[residency, lost, cell.region]] = -arrays.surge * hours[hour] / 100 * unit
                program.at_least(f"survive_region {_text(key)} {lost} {hour}", terms, base[hour] * unit)


def define_fit_nodes(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Keep enough nodes in each zone, whole replicas on whole nodes.

        node_gpus × nodes[r,n,z]  >=  sum over pools of replica_gpus × replicas in z
        m × nodes[r,n,z]          >=  sum over pools with replica_gpus > node_gpus / (m + 1) of replicas in z

    the second for each m = floor(node_gpus / replica_gpus) of a pool there: a node holds at most m of such replicas.
    Exact when sizes divide each other and the node. Names: ``fit_nodes``, ``fit_nodes_whole``.
    """
    for row, column in variables.nodes.items():
        cells = _cells_on(arrays, row)
        gpus = node_gpus(arrays, row[0], row[1])
        sizes = {key: arrays.cells[key].replica_gpus for key in cells}
        held = {key: variables.in_zone(arrays, key, row[2]) for key in cells}
        terms = {part: -one * sizes[key] for key in cells for part, one in held[key].items()}
        program.at_least(f"fit_nodes {_text(row)}", terms | {column: float(gpus)}, 0)
        for most in sorted({gpus // size for size in sizes.values()}):
            large = [key for key in cells if sizes[key] * (most + 1) > gpus]
            terms = {part: -one for key in large for part, one in held[key].items()}
            program.at_least(f"fit_nodes_whole {_text(row)} {most}", terms | {column: float(most)}, 0)


def define_hold_quota(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Stay within what the cloud grants in a region.

        sum over node pools and zones of (vCPU or GPUs of a node) × nodes[r,n,z]  <=  granted[r,q] + overflow[r,q]

    A quota that capacity.yaml does not list is 0. Name: ``hold_quota``.
    """
    for region in dict.fromkeys(region for region, _ in variables.overflow):
        row = arrays.intent.regions[region]
        granted = arrays.intent.holdings(region).quotas
        for quota in arrays.intent.facts.quotas:
            terms: dict[int, float] = {}
            for (owner, node_pool, _), column in variables.nodes.items():
                if owner == region and quota.quota_code in holdings_of(arrays, region, node_pool):
                    machine = arrays.intent.facts.machine_types[row.cloud, row.node_pools[node_pool].machine_type]
                    terms[column] = float(machine.vcpu if quota.unit == "vcpu" else machine.node_gpus)
            if terms:
                terms[variables.overflow[region, quota.quota_code]] = -1.0
                held = granted[quota.quota_code].granted if quota.quota_code in granted else 0.0
                program.at_most(f"hold_quota {region} {quota.quota_code}", terms, held)


def define_hold_reservation(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Stay within the machines reserved.

        sum over node pools of the reservation of nodes[r,n,z]  <=  reserved[r,v] + overflow[r,v]

    Name: ``hold_reservation``.
    """
    for region in dict.fromkeys(region for region, _ in variables.overflow):
        pools = arrays.intent.regions[region].node_pools
        for name, reservation in arrays.intent.holdings(region).reservations.items():
            terms = {
                column: 1.0
                for (owner, node_pool, _), column in variables.nodes.items()
                if owner == region and pools[node_pool].reservation == name
            }
            if terms:
                terms[variables.overflow[region, name]] = -1.0
                program.at_most(f"hold_reservation {region} {name}", terms, reservation.nodes)


def node_gpus(arrays: Arrays, region: str, node_pool: str) -> int:
    """Return the GPUs of a node."""
    row = arrays.intent.regions[region]
    return int(arrays.intent.facts.machine_types[row.cloud, row.node_pools[node_pool].machine_type].node_gpus)


def _cells_on(arrays: Arrays, row: RowKey) -> list[CellKey]:
    region, node_pool, _ = row
    return [key for key, cell in arrays.cells.items() if (cell.region, cell.node_pool) == (region, node_pool)]


def _text(key: Iterable[str]) -> str:
    return " ".join(key)
