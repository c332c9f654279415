"""What no plan with one set of shares can cost less than, and shares that come near it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from outlast.planner.scale.cuts import Cuts, to_cuts
from outlast.planner.scale.hourly import Progress, is_within_quota, silent
from outlast.planner.scale.loads import Loads, to_loads, to_needs
from outlast.planner.scale.problem import TOLERANCE, Floats, Ints, ScaleProblem
from outlast.planner.scale.refusals import check_problem
from outlast.planner.scale.relaxation import Relaxation, normalised
from outlast.planner.scale.sparse import Answer

SHARE_ROUNDS = 40
STILL_ROUNDS = 4
"""Rounds without progress after which the bound stands."""
PROGRESS = 1e-5
"""Relative rise of the bound that counts as progress."""
CLOSE = 3e-3
"""Relative distance of shares and bound at which more rounds are not worth it."""
FEW = 16
"""Survivors of a class among which the first shares are spread."""
SMALLEST = 1e-3
"""Size of a survivor without own needs, in the largest."""
FIT = 4
"""How sharply the first shares avoid survivors that lack pools."""
FIRST_ROWS = 8000
"""Rows of the first round; beyond, only each cell's two worst losses are taken."""


@dataclass(frozen=True)
class BindingLoads:
    """What the price of a static bound is made of, by lost region, cell and hour."""

    lost: Ints
    region: Ints
    pool: Ints
    hour: Ints
    price: Floats
    """What a unit of capacity for this load costs."""


@dataclass(frozen=True)
class StaticBound:
    """The least a plan costs with one set of shares."""

    total: float
    """Lower bound in units of the objective."""
    shares: Floats
    """Good shares as fractions. Shape: class, lost, region."""
    replicas: Floats
    """Fractions, canaries included. Shape: region, pool, accelerator."""
    loads: BindingLoads
    cuts: Cuts
    """What sets of survivors need together."""
    cut_price: Floats
    """What a unit of the set's capacity costs; 0 where the cut does not bind. Shape: cut."""
    capacity_price: Floats
    """What a unit of capacity in a cell costs; what its loads and cuts do not account for, its own need does.

    Shape: region, pool.
    """
    quota_price: Floats
    """What a GPU of quota would save. Shape: region, accelerator."""
    overflow_gpus: Floats
    """GPUs beyond quota that even this bound needs. Shape: region, accelerator."""
    rounds: int
    stopped: str
    """Why no further rounds were made: ``optimal``, ``close``, ``still`` or ``rounds``."""

    @property
    def is_within_quota(self) -> bool:
        """Whether the quotas suffice for the bound."""
        return is_within_quota(self.overflow_gpus)


def static_bound(problem: ScaleProblem, *, covers: bool = True, progress: Progress = silent) -> StaticBound:
    """Bound the plan from below with one set of shares as fractions.

    Rows (lost, region, pool, hour) are added where the shares of the last round break them, so each round's programme
    leaves rows out and its value is a bound. Shares move half way to the programme's each round, which keeps them from
    swinging.

    Args:
        problem: the arrays.
        covers: tighten by whole covers of each cell's own need; without, the value is that of fractions alone.
        progress: told how far it is.

    Raises:
        PlanError: the arrays are wrong, or a programme was not solved.
    """
    check_problem(problem)
    relaxation, bound = _start(problem, covers=covers)
    shares = sized_shares(problem)
    best_shares, least, still, stopped = shares, np.inf, 0, "rounds"
    for index in range(SHARE_ROUNDS):
        loads = to_loads(problem, shares)
        _add_broken(relaxation, loads, is_first=index == 0)
        relaxation.add_openings(*_widest(problem, shares))
        answer = relaxation.program.solve()
        added, value = relaxation.improve(answer)
        estimate = answer.total + _shortfall_cost(relaxation, answer, to_needs(problem, loads))
        moved = value > bound + PROGRESS * abs(bound) or estimate < least - PROGRESS * 10 * abs(least)
        still = 0 if index == 0 or moved else still + 1
        bound = max(bound, value)
        if estimate < least:
            least, best_shares = estimate, shares
        progress("static bound", (index + 1) / SHARE_ROUNDS)
        reached = _reason(added, least / max(answer.total, 1e-300) - 1, still)
        if reached:
            stopped = reached
            break
        shares = normalised((relaxation.shares_of(answer) + best_shares) / 2)
    return _to_static_bound(relaxation, answer, bound, best_shares, index + 1, stopped)


def _start(problem: ScaleProblem, *, covers: bool) -> tuple[Relaxation, float]:
    """Return the programme without rows of shares, and the bound for hourly shares, which holds for static ones too."""
    cuts = to_cuts(problem)
    hourly = Relaxation(problem, cuts, has_shares=False)
    answer = hourly.program.solve()
    bound = answer.bound + hourly.fixed_cost
    relaxation = Relaxation(problem, cuts, has_shares=True)
    if covers:
        relaxation.start_covers(hourly.quota_price(answer))
    return relaxation, bound


def _reason(added: int, distance_ratio: float, still: int) -> str:
    if added == 0 and distance_ratio <= TOLERANCE:
        return "optimal"
    if added == 0 and distance_ratio < CLOSE:
        return "close"
    return "still" if still >= STILL_ROUNDS else ""


def even_shares(problem: ScaleProblem) -> Floats:
    """Return the same share for each survivor, as fractions. Shape: class, lost, region."""
    return normalised(problem.targets.astype(float))


def sized_shares(problem: ScaleProblem) -> Floats:
    """Return shares by the size of the survivor, few where it lacks the pools that move. Shape: class, lost, region."""
    moved = problem.moved_tok_s.mean(axis=3)
    fit = np.einsum("clp,rp->clr", moved, problem.held) / np.maximum(moved.sum(axis=2, keepdims=True), 1e-300)
    alone = problem.alone_tok_s.sum(axis=1)
    size = (
        problem.targets
        * np.maximum(alone, max(SMALLEST * alone.max(initial=0.0), TOLERANCE))
        * np.maximum(fit, 1e-3) ** FIT
    )
    few = size >= np.partition(size, -min(FEW, size.shape[2]), axis=2)[:, :, -min(FEW, size.shape[2])][:, :, None]
    return normalised(np.where(few, size, 0.0))


def _add_broken(relaxation: Relaxation, loads: Loads, *, is_first: bool) -> None:
    problem = relaxation.problem
    over = loads.peak_tok_s - problem.alone_tok_s * (1 + 1e-6)
    if is_first and (over > 0).sum() > FIRST_ROWS and len(over) > 2:
        over = np.where(over >= np.partition(over, -2, axis=0)[-2], over, 0.0)
    lost, region, pool = np.nonzero(over > TOLERANCE * problem.scale_tok_s)
    relaxation.add_loads(lost, region, pool, loads.hour[lost, region, pool])


def _widest(problem: ScaleProblem, shares: Floats) -> tuple[Ints, Ints, Ints, Ints]:
    """Return class, lost region, region and pool of the largest share that brings each cell without own need a pool."""
    largest = np.zeros(problem.held.shape)
    residency, lost = np.zeros((2, *problem.held.shape), dtype=np.int64)
    for index, gone in np.argwhere(problem.moves):
        arriving = shares[index, gone][:, None] * problem.moved_pools[index, gone]
        wider = ~problem.held & (arriving > largest)
        largest[wider], residency[wider], lost[wider] = arriving[wider], index, gone
    region, pool = np.nonzero(largest > 0)
    return residency[region, pool], lost[region, pool], region, pool


def _shortfall_cost(relaxation: Relaxation, answer: Answer, needs: Floats) -> float:
    """Return what it would cost to raise the answer's capacity to what its shares need, at its prices."""
    problem = relaxation.problem
    capacity = problem.alone_tok_s + answer.values[relaxation.extra] * problem.scale_tok_s
    return float((np.maximum(needs - capacity, 0.0) * relaxation.capacity_price(answer)).sum())


def _to_static_bound(
    relaxation: Relaxation, answer: Answer, bound: float, shares: Floats, rounds: int, stopped: str
) -> StaticBound:
    price = np.maximum(answer.duals[relaxation.load_rows], 0.0)
    binding = price > 0
    lost, region, pool, hour = relaxation.loads[:, binding]
    scale = relaxation.problem.scale_tok_s[region, pool]
    return StaticBound(
        total=bound,
        shares=shares,
        replicas=relaxation.replicas(answer),
        loads=BindingLoads(lost, region, pool, hour, price[binding] / scale),
        cuts=relaxation.cuts,
        cut_price=relaxation.cut_price(answer),
        capacity_price=relaxation.capacity_price(answer),
        quota_price=relaxation.quota_price(answer),
        overflow_gpus=answer.values[relaxation.overflow],
        rounds=rounds,
        stopped=stopped,
    )
