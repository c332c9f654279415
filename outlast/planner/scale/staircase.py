"""The price of a cell as a function of what it needs: steps, because replicas are whole.

Made once for all cells at fixed prices of quota, then looked up many times.
"""

from __future__ import annotations

import numpy as np

from outlast.planner.scale.covers import FORBIDDEN, small_counts
from outlast.planner.scale.problem import TOLERANCE, Floats, Ints, ScaleProblem

FILLS = 16
"""Replicas of the cheapest accelerator above the own need for which steps are made."""
SMALL = 6
"""Most replicas of the other accelerators in a step."""

LEAN = 1e-2
"""Part of the price of fractions that is added, so that a search across a step sees which side falls."""


class Staircase:
    """Cheapest price of every cell for every need."""

    def __init__(self, problem: ScaleProblem, quota_price: Floats) -> None:
        """Make the steps at prices of quota. Shape: region, accelerator."""
        regions, pools, accelerators = problem.usable.shape
        cells = regions * pools
        cost = (problem.cost + quota_price[:, None, :] * problem.replica_gpus).reshape(cells, accelerators)
        served = np.where(problem.usable, problem.replica_tok_s, 0.0).reshape(cells, accelerators)
        self._fixed = (problem.canaries.reshape(cells, accelerators) * np.where(served > 0, cost, 0.0)).sum(axis=1)
        rate = np.where(served > 0, cost / np.where(served > 0, served, 1.0), np.inf)
        order = np.argsort(rate, axis=1, kind="stable")
        served = np.take_along_axis(served, order, axis=1)
        cost = np.where(served > 0, np.take_along_axis(cost, order, axis=1), FORBIDDEN)
        self._rate = np.where(served[:, 0] > 0, cost[:, 0] / np.where(served[:, 0] > 0, served[:, 0], 1.0), FORBIDDEN)
        capacity, price = _steps(problem, served, cost)
        self._index(capacity, price)

    def _index(self, capacity: Floats, price: Floats) -> None:
        """Keep the steps that are cheapest for some need, of all cells in one sorted array."""
        order = np.argsort(capacity, axis=1, kind="stable")
        capacity = np.take_along_axis(capacity, order, axis=1)
        price = np.take_along_axis(price, order, axis=1)
        cheapest = np.minimum.accumulate(price[:, ::-1], axis=1)[:, ::-1]
        last = np.ones(price.shape, dtype=bool)
        last[:, :-1] = cheapest[:, 1:] > cheapest[:, :-1]
        self._top = np.maximum(capacity[:, -1], TOLERANCE)
        self._end = np.cumsum(last.sum(axis=1))
        cell = np.nonzero(last)[0]
        self._key = 2.0 * cell + capacity[last] / self._top[cell]
        self._capacity, self._price = capacity[last], cheapest[last]

    def price(self, cell: Ints, need_tok_s: Floats) -> Floats:
        """Return prices of cells, numbered by region and pool, canaries included; 0 where nothing is needed.

        A small part of the price of fractions is added. Beyond the last step the price goes on at the rate of the
        cheapest accelerator.
        """
        at = np.searchsorted(self._key, 2.0 * cell + np.minimum(need_tok_s / self._top[cell], 1.5) - TOLERANCE)
        at = np.minimum(at, self._end[cell] - 1)
        beyond = np.maximum(need_tok_s - self._capacity[at], 0.0) * self._rate[cell]
        lean = LEAN * need_tok_s * self._rate[cell]
        in_use = need_tok_s > TOLERANCE * self._top[cell]
        return np.where(in_use, self._price[at] + beyond + self._fixed[cell] + lean, 0.0)


def _steps(problem: ScaleProblem, served: Floats, cost: Floats) -> tuple[Floats, Floats]:
    """Return capacity and price of many covers of each cell's own need. Shape: cell, cover."""
    others = small_counts(served.shape[1] - 1)
    others = others[others.sum(axis=1) <= SMALL]
    by_others = others @ served[:, 1:].T
    unit = np.where(served[:, 0] > 0, served[:, 0], 1.0)[:, None]
    own, least = problem.alone_tok_s.reshape(-1, 1), problem.least_usable.reshape(-1, 1)
    first = np.ceil(np.maximum(own - by_others.T, 0.0) / unit - TOLERANCE)
    first = np.maximum(first, least - others.sum(axis=1))
    fill = first[:, :, None] + np.arange(FILLS)
    capacity = fill * served[:, :1, None] + by_others.T[:, :, None]
    price = fill * cost[:, :1, None] + (cost[:, 1:] @ others.T)[:, :, None]
    capacity = np.where(price < FORBIDDEN, capacity, 0.0)
    return capacity.reshape(len(served), -1), price.reshape(len(served), -1)
