"""Whole covers of cells as columns of a programme, made when they improve it.

Each cell takes a convex combination of its covers (Dantzig and Wolfe's decomposition, cell by cell), which is dearer
than fractions of replicas that serve the same, and so a better bound.
"""

from __future__ import annotations

import numpy as np

from outlast.planner.scale.covers import Cover, Needs, cheapest_covers
from outlast.planner.scale.problem import Floats, Ints, ScaleProblem
from outlast.planner.scale.sparse import NOTHING, Answer, SparseProgram

IMPROVES = 1e-7
"""Relative distance by which a column must improve to be added."""


class CoverColumns:
    """Whole covers of cells as columns, made when they improve; each cell takes one in all."""

    def __init__(
        self,
        problem: ScaleProblem,
        program: SparseProgram,
        need_tok_s: Floats,
        quota_rows: Ints,
        capacity_rows: Ints | None = None,
    ) -> None:
        """Take the cells that need something; no column yet.

        Shapes: need and capacity rows by region and pool, quota rows by region and accelerator.
        """
        self._problem, self._program, self._quota_rows = problem, program, quota_rows
        self._capacity_rows = capacity_rows
        self.cells = np.argwhere(need_tok_s > 0)
        self.region, self.pool = self.cells.T
        at = (self.region, self.pool)
        self.needs = Needs(
            need_tok_s[at],
            problem.least_usable[at],
            np.where(problem.usable[at], problem.replica_tok_s[self.pool], 0.0),
        )
        count, ones = len(self.cells), np.ones(len(self.cells))
        nothing = np.full((count, 1), NOTHING)
        self._once = program.add_rows(ones, ones, nothing, np.zeros((count, 1)))
        self._seen: set[tuple[float, ...]] = set()
        self.columns = np.zeros(0, dtype=np.int64)
        self.cell = np.zeros(0, dtype=np.int64)
        self.counts = np.zeros((0, problem.replica_tok_s.shape[1]))

    def add(self, cell: Ints, counts: Floats) -> int:
        """Add covers that are not there yet; return how many. Shapes: column, and column by accelerator."""
        keys = [(float(index), *row) for index, row in zip(cell, counts.tolist(), strict=True)]
        new = [position for position, key in enumerate(keys) if key not in self._seen]
        self._seen.update(keys[position] for position in new)
        cell, counts = cell[new], counts[new]
        region, pool = self.region[cell], self.pool[cell]
        rows = [self._once[cell][:, None], self._quota_rows[region]]
        values = [np.ones((len(cell), 1)), counts * self._problem.replica_gpus[pool]]
        if self._capacity_rows is not None:
            served = (counts * self.needs.replica_tok_s[cell]).sum(axis=1) / self._problem.scale_tok_s[region, pool]
            rows.append(self._capacity_rows[region, pool][:, None])
            values.append(served[:, None])
        cost = (counts * self._problem.cost[region, pool]).sum(axis=1)
        added = self._program.add_columns(cost, rows=np.hstack(rows), values=np.hstack(values))
        self.columns = np.concatenate([self.columns, added])
        self.cell, self.counts = np.concatenate([self.cell, cell]), np.concatenate([self.counts, counts])
        return len(cell)

    def cheapest(self, quota_price: Floats, capacity_price: Floats | None = None) -> Cover:
        """Return each cell's cheapest cover at prices of quota, less what its capacity is worth."""
        at = (self.region, self.pool)
        cost = self._problem.cost[at] + quota_price[self.region] * self._problem.replica_gpus[self.pool]
        if capacity_price is not None:
            cost = np.maximum(cost - capacity_price[at][:, None] * self.needs.replica_tok_s, 0.0)
        return cheapest_covers(self.needs, cost)

    def improve(self, answer: Answer, quota_price: Floats, capacity_price: Floats | None = None) -> tuple[int, float]:
        """Add covers that improve the answer; return how many, and a bound that holds whether or not any were."""
        cover = self.cheapest(quota_price, capacity_price)
        price = answer.duals[self._once]
        better = np.flatnonzero(cover.cost < price - IMPROVES * np.maximum(1.0, np.abs(price)))
        bound = answer.total + float(np.minimum(cover.bound - price, 0.0).sum())
        return self.add(better, cover.counts[better]), bound

    def replicas(self, values: Floats) -> Floats:
        """Return the counts that the columns stand for. Shape: region, pool, accelerator."""
        found = np.zeros(self._problem.cost.shape)
        weight = values[self.columns[: np.searchsorted(self.columns, len(values))]]
        cell = self.cell[: len(weight)]
        np.add.at(found, (self.region[cell], self.pool[cell]), self.counts[: len(weight)] * weight[:, None])
        return found
