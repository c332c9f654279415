"""Survival arithmetic of one cell, in the open: used for own floors, to check an answer, to name cases.

With n usable replicas (canaries excluded) of N planned, q of them in the lost zone, m on one node, summed over lanes
with u = goodput × occupancy:

    none      sum n u_normal                  ≥  base
    replica   sum n u_normal − largest u      ≥  base            packed: − largest m u, a node
    zone      sum (n − q) u_failure           ≥  base (1 + (surge − 1) × part of the capacity that is lost)
    region    sum n u_failure                 ≥  base + surge × (sum over classes of demand × share / 100 − hosted)

In the last two, time-sliced lanes carry at most the demand that stays. ``hosted`` is what a hosted route takes of the
moved demand of its classes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from outlast.planner.arrays import Arrays, Cell, CellKey, Floats, Lane, LaneKey

TOLERANCE = 1e-9
"""Relative slack in comparisons, for the rounding of floating-point sums only."""
Shares: TypeAlias = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Class -> lost region -> survivor -> per cent."""
Placed: TypeAlias = Mapping[LaneKey, Mapping[str, int]]
"""Lane -> zone -> replicas."""


@dataclass(frozen=True)
class Case:
    """The hour of a loss in which a cell has the least slack."""

    lost: str
    """``none``, ``replica``, ``node``, ``zone``, or the region lost."""
    hour: int
    need_tok_s: float
    have_tok_s: float

    @property
    def slack(self) -> float:
        """Return what is left over, in parts of the need."""
        return (self.have_tok_s - self.need_tok_s) / max(1.0, self.need_tok_s)

    @property
    def holds(self) -> bool:
        """Whether the loss is survived."""
        return self.slack >= -TOLERANCE


def placed_of(cell: Cell, replicas: Mapping[LaneKey, int]) -> dict[LaneKey, dict[str, int]]:
    """Return where the replicas of a cell's lanes lie."""
    return {lane.key: lane.places(replicas[lane.key]) for lane in cell.lanes if replicas.get(lane.key)}


def cases_of(arrays: Arrays, key: CellKey, placed: Placed, shares: Shares) -> Iterator[Case]:
    """Yield the worst hour of every loss, in the fixed order: none, replica, zones, regions in file order.

    Args:
        arrays: the fleet's needs.
        key: the cell.
        placed: replicas of its lanes by zone.
        shares: where lost regions go.
    """
    serving = {lane: sum(zones.values()) for lane, zones in placed.items()}
    for lost, need, have in hours_of(arrays, key, placed, serving, shares):
        yield _worst(lost, need, have)


def hours_of(
    arrays: Arrays, key: CellKey, placed: Placed, serving: Mapping[LaneKey, int], shares: Shares
) -> Iterator[tuple[str, Floats, Floats | float]]:
    """Yield (loss, need, have) by hour, in the order of `cases_of`, of as many replicas as serve.

    Args:
        arrays: the fleet's needs.
        key: the cell.
        placed: planned replicas of its lanes by zone; those that serve lie in the same parts, rounded up where lost.
        serving: lane -> replicas that serve, canaries included.
        shares: where lost regions go.
    """
    cell = arrays.cells[key]
    lanes = {lane: placed[lane.key] for lane in cell.lanes if lane.key in placed}
    usable = {lane: max(0, serving[lane.key] - cell.canary) for lane in lanes}
    normal = sum(count * lane.goodput for lane, count in usable.items()) * arrays.normal
    yield "none", arrays.base(key, "none"), normal
    if arrays.is_survived(key, "replica"):
        lost = [lane.goodput * (_on_a_node(lane, zones) if cell.loses_nodes else 1) for lane, zones in lanes.items()]
        have = max(0.0, normal - max(lost, default=0.0) * arrays.normal)
        yield "node" if cell.loses_nodes else "replica", arrays.base(key, "replica"), have
    base = arrays.base(key, "zone")
    if arrays.is_survived(key, "zone") and base.any():
        for zone in cell.zones:
            part = lost_part(lanes, zone)
            left = {
                lane: max(0, usable[lane] - -(-serving[lane.key] * zones.get(zone, 0) // max(1, sum(zones.values()))))
                for lane, zones in lanes.items()
            }
            yield "zone", base * (1 + (arrays.surge - 1) * part), capacity_after(arrays, left, base * (1 - part))
    base = arrays.base(key, "region")
    after = capacity_after(arrays, usable, base)
    for gone in arrays.lost_regions:
        moved = moved_in(arrays, key, gone, shares) if gone != cell.region else None
        if moved is not None:
            yield gone, base + arrays.surge * moved, after


def lost_part(lanes: Mapping[Lane, Mapping[str, int]], zone: str) -> float:
    """Return the part of a cell's capacity that lies in a zone."""
    whole = sum(sum(zones.values()) * lane.goodput for lane, zones in lanes.items())
    gone = sum(zones.get(zone, 0) * lane.goodput for lane, zones in lanes.items())
    return gone / whole if whole else 1.0


def binding_case(arrays: Arrays, key: CellKey, placed: Placed, shares: Shares) -> Case:
    """Return the case with the least slack in parts of its need; the first in the fixed order among equals."""
    tightest: Case | None = None
    for case in cases_of(arrays, key, placed, shares):
        if tightest is None or case.slack < tightest.slack - TOLERANCE:
            tightest = case
    if tightest is None:
        raise AssertionError(key)
    return tightest


def broken_cases(arrays: Arrays, replicas: Mapping[LaneKey, int], shares: Shares) -> list[tuple[CellKey, Case]]:
    """Return the cases that an answer does not hold, by plain arithmetic over all hours, none of them pruned."""
    return [
        (key, case)
        for key, cell in arrays.cells.items()
        for case in cases_of(arrays, key, placed_of(cell, replicas), shares)
        if not case.holds
    ]


def capacity_after(arrays: Arrays, usable: Mapping[Lane, int], stays: Floats) -> Floats:
    """Return what is carried after a loss at each hour; time-sliced lanes carry at most the demand that ``stays``."""
    whole = sum(count * lane.goodput for lane, count in usable.items() if not lane.is_sliced)
    sliced = sum(count * lane.goodput for lane, count in usable.items() if lane.is_sliced)
    return np.asarray(arrays.failure * whole + np.minimum(arrays.failure * sliced, stays))


def moved_in(arrays: Arrays, key: CellKey, lost: str, shares: Shares) -> Floats | None:
    """Return the demand that moves into a cell by the hour, less what a hosted route takes; None if none is sent."""
    cell, moved = arrays.cells[key], arrays.moved(key, lost)
    parts = {residency: shares.get(residency, {}).get(lost, {}).get(cell.region, 0) for residency in moved}
    if not any(parts.values()):
        return None
    sent = {residency: moved[residency] * (part / 100) for residency, part in parts.items()}
    total: Floats = np.sum(list(sent.values()), axis=0)
    if cell.hosted is None:
        return total
    allowed = [hours for residency, hours in sent.items() if residency in cell.hosted.classes]
    taken: Floats = np.minimum(cell.hosted.tok_s, np.sum(allowed, axis=0) if allowed else 0.0)
    return np.asarray(total - taken)


def _on_a_node(lane: Lane, zones: Mapping[str, int]) -> int:
    return min(lane.node_replicas, max(zones.values(), default=0))


def _worst(lost: str, need: Floats, have: Floats | float) -> Case:
    have_hours = np.broadcast_to(np.asarray(have, dtype=np.float64), need.shape)
    slack = (have_hours - need) / np.maximum(1.0, need)
    hour = int(np.argmax(slack <= slack.min() + TOLERANCE))
    return Case(lost, hour, float(need[hour]), float(have_hours[hour]))


def most_replicas(arrays: Arrays, lane: Lane) -> int:
    """Return a count that holds every case even if the lane alone takes all that may move into its cell.

    Solving each line of the module's table for N, with q ≤ N / Z + 1, and one turn of the zones to spare.
    """
    key, zones = (lane.region, lane.pool), len(lane.zones)
    cell = arrays.cells[key]
    normal, failure = lane.goodput * arrays.normal, lane.goodput * arrays.failure
    lost = [
        float((arrays.base(key, "region") + arrays.surge * np.sum(list(moved.values()), axis=0)).max())
        for region in arrays.lost_regions
        if region != cell.region and (moved := arrays.moved(key, region))
    ]
    at_once = lane.node_replicas if cell.loses_nodes else 1
    counts = [
        cell.minimum,
        arrays.base(key, "none").max() / normal + at_once,
        max(lost, default=0.0) / failure,
    ]
    most: int = math.ceil(max(counts)) + cell.canary
    if zones > 1 and cell.minimum:
        alone = arrays.base(key, "zone").max() * arrays.surge / failure
        most = max(most, math.ceil((alone + 1 + cell.canary) * zones / (zones - 1)))
    return most + zones


def counts_alone(arrays: Arrays, lane: Lane) -> NDArray[np.bool_]:
    """Return for each count of a cell's only lane whether it holds the losses that do not depend on shares.

    Not every count above the smallest good one is good: with one replica more, the fullest zone may hold a larger part.

    Shape: replicas, 0 to `most_replicas`.
    """
    key = (lane.region, lane.pool)
    cell = arrays.cells[key]
    normal, failure = lane.goodput * arrays.normal, lane.goodput * arrays.failure
    planned = np.arange(most_replicas(arrays, lane) + 1)
    usable = planned - cell.canary
    fullest = -(-planned // len(lane.zones))
    good = usable >= cell.minimum
    good &= is_enough(usable * normal, arrays.base(key, "none").max())
    if arrays.is_survived(key, "replica"):
        at_once = np.minimum(lane.node_replicas, fullest) if cell.loses_nodes else 1
        good &= is_enough(np.maximum(0, usable - at_once) * normal, arrays.base(key, "replica").max())
    base = float(arrays.base(key, "zone").max())
    if arrays.is_survived(key, "zone") and base:
        part = fullest / np.maximum(planned, 1)
        have = (usable - fullest) * failure
        if lane.is_sliced:
            have = np.minimum(have, base * (1 - part))
        good &= is_enough(have, base * (1 + (arrays.surge - 1) * part))
    return good


def is_enough(have: NDArray[np.floating] | float, need: NDArray[np.floating] | float) -> NDArray[np.bool_]:
    """Return where capacity covers a need, but for rounding."""
    return np.asarray(have >= need - TOLERANCE * np.maximum(1.0, need))
