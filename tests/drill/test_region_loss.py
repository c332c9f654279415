"""What must hold of every region loss, on fleets drawn at random and on one that fits in a head."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from outlast.drill import Assumptions, FleetLoad, lose_regions, worst, worst_of_survivors

REGIONS, POOLS, HOURS = ("us-east", "eu-north", "us-west"), ("chat", "code"), 4
few = settings(max_examples=25, deadline=None, derandomize=True)
WARM = Assumptions(detection_s=60, returning_ratio=0, prefill_ratio=0, cold_cache=(1.0,))


def tok_s(*shape: int):
    return arrays(np.float64, shape, elements=st.integers(0, 100).map(float))


@st.composite
def loads(draw) -> FleetLoad:
    """Any fleet of three regions and two pools; the lost region keeps nothing of what moves."""
    cells = (HOURS, len(REGIONS), len(POOLS))
    moved = draw(tok_s(len(REGIONS), *cells))
    for lost in range(len(REGIONS)):
        moved[lost, :, lost] = 0
    return FleetLoad(REGIONS, POOLS, REGIONS, draw(tok_s(*cells)), draw(tok_s(*cells)), moved)


@st.composite
def assumptions(draw) -> Assumptions:
    ratio = st.integers(0, 10).map(lambda tenths: tenths / 10)
    curve = st.lists(st.integers(10, 30).map(lambda tenths: tenths / 10), min_size=1, max_size=8)
    return Assumptions(
        detection_s=draw(st.integers(0, 300)),
        returning_ratio=draw(ratio),
        prefill_ratio=draw(ratio),
        cold_cache=tuple(draw(curve)),
    )


def single(capacity: float, own: float, moved: float) -> FleetLoad:
    """One survivor, one pool, one hour."""
    cells = np.array([[[0.0], [capacity]]]), np.array([[[moved], [own]]])
    return FleetLoad(("lost", "kept"), ("chat",), ("lost",), *cells, np.array([[[[0.0], [moved]]]]))


def outcome(load: FleetLoad, assumed: Assumptions):
    (found,) = worst_of_survivors(lose_regions(load, assumed))
    return found


def test_a_queue_builds_above_full_load_and_drains_below_it():
    # For a minute (50 + 40 × 1.5) − 100 = 10 too much: 600 wait 6 s.  Then 100 − 90 = 10 to spare: gone 60 s later.
    found = outcome(single(100, 50, 40), Assumptions(returning_ratio=0.5, prefill_ratio=0))
    assert (found.peak_load_ratio, found.worst_wait_s) == pytest.approx((1.10, 6))
    assert found.drained_min == pytest.approx(3, rel=1e-6)


def test_cold_caches_count_minute_by_minute():
    # 50 + 40 (1 + 0.5 × 1) = 110, then 50 + 40 (1 + 0.5 × 2) = 130, then 90: 10 + 30 = 40 a minute of 100
    cold = Assumptions(returning_ratio=0, prefill_ratio=0.5, cold_cache=(2.0, 3.0, 1.0))
    found = outcome(single(100, 50, 40), cold)
    assert (found.peak_load_ratio, found.worst_wait_s) == pytest.approx((1.30, 24))


def test_only_failures_of_the_last_minute_return():
    half_a_minute = outcome(single(100, 0, 80), replace(WARM, detection_s=30, returning_ratio=1))
    five_minutes = outcome(single(100, 0, 80), replace(WARM, detection_s=300, returning_ratio=1))
    assert half_a_minute.peak_load_ratio == pytest.approx(1.2)
    assert five_minutes.peak_load_ratio == pytest.approx(1.6)


def test_an_overload_that_stays_is_not_drained_within_the_hour():
    found = outcome(single(100, 60, 50), WARM)
    assert found.drained_min == math.inf
    assert found.worst_wait_s == pytest.approx(3600 * 0.1)


def test_a_region_that_is_short_already_queues_until_traffic_moves():
    # 19 too much of 100 for a minute more
    soon, late = (outcome(single(100, 119, 1), replace(WARM, detection_s=s)).worst_wait_s for s in (0, 60))
    assert late - soon == pytest.approx(0.19 * 60)


def test_exactly_full_is_no_overload():
    # 0.1 + 0.2 is above 0.3 in floating point only
    found = outcome(single(0.3, 0.1, 0.2), WARM)
    assert (found.worst_wait_s, found.drained_min) == (0, 0)


def test_where_nothing_serves_the_wait_has_no_end():
    found = outcome(single(0, 0, 10), WARM)
    assert (found.peak_load_ratio, found.worst_wait_s, found.drained_min) == (math.inf, math.inf, math.inf)


@few
@given(loads(), assumptions())
def test_without_a_loss_a_fleet_that_holds_its_own_demand_has_no_queue(load, assumed):
    calm = replace(load, capacity_tok_s=load.own_tok_s, moved_tok_s=np.zeros_like(load.moved_tok_s))
    found = lose_regions(calm, assumed)
    assert not found.worst_wait_s.any()
    assert not found.drained_min.any()


@few
@given(loads(), assumptions(), tok_s(HOURS, len(REGIONS), len(POOLS)))
def test_more_replicas_never_make_a_wait_longer(load, assumed, more):
    before = lose_regions(load, assumed)
    after = lose_regions(replace(load, capacity_tok_s=load.capacity_tok_s + more), assumed)
    for name in ("peak_load_ratio", "worst_wait_s", "drained_min"):
        assert (getattr(after, name) <= getattr(before, name) * (1 + 1e-9)).all()


@few
@given(loads(), assumptions(), st.integers(0, 7))
def test_a_colder_cache_never_makes_a_wait_shorter(load, assumed, minute):
    curve = list(assumed.cold_cache)
    curve[minute % len(curve)] += 0.5
    before = lose_regions(load, assumed)
    after = lose_regions(load, replace(assumed, cold_cache=tuple(curve)))
    assert (after.worst_wait_s >= before.worst_wait_s).all()
    assert (after.peak_load_ratio >= before.peak_load_ratio).all()


@few
@given(loads(), assumptions())
def test_pools_and_hours_do_not_touch_each_other(load, assumed):
    alone = replace(
        load,
        pools=("code",),
        capacity_tok_s=load.capacity_tok_s[2:3, :, 1:],
        own_tok_s=load.own_tok_s[2:3, :, 1:],
        moved_tok_s=load.moved_tok_s[:, 2:3, :, 1:],
    )
    found = lose_regions(alone, assumed).worst_wait_s
    assert np.array_equal(found, lose_regions(load, assumed).worst_wait_s[:, 2:3, :, 1:])


@few
@given(loads(), assumptions())
def test_the_worst_is_the_longest_wait_of_all_that_take_something_over(load, assumed):
    found = lose_regions(load, assumed)
    taking = np.broadcast_to(load.moved_tok_s.any(axis=1, keepdims=True), load.moved_tok_s.shape)
    one = worst(found)
    assert (one.worst_wait_s if one else None) == (found.worst_wait_s[taking].max() if taking.any() else None)


def test_nothing_is_worst_where_nothing_moves():
    assert worst(lose_regions(single(100, 50, 0), WARM)) is None
