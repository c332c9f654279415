"""Variables of the plan.

replicas[r,p]      planned replicas of pool p in region r
in_use[r,p]        whether the pool is in use there; 1 where demand is at home
whole[r,p]         replicas that every zone has
extra[r,p,i]       whether the i-th zone in the cell's order has one more
share[c,l,r]       per cent of class c that goes to r when l is lost
nodes[r,n,z]       nodes of node pool n in zone z
overflow[r,q]      quota or reservation beyond what is held; 0 but in the search for the smallest shortage
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from outlast.planner.arrays import Arrays, CellKey, Move
from outlast.planner.needs import Shares, most_replicas
from outlast.planner.program import INFINITY, Program

ShareKey: TypeAlias = tuple[str, str, str]
"""(class, lost region, survivor)."""
RowKey: TypeAlias = tuple[str, str, str]
"""(region, node pool, zone)."""
HoldingKey: TypeAlias = tuple[str, str]
"""(region, quota code or reservation id)."""


@dataclass(frozen=True)
class Variables:
    """Column of each variable."""

    replicas: Mapping[CellKey, int]
    in_use: Mapping[CellKey, int]
    whole: Mapping[CellKey, int]
    extra: Mapping[CellKey, tuple[int, ...]]
    share: Mapping[ShareKey, int]
    nodes: Mapping[RowKey, int]
    overflow: Mapping[HoldingKey, int]

    def in_zone(self, arrays: Arrays, key: CellKey, zone: str) -> dict[int, float]:
        """Return the terms whose sum is the replicas of a cell in a zone."""
        position = arrays.cells[key].zones.index(zone)
        return dict.fromkeys((self.whole[key], *self.extra[key][position : position + 1]), 1.0)


def define_variables(program: Program, arrays: Arrays) -> Variables:
    """Add all columns, each with the tightest bounds that follow from one cell alone."""
    tops = {key: most_replicas(arrays, key) for key in arrays.cells}
    rows: dict[RowKey, int] = {}
    holdings: dict[HoldingKey, None] = {}
    for key, cell in arrays.cells.items():
        for zone in cell.zones:
            row = (cell.region, cell.node_pool, zone)
            rows[row] = rows.get(row, 0) + tops[key] // len(cell.zones) + 1
        holdings |= dict.fromkeys((cell.region, held) for held in holdings_of(arrays, cell.region, cell.node_pool))
    return Variables(
        replicas={key: program.integer(f"replicas {_text(key)}", 0, top) for key, top in tops.items()},
        in_use={
            key: program.integer(f"in_use {_text(key)}", int(cell.is_home), 1) for key, cell in arrays.cells.items()
        },
        whole={
            key: program.integer(f"whole {_text(key)}", 0, tops[key] // len(cell.zones))
            for key, cell in arrays.cells.items()
        },
        extra={
            key: tuple(program.integer(f"extra {_text(key)} {i}", 0, 1) for i in range(len(cell.zones) - 1))
            for key, cell in arrays.cells.items()
        },
        share={
            (move.residency, move.lost, survivor): program.integer(
                f"share {move.residency} {move.lost} {survivor}", *_share_bounds(arrays, move, survivor)
            )
            for move in arrays.moves
            for survivor in move.survivors
        },
        nodes={row: program.integer(f"nodes {_text(row)}", 0, most) for row, most in rows.items()},
        overflow={held: program.real(f"overflow {_text(held)}", 0, 0) for held in holdings},
    )


def holdings_of(arrays: Arrays, region: str, node_pool: str) -> tuple[str, ...]:
    """Return the quotas and the reservation that nodes of a node pool count against."""
    row = arrays.intent.regions[region]
    pool = row.node_pools[node_pool]
    quotas = arrays.intent.facts.quotas_for(row.cloud, pool.machine_type, pool.capacity)
    return (*(quota.quota_code for quota in quotas), *([pool.reservation] if pool.reservation else []))


def to_counts(variables: Variables, values: Sequence[float]) -> tuple[dict[CellKey, int], Shares]:
    """Return replicas of every cell, and shares without zeros, from the columns' values."""
    shares: dict[str, dict[str, dict[str, int]]] = {}
    for (residency, lost, survivor), column in variables.share.items():
        row = shares.setdefault(residency, {}).setdefault(lost, {})
        if share := int(values[column]):
            row[survivor] = share
    return {key: int(values[column]) for key, column in variables.replicas.items()}, shares


def allow_overflow(program: Program, variables: Variables) -> None:
    """Let every quota and reservation be exceeded, to find by how much one must be."""
    for column in variables.overflow.values():
        program.bound(column, 0, INFINITY)


def even_shares(survivors: tuple[str, ...]) -> dict[str, int]:
    """Return equal whole shares that sum to 100; the first survivors take what is left over."""
    each, left = divmod(100, len(survivors))
    return {survivor: each + (position < left) for position, survivor in enumerate(survivors)}


def _share_bounds(arrays: Arrays, move: Move, survivor: str) -> tuple[int, int]:
    if arrays.intent.fleet.router == "even" or len(move.survivors) == 1:
        share = even_shares(move.survivors)[survivor]
        return share, share
    return 0, 100


def _text(key: tuple[str, ...]) -> str:
    return " ".join(key)
