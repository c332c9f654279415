"""Whole per cents: largest remainder, then points moved between survivors while the priced total falls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from outlast.planner.scale.loads import hourly_load, to_loads, to_needs
from outlast.planner.scale.problem import POINTS, TOLERANCE, Bools, Floats, Ints, ScaleProblem
from outlast.planner.scale.staircase import Staircase

STEPS = (5, 2, 1)
"""Points moved at once; all that a survivor has if it has fewer."""
SWEEPS = 6
NEAR = 16
"""Survivors of a class and lost region that the search tries."""
PARTNERS = 4
"""Cheapest receivers tried for each giver."""
GAINS = 1e-7
"""Relative fall of the total that counts."""
ENOUGH = 1e-4
"""Relative fall of the total in a sweep below which the search ends."""


def to_points(shares: Floats) -> Ints:
    """Round fractions to whole per cents by largest remainder, ties by region. Shape: class, lost, region."""
    exact = shares * POINTS
    floor = np.floor(exact + 1e-9)
    missing = np.rint(exact.sum(axis=2) - floor.sum(axis=2))
    rank = np.argsort(np.argsort(floor - exact, axis=2, kind="stable"), axis=2, kind="stable")
    return np.asarray(floor + (rank < missing[:, :, None]), dtype=np.int64)


@dataclass(frozen=True)
class Move:
    """Points of a class and lost region from one survivor to another."""

    residency: int
    """Which class."""
    lost: int
    giver: int
    receiver: int


class Search:
    """Points, and the loads, needs and prices that follow from them, kept in step."""

    def __init__(self, problem: ScaleProblem, points: Ints, staircase: Staircase) -> None:
        """Start from points. Shape: class, lost, region."""
        self._problem, self._staircase = problem, staircase
        self.points = points.copy()
        loads = to_loads(problem, points / POINTS)
        self._peak = loads.peak_tok_s
        self._need = to_needs(problem, loads)
        self._cells = np.arange(self._need.size).reshape(self._need.shape)
        self._price = staircase.price(self._cells.reshape(-1), self._need.reshape(-1)).reshape(self._need.shape)
        self._near = _near_survivors(problem, points, self._need)
        self._gains = GAINS * max(self.total, 1e-300)

    @property
    def total(self) -> float:
        """Priced total."""
        return float(self._price.sum())

    def run(self, progress: Callable[[float], None]) -> None:
        """Move points while the total falls."""
        for sweep in range(SWEEPS):
            before = self.total
            for position, step in enumerate(STEPS):
                for move in self._promising(step):
                    self._try(move, step)
                progress((sweep * len(STEPS) + position + 1) / (SWEEPS * len(STEPS)))
            if before - self.total < ENOUGH * before:
                return

    def _promising(self, step: int) -> list[Move]:
        """Return moves that would pay if made alone, best first."""
        saving, price = self._estimates(step)
        found = []
        for residency, lost in np.argwhere((saving > self._gains).any(axis=2)).tolist():
            receivers = np.argsort(price[residency, lost], kind="stable")[:PARTNERS]
            for receiver in receivers.tolist():
                gain = saving[residency, lost] - price[residency, lost, receiver]
                gain[receiver] = 0.0
                givers = np.flatnonzero(gain > self._gains).tolist()
                found += [(-float(gain[giver]), residency, lost, giver, receiver) for giver in givers]
        return [Move(*rest) for _, *rest in sorted(found)]

    def _estimates(self, step: int) -> tuple[Floats, Floats]:
        """Return what giving points saves and what receiving them costs. Shapes: class, lost, region."""
        problem, points = self._problem, self.points
        saving, price = np.zeros(points.shape), np.full(points.shape, np.inf)
        worst = _worst_of_others(self._peak)
        for lost in np.flatnonzero(problem.moves.any(axis=0)).tolist():
            regions = np.flatnonzero(self._near[:, lost].any(axis=0))
            load = hourly_load(problem, points[:, lost] / POINTS, lost, regions)
            others = np.maximum(problem.alone_tok_s[regions], worst[lost, regions])
            for residency in np.flatnonzero(problem.moves[:, lost]).tolist():
                point = problem.moved_tok_s[residency, lost] / POINTS
                given = np.minimum(points[residency, lost, regions], step)
                gives, takes = given > 0, self._near[residency, lost, regions]
                fall = given[gives][:, None, None] * -point
                saving[residency, lost, regions[gives]] = -self._rise(regions, gives, load, fall, others)
                price[residency, lost, regions[takes]] = self._rise(regions, takes, load, step * point, others)
        return saving, price

    def _rise(self, regions: Ints, chosen: Bools, load: Floats, change: Floats, others: Floats) -> Floats:
        """Return by how much the prices of regions rise if their load changes. Shape: chosen region."""
        at = regions[chosen]
        need = np.maximum(others[chosen], (load[chosen] + change).max(axis=2))
        return np.asarray(self._reprice(at, need).sum(axis=1) - self._price[at].sum(axis=1))

    def _reprice(self, regions: Ints, need: Floats) -> Floats:
        """Return prices of regions' cells for needs; only what changed is looked up. Shape: region, pool."""
        price = self._price[regions]
        changed = np.abs(need - self._need[regions]) > TOLERANCE * self._problem.scale_tok_s[regions]
        price[changed] = self._staircase.price(self._cells[regions][changed], need[changed])
        return price

    def _try(self, move: Move, step: int) -> None:
        """Make a move if the total falls."""
        points = self.points[:, move.lost].copy()
        given = min(step, points[move.residency, move.giver])
        if given == 0:
            return
        points[move.residency, move.giver] -= given
        points[move.residency, move.receiver] += given
        regions = np.array([move.giver, move.receiver])
        peak = self._peak[:, regions]
        peak[move.lost] = hourly_load(self._problem, points / POINTS, move.lost, regions).max(axis=2)
        need = np.maximum(self._problem.alone_tok_s[regions], peak.max(axis=0))
        price = self._reprice(regions, need)
        if price.sum() - self._price[regions].sum() < -self._gains:
            self.points[:, move.lost] = points
            self._peak[:, regions], self._need[regions], self._price[regions] = peak, need, price


def _worst_of_others(peak_tok_s: Floats) -> Floats:
    """Return each cell's worst load in the loss of any other region. Shape: lost, region, pool."""
    if len(peak_tok_s) == 1:
        return np.zeros(peak_tok_s.shape)
    second, first = np.partition(peak_tok_s, -2, axis=0)[-2:]
    is_worst = peak_tok_s.argmax(axis=0)[None] == np.arange(len(peak_tok_s))[:, None, None]
    return np.asarray(np.where(is_worst, second, first))


def _near_survivors(problem: ScaleProblem, points: Ints, need_tok_s: Floats) -> Bools:
    """Return the survivors to try: those with points, and those with most room for what would move in."""
    near = points > 0
    for residency, lost in np.argwhere(problem.moves):
        rest = np.flatnonzero(problem.targets[residency, lost] & ~near[residency, lost])
        missing = NEAR - int(near[residency, lost].sum())
        if missing <= 0 or not len(rest):
            continue
        if len(rest) > missing:
            moved = np.maximum(problem.moved_tok_s[residency, lost], TOLERANCE)
            room = ((need_tok_s[rest, :, None] - problem.base_tok_s[rest]) / moved).min(axis=(1, 2))
            rest = rest[np.argsort(-room, kind="stable")][:missing]
        near[residency, lost, rest] = True
    return near
