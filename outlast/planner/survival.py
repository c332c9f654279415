"""Rows of survival: what a cell holds alone or over several accelerators, and what moves in from a lost region.

Symbols as in `outlast.planner.constraints`; the arithmetic is that of `outlast.planner.needs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from outlast.planner.arrays import Arrays, Cell, CellKey, Lane
from outlast.planner.needs import TOLERANCE, counts_alone
from outlast.planner.program import Program
from outlast.planner.pruning import binding_hours
from outlast.planner.variables import Variables

Parts = Mapping[CellKey, float]
"""Cell of several lanes -> largest part of its capacity that a zone may hold; absent: an equal part."""


def define_survive_alone(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Hold what does not depend on shares, where a pool has one accelerator: own demand, replica, zone, minimum.

        lowest × in_use[r,p]  <=  replicas[r,p,g]  <=  highest × in_use[r,p]

    with ``lowest`` the smallest count that holds them, by enumeration; a count g above it that does not is forbidden by
    a binary b: ``replicas <= g − 1 + (highest − g + 1) b`` and ``replicas >= (g + 1) b``.

    Names: ``survive_alone``, ``survive_alone_gap``.
    """
    for key, cell in _cells(arrays, variables):
        if len(cell.lanes) > 1:
            continue
        [lane] = cell.lanes
        good = counts_alone(arrays, lane)
        lowest, highest = int(np.argmax(good)), len(good) - 1
        replicas, in_use = variables.replicas[lane.key], variables.in_use[key]
        program.at_least(f"survive_alone {_text(key)} low", {replicas: 1.0, in_use: -lowest}, 0)
        program.at_most(f"survive_alone {_text(key)} high", {replicas: 1.0, in_use: -highest}, 0)
        for gap in (count for count in range(lowest, highest) if not good[count]):
            name = f"survive_alone_gap {_text(key)} {gap}"
            above = program.integer(name, 0, 1)
            program.at_most(f"{name} below", {replicas: 1.0, above: -(highest - gap + 1)}, gap - 1)
            program.at_least(f"{name} above", {replicas: 1.0, above: -(gap + 1)}, 0)


def define_survive_together(program: Program, arrays: Arrays, variables: Variables, parts: Parts) -> None:
    """Hold the same where a pool has several accelerators, which carry it together.

        none      sum over g of (replicas − k on) u_normal  >=  base
        replica   sum over g of (replicas − k on) u_normal − gone u_normal[g']  >=  base,  for each g'
        zone      sum over g of left u_failure  >=  base (1 + (surge − 1) part),  for each z
        minimum   sum over g of (replicas − k on)  >=  minimum × in_use
        on        (k + 1) on[r,p,g]  <=  replicas[r,p,g]  <=  highest × on[r,p,g]

    ``gone`` is one replica, of a packed pool those of a node (`_gone_at_once`); ``left`` is replicas − those in z −
    k on, never below 0 (`_left`). ``part`` of the capacity in the fullest zone is first taken to be 1 / Z, then as
    large as an answer makes it. Names: ``survive_together`` with ``none``, ``replica``, ``zone``, ``minimum``, ``on``.
    """
    for key, cell in _cells(arrays, variables):
        if len(cell.lanes) == 1:
            continue
        in_use, scale = variables.in_use[key], 1 / max(lane.goodput for lane in cell.lanes)
        usable = {lane: _usable(variables, cell, lane) for lane in cell.lanes}
        have = _sum((terms, lane.goodput * scale) for lane, terms in usable.items())
        name = f"survive_together {_text(key)}"

        def at_least(
            row: str, terms: Mapping[int, float], need: float, *, name: str = name, in_use: int = in_use
        ) -> None:
            program.at_least(f"{name} {row}", _sum([(terms, 1.0), ({in_use: -need * (1 - TOLERANCE)}, 1.0)]), 0)

        at_least("none", have, float(arrays.base(key, "none").max()) / arrays.normal * scale)
        at_least("minimum", _sum((terms, 1.0) for terms in usable.values()), cell.minimum)
        for lane in cell.lanes:
            replicas, on = variables.replicas[lane.key], variables.on[lane.key]
            top = program.columns[replicas].upper
            program.at_least(f"{name} on {lane.short} low", {replicas: 1.0, on: -(cell.canary + 1.0)}, 0)
            program.at_most(f"{name} on {lane.short} high", {replicas: 1.0, on: -top}, 0)
            if arrays.is_survived(key, "replica") and arrays.base(key, "replica").any():
                gone = _gone_at_once(program, f"{name} node {lane.short}", variables, cell, lane)
                need = float(arrays.base(key, "replica").max()) / arrays.normal * scale
                at_least(f"replica {lane.short}", _sum([(have, 1.0), (gone, -lane.goodput * scale)]), need)
        base = float(arrays.base(key, "zone").max())
        if arrays.is_survived(key, "zone") and base:
            part = parts.get(key, 1 / len(cell.zones))
            need = base * (1 + (arrays.surge - 1) * part) / arrays.failure * scale
            for zone in cell.zones:
                left = {
                    lane: _left(program, f"{name} left {zone} {lane.short}", variables, cell, lane, zone)
                    for lane in cell.lanes
                }
                stays = base * (1 - part) / arrays.failure * scale
                terms = _carried(program, f"{name} kept {zone}", left, scale, stays)
                at_least(f"zone {zone}", terms, need)


def define_survive_region(program: Program, arrays: Arrays, variables: Variables) -> None:
    """Hold own demand and what moves in when another region is lost.

        sum over g of u_failure (replicas − k on)
            >=  base[r,p,h] + surge × (sum over c of demand[c,l,p,h] share[c,l,r] / 100 − hosted)
        hosted <= quota of the hosted route,   hosted <= what moves in of its classes

    for every lost region l and each of its hours that can bind; base and demand of the classes that survive a region.
    Time-sliced lanes carry at most the base. Rows are divided by the largest u_failure; the right side is lowered by
    the relative tolerance of all comparisons. Names: ``survive_region``, ``survive_region_hosted``,
    ``survive_region_kept``.
    """
    for key, cell in _cells(arrays, variables):
        base = arrays.base(key, "region")
        unit = 1 / (arrays.failure * max(lane.goodput for lane in cell.lanes))
        scale = unit * arrays.failure
        usable = {lane: _usable(variables, cell, lane) for lane in cell.lanes}
        for lost in arrays.lost_regions:
            moved = arrays.moved(key, lost) if lost != cell.region else {}
            for hour in binding_hours(base, list(moved.values())) if moved else ():
                name = f"{_text(key)} {lost} {hour}"
                terms = _carried(program, f"survive_region_kept {name}", usable, scale, base[hour] * unit)
                sent = {
                    variables.share[residency, lost, cell.region]: hours[hour] / 100 * unit
                    for residency, hours in moved.items()
                }
                need = {column: -arrays.surge * (1 - TOLERANCE) * value for column, value in sent.items()}
                terms = _sum([(terms, 1.0), (need, 1.0)])
                if cell.hosted is not None:
                    route = [residency in cell.hosted.classes for residency in moved]
                    allowed = {column: -value for column, value in sent.items()}
                    allowed = {
                        column: value for (column, value), may in zip(allowed.items(), route, strict=True) if may
                    }
                    hosted = program.real(f"hosted {name}", 0, cell.hosted.tok_s * unit)
                    program.at_most(f"survive_region_hosted {name}", {hosted: 1.0} | allowed, 0)
                    terms[hosted] = arrays.surge
                program.at_least(f"survive_region {name}", terms, base[hour] * unit * (1 - TOLERANCE))


def _gone_at_once(program: Program, name: str, variables: Variables, cell: Cell, lane: Lane) -> dict[int, float]:
    """Return the terms of the replicas that a lane may lose at once: one, of a packed pool those of a node.

    A node has no more of them than fit on it, nor more than the fullest zone, which is the first of the lane's order:
    ``gone >= fewer of both``, a binary saying which.
    """
    on, most = variables.on[lane.key], lane.node_replicas if cell.loses_nodes else 1
    if most == 1:
        return {on: 1.0}
    top = float(program.columns[variables.replicas[lane.key]].upper)
    gone, is_full = program.real(name, 0, most), program.integer(f"{name} full", 0, 1)
    fullest = dict.fromkeys(variables.in_zone(lane, lane.zones[0]), -1.0)
    program.at_least(f"{name} zone", {gone: 1.0, is_full: top} | fullest, 0)
    program.at_least(f"{name} whole", {gone: 1.0, on: -float(most), is_full: -float(most)}, -float(most))
    return {gone: 1.0}


def _left(program: Program, name: str, variables: Variables, cell: Cell, lane: Lane, zone: str) -> dict[int, float]:
    """Return the terms of what a lane can use when a zone is lost: never less than nothing.

    The canaries may lie in the zone that is lost. In another one a replica is left for each of one canary; of more
    canaries a binary says whether anything is left.
    """
    gone = dict.fromkeys(variables.in_zone(lane, zone), -1.0)
    usable = _usable(variables, cell, lane)
    if gone and len(lane.zones) == 1:
        return {}
    if not gone or cell.canary < 2:
        return _sum([(usable, 1.0), (gone, 1.0)])
    top = float(program.columns[variables.replicas[lane.key]].upper)
    left, is_any = program.real(name, 0, top), program.integer(f"{name} any", 0, 1)
    program.at_most(
        f"{name} some",
        _sum([({left: 1.0, is_any: float(cell.canary)}, 1.0), (usable, -1.0), (gone, -1.0)]),
        cell.canary,
    )
    program.at_most(f"{name} none", {left: 1.0, is_any: -top}, 0)
    return {left: 1.0}


def _usable(variables: Variables, cell: Cell, lane: Lane) -> dict[int, float]:
    """Return the terms of a lane's replicas less its canaries."""
    return _sum([({variables.replicas[lane.key]: 1.0}, 1.0), ({variables.on[lane.key]: -float(cell.canary)}, 1.0)])


def _carried(
    program: Program, name: str, usable: Mapping[Lane, Mapping[int, float]], scale: float, stays: float
) -> dict[int, float]:
    """Return the terms of what lanes carry after a loss; time-sliced ones at most the demand that ``stays``."""
    terms = _sum((part, lane.goodput * scale) for lane, part in usable.items() if not lane.is_sliced)
    sliced = _sum((part, -lane.goodput * scale) for lane, part in usable.items() if lane.is_sliced)
    if sliced:
        kept = program.real(name, 0, max(0.0, float(stays)))
        program.at_most(name, {kept: 1.0} | sliced, 0)
        terms[kept] = 1.0
    return terms


def _sum(parts: Iterable[tuple[Mapping[int, float], float]]) -> dict[int, float]:
    """Return the sum of terms, each times its factor."""
    total: dict[int, float] = {}
    for terms, factor in parts:
        for column, value in terms.items():
            total[column] = total.get(column, 0.0) + value * factor
    return total


def _cells(arrays: Arrays, variables: Variables) -> Iterator[tuple[CellKey, Cell]]:
    return ((key, cell) for key, cell in arrays.cells.items() if key in variables.in_use)


def _text(key: Iterable[str]) -> str:
    return " ".join(key)
