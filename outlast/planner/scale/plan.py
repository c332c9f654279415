"""A plan that can be deployed: whole per cents, whole replicas, and how far it is from the bound."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from outlast.errors import PlanError, Problem
from outlast.planner.scale.assignment import assign
from outlast.planner.scale.check import check
from outlast.planner.scale.exact import MOST_CELLS, search_all
from outlast.planner.scale.hourly import Progress, is_within_quota, silent
from outlast.planner.scale.loads import to_loads, to_needs
from outlast.planner.scale.problem import OVERFLOW_FACTOR, POINTS, TOLERANCE, Floats, Ints, ScaleProblem
from outlast.planner.scale.search import Search, to_points
from outlast.planner.scale.staircase import Staircase
from outlast.planner.scale.static import StaticBound, even_shares, static_bound

FEW_CELLS = 600
"""Cells of a fleet up to which every start is searched from, not only the cheapest."""

RELIEVES = 3
"""Times that prices are raised where a plan exceeds a quota."""
RELIEF = 0.1
"""Rise of the price of quota, in the dearest price of a GPU."""


@dataclass(frozen=True)
class StaticPlan:
    """Shares and counts that survive the loss of any one region."""

    shares_pct: Ints
    """Per cent of a class that goes to a region when another is lost. Shape: class, lost, region."""
    replicas: Ints
    """Canaries included. Shape: region, pool, accelerator."""
    total: float
    """Cost in units of the objective; GPUs beyond quota at their ordinary price."""
    bound: float
    """No plan with one set of shares costs less, unless the bound itself exceeds a quota."""
    overflow_gpus: Floats
    """GPUs that the plan needs beyond quota. Shape: region, accelerator."""
    static: StaticBound
    """Where the bound comes from, and what it says about prices; the plan's bound may be tighter."""
    stopped: str
    """Why the search ended: ``proven``, at the limit of its ``nodes``, or where no ``move`` of points paid."""

    @property
    def gap_pct(self) -> float | None:
        """By how much the plan may be dearer than the best one; None if it or the bound exceeds a quota."""
        if not (self.static.is_within_quota and is_within_quota(self.overflow_gpus)):
            return None
        return max(0.0, (self.total / self.bound - 1) * 100) if self.bound > 0 else 0.0


def static_plan(
    problem: ScaleProblem, previous_shares_pct: Ints | None = None, *, progress: Progress = silent
) -> StaticPlan:
    """Return shares and counts near the least total, the same for the same arrays on any machine.

    Args:
        problem: the arrays.
        previous_shares_pct: shares in force; rows that no longer fit are replaced. Kept where nothing found is better.
        progress: told how far it is.

    Raises:
        PlanError: the arrays are wrong, or the previous shares have another shape.
    """
    static = static_bound(problem, progress=progress)
    starts = _starts(problem, static.shares, previous_shares_pct)
    points = _search(problem, static.quota_price, starts, progress)
    replicas = _count(problem, points, progress)
    if static.is_within_quota:
        points, replicas = _relieve(problem, static.quota_price, points, replicas)
    bound, stopped = static.total, "move"
    if replicas.shape[0] * replicas.shape[1] <= MOST_CELLS:
        points, replicas, bound = _improve(problem, points, replicas, bound)
        stopped = "nodes"
        progress("exact search", 1.0)
    if previous_shares_pct is not None:
        in_force = starts[-1], _count(problem, starts[-1], silent)
        points, replicas = _cheapest(problem, in_force, (points, replicas))
    total = problem.total(replicas)
    overflow = problem.overflow_gpus(replicas)
    is_proven = is_within_quota(overflow) and total <= bound * (1 + 1e-7)
    return StaticPlan(points, replicas, total, min(bound, total), overflow, static, "proven" if is_proven else stopped)


def _starts(problem: ScaleProblem, shares: Floats, previous_pct: Ints | None) -> list[Ints]:
    """Return the shares to start from: the bound's, even ones, and those in force."""
    points = to_points(shares)
    starts = [points, to_points(even_shares(problem))]
    if previous_pct is not None:
        if np.shape(previous_pct) != points.shape:
            raise PlanError(
                Problem(
                    where="previous shares",
                    what="the shape disagrees with the fleet",
                    got=str(np.shape(previous_pct)),
                    allowed=str(points.shape),
                )
            )
        fits = (previous_pct >= 0).all(axis=2) & ((previous_pct * problem.targets).sum(axis=2) == POINTS)
        fits &= previous_pct.sum(axis=2) == POINTS
        starts.append(np.where(fits[:, :, None], previous_pct, points))
    return starts


def _search(problem: ScaleProblem, quota_price: Floats, starts: list[Ints], progress: Progress) -> Ints:
    """Return the best shares found from the starts."""
    staircase = Staircase(problem, quota_price)
    searches = [Search(problem, points, staircase) for points in starts]
    if problem.held.size > FEW_CELLS:
        searches = [min(searches, key=lambda search: search.total)]
    for index, search in enumerate(searches):
        search.run(partial(_part, progress, index, len(searches)))
    return min(searches, key=lambda search: search.total).points


def _relieve(problem: ScaleProblem, quota_price: Floats, points: Ints, replicas: Ints) -> tuple[Ints, Ints]:
    """Return shares and counts that exceed quotas less: points leave regions that exceed one as their prices rise."""
    overflow = problem.overflow_gpus(replicas)
    step = RELIEF * problem.overflow_cost / OVERFLOW_FACTOR
    for _ in range(RELIEVES):
        if is_within_quota(overflow):
            break
        quota_price = quota_price + step * (overflow > 0).any(axis=1, keepdims=True)
        moved = _search(problem, quota_price, [points], silent)
        counts = _count(problem, moved, silent)
        if problem.overflow_gpus(counts).sum() <= overflow.sum():
            points, replicas, overflow = moved, counts, problem.overflow_gpus(counts)
    return points, replicas


def _part(progress: Progress, index: int, count: int, done_ratio: float) -> None:
    progress("shares", (index + done_ratio) / count)


def _count(problem: ScaleProblem, points: Ints, progress: Progress) -> Ints:
    """Return the counts that shares need, trimmed."""
    needs = to_needs(problem, to_loads(problem, points / POINTS))
    counts = assign(problem, needs, lambda done_ratio: progress("replicas", done_ratio))
    return _trimmed(problem, needs, counts)


def _trimmed(problem: ScaleProblem, need_tok_s: Floats, replicas: Ints) -> Ints:
    """Return counts without the replicas that nothing needs, dearest first."""
    replicas = replicas.copy()
    usable = replicas - problem.canaries * (need_tok_s > 0)[:, :, None]
    for region, pool in np.argwhere(need_tok_s > 0):
        served = problem.replica_tok_s[pool]
        for accelerator in np.argsort(-problem.cost[region, pool], kind="stable"):
            count = usable[region, pool, accelerator]
            if count <= 0:
                continue
            spare = (usable[region, pool] @ served - need_tok_s[region, pool]) / served[accelerator] + TOLERANCE
            surplus = usable[region, pool].sum() - problem.least_usable[region, pool]
            drop = max(0.0, min(float(np.floor(spare)), float(surplus), float(count)))
            usable[region, pool, accelerator] -= drop
            replicas[region, pool, accelerator] -= int(drop)
    return replicas


def _improve(problem: ScaleProblem, points: Ints, replicas: Ints, bound: float) -> tuple[Ints, Ints, float]:
    """Return shares, counts and bound after a search of all plans; what was found before if that is no better."""
    exact = search_all(problem, points, replicas)
    plans = [(points, replicas), (exact.points, _count(problem, exact.points, silent))]
    if not check(problem, exact.points, exact.replicas):
        needs = to_needs(problem, to_loads(problem, exact.points / POINTS))
        plans.append((exact.points, _trimmed(problem, needs, exact.replicas)))
    return *_cheapest(problem, *plans), max(bound, exact.bound)


def _cheapest(problem: ScaleProblem, *plans: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Return the shares and counts that exceed quotas least, then cost least; the first of equals."""
    worth = [(float(problem.overflow_gpus(counts).sum()), round(problem.total(counts), 6)) for _, counts in plans]
    return plans[worth.index(min(worth))]
