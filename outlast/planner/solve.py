"""Runs the solver: stage after stage, then the fixed order, within limits of search nodes and never of seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import highspy._core as highs
import numpy as np

from outlast.errors import PlanError, Problem
from outlast.planner.objective import Stage
from outlast.planner.program import Program, Row, Terms

FEASIBILITY = 1e-9
"""Absolute tolerance of rows and of whole numbers in the solver; rows are scaled to replicas, nodes or per cent."""
PROVEN = 1e-7
"""Relative distance of total and bound that is rounding."""


@dataclass(frozen=True)
class Limits:
    """Where a search ends; the same limits give the same answer on any machine."""

    nodes: int = 100_000
    """Nodes of the branch-and-bound tree of one solve."""
    seed: int = 0


@dataclass(frozen=True)
class Found:
    """The answer of one solve."""

    values: tuple[float, ...]
    """Column -> value, whole where the column is."""
    total: float
    bound: float
    """No answer has a smaller total."""
    is_complete: bool
    """The search ended by itself, not at its limit."""

    @property
    def is_proven(self) -> bool:
        """Whether the total is the smallest, not only the smallest found."""
        return self.is_complete and self.total - self.bound <= PROVEN * max(1.0, abs(self.total))


@dataclass(frozen=True)
class Optimum:
    """The answer of all stages."""

    values: tuple[float, ...]
    stages: dict[str, Found]
    """Stage -> its solve; later stages keep its total."""
    is_proven: bool


def optimise(program: Program, stages: Sequence[Stage], order: Sequence[int], limits: Limits) -> Optimum | None:
    """Minimise the stages one after the other, each within the optima of those before, then each column of ``order``.

    A column that is at its lower bound already needs no solve. Returns None if no answer satisfies all rows.
    """
    program = program.copy()
    found: dict[str, Found] = {}
    values: tuple[float, ...] = ()
    proven = True
    for stage in stages:
        result = minimise(program, stage.costs, limits)
        if result is None:
            return None
        values, found[stage.name] = result.values, result
        proven = proven and result.is_proven
        program.at_most(f"hold {stage.name}", stage.costs, result.total + stage.slack)
    for column in order:
        if values[column] > program.columns[column].lower:
            result = minimise(program, {column: 1.0}, limits)
            if result is None:  # there is an answer, ``values``: presolving has lost it among rows that hold optima
                result = _run(program, {column: 1.0}, limits, presolve="off")
            if result is None:
                raise AssertionError(program.columns[column].name)
            values = result.values
            proven = proven and result.is_proven
        program.bound(column, values[column], values[column])
    return Optimum(values, found, proven)


def minimise(program: Program, costs: Terms, limits: Limits) -> Found | None:
    """Minimise one sum; returns None if no answer satisfies all rows.

    The total is recomputed from the whole numbers of the answer, because the solver may report the total of another
    answer than it returns (ERGO-Code/HiGHS issue 1570); such an answer is sought again without presolving.

    Raises:
        PlanError: the search ended without an answer.
    """
    found = _run(program, costs, limits, presolve="choose")
    if found is not None and found.is_complete and not found.is_proven:
        return _run(program, costs, limits, presolve="off")
    return found


def _run(program: Program, costs: Terms, limits: Limits, presolve: str) -> Found | None:
    solver = _solver(limits)
    solver.setOptionValue("presolve", presolve)
    solver.passModel(_lp(program, costs))
    solver.run()
    status, details = solver.getModelStatus(), solver.getInfo()
    if status == highs.HighsModelStatus.kInfeasible:
        return None
    if details.primal_solution_status != highs.SolutionStatus.kSolutionStatusFeasible:
        raise PlanError(
            Problem(
                where="outlast plan",
                what=f"the search ended without a plan ({solver.modelStatusToString(status)})",
                got=f"{limits.nodes:,} search nodes",
                do="Report this with the fleet's files",
            )
        )
    values = tuple(
        float(round(value)) if column.is_integer else max(column.lower, value)
        for column, value in zip(program.columns, solver.getSolution().col_value, strict=True)
    )
    total = sum(cost * values[column] for column, cost in costs.items())
    return Found(values, total, min(details.mip_dual_bound, total), status == highs.HighsModelStatus.kOptimal)


def solver_version() -> str:
    """Return the version of the solver."""
    return str(_solver(Limits()).version())


def _solver(limits: Limits) -> highs._Highs:
    # The wrapper class prints a banner to standard output when it is made; its base does not once output is off.
    solver = highs._Highs()
    options = {
        "output_flag": False,
        "threads": 1,
        "random_seed": limits.seed,
        "mip_max_nodes": limits.nodes,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": FEASIBILITY,
        "primal_feasibility_tolerance": FEASIBILITY,
    }
    for name, value in options.items():
        solver.setOptionValue(name, value)
    return solver


def _lp(program: Program, costs: Terms) -> highs.HighsLp:
    lp = highs.HighsLp()
    lp.num_col_, lp.num_row_ = len(program.columns), len(program.rows)
    lp.col_cost_ = np.array([costs.get(index, 0.0) for index in range(lp.num_col_)])
    lp.col_lower_ = np.array([column.lower for column in program.columns])
    lp.col_upper_ = np.array([column.upper for column in program.columns])
    kinds = highs.HighsVarType
    lp.integrality_ = [kinds.kInteger if column.is_integer else kinds.kContinuous for column in program.columns]
    lp.row_lower_ = np.array([row.lower for row in program.rows])
    lp.row_upper_ = np.array([row.upper for row in program.rows])
    terms = [_nonzero(row) for row in program.rows]
    lp.a_matrix_.format_ = highs.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0, *(len(row) for row in terms)], dtype=np.int32)
    lp.a_matrix_.index_ = np.array([column for row in terms for column, _ in row], dtype=np.int32)
    lp.a_matrix_.value_ = np.array([value for row in terms for _, value in row], dtype=np.float64)
    return lp


def _nonzero(row: Row) -> list[tuple[int, float]]:
    return [(column, float(value)) for column, value in row.terms.items() if value]
