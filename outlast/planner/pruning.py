"""Drops hours that can never bind.

A row of region loss reads, at hour h, ``capacity ≥ base(h) + sum over k of w(k) × moved(k, h)`` with weights w ≥ 0.
Only hours on the upper-right hull of the points (moved, base) can be its maximum; with several moved classes the hours
that no other hour dominates in every component are kept, which is a superset.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from outlast.planner.arrays import Floats


def binding_hours(base: Floats, moved: list[Floats]) -> list[int]:
    """Return the hours that can bind, ascending; of equal hours the first.

    Args:
        base: own demand. Shape: hour.
        moved: demand that may move in, one array a class. Shape: hour.
    """
    points = np.column_stack([*moved, base])
    _, first = np.unique(points, axis=0, return_index=True)
    hours = np.sort(first)
    kept = _not_dominated(points[hours])
    hours = hours[kept]
    if len(moved) == 1:
        hours = hours[_on_hull(points[hours])]
    return sorted(int(hour) for hour in hours)


def _not_dominated(points: Floats) -> NDArray[np.bool_]:
    """Return which of different points no other one reaches or exceeds in every component."""
    at_least = (points[None, :, :] >= points[:, None, :]).all(axis=2)
    return np.asarray(at_least.sum(axis=1) == 1)


def _on_hull(points: Floats) -> list[int]:
    """Return the points of the upper-right hull, by Andrew's monotone chain, of points none of which is dominated."""
    hull: list[int] = []
    for index in np.argsort(points[:, 0]):
        while len(hull) > 1 and not _turns_right(points[hull[-2]], points[hull[-1]], points[index]):
            hull.pop()
        hull.append(int(index))
    return hull


def _turns_right(a: Floats, b: Floats, c: Floats) -> bool:
    return bool((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) < 0)
