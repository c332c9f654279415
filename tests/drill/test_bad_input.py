"""Impossible assumptions, loads and queues are refused by name, all at once."""

import math
from dataclasses import replace

import numpy as np
import pytest

from outlast.drill import Assumptions, FleetLoad, QueuedPool, simulate_waits
from outlast.errors import ConfigError

LOAD = FleetLoad(("a", "b"), ("chat",), ("a",), np.ones((3, 2, 1)), np.ones((3, 2, 1)), np.ones((1, 3, 2, 1)))
POOL = QueuedPool(replicas=2, slots=8, occupancy=0.7, service_s=5)


def refused(valid, **changes) -> str:
    with pytest.raises(ConfigError) as caught:
        replace(valid, **changes)
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"detection_s": -1.0}, "detection"),
        ({"detection_s": math.nan}, "detection"),
        ({"detection_s": math.inf}, "detection"),
        ({"prefill_ratio": 1.1}, "(q)"),
        ({"prefill_ratio": -0.1}, "(q)"),
        ({"prefill_ratio": math.nan}, "(q)"),
        ({"returning_ratio": 2.0}, "return"),
        ({"cold_cache": ()}, "cold caches"),
        ({"cold_cache": (1.5, math.nan)}, "cold caches"),
        ({"cold_cache": (0.9,)}, "cold caches"),
        ({"cold_cache": (math.inf,)}, "cold caches"),
    ],
)
def test_impossible_assumptions_are_refused(changes, named):
    assert named in refused(Assumptions(), **changes)


def test_all_impossible_assumptions_are_named_at_once():
    told = refused(Assumptions(), detection_s=-1.0, prefill_ratio=2.0, returning_ratio=2.0)
    assert len(told.splitlines()) == 3


@pytest.mark.parametrize("name", ["capacity_tok_s", "own_tok_s", "moved_tok_s"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_a_curve_with_an_impossible_number_is_refused(name, value):
    curve = getattr(LOAD, name).copy()
    curve.flat[2] = value
    told = refused(LOAD, **{name: curve})
    assert name in told
    assert f"{value:g}" in told


@pytest.mark.parametrize("name", ["own_tok_s", "moved_tok_s"])
def test_a_curve_of_another_shape_is_refused(name):
    assert name in refused(LOAD, **{name: getattr(LOAD, name)[..., :2, :, :]})


def test_a_lost_region_that_the_fleet_does_not_have_is_refused():
    assert "elsewhere" in refused(LOAD, lost=("elsewhere",))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("replicas", 0),
        ("slots", 0),
        ("occupancy", 0.0),
        ("occupancy", 1.0),
        ("occupancy", math.nan),
        ("service_s", 0.0),
        ("service_s", math.inf),
        ("peakedness", 0.5),
        ("peakedness", math.nan),
        ("service_cv2", -1.0),
    ],
)
def test_an_impossible_queue_is_refused(name, value):
    assert name in refused(POOL, **{name: value})


@pytest.mark.parametrize("requests", [0, 9])
def test_a_run_too_short_to_say_anything_is_refused(requests):
    with pytest.raises(ConfigError, match="requests"):
        simulate_waits(POOL, requests)
