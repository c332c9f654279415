"""Loses regions on paper, hour by hour, and follows load and queue of every survivor as a fluid.

For one pool at a survivor, t seconds after the loss, with detection after T and m whole minutes since:

    load(t)  =  own                                                             t < T
    load(t)  =  own + moved (1 + back) (1 + q (cold(m) − 1))                    t >= T
    queue'   =  load − capacity, never below 0;     wait  =  queue / capacity

``back``, q and cold(m) are those of `Assumptions`; ``back`` counts in the first minute only. Capacity is goodput at
full occupancy. The load is constant within a minute, so stepping by minutes is exact. A fluid has no randomness: waits
that arise below full load are not in it (`queue_check`). Traffic moves at once at T; DNS answers that live longer
would spread the wave.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outlast.drill.assumptions import MINUTE_S, Assumptions
from outlast.errors import ConfigError, Problem

Floats = NDArray[np.float64]
HORIZON_MINUTES = 60
"""A loss is followed for an hour after traffic moved; demand is that of the hour."""
ROUNDING = 1e-9
"""Part of the capacity by which a load may exceed it without a queue, for the rounding of sums only."""


@dataclass(frozen=True)
class FleetLoad:
    """What a fleet holds and is asked for; arrays are indexed by the names, hours come first.

    Raises:
        ConfigError: shapes do not fit, or a number is negative or none; every such array is named.
    """

    regions: tuple[str, ...]
    pools: tuple[str, ...]
    lost: tuple[str, ...]
    """Regions to lose, one at a time."""
    capacity_tok_s: Floats
    """(hour, region, pool): goodput of the replicas that serve, at full occupancy, in the model's unit."""
    own_tok_s: Floats
    """(hour, region, pool): demand at home there."""
    moved_tok_s: Floats
    """(lost, hour, survivor, pool): demand that moves in when a region is lost."""

    def __post_init__(self) -> None:
        """Check shapes and numbers."""
        if problems := list(self._problems()):
            raise ConfigError(problems)

    def _problems(self) -> Iterator[Problem]:
        hours = self.capacity_tok_s.shape[0] if self.capacity_tok_s.ndim else 0
        cells = (hours, len(self.regions), len(self.pools))
        wanted: Mapping[str, tuple[Floats, tuple[int, ...]]] = {
            "capacity_tok_s": (self.capacity_tok_s, cells),
            "own_tok_s": (self.own_tok_s, cells),
            "moved_tok_s": (self.moved_tok_s, (len(self.lost), *cells)),
        }
        for name, (array, shape) in wanted.items():
            where = f"region-loss simulation, {name}"
            if array.shape != shape:
                yield Problem(where=where, what="a wrong shape", got=str(array.shape), allowed=str(shape))
            elif not bool(np.isfinite(array).all() and (array >= 0).all()):
                wrong = array[~(np.isfinite(array) & (array >= 0))]
                yield Problem(where=where, what="an impossible number", got=f"{wrong[0]:g}", allowed="0 or more")
        for region in self.lost:
            if region not in self.regions:
                yield Problem(where="region-loss simulation, lost", what="a region the fleet does not have", got=region)


@dataclass(frozen=True)
class Outcome:
    """What one pool at one survivor goes through when a region is lost in one hour."""

    lost: str
    hour: int
    """Hour of the week, Monday 00:00 UTC = 0."""
    survivor: str
    pool: str
    peak_load_ratio: float
    """Highest load over capacity at full occupancy; infinite where nothing serves."""
    worst_wait_s: float
    """Longest wait in the queue."""
    drained_min: float
    """Minutes from the loss until the queue is empty for good: 0 without a queue, infinite if not within the hour."""


@dataclass(frozen=True)
class Outcomes:
    """Every `Outcome`, as arrays over (lost, hour, survivor, pool)."""

    load: FleetLoad
    peak_load_ratio: Floats
    worst_wait_s: Floats
    drained_min: Floats

    def at(self, lost: int, hour: int, survivor: int, pool: int) -> Outcome:
        """Return the outcome at four indices."""
        cell = (lost, hour, survivor, pool)
        return Outcome(
            lost=self.load.lost[lost],
            hour=hour,
            survivor=self.load.regions[survivor],
            pool=self.load.pools[pool],
            peak_load_ratio=float(self.peak_load_ratio[cell]),
            worst_wait_s=float(self.worst_wait_s[cell]),
            drained_min=float(self.drained_min[cell]),
        )


def lose_regions(load: FleetLoad, assumptions: Assumptions) -> Outcomes:
    """Lose each region of ``load.lost`` at every hour."""
    followed = [_follow(load, moved, assumptions) for moved in load.moved_tok_s]
    shape = load.moved_tok_s.shape
    peak, wait, drained = (
        np.stack([found[part] for found in followed]) if followed else np.zeros(shape) for part in range(3)
    )
    return Outcomes(load, peak, wait, drained)


def worst_of_survivors(outcomes: Outcomes) -> tuple[Outcome, ...]:
    """Return the worst hour of every pool that takes something over, by lost region and survivor."""
    moved = outcomes.load.moved_tok_s
    found = []
    for lost, survivor, pool in np.ndindex(moved.shape[0], *moved.shape[2:]):
        hours = (lost, slice(None), survivor, pool)
        if moved[hours].any():
            hour = np.lexsort((-outcomes.peak_load_ratio[hours], -outcomes.worst_wait_s[hours]))[0]
            found.append(outcomes.at(lost, int(hour), survivor, pool))
    return tuple(found)


def worst(outcomes: Outcomes) -> Outcome | None:
    """Return the outcome with the longest wait, among equals the highest load; None if nothing moves."""
    return max(worst_of_survivors(outcomes), key=lambda it: (it.worst_wait_s, it.peak_load_ratio), default=None)


def _follow(load: FleetLoad, moved: Floats, assumptions: Assumptions) -> tuple[Floats, Floats, Floats]:
    """Return peak load ratio, worst wait and minutes until drained, for one lost region."""
    full = load.capacity_tok_s * (1 + ROUNDING)
    peak = load.own_tok_s
    queue = np.maximum(0.0, load.own_tok_s - full) * assumptions.detection_s
    longest, drained_s = queue, np.zeros_like(queue)
    for minute in range(HORIZON_MINUTES):
        now = load.own_tok_s + moved * assumptions.moved_factor(minute)
        after = np.maximum(0.0, queue + MINUTE_S * (now - full))
        emptied = (queue > 0) & (after == 0)
        within_s = np.divide(queue, full - now, out=np.zeros_like(queue), where=emptied)
        drained_s = np.where(emptied, assumptions.detection_s + minute * MINUTE_S + within_s, drained_s)
        peak, longest, queue = np.maximum(peak, now), np.maximum(longest, after), after
    drained_s[queue > 0] = np.inf
    return _ratio(peak, load.capacity_tok_s), _ratio(longest, load.capacity_tok_s), drained_s / MINUTE_S


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return part over whole; something of nothing is infinite, nothing of nothing is 0."""
    return np.divide(part, whole, out=np.where(part > 0, np.inf, 0.0), where=whole > 0)
