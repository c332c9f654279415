"""Survival arithmetic of one pool in one region, in the open: used for own floors, to check an answer, to name cases.

With n usable replicas (canaries excluded) of N planned, q of them in the lost zone:

    none      n u_normal              ≥  base
    replica   (n − 1) u_normal        ≥  base
    zone      (N − q − k) u_failure   ≥  base (1 + (surge − 1) q / N)
    region    n u_failure             ≥  base + surge × sum over classes of demand × share / 100
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from outlast.planner.arrays import MINIMUM, Arrays, CellKey, Floats

TOLERANCE = 1e-9
"""Relative slack in comparisons, for the rounding of floating-point sums only."""
Shares: TypeAlias = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Class -> lost region -> survivor -> per cent."""


@dataclass(frozen=True)
class Case:
    """The hour of a loss in which a cell has the least slack."""

    lost: str
    """``none``, ``replica``, ``zone``, or the region lost."""
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


def cases_of(arrays: Arrays, key: CellKey, zones: Mapping[str, int], shares: Shares) -> Iterator[Case]:
    """Yield the worst hour of every loss, in the fixed order: none, replica, zones, regions in file order.

    Args:
        arrays: the fleet's needs.
        key: the cell.
        zones: zone -> replicas there.
        shares: where lost regions go.
    """
    cell, planned = arrays.cells[key], sum(zones.values())
    usable = planned - arrays.canary
    yield _worst("none", arrays.base(key, "none"), usable * cell.normal_tok_s)
    if arrays.losses.replica:
        yield _worst("replica", arrays.base(key, "replica"), (usable - 1) * cell.normal_tok_s)
    base = arrays.base(key, "zone")
    if arrays.losses.zone and base.any():
        for gone in zones.values():
            need = base * (1 + (arrays.surge - 1) * gone / planned)
            yield _worst("zone", need, (usable - gone) * cell.failure_tok_s)
    for lost in arrays.lost_regions:
        moved = arrays.moved(key, lost)
        parts = {residency: shares.get(residency, {}).get(lost, {}).get(cell.region, 0) for residency in moved}
        if lost != cell.region and any(parts.values()):
            need = arrays.base(key, "region") + arrays.surge * sum(
                (moved[residency] * (part / 100) for residency, part in parts.items()), start=np.zeros(1)
            )
            yield _worst(lost, need, usable * cell.failure_tok_s)


def binding_case(arrays: Arrays, key: CellKey, zones: Mapping[str, int], shares: Shares) -> Case:
    """Return the case with the least slack in parts of its need; the first in the fixed order among equals."""
    tightest: Case | None = None
    for case in cases_of(arrays, key, zones, shares):
        if tightest is None or case.slack < tightest.slack - TOLERANCE:
            tightest = case
    if tightest is None:
        raise AssertionError(key)
    return tightest


def _worst(lost: str, need: Floats, have: float) -> Case:
    hour = int(np.argmax(need >= need.max() * (1 - TOLERANCE)))
    return Case(lost, hour, float(need[hour]), have)


def most_replicas(arrays: Arrays, key: CellKey) -> int:
    """Return a count that holds every case even if the cell takes all that may move into it.

    Solving each line of the module's table for N, with q ≤ N / Z + 1, and one turn of the zones to spare.
    """
    cell, zones = arrays.cells[key], len(arrays.cells[key].zones)
    lost = [
        float((arrays.base(key, "region") + arrays.surge * sum(moved.values(), start=np.zeros(1))).max())
        for region in arrays.lost_regions
        if region != cell.region and (moved := arrays.moved(key, region))
    ]
    counts = [
        MINIMUM,
        arrays.base(key, "none").max() / cell.normal_tok_s + 1,
        max(lost, default=0.0) / cell.failure_tok_s,
    ]
    most: int = math.ceil(max(counts)) + arrays.canary
    if zones > 1:
        alone = arrays.base(key, "zone").max() * arrays.surge / cell.failure_tok_s
        most = max(most, math.ceil((alone + 1 + arrays.canary) * zones / (zones - 1)))
    return most + zones


def counts_alone(arrays: Arrays, key: CellKey) -> NDArray[np.bool_]:
    """Return for each count whether it holds the losses that do not depend on shares.

    Not every count above the smallest good one is good: with one replica more, the fullest zone may hold a larger part.

    Shape: replicas, 0 to `most_replicas`.
    """
    cell = arrays.cells[key]
    planned = np.arange(most_replicas(arrays, key) + 1)
    usable = planned - arrays.canary
    good = usable >= MINIMUM
    good &= _enough(usable * cell.normal_tok_s, arrays.base(key, "none").max())
    if arrays.losses.replica:
        good &= _enough((usable - 1) * cell.normal_tok_s, arrays.base(key, "replica").max())
    base = float(arrays.base(key, "zone").max())
    if arrays.losses.zone and base:
        gone = -(-planned // len(cell.zones))
        need = base * (1 + (arrays.surge - 1) * gone / np.maximum(planned, 1))
        good &= _enough((usable - gone) * cell.failure_tok_s, need)
    return good


def _enough(have: NDArray[np.floating], need: NDArray[np.floating] | float) -> NDArray[np.bool_]:
    return np.asarray(have >= need - TOLERANCE * np.maximum(1.0, need))


def broken_cases(arrays: Arrays, replicas: Mapping[CellKey, int], shares: Shares) -> list[tuple[CellKey, Case]]:
    """Return the cases that an answer does not hold, by plain arithmetic over all hours, none of them pruned."""
    return [
        (key, case)
        for key, count in replicas.items()
        if count
        for case in cases_of(arrays, key, arrays.cells[key].places(count), shares)
        if not case.holds
    ]
