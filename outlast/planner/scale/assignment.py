"""Whole replicas for given needs under the regions' quotas.

First a programme over whole covers of each cell, all regions at once, columns made when they improve: its prices of
quota are exact, and at most as many cells as a region has quotas stay split. Then a small search per region over the
covers that are nearly as cheap at those prices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from outlast.planner.scale.cover_columns import CoverColumns
from outlast.planner.scale.covers import near_covers
from outlast.planner.scale.problem import Floats, Ints, ScaleProblem
from outlast.planner.scale.sparse import NOTHING, SparseProgram

ROUNDS = 12
NODES = 100
"""Search nodes of a region."""
GAP_RATIO = 1e-3
FEW, CHOICES = 4, 16
"""Covers of a cell in the search of its region: so many with small counts and so many around the split; more where
the few do not fit the quotas."""


def assign(problem: ScaleProblem, need_tok_s: Floats, progress: Callable[[float], None]) -> Ints:
    """Return counts that cover needs, canaries included; beyond quota only where nothing else serves.

    Shapes: region, pool -> region, pool, accelerator.
    """
    replicas = problem.canaries * (need_tok_s > 0)[:, :, None]
    granted = problem.quota_gpus - (replicas * problem.replica_gpus).sum(axis=1)
    covers, price, split = _prices(problem, need_tok_s, granted)
    at = (covers.region, covers.pool)
    cost = problem.cost[at] + price[covers.region] * problem.replica_gpus[covers.pool]
    windows = [_cheapest(*near_covers(covers.needs, cost)), _cheapest(*near_covers(covers.needs, cost, split[at]))]
    for region in range(problem.shape[1]):
        cells = np.flatnonzero(covers.region == region)
        some = [(counts[cells, :FEW], priced[cells, :FEW]) for counts, priced in windows]
        chosen = _cover_region(problem, region, covers.pool[cells], some, price[region], granted[region])
        if _overflows(problem, covers.pool[cells], chosen, granted[region]):
            all_of_them = [(counts[cells], priced[cells]) for counts, priced in windows]
            chosen = _cover_region(problem, region, covers.pool[cells], all_of_them, price[region], granted[region])
        replicas[region, covers.pool[cells]] += chosen
        progress((region + 1) / problem.shape[1])
    return np.asarray(np.rint(replicas), dtype=np.int64)


def _cover_region(
    problem: ScaleProblem,
    region: int,
    pools: Ints,
    windows: Sequence[tuple[Floats, Floats]],
    price: Floats,
    granted_gpus: Floats,
) -> Floats:
    """Return counts of a region's cells; a search only where a quota has a price. Shape: cell, accelerator."""
    counts, priced = (np.concatenate(parts, axis=1) for parts in zip(*windows, strict=True))
    chosen = priced.argmin(axis=1)
    if price.any():
        used = counts * problem.replica_gpus[pools][:, None, :]
        cost = (counts * problem.cost[region, pools][:, None, :]).sum(axis=2)
        chosen = _choose(np.where(np.isfinite(priced), cost, np.inf), used, granted_gpus, problem.overflow_cost)
    return np.asarray(counts[np.arange(len(pools)), chosen])


def _overflows(problem: ScaleProblem, pools: Ints, counts: Floats, granted_gpus: Floats) -> bool:
    return bool(((counts * problem.replica_gpus[pools]).sum(axis=0) > granted_gpus).any())


def _prices(problem: ScaleProblem, need_tok_s: Floats, granted_gpus: Floats) -> tuple[CoverColumns, Floats, Floats]:
    """Return covers, prices of quota by region and accelerator, and split counts by region, pool, accelerator."""
    program = SparseProgram()
    regions, accelerators = granted_gpus.shape
    overflow = program.add_columns(np.full(granted_gpus.size, problem.overflow_cost))
    rows = program.add_rows(
        np.full(granted_gpus.size, -np.inf),
        granted_gpus.reshape(-1),
        overflow[:, None],
        np.full((len(overflow), 1), -1.0),
    ).reshape(regions, accelerators)
    covers = CoverColumns(problem, program, need_tok_s, rows)
    price = np.zeros(granted_gpus.shape)
    covers.add(np.arange(len(covers.cells)), covers.cheapest(price).counts)
    answer = program.solve()
    for _ in range(ROUNDS):
        price = np.maximum(-answer.duals[rows], 0.0)
        added, _ = covers.improve(answer, price)
        if not added:
            break
        answer = program.solve()
    return covers, price, covers.replicas(answer.values)


def _cheapest(counts: Floats, priced: Floats) -> tuple[Floats, Floats]:
    """Return the cheapest covers of each cell, cheapest first, repeats at a price nobody pays."""
    key = counts @ (1e4 ** np.arange(counts.shape[2]))
    order = np.lexsort((key, np.round(priced, 9)), axis=1)
    key, priced = np.take_along_axis(key, order, axis=1), np.take_along_axis(priced, order, axis=1)
    priced[:, 1:][key[:, 1:] == key[:, :-1]] = np.inf
    best = np.argsort(priced, axis=1, kind="stable")[:, :CHOICES]
    chosen = np.take_along_axis(order, best, axis=1)
    return np.take_along_axis(counts, chosen[:, :, None], axis=1), np.take_along_axis(priced, best, axis=1)


def _choose(cost: Floats, used_gpus: Floats, granted_gpus: Floats, overflow_cost: float) -> Ints:
    """Return which cover each cell of a region takes, of those at a price.

    Shapes: cell, cover; used GPUs also by accelerator -> cell.
    """
    accelerators = len(granted_gpus)
    program = SparseProgram(nodes=NODES, gap_ratio=GAP_RATIO)
    priced = np.isfinite(cost)
    columns = np.full(cost.shape, NOTHING)
    columns[priced] = program.add_columns(cost[priced], 1.0, whole=True)
    overflow = program.add_columns(np.full(accelerators, overflow_cost))
    ones = np.ones(len(cost))
    program.add_rows(ones, ones, columns, np.ones(columns.shape))
    program.add_rows(
        np.full(accelerators, -np.inf),
        granted_gpus,
        np.column_stack([np.tile(columns.reshape(-1), (accelerators, 1)), overflow]),
        np.column_stack([used_gpus.reshape(-1, accelerators).T, np.full(accelerators, -1.0)]),
    )
    return np.asarray(np.where(priced, program.search().values[columns], -1.0).argmax(axis=1))
