"""Replicas that each hour asks for, and the few windows of the week that hold them.

An autoscaler may go down to the floor in force, so the floor alone must survive what the plan survives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from outlast.intent import HOURS
from outlast.lock import MAX_WINDOWS, Replicas, Window, floor_at
from outlast.planner.arrays import Arrays, CellKey, Lane
from outlast.planner.needs import Shares, hours_of, is_enough

DAY = 24
ROLLOUT_PART = 10
"""A rollout window frees at least one in so many of a pool's replicas."""
_Days = Literal["mon-fri", "sat-sun"]
_WEEKDAYS: Mapping[_Days, range] = {"mon-fri": range(5), "sat-sun": range(5, 7)}
_SEGMENTS = MAX_WINDOWS // len(_WEEKDAYS)


def replicas_by_hour(arrays: Arrays, key: CellKey, lane: Lane, zones: Mapping[str, int], shares: Shares) -> list[int]:
    """Return the fewest replicas of a cell's only lane that hold every case of each hour. Shape: hour.

    Args:
        arrays: the fleet's needs.
        key: the cell.
        lane: its lane.
        zones: zone -> planned replicas there; fewer replicas keep the same parts.
        shares: where lost regions go.
    """
    planned = sum(zones.values())
    needed = np.full(HOURS, planned)
    for count in range(planned, 0, -1):
        needed[_holds(arrays, key, lane, zones, count, shares) & (needed == count + 1)] = count
    return [int(count) for count in needed]


def _holds(
    arrays: Arrays, key: CellKey, lane: Lane, zones: Mapping[str, int], count: int, shares: Shares
) -> NDArray[np.bool_]:
    cell = arrays.cells[key]
    good = np.full(HOURS, count - cell.canary >= cell.minimum)
    for _, need, have in hours_of(arrays, key, {lane.key: zones}, {lane.key: count}, shares):
        good &= is_enough(have, need)
    return good


def to_floors(needed: Sequence[int]) -> tuple[int, tuple[Window, ...]]:
    """Return a floor and windows above it that hold what every hour needs, with the fewest replica-hours.

    Monday to Friday share their windows, and Saturday and Sunday theirs; at most `MAX_WINDOWS` in all.
    """
    floor = min(needed)
    windows = [
        Window(days=days, from_h=start, to_h=end, replicas=most)
        for days in _WEEKDAYS
        for start, end, most in _segments(_profile(needed, days), floor)
    ]
    return floor, _merged(windows)


def floors_of(replicas: Replicas, windows: Iterable[Window]) -> list[int]:
    """Return the floor in force at each hour of the week."""
    kept = tuple(windows)
    return [floor_at(replicas, kept, hour) for hour in range(HOURS)]


def to_rollout(needed: Sequence[int], planned: int) -> tuple[Window, ...]:
    """Return the hours in which a tenth of a pool's replicas, or more, can be taken for a rollout without a risk."""
    least = max(1, -(-planned // ROLLOUT_PART))
    windows = []
    for days in _WEEKDAYS:
        spare = [planned - count for count in _profile(needed, days)]
        runs = _runs([count >= least for count in spare])
        longest = sorted(runs, key=lambda run: (run[0] - run[1], run[0]))[:_SEGMENTS]
        windows += [
            Window(days=days, from_h=start, to_h=end, replicas=min(spare[start:end])) for start, end in sorted(longest)
        ]
    return _merged(windows)


def _profile(needed: Sequence[int], days: _Days) -> tuple[int, ...]:
    """Return the most that each hour of the day needs on some days. Shape: hour of day."""
    return tuple(max(needed[day * DAY + hour] for day in _WEEKDAYS[days]) for hour in range(DAY))


def _segments(profile: Sequence[int], floor: int) -> list[tuple[int, int, int]]:
    """Return up to `_SEGMENTS` (from, to, replicas) above the floor that hold a day at the fewest replica-hours.

    Among equals the fewest windows, so that neighbours of one height are one.
    """

    @cache
    def best(start: int, left: int) -> tuple[int, int, tuple[tuple[int, int, int], ...]]:
        while start < DAY and profile[start] <= floor:
            start += 1
        if start == DAY:
            return 0, 0, ()
        if not left:
            return DAY * max(profile) + 1, 0, ()
        found = []
        for end in range(start + 1, DAY + 1):
            most = max(profile[start:end])
            cost, windows, rest = best(end, left - 1)
            found.append(((most - floor) * (end - start) + cost, windows + 1, ((start, end, most), *rest)))
        return min(found)

    return list(best(0, _SEGMENTS)[2])


def _runs(flags: Sequence[bool]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for hour, flag in enumerate(flags):
        if flag and runs and runs[-1][1] == hour:
            runs[-1] = (runs[-1][0], hour + 1)
        elif flag:
            runs.append((hour, hour + 1))
    return runs


def _merged(windows: Sequence[Window]) -> tuple[Window, ...]:
    """Return windows with those that weekdays and weekend share written once."""
    weekend = {(window.from_h, window.to_h, window.replicas) for window in windows if window.days == "sat-sun"}
    shared = {
        (window.from_h, window.to_h, window.replicas)
        for window in windows
        if window.days == "mon-fri" and (window.from_h, window.to_h, window.replicas) in weekend
    }
    merged = []
    for window in windows:
        place = (window.from_h, window.to_h, window.replicas)
        if place not in shared:
            merged.append(window)
        elif window.days == "mon-fri":
            merged.append(window.model_copy(update={"days": "mon-sun"}))
    return tuple(merged)
