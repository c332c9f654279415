"""Constraints of the plan, one function a family; a row's name begins with the family's.

Symbols as in `outlast.planner.variables`; N replicas, k canaries, Z zones of a lane; u goodput × occupancy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from outlast.intent.partitions import parts_of_card
from outlast.planner.arrays import Arrays, Cell, CellKey, Lane
from outlast.planner.program import Program
from outlast.planner.survival import Parts, define_survive_alone, define_survive_region, define_survive_together
from outlast.planner.variables import RowKey, Variables, caps_of, drawn_on


def define_constraints(program: Program, arrays: Arrays, variables: Variables, parts: Parts) -> None:
    """Add every family."""
    define_spread_zones(program, arrays, variables)
    define_split_zone(program, arrays, variables)
    define_survive_alone(program, arrays, variables)
    define_survive_together(program, arrays, variables, parts)
    define_move_whole_class(program, arrays, variables)
    define_use_pools(program, arrays, variables)
    define_survive_region(program, arrays, variables)
    define_fit_nodes(program, arrays, variables)
    define_hold_quota(program, arrays, variables)
    define_hold_cap(program, arrays, variables)
    define_hold_reservation(program, arrays, variables)


def define_spread_zones(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Spread a lane's replicas over its zones within one.

        replicas[r,p,g] = Z × whole[r,p,g] + sum over i of extra[r,p,g,i],   extra[r,p,g,i] >= extra[r,p,g,i+1]

    Names: ``spread_zones``, ``spread_zones_order``.
    """
    for lane in _lanes(arrays, variables):
        extra = variables.extra[lane.key]
        terms = {variables.replicas[lane.key]: 1.0, variables.whole[lane.key]: -len(lane.zones)}
        program.equal(f"spread_zones {_text(lane.key)}", terms | dict.fromkeys(extra, -1.0), 0)
        for i, (first, second) in enumerate(pairwise(extra)):
            program.at_least(f"spread_zones_order {_text(lane.key)} {i}", {first: 1.0, second: -1.0}, 0)


def define_split_zone(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Put a zone's replicas on the node pools that it has for the lane.

        sum over n of split[r,p,g,n,z] = replicas of the lane in z

    Name: ``split_zone``.
    """
    for lane in _lanes(arrays, variables):
        for zone, node_pools in lane.zone_pools.items():
            if len(node_pools) > 1:
                held = dict.fromkeys(variables.in_zone(lane, zone), -1.0)
                terms = {variables.split[lane.key, node_pool, zone]: 1.0 for node_pool in node_pools}
                program.equal(f"split_zone {_text(lane.key)} {zone}", terms | held, 0)


def define_move_whole_class(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Send all of a class somewhere when a region is lost.

        sum over r of share[c,l,r] = 100

    Name: ``move_whole_class``.
    """
    for move in arrays.moves:
        columns = [variables.share.get((move.residency, move.lost, survivor)) for survivor in move.survivors]
        terms = {column: 1.0 for column in columns if column is not None}
        if len(terms) == len(columns):
            program.equal(f"move_whole_class {move.residency} {move.lost}", terms, 100)


def define_use_pools(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Use a pool where a class that uses its model may arrive, and only there and at home.

        share[c,l,r] <= 100 × in_use[r,p]  for every model p of class c
        in_use[r,p]  <= sum over c, l of share[c,l,r]  where no demand is at home
        on[r,p,g]    <= in_use[r,p]

    Names: ``use_pools``, ``use_pools_only``, ``use_pools_on``.
    """
    for key, cell in _cells(arrays, variables):
        for lane in cell.lanes if len(cell.lanes) > 1 else ():
            terms = {variables.on[lane.key]: 1.0, variables.in_use[key]: -1.0}
            program.at_most(f"use_pools_on {_text(lane.key)}", terms, 0)
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


def define_fit_nodes(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Keep enough nodes in each zone, whole replicas on whole nodes.

        devices × nodes[r,n,z]  >=  sum over lanes of replica devices × replicas on n in z
        m × nodes[r,n,z]        >=  sum over lanes with replica devices > devices / (m + 1) of replicas on n in z

    the second for each m = floor(devices / replica devices) of a lane there: a node holds at most m of such replicas.
    Exact when sizes divide each other and the node. Names: ``fit_nodes``, ``fit_nodes_whole``.
    """
    for row, column in variables.nodes.items():
        lanes = lanes_on(arrays, variables, row)
        devices = node_devices(arrays, row[0], row[1])
        held = {lane: variables.on_row(lane, row[1], row[2]) for lane in lanes}
        terms = {part: -one * lane.replica_devices for lane in lanes for part, one in held[lane].items()}
        program.at_least(f"fit_nodes {_text(row)}", terms | {column: float(devices)}, 0)
        for most in sorted({devices // lane.replica_devices for lane in lanes}):
            large = [lane for lane in lanes if lane.replica_devices * (most + 1) > devices]
            terms = {part: -one for lane in large for part, one in held[lane].items()}
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
                if owner == region and quota.quota_code in drawn_on(arrays, region, node_pool):
                    machine = arrays.intent.facts.machine_types[row.cloud, row.node_pools[node_pool].machine_type]
                    terms[column] = quota.of_node(machine)
            if terms:
                terms[variables.overflow[region, quota.quota_code]] = -1.0
                held = granted[quota.quota_code].granted if quota.quota_code in granted else 0.0
                program.at_most(f"hold_quota {region} {quota.quota_code}", terms, held)


def define_hold_cap(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Stay within what the cloud grants all regions of an account together.

        sum over r, n and z of (vCPU or GPUs of a node) × nodes[r,n,z]  <=  granted[q] + overflow[r,q]

    with the overflow under the region that stands for the account. Name: ``hold_cap``.
    """
    for owner, code, units in caps_of(arrays, variables.nodes):
        terms = {variables.nodes[row]: unit for row, unit in units.items()}
        terms[variables.overflow[owner, code]] = -1.0
        program.at_most(f"hold_cap {owner} {code}", terms, arrays.intent.cap_granted(owner, code))


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


def node_devices(arrays: Arrays, region: str, node_pool: str) -> int:
    """Return the devices of a node that Kubernetes counts: GPUs, or parts of them."""
    row = arrays.intent.regions[region]
    pool = row.node_pools[node_pool]
    machine = arrays.intent.facts.machine_types[row.cloud, pool.machine_type]
    return int(machine.node_gpus) * parts_of_card(pool.partition)


def _cells(arrays: Arrays, variables: Variables) -> Iterator[tuple[CellKey, Cell]]:
    return ((key, cell) for key, cell in arrays.cells.items() if key in variables.in_use)


def _lanes(arrays: Arrays, variables: Variables) -> Iterator[Lane]:
    return (lane for key, lane in arrays.lanes.items() if key in variables.replicas)


def lanes_on(arrays: Arrays, variables: Variables, row: RowKey) -> list[Lane]:
    """Return the lanes that may have replicas on a node pool in a zone."""
    region, node_pool, zone = row
    return [
        lane
        for lane in _lanes(arrays, variables)
        if lane.region == region and node_pool in lane.zone_pools.get(zone, ())
    ]


def _text(key: Iterable[str]) -> str:
    return " ".join(key)
