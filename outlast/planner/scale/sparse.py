"""A linear programme that grows by blocks of columns and rows, in arrays, in a silent solver of one thread.

Limits are search nodes, never seconds: the same blocks give the same answer on any machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import highspy._core as highs
import numpy as np
from numpy.typing import NDArray

from outlast.errors import PlanError, Problem
from outlast.planner.scale.problem import Floats, Ints
from outlast.planner.solve import FEASIBILITY

NOTHING = -1
"""Index in a block that stands for no column or row."""


@dataclass(frozen=True)
class Answer:
    """What the solver found."""

    values: Floats
    """By column."""
    duals: Floats
    """By row; empty where columns are whole numbers."""
    total: float
    bound: float
    """No answer has a smaller total."""


class SparseProgram:
    """Minimise cost over columns >= 0 and rows, added in blocks."""

    def __init__(self, *, nodes: int = 0, gap_ratio: float = 0.0) -> None:
        """Start empty; ``nodes`` and ``gap_ratio`` end a search over whole numbers."""
        # The wrapper class prints a banner when it is made; its base does not once output is off.
        self._solver = highs._Highs()
        options = {
            "output_flag": False,
            "threads": 1,
            "random_seed": 0,
            "mip_max_nodes": nodes,
            "mip_rel_gap": gap_ratio,
            "mip_abs_gap": 0.0,
            "mip_feasibility_tolerance": FEASIBILITY,
        }
        for name, value in options.items():
            self._solver.setOptionValue(name, value)

    @property
    def column_count(self) -> int:
        """Columns so far."""
        return int(self._solver.getNumCol())

    @property
    def row_count(self) -> int:
        """Rows so far."""
        return int(self._solver.getNumRow())

    def add_columns(
        self,
        cost: Floats,
        upper: float = np.inf,
        *,
        whole: bool = False,
        rows: Ints | None = None,
        values: Floats | None = None,
    ) -> Ints:
        """Add columns from 0 to ``upper`` with their entries in rows that exist; return their indices.

        Shape of rows and values: column, entry; an entry with row `NOTHING` or value 0 is none.
        """
        first, count = self.column_count, len(cost)
        starts, index, entries = _compressed(count, rows, values)
        self._solver.addCols(
            count, cost.astype(float), np.zeros(count), np.full(count, upper), len(index), starts, index, entries
        )
        columns = np.arange(first, first + count)
        if whole and count:
            kinds = np.full(count, int(highs.HighsVarType.kInteger), dtype=np.uint8)
            self._solver.changeColsIntegrality(count, columns.astype(np.int32), kinds)
        return columns

    def add_rows(self, lower: Floats, upper: Floats, columns: Ints, values: Floats) -> Ints:
        """Add rows ``lower <= sum of value × column <= upper``; return their indices.

        Shape of columns and values: row, entry; an entry with column `NOTHING` or value 0 is none.
        """
        first, count = self.row_count, len(lower)
        starts, index, entries = _compressed(count, columns, values)
        self._solver.addRows(count, lower.astype(float), upper.astype(float), len(index), starts, index, entries)
        return np.arange(first, first + count)

    def suggest(self, values: Floats) -> None:
        """Start the search over whole numbers at an answer."""
        start = highs.HighsSolution()
        start.col_value = values.astype(float)
        self._solver.setSolution(start)

    def solve(self) -> Answer:
        """Minimise over fractions, from the last answer on.

        Raises:
            PlanError: there is no optimum.
        """
        self._solver.run()
        status = self._solver.getModelStatus()
        if status != highs.HighsModelStatus.kOptimal:
            raise _unsolved(self._solver.modelStatusToString(status))
        solution, total = self._solver.getSolution(), float(self._solver.getInfo().objective_function_value)
        return Answer(np.array(solution.col_value), np.array(solution.row_dual), total, total)

    def search(self) -> Answer:
        """Minimise over whole numbers, until the limits are reached.

        Raises:
            PlanError: the search ended without an answer.
        """
        self._solver.run()
        found = self._solver.getInfo()
        if found.primal_solution_status != highs.SolutionStatus.kSolutionStatusFeasible:
            raise _unsolved(self._solver.modelStatusToString(self._solver.getModelStatus()))
        values = np.array(self._solver.getSolution().col_value)
        return Answer(values, np.zeros(0), found.objective_function_value, found.mip_dual_bound)


def _unsolved(status: str) -> PlanError:
    return PlanError(
        Problem(
            where="outlast plan",
            what=f"the solver ended without an answer ({status})",
            do="Report this with the fleet's files",
        )
    )


def _compressed(
    count: int, index: Ints | None, values: Floats | None
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """Return starts, indices and values of the entries that are some."""
    if index is None or values is None or not count:
        return np.zeros(count, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0)
    some = (index != NOTHING) & (values != 0)
    starts = np.concatenate([[0], np.cumsum(some.sum(axis=1))[:-1]])
    return starts.astype(np.int32), index[some].astype(np.int32), values[some].astype(float)
