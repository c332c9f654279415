"""Occupancy by pool size: how full a pool of replicas may run while requests hardly wait.

A pool of n replicas with s slots each, behind one picker that sees them all, is a queue with c = n s servers and
offered load a = occupancy × c. Arrivals are z times as variable as Poisson's (peakedness), service times have mean S
and squared coefficient of variation v.

    P(wait > t)  =  C(c / z, a / z) exp(−2 (c − a) t / (S (z + v)))         for c ≥ z

C is Erlang's delay formula, continued to a fractional number of servers. Source: Kimura's two-moment and Hayward's
peakedness approximations; W. Whitt, Stochastic-Process Limits, Springer 2002. Checked against an event simulation
(tests/drill): near z = 1 within a tenth; where arrivals are burstier between 4 % below it and 20 % above.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from outlast.errors import ConfigError, Problem

MOST_SERVERS = 100_000
"""Slots of the largest pool that is looked at."""

_STEPS = 50
"""Halvings of an occupancy: far below what anybody can set."""
_SMALL = 1e-16


@dataclass(frozen=True, kw_only=True)
class WaitTarget:
    """How long a request may wait, and how requests arrive and are served."""

    service_s: float
    """Mean time that a request holds a slot."""
    wait_s: float = 0.5
    """Longest wait at the quantile."""
    quantile: float = 0.99
    peakedness: float = 1.0
    """Variance over mean of the requests in an unlimited pool: 1 is Poisson, bursts and retries are above."""
    service_cv2: float = 1.0
    """Squared coefficient of variation of the service time."""

    def __post_init__(self) -> None:
        """Refuse figures that no queue has."""
        ranges = {
            "service_s": 0 < self.service_s < math.inf,
            "wait_s": 0 <= self.wait_s < math.inf,
            "quantile": 0 < self.quantile < 1,
            "peakedness": 0 < self.peakedness < math.inf,
            "service_cv2": 0 <= self.service_cv2 < math.inf,
        }
        wrong = [
            Problem(where=f"wait target, {name}", what="out of range", got=f"{getattr(self, name)}")
            for name, good in ranges.items()
            if not good
        ]
        if wrong:
            raise ConfigError(wrong)


def erlang_c(servers: float, load: float) -> float:
    """Return the part of requests that wait, for any number of servers from 1 and any load below it.

    With P and Q the lower and upper regularised incomplete gamma functions, Erlang's loss is the Poisson density at
    ``servers`` over Q(servers + 1, load); P is a series whose terms fall, so nothing cancels and nothing overflows.
    """
    if load <= 0:
        return 0.0
    if load >= servers:
        return 1.0
    density = math.exp(servers * math.log(load) - load - math.lgamma(servers + 1))
    term = total = load / (servers + 1)
    divisor = servers + 1
    while term > total * _SMALL:
        divisor += 1
        term *= load / divisor
        total += term
    loss = density / (1 - density * total)
    return loss / (1 - load / servers * (1 - loss))


def wait_tail(servers: float, occupancy: float, target: WaitTarget, wait_s: float = 0.0) -> float:
    """Return the part of requests that wait longer than ``wait_s``; 1 where the formula does not hold (c < z)."""
    if servers < target.peakedness or occupancy >= 1:
        return 1.0
    delayed = erlang_c(servers / target.peakedness, occupancy * servers / target.peakedness)
    rate = 2 * servers * (1 - occupancy) / (target.service_s * (target.peakedness + target.service_cv2))
    return delayed * math.exp(-rate * wait_s)


def holds(servers: float, occupancy: float, target: WaitTarget) -> bool:
    """Whether a pool of this many slots keeps the target at an occupancy."""
    return wait_tail(servers, occupancy, target, target.wait_s) <= 1 - target.quantile


def usable_occupancy(replicas: int, slots: int, target: WaitTarget) -> float:
    """Return the highest occupancy at which a pool keeps the target; 0 if it keeps it at none."""
    servers = _servers(replicas, slots)
    low, high = 0.0, 1.0
    if servers < target.peakedness:
        return low
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(servers, middle, target) else (low, middle)
    return low


def least_replicas(slots: int, occupancy: float, target: WaitTarget) -> int | None:
    """Return the fewest replicas that keep the target at an occupancy; None if `MOST_SERVERS` slots do not."""
    if not 0 <= occupancy < 1:
        raise ConfigError(Problem(where="occupancy", what="out of range", got=f"{occupancy:g}", allowed="0 to below 1"))
    most = MOST_SERVERS // _servers(1, slots)
    return _first(most, lambda replicas: holds(replicas * slots, occupancy, target))


def _servers(replicas: int, slots: int) -> int:
    wrong = [
        Problem(where=name, what="counted from 1", got=f"{count}")
        for name, count in (("replicas", replicas), ("slots", slots))
        if count < 1
    ]
    if not wrong and replicas * slots > MOST_SERVERS:
        got = f"{replicas} replicas of {slots}"
        wrong = [Problem(where="slots", what="more than are looked at", got=got, allowed=f"{MOST_SERVERS:,} in all")]
    if wrong:
        raise ConfigError(wrong)
    return replicas * slots


def _first(most: int, good: Callable[[int], bool]) -> int | None:
    """Return the smallest count from 1 to ``most`` that is good, where all above a good one are good."""
    high = 1
    while high < most and not good(high):
        high = min(2 * high, most)
    if not good(high):
        return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if good(middle) else (middle, high)
    return high
