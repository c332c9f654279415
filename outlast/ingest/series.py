"""A series of samples becomes a curve by the hour: 24 or 168 numbers, from Monday 00:00 UTC.

Pure arithmetic on instants (seconds since 1970 UTC): which hours have samples, their means, gaps, and which day or week
the curve shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal

from outlast.errors import ConfigError, Problem
from outlast.intent.demand import DAY_HOURS, WEEK_HOURS

Reading = Literal["mean day", "largest day", "week"]
READINGS: tuple[Reading, ...] = ("largest day", "week", "mean day")
HOUR_S = 3600
_LONGEST_H = 5 * 366 * DAY_HOURS
"""A longer series is a slip in its times."""
_MONDAY = 4 * DAY_HOURS
"""Hours from 1970-01-01, a Thursday, to the first Monday 00:00 UTC."""


@dataclass(frozen=True)
class Curve:
    """What a trace file holds."""

    values: tuple[float, ...]
    """24 from 00:00 UTC, or 168 from Monday 00:00 UTC."""
    reading: Reading
    says: str
    """Which part of the series it is and what was filled."""


def hourly(samples: Iterable[tuple[float, float]]) -> dict[int, float]:
    """Return hour (counted from 1970-01-01 00:00 UTC) -> mean of its samples."""
    found: dict[int, list[float]] = defaultdict(list)
    for instant_s, value in samples:
        found[int(instant_s // HOUR_S)].append(value)
    return {hour: sum(values) / len(values) for hour, values in sorted(found.items())}


def filled(hours: Mapping[int, float], where: str, *, interpolate: bool) -> tuple[dict[int, float], int]:
    """Return the hours without gaps, and how many were filled on the straight line between their neighbours.

    Raises:
        ConfigError: there is a gap and it may not be filled, or the series spans many years.
    """
    first, last = min(hours), max(hours)
    if last - first > _LONGEST_H:
        what, got = "spans more than five years", f"{said(first)} to {said(last)}"
        raise ConfigError(Problem(where=where, what=what, got=got, do="Export a part of it, or mend the times"))
    gaps = [hour for hour in range(first, last) if hour not in hours]
    if gaps and not interpolate:
        what = f"{len(gaps)} hours have no sample, the first {said(gaps[0])}"
        raise ConfigError(Problem(where=where, what=what, do="Export them too, or add --fill interpolate"))
    whole = dict(hours)
    for hour in gaps:
        before = hour - 1  # filled already, or sampled
        after = next(later for later in range(hour + 1, last + 1) if later in hours)
        whole[hour] = whole[before] + (hours[after] - whole[before]) / (after - before)
    return dict(sorted(whole.items())), len(gaps)


def curve(hours: Mapping[int, float], reading: Reading, where: str) -> Curve:
    """Return the day or week that ``reading`` asks for.

    A week is the most recent 168 hours. Days are whole days in UTC; a series without one gives the most recent 24
    hours, each at its hour of the day.

    Raises:
        ConfigError: the series is too short.
    """
    needs = WEEK_HOURS if reading == "week" else DAY_HOURS
    if len(hours) < needs:
        do = (
            "Export a longer one"
            if needs == DAY_HOURS
            else "Export a longer one, or read it as --reading 'largest day'"
        )
        got, allowed = f"{len(hours)} hours", f"{needs} or more"
        raise ConfigError(Problem(where=where, what="the series is too short", got=got, allowed=allowed, do=do))
    last = max(hours)
    recent = range(last - needs + 1, last + 1)
    if reading == "week":
        by_hour = {(hour - _MONDAY) % WEEK_HOURS: hours[hour] for hour in recent}
        says = f"the week to {said(last + 1)}"
        return Curve(tuple(by_hour[hour] for hour in range(WEEK_HOURS)), reading, says)
    days = _days(hours) or {recent[0]: tuple(hours[hour] for hour in sorted(recent, key=lambda hour: hour % DAY_HOURS))}
    if reading == "mean day":
        mean = tuple(sum(values) / len(days) for values in zip(*days.values(), strict=True))
        return Curve(mean, reading, f"the mean of {len(days)} days from {said(min(days))}")
    first, largest = max(days.items(), key=lambda item: sum(item[1]))
    return Curve(largest, reading, f"the largest of {len(days)} days, from {said(first)}")


def _days(hours: Mapping[int, float]) -> dict[int, tuple[float, ...]]:
    starts = (hour for hour in hours if hour % DAY_HOURS == 0 and hour + DAY_HOURS - 1 in hours)
    return {start: tuple(hours[hour] for hour in range(start, start + DAY_HOURS)) for start in starts}


def said(hour: int) -> str:
    """Return an hour as a person reads it."""
    return f"{datetime.fromtimestamp(hour * HOUR_S, UTC):%Y-%m-%d %H:%M} UTC"


def looks_cumulative(values: Sequence[float]) -> bool:
    """Whether values only ever rise over a day or more, as a counter does and demand does not."""
    return (
        len(values) >= DAY_HOURS
        and values[-1] > values[0]
        and all(later >= earlier for earlier, later in pairwise(values))
    )
