"""Whole replicas for given needs under the regions' quotas.

First a programme over whole covers of each cell, all regions at once, columns made when they improve: its prices of
quota are exact, and at most as many cells as a region has quotas stay split. Then a small search per region over the
covers that are nearly as cheap at those prices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from outlast.planner.scale.cover_columns import CoverColumns
from outlast.planner.scale.covers import near_covers
from outlast.planner.scale.problem import Floats, Ints, ScaleProblem
from outlast.planner.scale.sparse import NOTHING, SparseProgram

ROUNDS = 12
NODES = 40
"""Search nodes of a region."""
GAP_RATIO = 1e-3
FEW, CHOICES = 4, 16
"""Covers of a cell in the search of its region: so many with small counts and so many around the split; more where
the few do not fit the quotas."""
FREE = 16
"""Cells of a region whose covers are searched first: those with a second cover nearly as cheap."""


@dataclass(frozen=True)
class Choices:
    """Covers that the cells of a region may take."""

    cost: Floats
    """Shape: cell, cover."""
    gpus: Floats
    """Shape: cell, cover, accelerator."""
    priced: Floats
    """Cost with the prices of quota; infinite for none. Shape: cell, cover."""

    def gpus_of(self, chosen: Ints) -> Floats:
        """Return the GPUs that chosen covers use. Shape: cell, accelerator."""
        return np.asarray(self.gpus[np.arange(len(chosen)), chosen])


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
    counts, priced = (np.concatenate(parts, axis=1) for parts in zip(*windows, strict=True))
    for region in range(problem.shape[1]):
        cells = np.flatnonzero(covers.region == region)
        pools = covers.pool[cells]
        choices = Choices(
            cost=(counts[cells] * problem.cost[region, pools][:, None, :]).sum(axis=2),
            gpus=counts[cells] * problem.replica_gpus[pools][:, None, :],
            priced=priced[cells],
        )
        chosen = _cover_region(choices, granted[region], price[region], problem.overflow_cost)
        replicas[region, pools] += counts[cells, chosen]
        progress((region + 1) / problem.shape[1])
    return np.asarray(np.rint(replicas), dtype=np.int64)


def _cover_region(choices: Choices, granted_gpus: Floats, price: Floats, overflow_cost: float) -> Ints:
    """Return which cover each cell of a region takes: the cheapest, but where a quota has a price what a search finds.

    The search leaves cells alone whose next cover is much dearer, and takes all cells only where that exceeds a quota.
    """
    chosen: Ints = choices.priced.argmin(axis=1)
    if not price.any():
        return chosen
    differs = (choices.gpus != choices.gpus_of(chosen)[:, None, :]).any(axis=2)
    margin = np.where(differs, choices.priced, np.inf).min(axis=1) - choices.priced.min(axis=1)
    free = np.sort(np.argsort(margin, kind="stable")[:FREE])
    for cells, covers in ((free, FEW), (np.arange(len(margin)), CHOICES)):
        left = granted_gpus - (choices.gpus_of(chosen).sum(axis=0) - choices.gpus_of(chosen)[cells].sum(axis=0))
        at = np.r_[:covers, CHOICES : CHOICES + covers]
        at = at[at < choices.cost.shape[1]]
        some = Choices(choices.cost[cells][:, at], choices.gpus[cells][:, at], choices.priced[cells][:, at])
        chosen[cells] = at[_choose(some, left, overflow_cost)]
        if (choices.gpus_of(chosen).sum(axis=0) <= granted_gpus).all():
            break
    return chosen


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


def _choose(choices: Choices, granted_gpus: Floats, overflow_cost: float) -> Ints:
    """Return which cover each cell takes, by a search."""
    accelerators = len(granted_gpus)
    program = SparseProgram(nodes=NODES, gap_ratio=GAP_RATIO)
    columns = np.full(choices.cost.shape, NOTHING)
    some = np.isfinite(choices.priced)
    columns[some] = program.add_columns(choices.cost[some], 1.0, whole=True)
    overflow = program.add_columns(np.full(accelerators, overflow_cost))
    ones = np.ones(len(columns))
    program.add_rows(ones, ones, columns, np.ones(columns.shape))
    program.add_rows(
        np.full(accelerators, -np.inf),
        granted_gpus,
        np.column_stack([np.tile(columns.reshape(-1), (accelerators, 1)), overflow]),
        np.column_stack([choices.gpus.reshape(-1, accelerators).T, np.full(accelerators, -1.0)]),
    )
    return np.asarray(np.where(some, program.search().values[columns], -1.0).argmax(axis=1))
