"""``demand.yaml``: what is asked for, by tenant, origin and model, for every hour."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from outlast.intent.base import Name, Strict, planner_input
from outlast.units import Percent, Quantity, Rate, Ratio, Tokens

DAY_HOURS = 24
WEEK_HOURS = 168


class Shape(Strict):
    """A daily cosine: peak at one hour, trough twelve hours later."""

    peak: Rate
    peak_utc_hour: Annotated[int, Field(ge=0, le=23)]
    trough: Ratio
    """Part of the peak that remains at the quietest hour."""
    weekend: Percent = 1.0
    """Saturday and Sunday against a weekday, in per cent."""

    def hours(self) -> tuple[float, ...]:
        """Return the demand of each of 168 hours in the unit of the peak, from Monday 00:00 UTC.

        Source: the cosine of the inference-platform programme (trough 12 hours from the peak).
        """
        day = [
            self.peak
            * (self.trough + (1 - self.trough) * (1 + math.cos(2 * math.pi * (h - self.peak_utc_hour) / DAY_HOURS)) / 2)
            for h in range(DAY_HOURS)
        ]
        return tuple(value * (self.weekend if day_of_week >= 5 else 1.0) for day_of_week in range(7) for value in day)


class Lengths(Strict):
    """Mean tokens of a request, to turn requests into tokens."""

    prompt: Tokens
    output: Tokens


class Trace(Strict):
    """A recorded curve kept in a file beside the fleet."""

    file: str
    digest: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
    reading: Literal["mean day", "largest day", "week"]
    unit: Literal["tok/s", "output tok/s", "input tok/s", "requests/s"] = "tok/s"
    """What its numbers count."""


class Demand(Strict):
    """One curve; exactly one of ``shape``, ``hours`` and ``trace``."""

    tenants: tuple[Name, ...] = planner_input(min_length=1)
    """Tenants of one residency class that share the curve."""
    origin: Name = planner_input()
    model: Name = planner_input()
    """A model, or a variant of one that is served as an adapter."""
    lengths: Lengths | None = planner_input(None)
    """Needed where the curve is in requests/s and its model in tokens."""
    shape: Shape | None = planner_input(None)
    hours: tuple[Rate, ...] | None = planner_input(None)
    """24 or 168 quantities, hour 0 = Monday 00:00 UTC."""
    trace: Trace | None = planner_input(None)

    @model_validator(mode="after")
    def _one_form(self) -> Demand:
        forms = [name for name in ("shape", "hours", "trace") if getattr(self, name) is not None]
        if len(forms) != 1:
            message = f"give exactly one of shape, hours, trace (got {', '.join(forms) or 'none'})"
            raise ValueError(message)
        if self.hours is not None and len(self.hours) not in (DAY_HOURS, WEEK_HOURS):
            message = f"hours must hold 24 or 168 quantities (got {len(self.hours)})"
            raise ValueError(message)
        return self

    @property
    def written(self) -> tuple[Quantity, ...]:
        """Rates that stand in the file."""
        return (self.shape.peak,) if self.shape else self.hours or ()

    @property
    def units(self) -> tuple[str, ...]:
        """Units that the curve is written in; one, unless it mixes them."""
        return tuple(dict.fromkeys(rate.unit for rate in self.written))

    def rates(self) -> tuple[float, ...]:
        """Return 168 hours as written, in the curve's unit."""
        if self.shape is not None:
            return self.shape.hours()
        if self.hours is not None:
            return self.hours * (WEEK_HOURS // len(self.hours))
        raise AssertionError(self.trace)  # the loader replaces a trace by the hours of its file

    def hours_in(self, unit: str) -> tuple[float, ...]:
        """Return 168 hours in a model's unit; requests become tokens by the curve's lengths."""
        rates = self.rates()
        if self.lengths is None or unit == "requests/s" or self.units != ("requests/s",):
            return rates
        tokens = self.lengths.output if unit == "output tok/s" else self.lengths.prompt
        return tuple(rate * tokens for rate in rates)


class DemandFile(Strict):
    """All curves; their sum is the demand."""

    demand: tuple[Demand, ...] = planner_input(min_length=1)
