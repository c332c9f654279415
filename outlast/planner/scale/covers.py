"""Whole replicas that cover what one cell needs, for many cells at once.

The accelerator with the cheapest capacity fills what small counts of the others leave; all small counts are tried. What
lies outside that window costs at least a bound that is returned with the answer.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from outlast.planner.scale.problem import TOLERANCE, Floats, Ints

MOST_COMBINATIONS = 200
"""Small counts tried for a cell, at most."""
WIDEST = 16
AROUND = 2
"""Replicas below and above a centre that are tried."""
FORBIDDEN = 1e15
"""Price of a replica that the cell cannot hold."""


@dataclass(frozen=True)
class Needs:
    """What cells need and what their replicas serve."""

    need_tok_s: Floats
    """Shape: cell."""
    least: Floats
    """Fewest replicas. Shape: cell."""
    replica_tok_s: Floats
    """Capacity of a replica; 0 where the cell cannot hold it. Shape: cell, accelerator."""


@dataclass(frozen=True)
class Cover:
    """The cheapest cover found of each cell."""

    counts: Floats
    """Shape: cell, accelerator."""
    cost: Floats
    """Shape: cell."""
    bound: Floats
    """No cover of the cell costs less. Shape: cell."""


def cheapest_covers(needs: Needs, cost: Floats) -> Cover:
    """Return the cheapest cover of each cell at prices >= 0. Shape of cost: cell, accelerator."""
    sorted_needs, sorted_cost, order = _by_rate(needs, cost)
    others = small_counts(cost.shape[1] - 1)
    fill = _fill(sorted_needs, sorted_needs.replica_tok_s[:, 1:] @ others.T, others.sum(axis=1))
    total = fill * sorted_cost[:, :1] + sorted_cost[:, 1:] @ others.T
    best = total.argmin(axis=1)
    cells = np.arange(len(best))
    counts = np.zeros(cost.shape)
    np.put_along_axis(counts, order, np.column_stack([fill[cells, best], others[best]]), axis=1)
    found = total[cells, best]
    return Cover(counts, found, np.minimum(found, _beyond(sorted_needs, sorted_cost)))


def near_covers(needs: Needs, cost: Floats, centre: Floats | None = None) -> tuple[Floats, Floats]:
    """Return covers whose counts beside the cheapest accelerator are small, or lie around ``centre``, and their cost.

    Shapes: cell, accelerator -> cell, cover, accelerator, and cell, cover.
    """
    sorted_needs, sorted_cost, order = _by_rate(needs, cost)
    small = small_counts(cost.shape[1] - 1)
    others = np.broadcast_to(small, (len(cost), *small.shape))
    if centre is not None:
        middle = np.floor(np.take_along_axis(centre, order, axis=1))[:, None, 1:]
        others = np.maximum(middle - AROUND + small[(small <= 2 * AROUND).all(axis=1)], 0)
    others = others * (np.take_along_axis(needs.replica_tok_s, order, axis=1)[:, None, 1:] > 0)
    served = (others * sorted_needs.replica_tok_s[:, None, 1:]).sum(axis=2)
    fill = _fill(sorted_needs, served, others.sum(axis=2))
    placed = np.concatenate([fill[:, :, None], others], axis=2)
    counts = np.zeros(placed.shape)
    np.put_along_axis(counts, np.broadcast_to(order[:, None, :], placed.shape), placed, axis=2)
    return counts, (placed * sorted_cost[:, None, :]).sum(axis=2)


@cache
def small_counts(accelerators: int) -> Floats:
    """Return all counts of some accelerators whose sum is small. Shape: combination, accelerator."""
    widest = next(
        most for most in range(WIDEST, 0, -1) if math.comb(most + accelerators, accelerators) <= MOST_COMBINATIONS
    )
    chosen = itertools.chain.from_iterable(
        itertools.combinations_with_replacement(range(accelerators), size) for size in range(widest + 1)
    )
    combinations = [[members.count(index) for index in range(accelerators)] for members in chosen]
    return np.array(combinations, dtype=float).reshape(len(combinations), accelerators)


def _by_rate(needs: Needs, cost: Floats) -> tuple[Needs, Floats, Ints]:
    """Sort accelerators by price of capacity; give those that the cell cannot hold a price nobody pays."""
    able = needs.replica_tok_s > 0
    rate = np.where(able, cost / np.where(able, needs.replica_tok_s, 1.0), np.inf)
    order = np.argsort(rate, axis=1, kind="stable")
    capacity = np.take_along_axis(needs.replica_tok_s, order, axis=1)
    price = np.take_along_axis(np.where(able, cost, FORBIDDEN), order, axis=1)
    return Needs(needs.need_tok_s, needs.least, capacity), price, order


def _fill(needs: Needs, served_tok_s: Floats, others: Floats) -> Floats:
    """Return replicas of the first accelerator beside others, by what these serve and how many they are.

    Shape: cell, combination.
    """
    unit = np.where(needs.replica_tok_s[:, :1] > 0, needs.replica_tok_s[:, :1], 1.0)
    fill = np.ceil((needs.need_tok_s[:, None] - served_tok_s) / unit - TOLERANCE)
    return np.asarray(np.maximum(np.maximum(fill, 0.0), needs.least[:, None] - others))


def _beyond(needs: Needs, cost: Floats) -> Floats:
    """Return the least that a cover costs with more of the other accelerators than were tried."""
    if cost.shape[1] == 1:
        return np.full(len(cost), np.inf)
    able = needs.replica_tok_s > 0
    rate = cost / np.where(able, needs.replica_tok_s, 1.0)
    dearer = np.where(able, needs.replica_tok_s * (rate - rate[:, :1]), np.inf)[:, 1:].min(axis=1)
    widest = small_counts(cost.shape[1] - 1).max(initial=0.0)
    return np.asarray(needs.need_tok_s * rate[:, 0] + (widest + 1) * dearer)
