"""How full a pool may run depends on its size; figures of an independent calculation are reproduced."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.errors import ConfigError
from outlast.replica import WaitTarget, erlang_c, least_replicas, usable_occupancy, wait_tail
from outlast.replica.queueing import MOST_SERVERS, holds

GOODPUT_TOK_S, OUTPUT_TOKENS = 2500, 211
NORMAL = 0.7


def target(slots: int, z: float, **changes) -> WaitTarget:
    """p99 wait of 0.5 s for requests of 211 output tokens on a replica of 2,500 tok/s."""
    return WaitTarget(**{"service_s": OUTPUT_TOKENS * slots / GOODPUT_TOK_S, "peakedness": z, **changes})


@pytest.mark.parametrize(
    ("slots", "row"), [(190, [1, 1, 4, 14]), (64, [1, 2, 8, 29]), (32, [1, 3, 11, 41])], ids=["190", "64", "32"]
)
def test_the_least_replicas_at_the_programmes_occupancy(slots, row):
    assert [least_replicas(slots, NORMAL, target(slots, z)) for z in (1, 4, 16, 64)] == row


@pytest.mark.parametrize(
    ("z", "row"),
    [
        (4, [0.58, 0.71, 0.84, 0.90, 0.94]),
        (16, [0.24, 0.42, 0.63, 0.75, 0.84]),
        (64, [None, 0.09, 0.30, 0.47, 0.63]),
    ],
)
def test_the_usable_occupancy_of_small_and_large_pools(z, row):
    found = [usable_occupancy(n, 64, target(64, z, service_cv2=0.6)) for n in (1, 2, 5, 10, 20)]
    for occupancy, known in zip(found, row, strict=True):
        assert occupancy == pytest.approx(known or 0, abs=0.006 if known else 0.02)


def by_recursion(servers: int, load: float) -> float:
    """Erlang's delay formula the textbook's way."""
    inverse = 1.0
    for number in range(1, servers + 1):
        inverse = 1 + inverse * number / load
    loss = 1 / inverse
    return loss / (1 - load / servers * (1 - loss))


@given(servers=st.integers(1, 400), occupancy=st.floats(0.01, 0.999))
@settings(derandomize=True, max_examples=100)
def test_whole_servers_agree_with_the_recursion(servers, occupancy):
    load = servers * occupancy
    assert erlang_c(servers, load) == pytest.approx(by_recursion(servers, load), rel=1e-7)


def loss_of(servers: float, load: float) -> float:
    delayed = erlang_c(servers, load)
    return delayed * (1 - load / servers) / (1 - delayed * load / servers)


@given(servers=st.floats(1, 300), occupancy=st.floats(0.05, 0.99))
@settings(derandomize=True, max_examples=100)
def test_fractions_of_servers_obey_the_recursion_of_erlangs_loss(servers, occupancy):
    load = servers * occupancy
    known = 1 / (1 + (servers + 1) / load / loss_of(servers, load))
    assert loss_of(servers + 1, load) == pytest.approx(known, rel=1e-6)


def test_one_server_waits_as_often_as_it_is_busy():
    assert erlang_c(1, 0.37) == pytest.approx(0.37)


@pytest.mark.parametrize("occupancy", [0.5, 0.99, 0.999, 0.99999, 1 - 1e-12])
def test_a_hundred_thousand_servers_neither_overflow_nor_lose_order(occupancy):
    delayed = erlang_c(MOST_SERVERS, MOST_SERVERS * occupancy)
    assert 0 <= delayed <= 1
    assert delayed <= erlang_c(MOST_SERVERS / 2, MOST_SERVERS / 2 * occupancy) + 1e-12


def test_the_largest_pool_may_run_nearly_full():
    assert 0.99 < usable_occupancy(MOST_SERVERS // 100, 100, target(100, 1)) < 1


@given(
    slots=st.integers(1, 300),
    occupancy=st.floats(0.05, 0.95),
    z=st.floats(0.5, 100),
    cv2=st.floats(0, 5),
    service_s=st.floats(0.1, 60),
)
@settings(derandomize=True, max_examples=60)
def test_the_least_replicas_hold_and_one_fewer_do_not(slots, occupancy, z, cv2, service_s):
    goal = WaitTarget(service_s=service_s, peakedness=z, service_cv2=cv2)
    least = least_replicas(slots, occupancy, goal)
    if least is None:
        assert not holds(MOST_SERVERS // slots * slots, occupancy, goal)
    else:
        assert holds(least * slots, occupancy, goal)
        assert least == 1 or not holds((least - 1) * slots, occupancy, goal)


@given(slots=st.integers(1, 200), z=st.floats(1, 64))
@settings(derandomize=True, max_examples=40)
def test_a_larger_pool_may_run_fuller(slots, z):
    found = [usable_occupancy(n, slots, target(slots, z)) for n in (1, 2, 4, 8, 16)]
    assert all(few <= many + 1e-9 for few, many in itertools.pairwise(found))


@given(replicas=st.integers(1, 30), z=st.floats(1, 30))
@settings(derandomize=True, max_examples=40)
def test_burstier_arrivals_leave_less_occupancy(replicas, z):
    calm, bursty = (usable_occupancy(replicas, 64, target(64, each)) for each in (z, 2 * z))
    assert bursty <= calm + 1e-9


def test_a_pool_smaller_than_its_bursts_keeps_no_target():
    assert usable_occupancy(1, 8, target(8, 16)) == 0
    assert wait_tail(8, 0.1, target(8, 16)) == 1


def test_a_full_pool_always_waits():
    assert wait_tail(100, 1.0, target(64, 1), 10.0) == 1


def test_no_pool_within_the_limit_is_said_as_none():
    assert least_replicas(32, 0.999999, target(32, 64)) is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("service_s", 0),
        ("service_s", math.nan),
        ("service_s", math.inf),
        ("wait_s", -1),
        ("wait_s", math.nan),
        ("quantile", 0),
        ("quantile", 1),
        ("peakedness", 0),
        ("peakedness", math.nan),
        ("service_cv2", -0.1),
        ("service_cv2", math.inf),
    ],
)
def test_a_target_that_no_queue_has_is_refused(field, value):
    with pytest.raises(ConfigError, match=field):
        target(64, 1, **{field: value})


@pytest.mark.parametrize(("replicas", "slots"), [(0, 64), (1, 0), (-1, -1), (MOST_SERVERS, 2)])
def test_a_pool_without_replicas_or_slots_or_beyond_the_limit_is_refused(replicas, slots):
    with pytest.raises(ConfigError):
        usable_occupancy(replicas, slots, target(64, 1))


@pytest.mark.parametrize("occupancy", [-0.1, 1.0, math.nan])
def test_an_occupancy_that_no_pool_runs_at_is_refused(occupancy):
    with pytest.raises(ConfigError, match="occupancy"):
        least_replicas(64, occupancy, target(64, 1))
