"""Recorded weeks become fleets as `benchmarks.replay` says."""

import numpy as np
import pytest

from benchmarks.replay import PEAK_TOK_S, UTC_OFFSET_H, Replayed, Week, reading, weeks

RECORDED = {week.name: week for week in weeks()}


@pytest.mark.parametrize("name", RECORDED)
def test_every_week_has_its_peaks_and_168_hours(name):
    demand = RECORDED[name].demand_tok_s()
    assert demand.shape == (168, 3)
    assert demand.max(axis=0) == pytest.approx(list(PEAK_TOK_S.values()))


def test_a_local_trace_peaks_at_the_same_local_hour_everywhere():
    nine_on_tuesday = Week("one peak", np.eye(1, 168, 24 + 9).ravel(), local=True)
    peaks = nine_on_tuesday.demand_tok_s().argmax(axis=0)
    assert [hour + UTC_OFFSET_H[region] for hour, region in zip(peaks, PEAK_TOK_S, strict=True)] == [33, 33, 33]


def test_a_blended_trace_is_every_regions_as_it_is():
    demand = Week("any", np.arange(1.0, 169.0), local=False).demand_tok_s() / list(PEAK_TOK_S.values())
    assert np.allclose(demand[:, 0], demand[:, 1])


def test_a_plan_that_waits_longer_is_said_to():
    even, mine = Replayed("even", 10, (1.0, 1.0), (2.0, 3.0)), Replayed("ours", 8, (1.0, 1.0), (2.0, 40.0))
    told = reading([(even, mine)])
    assert "1 of 2" in told
    assert "37 s" in told
