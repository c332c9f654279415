"""Refuses arrays that are no problem: shapes, numbers, and needs that nothing can serve."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from outlast.errors import PlanError, Problem, did_you_mean
from outlast.planner.scale.problem import ScaleProblem

OBJECTIVES = ("money", "replicas")


def check_problem(problem: ScaleProblem) -> None:
    """Pass, or name all that is wrong.

    Raises:
        PlanError: a shape disagrees, a number is negative or none, or a need has no place.
    """
    problems = list(_wrong_shapes(problem)) or [*_wrong_numbers(problem), *_wrong_words(problem)]
    if not problems:
        problems = [*_lonely_classes(problem), *_lonely_cells(problem)]
    if problems:
        raise PlanError(problems)


def _wrong_shapes(problem: ScaleProblem) -> Iterator[Problem]:
    demand, replica = np.shape(problem.demand_tok_s), np.shape(problem.replica_tok_s)
    if len(demand) != 4 or len(replica) != 2 or 0 in demand[1:]:
        yield Problem(
            where="scale problem, demand_tok_s and replica_tok_s",
            what="an axis is missing or empty",
            got=f"{demand} and {replica}",
            allowed="(class, region, pool, hour) and (pool, accelerator)",
        )
        return
    classes, regions, pools, _ = demand
    accelerators = replica[1]
    expected = {
        "survivors": (classes, regions, regions),
        "replica_tok_s": (pools, accelerators),
        "replica_gpus": (pools, accelerators),
        "allowed": (regions, pools, accelerators),
        "gpu_usd_h": (regions, accelerators),
        "quota_gpus": (regions, accelerators),
        "floor_tok_s": (regions, pools),
        "least_replicas": (regions, pools),
        "canary_replicas": (pools,),
    }
    if problem.unmoved is not None:
        expected["unmoved"] = (classes, regions)
    for name, shape in expected.items():
        if (got := np.shape(getattr(problem, name))) != shape:
            yield Problem(where=f"scale problem, {name}", what="the shape disagrees", got=str(got), allowed=str(shape))


def _wrong_numbers(problem: ScaleProblem) -> Iterator[Problem]:
    amounts = ("demand_tok_s", "replica_tok_s", "replica_gpus", "gpu_usd_h", "floor_tok_s")
    wholes = ("least_replicas", "canary_replicas")
    for name in (*amounts, *wholes, "quota_gpus"):
        values = np.asarray(getattr(problem, name))
        wrong = ~(values >= 0)
        if name != "quota_gpus":
            wrong |= np.isinf(values)
        if name in wholes:
            wrong |= values != np.floor(values)
        if name == "replica_gpus":
            wrong |= (values == 0) & (problem.replica_tok_s > 0)
        if wrong.any():
            first = tuple(int(index) for index in np.argwhere(wrong)[0])
            yield Problem(
                where=f"scale problem, {name}{list(first)}",
                what=f"{int(wrong.sum())} of {values.size} numbers are wrong",
                got=str(values[first]),
                allowed="whole and finite, 0 or more" if name in wholes else "0 or more, no infinity but in quotas",
            )
    if not 1 <= problem.surge < np.inf:
        yield Problem(where="scale problem, surge", what="not a factor", got=str(problem.surge), allowed="1 or more")


def _wrong_words(problem: ScaleProblem) -> Iterator[Problem]:
    if problem.objective not in OBJECTIVES:
        yield Problem(
            where="scale problem, objective",
            what="unknown objective",
            got=problem.objective,
            allowed=", ".join(OBJECTIVES),
            do=did_you_mean(problem.objective, OBJECTIVES),
        )


def _lonely_classes(problem: ScaleProblem) -> Iterator[Problem]:
    for index in np.flatnonzero(np.diagonal(problem.survivors, axis1=1, axis2=2).any(axis=0)):
        yield Problem(where=f"scale problem, survivors[:, {index}]", what="a lost region survives its own loss")
    for index, lost in np.argwhere(problem.moves & ~problem.survivors.any(axis=2)):
        yield Problem(
            where=f"scale problem, survivors[{index}, {lost}]",
            what="a class has demand in this region and nowhere to go when it is lost",
            do="Admit the class in another region, or name the gap in 'unmoved'",
        )


def _lonely_cells(problem: ScaleProblem) -> Iterator[Problem]:
    for region, pool in np.argwhere(problem.held & ~problem.usable.any(axis=2)):
        yield Problem(
            where=f"scale problem, allowed[{region}, {pool}]",
            what="a pool has demand or a floor in a region where no accelerator can run it",
            do="Allow an accelerator with goodput there, or move the demand",
        )
    able = np.asarray(problem.usable.any(axis=2))
    for index, lost, pool in np.argwhere(problem.moved_pools):
        if not (problem.survivors[index, lost] & able[:, pool]).any():
            yield Problem(
                where=f"scale problem, survivors[{index}, {lost}]",
                what=f"no survivor can run pool {pool}, which the class uses in this region",
                do="Allow an accelerator with goodput in a survivor, or admit the class in another region",
            )
