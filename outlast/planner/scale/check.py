"""Recomputes a plan from the arrays, loss by loss and hour by hour, with nothing of what found it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from outlast.planner.scale.problem import POINTS, TOLERANCE, Floats, Ints, ScaleProblem


@dataclass(frozen=True)
class Breach:
    """One need that a plan does not serve."""

    what: str
    """``share``, ``place``, ``least``, ``alone`` or ``loss``."""
    index: tuple[int, ...]
    """Where: class, lost region; region, pool; or lost region, region, pool, hour."""
    need: float
    got: float


def check(problem: ScaleProblem, shares_pct: Ints, replicas: Ints) -> tuple[Breach, ...]:
    """Return every breach of a plan, the worst hour of each cell and loss; quotas are not looked at.

    Shapes: class, lost, region, and region, pool, accelerator.
    """
    shares, counts = np.asarray(shares_pct), np.asarray(replicas)
    in_use = _in_use(problem, shares)
    counted = counts - problem.canaries * in_use[:, :, None]
    capacity = (counted * problem.replica_tok_s).sum(axis=2)
    return (
        *_share_breaches(problem, shares),
        *_count_breaches(problem, counts, in_use),
        *_capacity_breaches(problem, shares, capacity),
    )


def _in_use(problem: ScaleProblem, shares: Ints) -> np.ndarray:
    """Return where a pool has demand at home, a floor, or a share of demand that moves. Shape: region, pool."""
    at_home = problem.demand_tok_s.sum(axis=(0, 3)) > 0
    arrives = np.zeros(at_home.shape, dtype=bool)
    for residency, lost in np.argwhere(problem.moves):
        uses = problem.demand_tok_s[residency, lost].max(axis=1) > 0
        arrives |= (shares[residency, lost] > 0)[:, None] & uses
    return np.asarray(at_home | arrives | (problem.floor_tok_s > 0))


def _share_breaches(problem: ScaleProblem, shares: Ints) -> Iterator[Breach]:
    for residency, lost in np.ndindex(*problem.moves.shape):
        row = shares[residency, lost]
        need = POINTS if problem.moves[residency, lost] else 0
        allowed = row[problem.survivors[residency, lost]].sum() if need else row.sum()
        if (row < 0).any() or row.sum() != need or allowed != need:
            yield Breach("share", (residency, lost), need, float(allowed))


def _count_breaches(problem: ScaleProblem, counts: Ints, in_use: np.ndarray) -> Iterator[Breach]:
    for region, pool in np.ndindex(*in_use.shape):
        row = counts[region, pool]
        misplaced = row[~(problem.allowed[region, pool] & (problem.replica_tok_s[pool] > 0))].sum()
        if (row < 0).any() or misplaced:
            yield Breach("place", (region, pool), 0, float(misplaced))
        least = problem.least_replicas[region, pool] if in_use[region, pool] else 0
        if row.sum() < least:
            yield Breach("least", (region, pool), float(least), float(row.sum()))


def _capacity_breaches(problem: ScaleProblem, shares: Ints, capacity: Floats) -> Iterator[Breach]:
    at_home = problem.demand_tok_s.sum(axis=0)
    alone = np.maximum(problem.floor_tok_s, at_home.max(axis=2))
    for region, pool in np.argwhere(capacity < alone * (1 - TOLERANCE)):
        yield Breach("alone", (region, pool), float(alone[region, pool]), float(capacity[region, pool]))
    for lost in range(len(capacity)):
        load = at_home.copy()
        for residency in np.flatnonzero(problem.moves[:, lost]):
            arriving = problem.surge * problem.demand_tok_s[residency, lost]
            load += (shares[residency, lost] / POINTS)[:, None, None] * arriving
        load[lost] = 0.0
        for region, pool in np.argwhere(capacity < load.max(axis=2) * (1 - TOLERANCE)):
            hour = int(load[region, pool].argmax())
            where = (lost, int(region), int(pool), hour)
            yield Breach("loss", where, float(load[region, pool, hour]), float(capacity[region, pool]))
