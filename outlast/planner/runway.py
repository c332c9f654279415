"""Says how long quotas and reservations last while demand grows, by planning months ahead.

In month m every hour of demand is that of today times (1 + growth) ** m. The last month that has a plan is found by
halving: more demand never needs less.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date

from outlast.errors import ConfigError, Problem
from outlast.intent import Intent
from outlast.lock import Lock
from outlast.planner.holdings import Ask, boundless, holdings_of, needed, smallest_asks
from outlast.planner.trials import Size, Trial, Trials, size_of
from outlast.units import parse

MONTHS = 36
MOST_MONTHS = 600
ENDS = 2
"""How many ends are looked for, one after the other."""
_MONTHLY: Mapping[str, float] = {"%/month": 0.01, "% a month": 0.01}
_YEARLY: Mapping[str, float] = {"%/year": 0.01, "% a year": 0.01}


@dataclass(frozen=True)
class End:
    """The first month in which something held is too small."""

    month: int
    day: date
    growth_ratio: float
    """Demand of that month over that of today."""
    asks: tuple[Ask, ...]
    """What is too small then, and what a plan of that month needs of it."""
    size: Size
    """That plan, as if the asks were granted."""


@dataclass(frozen=True)
class Use:
    """How much of a quota or reservation a plan uses."""

    region: str
    name: str
    unit: str
    held: float
    needed: float


@dataclass(frozen=True)
class Expiry:
    """A reservation that ends by date within the horizon."""

    region: str
    reservation: str
    day: date


@dataclass(frozen=True)
class Runway:
    """How long what is held lasts."""

    monthly_ratio: float
    """Growth of demand a month."""
    months: int
    """How far ahead was looked."""
    today: Size
    last_month: int
    """Last month whose plan fits what is held."""
    last_day: date
    last: Size
    """The plan of that month."""
    uses: tuple[Use, ...]
    """What that plan uses of what is held, fullest first."""
    ends: tuple[End, ...]
    """The first end, then the next one if the first asks are granted without end; none if all holds."""
    asks_to_last: tuple[Ask, ...]
    """What to enlarge for all the months; none if all holds."""
    expiries: tuple[Expiry, ...]


def parse_growth(text: str) -> float:
    """Return the growth a month: ``3 %/month`` is 0.03; a year's growth is compounded over its months.

    Raises:
        ConfigError: no such quantity, or not above 0.
    """
    try:
        yearly = text.rstrip().endswith("year")
        ratio = parse(text, dict(_YEARLY if yearly else _MONTHLY), "3 %/month")
    except ValueError as error:
        raise ConfigError(Problem(where="--growth", what=str(error), do="Write for example '3 %/month'")) from None
    if not 0 < ratio <= (100.0 if yearly else 1.0):
        what, allowed = "demand that does not grow ends no quota", "above 0 and at most 100 %/month"
        what = what if ratio <= 0 else "is out of range"
        raise ConfigError(Problem(where="--growth", what=what, got=text, allowed=allowed, do="Correct the growth"))
    return float((1 + ratio) ** (1 / 12) - 1) if yearly else float(ratio)


def check_months(months: int) -> None:
    """Check how far ahead to look.

    Raises:
        ConfigError: not a number of months that can be looked ahead.
    """
    if not 1 <= months <= MOST_MONTHS:
        allowed = f"1 to {MOST_MONTHS}"
        raise ConfigError(
            Problem(where="--months", what="is out of range", got=str(months), allowed=allowed, do="Correct it")
        )


def grown(intent: Intent, factor: float) -> Intent:
    """Return the fleet with every hour of demand times ``factor``.

    It raises the burst margin, which multiplies all demand alike and leaves the curves as they are written.
    """
    rules = intent.guardrails
    margin = (1 + rules.burst_margin) * factor - 1
    return replace(intent, guardrails=rules.model_copy(update={"burst_margin": margin}))


def runway(intent: Intent, monthly_ratio: float, months: int, today: date, trials: Trials) -> Runway:
    """Return when what is held ends, under growth.

    Raises:
        PlanError: the fleet has no plan today, or growth meets something that no quota lifts.
    """
    held_today = size_of(trials(intent).must())
    ends = list(_ends(intent, monthly_ratio, months, today, trials))
    last = ends[0].month - 1 if ends else months
    plan = _at(intent, monthly_ratio, last, trials).must()
    to_last, _ = smallest_asks(grown(intent, (1 + monthly_ratio) ** months), trials) if ends else ((), plan)
    return Runway(
        monthly_ratio=monthly_ratio,
        months=months,
        today=held_today,
        last_month=last,
        last_day=month_after(today, last),
        last=size_of(plan),
        uses=tuple(sorted(_uses(intent, plan), key=lambda use: -use.needed / use.held)),
        ends=tuple(ends),
        asks_to_last=to_last,
        expiries=tuple(_expiries(intent, month_after(today, months))),
    )


def month_after(day: date, months: int) -> date:
    """Return the same day some months later, or the last day of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _ends(intent: Intent, ratio: float, months: int, today: date, trials: Trials) -> Iterator[End]:
    """Yield the first end, then the next one with what ended first held without end."""
    fits = 0
    for _ in range(ENDS):
        fits = _last_fit(intent, ratio, fits, months, trials)
        if fits == months:
            return
        month = fits + 1
        factor = (1 + ratio) ** month
        short, lock = smallest_asks(grown(intent, factor), trials)
        yield End(month, month_after(today, month), factor, short, size_of(lock))
        intent = boundless(intent, [ask.holding.key for ask in short])


def _last_fit(intent: Intent, ratio: float, begin: int, months: int, trials: Trials) -> int:
    """Return the last month from ``begin``, which has a plan, to ``months`` that has one."""
    if _at(intent, ratio, months, trials).lock:
        return months
    fits, fails = begin, months
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if _at(intent, ratio, middle, trials).lock:
            fits = middle
        else:
            fails = middle
    return fits


def _at(intent: Intent, ratio: float, month: int, trials: Trials) -> Trial:
    return trials(grown(intent, (1 + ratio) ** month) if month else intent)


def _uses(intent: Intent, lock: Lock) -> Iterator[Use]:
    need = needed(lock, intent)
    for key, holding in holdings_of(intent).items():
        if need.get(key) and holding.held:
            yield Use(holding.region, holding.name, holding.unit, holding.held, need[key])


def _expiries(intent: Intent, until: date) -> Iterator[Expiry]:
    for region in intent.regions:
        for name, reservation in intent.holdings(region).reservations.items():
            if reservation.ends is not None and reservation.ends <= until:
                yield Expiry(region, name, reservation.ends)
