"""The discrete-event run against exact results of queueing theory, and the tail formula against the run."""

import math

import numpy as np
import pytest

from outlast.drill import QueuedPool, simulate_waits

SLOTS, SERVICE_S = 64, 5.4
"""A chat replica of the inference-platform programme: 211 output tokens at 2500 tok/s over 64 slots."""
MANY = 500_000
"""Requests; peaked arrivals come in few batches, so that a quantile of 100,000 is off by a tenth."""


def chat(**changes) -> QueuedPool:
    return QueuedPool(**{"slots": SLOTS, "service_s": SERVICE_S, "service_cv2": 0.6} | changes)


def erlang_c(servers: int, offered: float) -> float:
    """Probability of waiting with Poisson arrivals (A. K. Erlang, 1917)."""
    inverse = 1.0
    for number in range(1, servers + 1):
        inverse = 1 + inverse * number / offered
    blocked = 1 / inverse
    return blocked / (1 - offered / servers * (1 - blocked))


def tail_p99_s(pool: QueuedPool) -> float:
    """99th percentile of the wait by Kimura's tail with Hayward's scaling of servers and load by the peakedness."""
    servers, z = pool.replicas * pool.slots, pool.peakedness
    waiting = erlang_c(max(1, round(servers / z)), pool.occupancy * servers / z)
    rate = 2 * servers * (1 - pool.occupancy) / pool.service_s / (z + pool.service_cv2)
    return max(0.0, math.log(waiting / 0.01) / rate)


def mean_of_one_server_s(pool: QueuedPool) -> float:
    """Mean wait of one server with batches: Pollaczek and Khinchine, and waiting for one's own batch."""
    first = pool.occupancy * (1 + pool.service_cv2) / 2
    return pool.service_s * (first + (pool.peakedness - 1) / 2) / (1 - pool.occupancy)


@pytest.mark.parametrize("cv2", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("peakedness", [1, 5])
def test_mean_waits_of_one_server_are_exact(cv2, peakedness):
    pool = QueuedPool(replicas=1, slots=1, occupancy=0.5, service_s=2, peakedness=peakedness, service_cv2=cv2)
    assert simulate_waits(pool).mean_s == pytest.approx(mean_of_one_server_s(pool), rel=0.06)


def test_the_part_that_waits_is_erlangs():
    # Erlang's C holds for exponential service; a lognormal of the same variation comes close
    pool = QueuedPool(replicas=2, slots=8, occupancy=0.85, service_s=5)
    assert simulate_waits(pool).waiting_ratio == pytest.approx(erlang_c(16, 0.85 * 16), rel=0.1)


@pytest.mark.parametrize("peakedness", [1, 4, 16])
def test_counts_of_arrivals_vary_as_the_peakedness_says(peakedness):
    from outlast.drill.queue_check import _arrivals_s

    pool = QueuedPool(replicas=5, slots=8, occupancy=0.7, service_s=5, peakedness=peakedness)
    moments = _arrivals_s(pool, 100_000, np.random.default_rng(1))
    counts = np.bincount((moments / pool.service_s).astype(int))[:-1]
    assert counts.mean() == pytest.approx(pool.arrivals_s * pool.service_s, rel=0.05)
    assert counts.var() / counts.mean() == pytest.approx(peakedness, rel=0.1)


@pytest.mark.parametrize(("replicas", "peakedness"), [(2, 16), (5, 16), (5, 64)])
def test_the_tail_formula_is_within_a_quarter_for_peaked_arrivals(replicas, peakedness):
    pool = chat(replicas=replicas, occupancy=0.7, peakedness=peakedness)
    found = simulate_waits(pool, MANY)
    assert 0.9 * found.quantile_s(0.99) < tail_p99_s(pool) < 1.25 * found.quantile_s(0.99)


@pytest.mark.parametrize(("replicas", "peakedness"), [(2, 16), (5, 16), (5, 64)])
def test_the_formula_never_says_that_fewer_wait_than_do(replicas, peakedness):
    pool = chat(replicas=replicas, occupancy=0.7, peakedness=peakedness)
    servers = replicas * SLOTS / peakedness
    assert simulate_waits(pool).waiting_ratio < erlang_c(round(servers), 0.7 * servers)


def test_the_tail_formula_is_close_for_poisson_arrivals():
    pool = chat(replicas=1, slots=32, occupancy=0.9)
    assert tail_p99_s(pool) == pytest.approx(simulate_waits(pool, MANY).quantile_s(0.99), rel=0.12)


def test_the_same_seed_gives_the_same_waits():
    pool = QueuedPool(replicas=1, slots=8, occupancy=0.8, service_s=1)
    first, again, other = (simulate_waits(pool, 2_000, seed).waits_s for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_larger_pool_at_the_same_occupancy_waits_less():
    waits = [
        simulate_waits(QueuedPool(replicas=n, slots=8, occupancy=0.9, service_s=1)).quantile_s(0.99) for n in (1, 4, 16)
    ]
    assert waits == sorted(waits, reverse=True)
