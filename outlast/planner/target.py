"""Finds the target of a fleet: the replicas and shares that a plan leads to, checked by plain arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from outlast.errors import InfeasiblePlan, PlanError, Problem
from outlast.lock import Lock
from outlast.planner.arrays import Arrays, CellKey
from outlast.planner.constraints import define_constraints
from outlast.planner.needs import Shares, broken_cases
from outlast.planner.objective import Stage, define_stages, fixed_order
from outlast.planner.program import Program
from outlast.planner.shortage import shortages
from outlast.planner.solve import Limits, Optimum, optimise
from outlast.planner.variables import Variables, define_variables, to_counts

MARGINS = (0.0, 1e-8, 1e-7, 1e-6)
"""Replicas that rows of region loss ask on top, one after the other, if the solver's tolerance let a case slip."""


@dataclass(frozen=True)
class Target:
    """The counts that a plan leads to."""

    replicas: Mapping[CellKey, int]
    """Planned replicas of every cell, canaries included; 0 where the pool is not in use."""
    shares: Shares
    """Without zeros."""
    bound_usd_h: float
    """No plan under these rules, with as few replicas if that is the objective, costs less."""
    gap_pct: float
    """How far the first stage's total may be above the smallest one."""
    is_proven: bool


@dataclass(frozen=True)
class Model:
    """A fleet's programme."""

    program: Program
    variables: Variables
    stages: Sequence[Stage]


def define_model(arrays: Arrays, in_force: Lock | None) -> Model:
    """Return variables, constraints and stages of a fleet."""
    program = Program()
    variables = define_variables(program, arrays)
    define_constraints(program, arrays, variables)
    return Model(program, variables, define_stages(program, arrays, variables, in_force))


def find_target(arrays: Arrays, in_force: Lock | None, limits: Limits) -> Target:
    """Return the best counts, least change and fixed order deciding among equals.

    Raises:
        InfeasiblePlan: what is held does not allow any plan.
    """
    model = define_model(arrays, in_force)
    for margin in MARGINS:
        optimum = optimise(_tightened(model.program, margin), model.stages, fixed_order(model.variables), limits)
        if optimum is None:
            raise InfeasiblePlan(shortages(arrays, model.program, model.variables, limits))
        target = _target(model, optimum)
        if not (broken := broken_cases(arrays, target.replicas, target.shares)):
            return target
    (region, pool), case = broken[0]
    raise PlanError(
        Problem(
            where="outlast plan",
            what=f"the answer does not hold '{pool}' in {region} against {case.lost}",
            got=f"{case.have_tok_s:,.3f} of {case.need_tok_s:,.3f} tok/s",
            do="Report this with the fleet's files",
        )
    )


def _target(model: Model, optimum: Optimum) -> Target:
    replicas, shares = to_counts(model.variables, optimum.values)
    first = optimum.stages[model.stages[0].name]
    return Target(
        replicas=replicas,
        shares=shares,
        bound_usd_h=optimum.stages["money"].bound,
        gap_pct=100 * (first.total - first.bound) / first.bound if first.bound > 0 else 0.0,
        is_proven=optimum.is_proven,
    )


def _tightened(program: Program, margin: float) -> Program:
    rows = [
        replace(row, lower=row.lower + margin) if row.name.startswith("survive_region ") else row
        for row in program.rows
    ]
    return Program(list(program.columns), rows)
