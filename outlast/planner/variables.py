"""Variables of the plan.

replicas[r,p,g]    planned replicas of pool p on accelerator g in region r
in_use[r,p]        whether the pool is in use there; 1 where demand is at home
on[r,p,g]          whether it is in use on g; the same as in_use where there is one accelerator
whole[r,p,g]       replicas that every zone has
extra[r,p,g,i]     whether the i-th zone in the lane's order has one more
split[r,p,g,n,z]   replicas on node pool n in zone z, where the zone has several node pools for the lane
share[c,l,r]       per cent of class c that goes to r when l is lost
nodes[r,n,z]       nodes of node pool n in zone z
overflow[r,q]      quota or reservation beyond what is held; 0 but in the search for the smallest shortage
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from outlast.planner.arrays import Arrays, CellKey, Lane, LaneKey, Move
from outlast.planner.needs import Shares, most_replicas
from outlast.planner.program import INFINITY, Program

ShareKey: TypeAlias = tuple[str, str, str]
"""(class, lost region, survivor)."""
RowKey: TypeAlias = tuple[str, str, str]
"""(region, node pool, zone)."""
HoldingKey: TypeAlias = tuple[str, str]
"""(region, quota code or reservation id)."""
SplitKey: TypeAlias = tuple[LaneKey, str, str]
"""(lane, node pool, zone)."""


@dataclass(frozen=True)
class Variables:
    """Column of each variable."""

    replicas: Mapping[LaneKey, int]
    in_use: Mapping[CellKey, int]
    on: Mapping[LaneKey, int]
    whole: Mapping[LaneKey, int]
    extra: Mapping[LaneKey, tuple[int, ...]]
    split: Mapping[SplitKey, int]
    share: Mapping[ShareKey, int]
    nodes: Mapping[RowKey, int]
    overflow: Mapping[HoldingKey, int]

    def in_zone(self, lane: Lane, zone: str) -> dict[int, float]:
        """Return the terms whose sum is the replicas of a lane in a zone."""
        if zone not in lane.zones:
            return {}
        position = lane.zones.index(zone)
        return dict.fromkeys((self.whole[lane.key], *self.extra[lane.key][position : position + 1]), 1.0)

    def on_row(self, lane: Lane, node_pool: str, zone: str) -> dict[int, float]:
        """Return the terms whose sum is the replicas of a lane on a node pool in a zone."""
        column = self.split.get((lane.key, node_pool, zone))
        return {column: 1.0} if column is not None else self.in_zone(lane, zone)


def define_variables(program: Program, arrays: Arrays, regions: Iterable[str], shares: Shares | None) -> Variables:
    """Add all columns of some regions, each with the tightest bounds that follow from one lane alone.

    With ``shares`` given, share columns are fixed to them.
    """
    chosen = frozenset(regions)
    cells = {key: cell for key, cell in arrays.cells.items() if cell.region in chosen}
    lanes = {lane.key: lane for cell in cells.values() for lane in cell.lanes}
    tops = {key: most_replicas(arrays, lane) for key, lane in lanes.items()}
    rows, holdings = _rows_and_holdings(arrays, lanes, tops)
    holdings += [(owner, code) for owner, code, _ in caps_of(arrays, rows)]
    in_use = {key: program.integer(f"in_use {_text(key)}", int(cell.is_home), 1) for key, cell in cells.items()}
    return Variables(
        replicas={key: program.integer(f"replicas {_text(key)}", 0, top) for key, top in tops.items()},
        in_use=in_use,
        on={
            lane.key: in_use[key] if len(cell.lanes) == 1 else program.integer(f"on {_text(lane.key)}", 0, 1)
            for key, cell in cells.items()
            for lane in cell.lanes
        },
        whole={
            key: program.integer(f"whole {_text(key)}", 0, tops[key] // len(lane.zones)) for key, lane in lanes.items()
        },
        extra={
            key: tuple(program.integer(f"extra {_text(key)} {i}", 0, 1) for i in range(len(lane.zones) - 1))
            for key, lane in lanes.items()
        },
        split={
            (key, node_pool, zone): program.integer(f"split {_text(key)} {node_pool} {zone}", 0, tops[key])
            for key, lane in lanes.items()
            for zone, node_pools in lane.zone_pools.items()
            if len(node_pools) > 1
            for node_pool in node_pools
        },
        share={
            (move.residency, move.lost, survivor): program.integer(
                f"share {move.residency} {move.lost} {survivor}", *_share_bounds(arrays, move, survivor, shares)
            )
            for move in arrays.moves
            for survivor in move.survivors
            if survivor in chosen
        },
        nodes={row: program.integer(f"nodes {_text(row)}", 0, most) for row, most in rows.items()},
        overflow={held: program.real(f"overflow {_text(held)}", 0, 0) for held in holdings},
    )


def _rows_and_holdings(
    arrays: Arrays, lanes: Mapping[LaneKey, Lane], tops: Mapping[LaneKey, int]
) -> tuple[dict[RowKey, int], list[HoldingKey]]:
    """Return node pool rows with the most nodes each may have, and the holdings they count against."""
    rows: dict[RowKey, int] = {}
    holdings: dict[HoldingKey, None] = {}
    for key, lane in lanes.items():
        for zone, node_pools in lane.zone_pools.items():
            most = tops[key] // len(lane.zones) + 1
            for node_pool in node_pools:
                row = (lane.region, node_pool, zone)
                rows[row] = rows.get(row, 0) + most
        for node_pool in lane.node_pools:
            holdings |= dict.fromkeys((lane.region, held) for held in drawn_on(arrays, lane.region, node_pool))
    return rows, list(holdings)


def caps_of(arrays: Arrays, rows: Iterable[RowKey]) -> Iterator[tuple[str, str, Mapping[RowKey, float]]]:
    """Yield (region that stands for the account, cap, row -> its unit a node) of caps over all regions of an account.

    Only of accounts whose every region is among the rows; others are checked when the counts are known.
    """
    chosen = tuple(rows)
    regions = {region for region, _, _ in chosen}
    planned = {region for region, _ in arrays.cells}
    found: dict[tuple[str, str], dict[RowKey, float]] = {}
    for row in chosen:
        place = arrays.intent.regions[row[0]]
        if not planned.intersection(arrays.intent.regions_of_account(row[0])) <= regions:
            continue
        pool = place.node_pools[row[1]]
        machine = arrays.intent.facts.machine_types[place.cloud, pool.machine_type]
        for cap in arrays.intent.facts.caps_for(place.cloud, pool.machine_type, pool.capacity):
            holder = arrays.intent.cap_holder(row[0], cap.quota_code)
            found.setdefault((holder, cap.quota_code), {})[row] = cap.of_node(machine)
    for (owner, code), terms in found.items():
        yield owner, code, terms


def drawn_on(arrays: Arrays, region: str, node_pool: str) -> tuple[str, ...]:
    """Return the quotas and the reservation that nodes of a node pool count against."""
    row = arrays.intent.regions[region]
    pool = row.node_pools[node_pool]
    quotas = arrays.intent.facts.quotas_for(row.cloud, pool.machine_type, pool.capacity)
    return (*(quota.quota_code for quota in quotas), *([pool.reservation] if pool.reservation else []))


def to_replicas(variables: Variables, values: Sequence[float]) -> dict[LaneKey, int]:
    """Return the replicas of every lane from the columns' values."""
    return {key: int(values[column]) for key, column in variables.replicas.items()}


def to_shares(variables: Variables, values: Sequence[float]) -> Shares:
    """Return shares without zeros from the columns' values."""
    shares: dict[str, dict[str, dict[str, int]]] = {}
    for (residency, lost, survivor), column in variables.share.items():
        row = shares.setdefault(residency, {}).setdefault(lost, {})
        if share := int(values[column]):
            row[survivor] = share
    return shares


def to_split(variables: Variables, values: Sequence[float]) -> dict[SplitKey, int]:
    """Return how lanes divide over several node pools in a zone."""
    return {key: int(values[column]) for key, column in variables.split.items()}


def allow_overflow(program: Program, variables: Variables) -> None:
    """Let every quota and reservation be exceeded, to find by how much one must be."""
    for column in variables.overflow.values():
        program.bound(column, 0, INFINITY)


def even_shares(survivors: tuple[str, ...]) -> dict[str, int]:
    """Return equal whole shares that sum to 100; the first survivors take what is left over."""
    each, left = divmod(100, len(survivors))
    return {survivor: each + (position < left) for position, survivor in enumerate(survivors)}


def is_free(arrays: Arrays, move: Move) -> bool:
    """Whether a move's shares are for the plan to choose."""
    return arrays.intent.fleet.router != "even" and len(move.survivors) > 1


def _share_bounds(arrays: Arrays, move: Move, survivor: str, shares: Shares | None) -> tuple[int, int]:
    if shares is not None:
        share = shares.get(move.residency, {}).get(move.lost, {}).get(survivor, 0)
        return share, share
    if not is_free(arrays, move):
        share = even_shares(move.survivors)[survivor]
        return share, share
    return 0, 100


def _text(key: tuple[str, ...]) -> str:
    return " ".join(key)
