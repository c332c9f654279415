"""Reads demand as other tools export it: a CSV table, or the answer of a Prometheus range query.

Prometheus: the HTTP API's ``/api/v1/query_range`` (``resultType: matrix``), stable since version 2.0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from outlast.errors import ConfigError, Problem, listed
from outlast.ingest.series import HOUR_S, looks_cumulative
from outlast.ingest.sources import Table, is_json, json_of, table_of, whole
from outlast.intent.demand import DAY_HOURS, WEEK_HOURS
from outlast.intent.known import unknown

FORMATS = ("csv", "prometheus")
_TIMES = ("timestamp", "time", "datetime", "date", "ts")
_COUNTERS = ("_total", "_count", "_sum", "_bucket")
_LATEST_S = 1e11
"""A number above this counts milliseconds; it would be the year 5138 in seconds."""
_RATE = "Apply rate(): sum(rate(METRIC[5m])), and export that"


@dataclass(frozen=True)
class Samples:
    """A series: instants in seconds since 1970 UTC, and values in the model's unit."""

    points: tuple[tuple[float, float], ...]
    zone: str
    """How the hours were read."""
    tool: str
    """What exported it."""
    is_dated: bool = True
    """Whether its instants are real days, and not only hours of a day or week."""


def samples_of(text: str, where: str, form: str | None, column: str | None, zone: str | None) -> Samples:
    """Return the samples of an exported file.

    Args:
        text: the file.
        where: how messages name it.
        form: `csv` or `prometheus`; None: told from the text.
        column: column of the values; None: the only one beside the time.
        zone: zone of times that say none.

    Raises:
        ConfigError: holds what is wrong with it.
    """
    if form is not None and form not in FORMATS:
        raise ConfigError(unknown("--format", "format", form, FORMATS))
    if form is None:
        form = "prometheus" if is_json(text) else "csv"
    if form == "csv" and is_json(text):
        do = "Use --format prometheus for the answer of a range query"
        raise ConfigError(Problem(where=where, what="is JSON, no table", do=do))
    if form == "prometheus" and not is_json(text):
        raise ConfigError(Problem(where=where, what="is no answer of Prometheus", do="Use --format csv for a table"))
    found = (
        _of_prometheus(json_of(text, where), where)
        if form == "prometheus"
        else _of_table(table_of(text, where), where, column, zone)
    )
    if not found.points:
        raise ConfigError(Problem(where=where, what="the series is empty", do="Widen the range and export it again"))
    if looks_cumulative([value for _, value in sorted(found.points)]):
        what = "the values only ever rise: this is a counter of tokens, not tokens per second"
        raise ConfigError(Problem(where=where, what=what, do=_RATE))
    return found


def _of_prometheus(document: Any, where: str) -> Samples:
    body = document.get("data") if isinstance(document, dict) else None
    if isinstance(document, dict) and document.get("status") == "error":
        got = str(document.get("error", "no reason"))[:200]
        raise ConfigError(Problem(where=where, what="Prometheus refused the query", got=got, do="Correct the query"))
    if not isinstance(body, dict) or "resultType" not in body or not isinstance(body.get("result"), list):
        do = "Save what /api/v1/query_range answers, whole"
        raise ConfigError(Problem(where=where, what="is no answer of a Prometheus range query", do=do))
    if body["resultType"] != "matrix":
        got = str(body["resultType"])
        do = "Ask /api/v1/query_range with start, end and step"
        raise ConfigError(Problem(where=where, what="is no range of samples", got=got, allowed="matrix", do=do))
    if len(body["result"]) != 1:
        what = f"holds {len(body['result'])} series"
        do = "Sum them in the query: sum(rate(METRIC[5m]))" if body["result"] else "Widen the range of the query"
        labels = {key for series in body["result"] for key in _labels(series)}
        raise ConfigError(Problem(where=where, what=what, got=f"labels {listed(labels)}", allowed="one", do=do))
    (series,) = body["result"]
    name = str(_labels(series).get("__name__", ""))
    if name.endswith(_COUNTERS):
        what = f"{name} is a counter, not tokens per second"
        raise ConfigError(Problem(where=where, what=what, do=_RATE))
    return Samples(tuple(_pairs(series, where)), "UTC, from instants", "Prometheus range query")


def _labels(series: Any) -> dict[str, Any]:
    labels = series.get("metric") if isinstance(series, dict) else None
    return labels if isinstance(labels, dict) else {}


def _pairs(series: Any, where: str) -> list[tuple[float, float]]:
    values = series.get("values") if isinstance(series, dict) else None
    if not isinstance(values, list):
        what, do = "the series has no 'values'", "Query plain numbers; histograms need histogram_sum() or such"
        raise ConfigError(Problem(where=where, what=what, do=do))
    rows: list[tuple[str, object, object]] = []
    for index, pair in enumerate(values):
        is_pair = isinstance(pair, list) and len(pair) == 2
        rows.append((f"{where}, sample {index}", *(pair if is_pair else (None, None))))
    return _checked([(place, instant, value) for place, instant, value in rows], where)


def _of_table(table: Table, where: str, column: str | None, zone: str | None) -> Samples:
    by_name = {name.lower(): name for name in table.headings}
    known = next((by_name[name] for name in ("hour", *_TIMES) if name in by_name), None)
    if known is None:
        what = "no column says when"
        allowed = f"hour, {', '.join(_TIMES)}"
        do = "Name the column 'timestamp'"
        raise ConfigError(Problem(where=where, what=what, got=listed(table.headings), allowed=allowed, do=do))
    others = [name for name in table.headings if name != known]
    if column is None and len(others) > 1:
        raise ConfigError(
            Problem(where=where, what="several columns could be the demand", got=listed(others), do="Name it: --column")
        )
    values = table.column(where, column or others[0])
    cells = [(f"{where}, row {number}", row[known], row[values]) for number, row in enumerate(table.rows, start=1)]
    if known.lower() == "hour":
        return Samples(_of_hours(cells, where, zone), "UTC, as --timezone says", "a table by the hour", False)
    return _of_times(cells, where, zone)


def _of_hours(cells: list[tuple[str, str, str]], where: str, zone: str | None) -> tuple[tuple[float, float], ...]:
    if zone != "UTC":
        what = "a table by the hour must be in UTC: elsewhere the clock changes twice a year"
        do = "Add --timezone UTC if its hours are UTC; otherwise export timestamps with their offset"
        raise ConfigError(Problem(where=where, what=what, got=zone or "no zone", do=do))
    if len(cells) not in (DAY_HOURS, WEEK_HOURS):
        got, allowed = f"{len(cells)} hours", "24, or 168 from Monday 00:00"
        raise ConfigError(
            Problem(where=where, what="wrong number of hours", got=got, allowed=allowed, do="Add the rest")
        )
    monday_s = 4 * DAY_HOURS * HOUR_S  # 1970-01-05
    problems: list[Problem] = []
    placed: list[tuple[str, object, object]] = []
    for place, hour, value in cells:
        if not hour.isdecimal() or int(hour) >= len(cells):
            allowed = f"0 to {len(cells) - 1}"
            problems.append(Problem(where=place, what="not an hour", got=f"'{hour}'", allowed=allowed, do="Mend it"))
        else:
            placed.append((place, monday_s + int(hour) * HOUR_S, value))
    whole(problems, where)
    return tuple(_checked(placed, where))


def _of_times(cells: list[tuple[str, str, str]], where: str, zone: str | None) -> Samples:
    local = _zone(zone)
    problems: list[Problem] = []
    kinds: set[str] = set()
    placed: list[tuple[str, object, object]] = []
    for place, text, value in cells:
        try:
            instant, kind = _instant(text, local)
        except ValueError as error:
            problems.append(Problem(where=place, what=str(error), got=f"'{text}'", do="Write 2026-11-30T09:00:00Z"))
            continue
        kinds.add(kind)
        placed.append((place, instant, value))
    if len(kinds) > 1:
        what, do = "some times say their zone and others do not", "Export all of them with their offset"
        problems.insert(0, Problem(where=where, what=what, do=do))
    whole(problems, where)
    told = f"{zone}, as --timezone says" if "naive" in kinds else "UTC, from instants"
    return Samples(tuple(_checked(placed, where)), told, "a table of timestamps")


def _zone(name: str | None) -> ZoneInfo | None:
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        do = "Write UTC, or a name such as Europe/Berlin"
        raise ConfigError(Problem(where="--timezone", what="no such zone", got=f"'{name}'", do=do)) from error


def _instant(text: str, local: ZoneInfo | None) -> tuple[float, str]:
    """Return seconds since 1970 UTC, and whether the text said its zone.

    Raises:
        ValueError: it is no time, or none that is known.
    """
    if text.replace(".", "", 1).isdecimal():
        return float(text), "aware"
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        message = "not a time"
        raise ValueError(message) from None
    if when.tzinfo is not None:
        return when.timestamp(), "aware"
    if local is None:
        message = "the time does not say its zone: add --timezone, or export with offsets"
        raise ValueError(message)
    early, late = (when.replace(tzinfo=local, fold=fold) for fold in (0, 1))
    if early.utcoffset() != late.utcoffset():
        message = f"the clock of {local.key} changes here, so that this time is there twice or never"
        raise ValueError(message)
    return early.timestamp(), "naive"


def _checked(cells: list[tuple[str, object, object]], where: str) -> list[tuple[float, float]]:
    """Return instants and values, each instant once and every value a number of 0 or more."""
    problems: list[Problem] = []
    found: dict[float, float] = {}
    for place, instant, value in cells:
        at, number = _number(instant), _number(value)
        if at is None or at < 0:
            problems.append(Problem(where=place, what="not a time in seconds", got=repr(instant), do="Export it again"))
        elif at > _LATEST_S:
            do = "Divide by 1000"
            problems.append(Problem(where=place, what="the time counts milliseconds", got=repr(instant), do=do))
        elif number is None:
            problems.append(Problem(where=place, what="not a number", got=repr(value), do="Export numbers only"))
        elif number < 0:
            problems.append(Problem(where=place, what="demand is negative", got=repr(value), do="Correct the query"))
        elif at in found:
            when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=at)
            problems.append(Problem(where=place, what="the time stands twice", got=str(when), do="Keep one sample"))
        else:
            found[at] = number
    whole(problems, where)
    return sorted(found.items())


def _number(value: object) -> float | None:
    """Return a finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
