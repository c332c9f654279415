"""Samples become the hours of a day or week in UTC."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.errors import ConfigError
from outlast.ingest.series import HOUR_S, curve, filled, hourly, looks_cumulative

MONDAY = 493_512
"""Hours from 1970-01-01 to Monday 2026-04-20 00:00 UTC. Source: `date -u -d 2026-04-20 +%s`, 1776643200."""


def test_the_anchor_is_a_monday():
    assert MONDAY * HOUR_S == 1_776_643_200


def test_partial_hours_are_averaged():
    assert hourly([(0, 10), (900, 20), (3599, 30), (3600, 5)]) == {0: 20, 1: 5}


def test_a_week_begins_on_monday_whenever_the_series_begins():
    hours = {MONDAY + 50 + hour: float((50 + hour) % 168) for hour in range(168)}
    assert curve(hours, "week", "f").values == tuple(float(hour) for hour in range(168))


def test_of_a_longer_series_the_most_recent_week_counts():
    hours = {MONDAY + hour: 1.0 if hour < 168 else 2.0 for hour in range(336)}
    assert set(curve(hours, "week", "f").values) == {2.0}


def test_the_largest_day_is_a_whole_day_in_utc():
    hours = {MONDAY + 20 + hour: 100.0 if 24 <= 20 + hour < 48 else 1.0 for hour in range(70)}
    assert curve(hours, "largest day", "f").values == (100.0,) * 24


def test_the_mean_day_is_the_mean_of_whole_days():
    hours = {MONDAY + hour: float(hour // 24) for hour in range(72)}
    assert curve(hours, "mean day", "f").values == (1.0,) * 24


def test_a_day_across_midnight_keeps_each_hour_of_the_day():
    hours = {MONDAY + 6 + hour: float((6 + hour) % 24) for hour in range(24)}
    assert curve(hours, "largest day", "f").values == tuple(float(hour) for hour in range(24))


def test_a_gap_is_refused_and_filled_on_the_line_between_its_neighbours():
    hours = {MONDAY: 10.0, MONDAY + 1: 20.0, MONDAY + 4: 80.0}
    with pytest.raises(ConfigError, match=r"2 hours.*2026-04-20 02:00 UTC.*interpolate"):
        filled(hours, "f", interpolate=False)
    whole, gaps = filled(hours, "f", interpolate=True)
    assert (gaps, list(whole.values())) == (2, [10, 20, pytest.approx(40), pytest.approx(60), 80])


def test_a_series_over_many_years_is_a_slip():
    with pytest.raises(ConfigError, match=r"five years.*1970"):
        filled({0: 1.0, MONDAY: 1.0}, "f", interpolate=True)


@pytest.mark.parametrize(("hours", "reading"), [(23, "largest day"), (23, "mean day"), (167, "week"), (24, "week")])
def test_a_series_that_is_too_short_is_refused(hours, reading):
    with pytest.raises(ConfigError, match=f"too short.*{hours} hours"):
        curve({MONDAY + hour: 1.0 for hour in range(hours)}, reading, "f")


@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.integers(0, 400), st.integers(168, 400))
def test_a_week_holds_the_samples_of_its_hours_and_no_others(start, length):
    hours = {MONDAY + start + index: float(start + index) for index in range(length)}
    found = curve(hours, "week", "f").values
    assert [value % 168 for value in found] == list(range(168))
    assert min(found) == start + length - 168


@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.integers(0, 23), st.lists(st.integers(0, 9), min_size=2, max_size=8))
def test_no_whole_day_of_a_series_is_larger_than_the_largest(start, days):
    hours = {MONDAY + hour: float(days[hour // 24]) for hour in range(start, 24 * len(days))}
    assert curve(hours, "largest day", "f").values == (max(days[1:] if start else days),) * 24


def test_a_counter_is_told_from_a_rate():
    assert looks_cumulative(range(48))
    assert not looks_cumulative([*range(24), 0])
    assert not looks_cumulative([5.0] * 48)
