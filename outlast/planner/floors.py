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
from outlast.planner.arrays import Arrays, CellKey, Floats, Lane
from outlast.planner.needs import TOLERANCE, Shares, capacity_after, lost_part, moved_in

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
    cell, planned = arrays.cells[key], sum(zones.values())
    usable = count - cell.canary
    good = np.full(HOURS, usable >= cell.minimum)
    normal = lane.goodput * arrays.normal
    good &= _enough(usable * normal, arrays.base(key, "none"))
    if arrays.is_survived(key, "replica"):
        at_once = min(lane.node_replicas, max(zones.values())) if cell.loses_nodes else 1
        good &= _enough(max(0, usable - at_once) * normal, arrays.base(key, "replica"))
    base = arrays.base(key, "zone")
    if arrays.is_survived(key, "zone") and base.any():
        for zone in zones:
            part = lost_part({lane: zones}, zone)
            left = max(0, usable - -(-count * zones[zone] // planned))
            have = capacity_after(arrays, {lane: left}, base * (1 - part))
            good &= _enough(have, base * (1 + (arrays.surge - 1) * part))
    base = arrays.base(key, "region")
    have = capacity_after(arrays, {lane: max(0, usable)}, base)
    for gone in arrays.lost_regions:
        moved = moved_in(arrays, key, gone, shares) if gone != cell.region else None
        if moved is not None:
            good &= _enough(have, base + arrays.surge * moved)
    return good


def _enough(have: Floats | float, need: Floats) -> NDArray[np.bool_]:
    return np.asarray(have >= need - TOLERANCE * np.maximum(1.0, need))


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
