"""Counts of one region for given shares: without shares to choose, regions have nothing to do with each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from outlast.errors import PlanError, Problem
from outlast.lock import Lock, LockRegion
from outlast.planner.arrays import Arrays, CellKey, LaneKey
from outlast.planner.beside import define_fit_beside
from outlast.planner.constraints import define_constraints
from outlast.planner.needs import Case, Shares, broken_cases, lost_part, placed_of
from outlast.planner.objective import change_stage, cost_stages, fixed_order
from outlast.planner.program import Program
from outlast.planner.solve import Limits, Optimum, optimise
from outlast.planner.survival import Parts
from outlast.planner.variables import SplitKey, Variables, define_variables, to_replicas, to_split

MARGINS = (0.0, 1e-8, 1e-7, 1e-6)
"""Replicas that rows of region loss ask on top, one after the other, if the solver's tolerance let a case slip."""
ROUNDS = 20
"""Times that the part of a pool's capacity in its fullest zone is corrected."""


@dataclass(frozen=True)
class Counts:
    """What a region holds."""

    replicas: Mapping[LaneKey, int]
    split: Mapping[SplitKey, int]
    """Where a zone has several node pools for a lane: replicas on each."""
    totals: Mapping[str, float]
    """Cost stage -> total."""
    bounds: Mapping[str, float]
    """Cost stage -> what no counts for these shares go below."""
    is_proven: bool


@dataclass(frozen=True)
class Model:
    """The programme of some regions."""

    program: Program
    variables: Variables


def define_model(arrays: Arrays, regions: tuple[str, ...], shares: Shares | None, parts: Parts) -> Model:
    """Return variables and constraints; ``shares`` None leaves them to be chosen."""
    program = Program()
    variables = define_variables(program, arrays, regions, shares)
    define_constraints(program, arrays, variables, parts)
    return Model(program, variables)


@dataclass
class RegionCounts:
    """Finds and remembers the counts of regions, by what reaches them."""

    arrays: Arrays
    limits: Limits
    costs: dict[tuple[object, ...], Counts | None] = field(default_factory=dict)

    def cheapest(self, region: str, shares: Shares) -> Counts | None:
        """Return counts of the smallest cost, whichever of equals; None if no counts fit what is held."""
        key = (region, *sorted(_arriving(region, shares)))
        if key not in self.costs:
            self.costs[key] = find_counts(self.arrays, region, shares, None, self.limits, unique=False)
        return self.costs[key]


def find_counts(
    arrays: Arrays,
    region: str,
    shares: Shares,
    in_force: Lock | None,
    limits: Limits,
    *,
    unique: bool = True,
    beside: LockRegion | None = None,
) -> Counts | None:
    """Return the best counts of a region; None if none fit what is held.

    Args:
        arrays: the fleet's needs.
        region: where.
        shares: what moves in.
        in_force: the lock over which counts should grow least.
        limits: where each search ends.
        unique: whether change and the fixed order decide among equals.
        beside: what runs in the region and has to fit quotas and reservations together with the counts.

    Raises:
        PlanError: the answer does not hold by plain arithmetic.
    """
    parts: dict[CellKey, float] = {}
    bounds: dict[str, float] = {}
    margin = 0
    for _ in range(ROUNDS):
        model = define_model(arrays, (region,), shares, parts)
        if beside is not None:
            define_fit_beside(model.program, arrays, model.variables, region, beside)
        optimum = _optimum(arrays, model, in_force, limits, MARGINS[margin], unique=unique)
        if optimum is None:
            return None
        stages = {stage.name: optimum.stages[stage.name] for stage in cost_stages(arrays, model.variables)}
        # Of the first round: it asks for no more than any plan does, later ones may.
        bounds = bounds or {name: found.bound for name, found in stages.items()}
        replicas = to_replicas(model.variables, optimum.values)
        broken = [case for case in broken_cases(arrays, replicas, shares) if case[0][0] == region]
        if not broken:
            return Counts(
                replicas=replicas,
                split=to_split(model.variables, optimum.values),
                totals={name: found.total for name, found in stages.items()},
                bounds=bounds,
                is_proven=optimum.is_proven and not parts,
            )
        if not _correct(arrays, parts, broken, replicas):
            if margin + 1 == len(MARGINS):
                break
            margin += 1
    key, case = broken[0]
    raise PlanError(
        Problem(
            where="outlast plan",
            what=f"the answer does not hold '{key[1]}' in {key[0]} against {case.lost}",
            got=f"{case.have_tok_s:,.3f} of {case.need_tok_s:,.3f} tok/s",
            do="Report this with the fleet's files",
        )
    )


def _optimum(
    arrays: Arrays, model: Model, in_force: Lock | None, limits: Limits, margin: float, *, unique: bool
) -> Optimum | None:
    program = _tightened(model.program, margin)
    stages = cost_stages(arrays, model.variables)
    if unique and in_force is not None:
        stages.append(change_stage(program, arrays, model.variables, in_force))
    return optimise(program, stages, fixed_order(arrays, model.variables) if unique else [], limits)


def _correct(
    arrays: Arrays, parts: dict[CellKey, float], broken: list[tuple[CellKey, Case]], replicas: Mapping[LaneKey, int]
) -> bool:
    """Raise the part of the fullest zone where it was taken too small; returns whether any was."""
    raised = False
    for key, case in broken:
        cell = arrays.cells[key]
        if case.lost != "zone" or len(cell.lanes) == 1:
            continue
        placed = placed_of(cell, replicas)
        lanes = {lane: placed[lane.key] for lane in cell.lanes if lane.key in placed}
        fullest = max(lost_part(lanes, zone) for zone in cell.zones)
        if fullest > parts.get(key, 1 / len(cell.zones)):
            parts[key] = fullest
            raised = True
    return raised


def _arriving(region: str, shares: Shares) -> list[tuple[str, str, int]]:
    return [
        (residency, lost, row[region])
        for residency, losses in shares.items()
        for lost, row in losses.items()
        if row.get(region)
    ]


def _tightened(program: Program, margin: float) -> Program:
    rows = [
        replace(row, lower=row.lower + margin) if row.name.startswith("survive_region ") else row
        for row in program.rows
    ]
    return Program(list(program.columns), rows)
