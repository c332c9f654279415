"""The curves of cold caches are those of the recorded traces."""

import json

import numpy as np
import pytest

from benchmarks.replay import TRACES
from outlast.drill import COLD_CACHES

SOURCES = {"chat": "conversation", "multi-turn": "synthetic"}


def measured(name: str) -> np.ndarray:
    """Prefill after the loss over prefill without it, from the first whole minute, as the mean of two minutes."""
    trace = json.loads((TRACES / "mooncake_per_minute.json").read_text())["traces"][SOURCES[name]]
    warm = np.array(trace["uncached_input_tokens_per_min"], float)
    cold = np.array(trace["uncached_input_tokens_per_min_cache_lost_at_half"], float)
    first = int(np.flatnonzero(warm != cold)[0]) + 1
    ratio = cold[first:] / warm[first:]
    return np.maximum(1, (np.concatenate([ratio[:1], ratio[:-1]]) + ratio) / 2)


@pytest.mark.parametrize("name", SOURCES)
def test_every_minute_is_as_measured(name):
    curve = COLD_CACHES[name][:-1]
    assert curve == pytest.approx(measured(name)[: len(curve)], abs=0.001)


@pytest.mark.parametrize("name", SOURCES)
def test_the_last_value_is_the_mean_of_what_is_left(name):
    curve = COLD_CACHES[name]
    assert curve[-1] == pytest.approx(measured(name)[len(curve) - 1 :].mean(), abs=0.001)


def test_every_curve_has_a_source():
    assert set(COLD_CACHES) == set(SOURCES)
