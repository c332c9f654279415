"""The whole problem of a small fleet in one search: whole replicas, whole per cents, cells that open at a price."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from outlast.planner.scale.cuts import to_cuts
from outlast.planner.scale.hourly import whole_total
from outlast.planner.scale.problem import Floats, Ints, ScaleProblem
from outlast.planner.scale.relaxation import Relaxation
from outlast.planner.scale.sparse import NOTHING

MOST_CELLS = 60
NODES = 3_000
"""Search nodes times cells."""


@dataclass(frozen=True)
class Exact:
    """What the search found."""

    points: Ints
    """Shape: class, lost, region."""
    replicas: Ints
    """Canaries included. Shape: region, pool, accelerator."""
    bound: float
    """No plan costs less."""


def search_all(problem: ScaleProblem, points: Ints, replicas: Ints) -> Exact:
    """Search all plans of a small fleet, from a known one on.

    Shapes: class, lost, region, and region, pool, accelerator.
    """
    _, regions, pools, _, _ = problem.shape
    relaxation = Relaxation(problem, to_cuts(problem), has_shares=True, whole_nodes=NODES // (regions * pools))
    relaxation.add_loads(*_undominated(problem))
    relaxation.add_openings(*np.nonzero(problem.targets[:, :, :, None] & problem.moved_pools[:, :, None, :]))
    relaxation.program.suggest(_values(relaxation, points, replicas))
    answer = relaxation.program.search()
    found = np.where(relaxation.shares == NOTHING, 0, np.rint(answer.values[relaxation.shares]))
    counts = np.zeros(problem.usable.shape)
    counts[relaxation.cells] = np.rint(answer.values[relaxation.replica_columns])
    counts += problem.canaries * counts.any(axis=2, keepdims=True)
    bound = whole_total(problem, answer.bound + relaxation.fixed_cost)
    return Exact(np.asarray(found, dtype=np.int64), np.asarray(counts, dtype=np.int64), bound)


def _undominated(problem: ScaleProblem) -> tuple[Ints, Ints, Ints, Ints]:
    """Return lost region, region, pool and hour of the loads that can be the worst for some shares."""
    found = [np.zeros((4, 0), dtype=np.int64)]
    _, regions, pools, _, _ = problem.shape
    for lost in range(regions):
        for region in np.flatnonzero(problem.targets[:, lost].any(axis=0)):
            classes = problem.targets[:, lost, region]
            for pool in range(pools):
                moved = problem.moved_tok_s[classes, lost, pool]
                hours = _maximal(np.vstack([problem.base_tok_s[region, pool], moved]))
                if moved.any():
                    found.append(np.stack([np.full(len(hours), index) for index in (lost, region, pool)] + [hours]))
    lost_of, region_of, pool_of, hour_of = np.concatenate(found, axis=1)
    return lost_of, region_of, pool_of, hour_of


def _maximal(amounts: Floats) -> Ints:
    """Return the hours that no other hour exceeds in all amounts; the first of equals. Shape: amount, hour."""
    _, first = np.unique(amounts, axis=1, return_index=True)
    hours = np.sort(first)
    exceeds = np.asarray((amounts[:, hours, None] <= amounts[:, None, hours]).all(axis=0))
    np.fill_diagonal(exceeds, val=False)
    return np.asarray(hours[~exceeds.any(axis=1)])


def _values(relaxation: Relaxation, points: Ints, replicas: Ints) -> Floats:
    """Return a known plan as values of the columns."""
    problem = relaxation.problem
    values = np.zeros(relaxation.program.column_count)
    in_use = (replicas.sum(axis=2) > 0)[:, :, None]
    usable = replicas - problem.canaries * in_use
    values[relaxation.replica_columns] = usable[relaxation.cells]
    capacity = (usable * problem.replica_tok_s).sum(axis=2)
    values[relaxation.extra] = np.maximum(capacity - problem.alone_tok_s, 0.0) / problem.scale_tok_s
    values[relaxation.overflow] = problem.overflow_gpus(replicas)
    given = relaxation.shares != NOTHING
    values[relaxation.shares[given]] = points[given]
    opens = relaxation.opening != NOTHING
    values[relaxation.opening[opens]] = in_use[:, :, 0][opens]
    return values
