"""What no plan can cost less than, even with shares that differ by hour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from outlast.planner.scale.cuts import Cuts, to_cuts
from outlast.planner.scale.problem import Floats, ScaleProblem
from outlast.planner.scale.refusals import check_problem
from outlast.planner.scale.relaxation import Relaxation

Progress: TypeAlias = Callable[[str, float], None]
"""Told the phase and how much of it is done, from 0 to 1."""


COVER_ROUNDS = 8
WHOLE_NODES = 20_000
"""Search nodes for whole replicas."""


def silent(_phase: str, _done_ratio: float) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class HourlyBound:
    """The least a plan costs if shares may differ by hour."""

    total: float
    """Lower bound in units of the objective; the optimum of whole replicas, if asked for and proven."""
    tightened: float
    """The bound with whole covers of each cell's own need; at least ``total`` unless replicas are whole."""
    replicas: Floats
    """Canaries included, fractions unless asked otherwise. Shape: region, pool, accelerator."""
    cuts: Cuts
    """What sets of survivors need together."""
    cut_price: Floats
    """What a unit of the set's capacity costs; 0 where the cut does not bind. Shape: cut."""
    capacity_price: Floats
    """What a unit of capacity in a cell costs; what its cuts do not account for, its own need does.

    Shape: region, pool.
    """
    overflow_gpus: Floats
    """GPUs beyond quota that even this bound needs. Shape: region, accelerator."""

    @property
    def is_within_quota(self) -> bool:
        """Whether the quotas suffice for the bound."""
        return is_within_quota(self.overflow_gpus)


def is_within_quota(overflow_gpus: Floats) -> bool:
    """Return whether no GPU is beyond quota, but for rounding."""
    return bool((overflow_gpus <= 1e-6).all())


def hourly_bound(problem: ScaleProblem, *, integer: bool = False, progress: Progress = silent) -> HourlyBound:
    """Bound the plan from below by what sets of survivors need together.

    The optimum for hourly shares if each pool's demand may move on its own; a bound for anything less free. Cells
    without own need count without canaries and least replicas: whether they are used is not known. Where survivor sets
    of one lost region cross and are many, only some unions are taken (see `outlast.planner.scale.cuts.unions`).

    Args:
        problem: the arrays.
        integer: ask for whole replicas; for small problems.
        progress: told how far it is.

    Raises:
        PlanError: the arrays are wrong, or the search ended without an answer.
    """
    check_problem(problem)
    cuts = to_cuts(problem)
    progress("hourly bound", 0.3)
    relaxation = Relaxation(problem, cuts, has_shares=False)
    answer = relaxation.program.solve()
    total = answer.bound + relaxation.fixed_cost
    cut_price, capacity_price = relaxation.cut_price(answer), relaxation.capacity_price(answer)
    if integer:
        relaxation = Relaxation(problem, cuts, has_shares=False, whole_nodes=WHOLE_NODES)
        answer = relaxation.program.search()
        total = tightened = whole_total(problem, answer.bound + relaxation.fixed_cost)
    else:
        tightened = tighten(relaxation, relaxation.quota_price(answer))
    progress("hourly bound", 1.0)
    return HourlyBound(
        total=total,
        tightened=max(total, tightened),
        replicas=relaxation.replicas(answer),
        cuts=cuts,
        cut_price=cut_price,
        capacity_price=capacity_price,
        overflow_gpus=answer.values[relaxation.overflow],
    )


def whole_total(problem: ScaleProblem, bound: float) -> float:
    """Return the bound, rounded up if totals are whole."""
    return float(np.ceil(bound - 1e-6)) if problem.objective == "replicas" else bound


def tighten(relaxation: Relaxation, quota_price: Floats) -> float:
    """Add whole covers until none improves; return the best bound."""
    relaxation.start_covers(quota_price)
    best = -np.inf
    for _ in range(COVER_ROUNDS):
        added, bound = relaxation.improve(relaxation.program.solve())
        best = max(best, bound)
        if not added:
            break
    return best
