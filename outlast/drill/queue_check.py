"""Waits in the queue of one pool, by a discrete-event run; what formulas for queues are checked against.

The pool is one first-come queue in front of replicas × slots servers. Requests arrive in batches at Poisson moments,
with geometric sizes: counts over a service time have variance over mean ``peakedness`` = 2 × mean batch − 1. Service
times are lognormal, or fixed where they do not vary. The run is exact under these assumptions, and the same seed gives
the same waits.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from outlast.errors import ConfigError, Problem

WARM_UP_PART = 0.1
"""Part of the run that is thrown away, because it starts with an empty queue."""

LEAST_REQUESTS = 100


@dataclass(frozen=True, kw_only=True)
class QueuedPool:
    """A pool as a queue.

    Raises:
        ConfigError: a value is impossible; every such value is named.
    """

    replicas: int
    slots: int
    """Sequences that a replica serves at once."""
    occupancy: float
    """Load over capacity."""
    service_s: float
    """Mean time that a request holds a slot."""
    peakedness: float = 1.0
    """Variance over mean of arrivals in a service time; 1 for single Poisson arrivals."""
    service_cv2: float = 1.0
    """Squared coefficient of variation of service times."""

    def __post_init__(self) -> None:
        """Check every value."""
        if problems := list(self._problems()):
            raise ConfigError(problems)

    @property
    def arrivals_s(self) -> float:
        """Requests per second."""
        return self.occupancy * self.replicas * self.slots / self.service_s

    def _problems(self) -> Iterator[Problem]:
        limits = {
            "replicas": (self.replicas >= 1, "1 or more"),
            "slots": (self.slots >= 1, "1 or more"),
            "occupancy": (0 < self.occupancy < 1, "above 0 and below 1, or the queue never settles"),
            "service_s": (0 < self.service_s < math.inf, "above 0 s"),
            "peakedness": (1 <= self.peakedness < math.inf, "1 or more: batches only add variance"),
            "service_cv2": (0 <= self.service_cv2 < math.inf, "0 or more"),
        }
        for name, (fits, allowed) in limits.items():
            if not fits:
                got = f"{getattr(self, name):g}"
                yield Problem(where=f"queue check, {name}", what="an impossible value", got=got, allowed=allowed)


@dataclass(frozen=True)
class Waits:
    """Waits of requests in order of arrival, warm-up left out."""

    waits_s: NDArray[np.float64]

    @property
    def mean_s(self) -> float:
        """Mean wait."""
        return float(self.waits_s.mean())

    @property
    def waiting_ratio(self) -> float:
        """Part of the requests that wait at all."""
        return float((self.waits_s > 0).mean())

    def quantile_s(self, part: float) -> float:
        """Return the wait that ``part`` of the requests do not exceed."""
        return float(np.quantile(self.waits_s, part))


def simulate_waits(pool: QueuedPool, requests: int = 100_000, seed: int = 1) -> Waits:
    """Run the queue for so many requests; the same seed gives the same waits.

    Raises:
        ConfigError: fewer requests than ``LEAST_REQUESTS``.
    """
    if requests < LEAST_REQUESTS:
        where, allowed = "queue check, requests", f"{LEAST_REQUESTS} or more"
        raise ConfigError(Problem(where=where, what="too few to say anything", got=str(requests), allowed=allowed))
    random = np.random.default_rng(seed)
    arrivals = _arrivals_s(pool, requests, random).tolist()
    services = _services_s(pool, requests, random).tolist()
    free = [0.0] * (pool.replicas * pool.slots)
    waits = np.empty(requests)
    for index, (arrival, service) in enumerate(zip(arrivals, services, strict=True)):
        start = max(arrival, free[0])
        waits[index] = start - arrival
        heapq.heapreplace(free, start + service)
    return Waits(waits[int(requests * WARM_UP_PART) :])


def _arrivals_s(pool: QueuedPool, requests: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Return the moments at which requests arrive; those of one batch share theirs."""
    batch = (pool.peakedness + 1) / 2
    sizes = random.geometric(1 / batch, requests)
    moments = np.cumsum(random.exponential(batch / pool.arrivals_s, requests))
    return np.repeat(moments, sizes)[:requests]


def _services_s(pool: QueuedPool, requests: int, random: np.random.Generator) -> NDArray[np.float64]:
    """Return service times with the wanted mean and variation."""
    spread = math.log1p(pool.service_cv2)
    return random.lognormal(math.log(pool.service_s) - spread / 2, math.sqrt(spread), requests)
