"""Quantities written with their unit, as people write them: ``90k tok/s``, ``70 %``, ``80 GiB``.

Owns parsing and the annotated field types of the files in ``config/``; a number without its unit is refused, because a
reader cannot see what it counts. Field names carry the unit of the parsed value (``_tok_s``, ``_gib``, ``_s``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, PlainValidator, WithJsonSchema

HOURS_PER_MONTH = 730
"""Hours in a month of spend. Source: the convention of public cost tools."""

_NUMBER = re.compile(r"^\s*([-+]?\d[\d,_]*(?:\.\d+)?)\s*([kKMG]?)\s*(.*?)\s*$")
_PREFIX = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}


class Quantity(float):
    """A number that remembers the unit it was written in, where that decides what it counts."""

    unit: str

    def __new__(cls, value: float, unit: str) -> Quantity:
        """Return ``value`` in the base unit, written in ``unit``."""
        made = super().__new__(cls, value)
        made.unit = unit
        return made

    def __reduce__(self) -> tuple[type[Quantity], tuple[float, str]]:
        """Return what a copy is made of."""
        return Quantity, (float(self), self.unit)


def parse(text: object, units: dict[str, float], example: str) -> Quantity:
    """Return the value of ``text`` in the base unit, with the unit that was written, without its prefix.

    Args:
        text: what the file holds, for example ``"90k tok/s"``.
        units: accepted unit -> factor to the base unit; longest units are tried as written.
        example: a right value, shown in the error.

    Raises:
        ValueError: the number, the unit or both are missing.
    """
    allowed = ", ".join(units)
    match = _NUMBER.match(text) if isinstance(text, str) else None
    if match:
        digits, prefix, unit = match.groups()
        number = float(digits.replace(",", "").replace("_", ""))
        if prefix + unit in units:
            return Quantity(number * units[prefix + unit], prefix + unit)
        if unit in units:
            return Quantity(number * _PREFIX[prefix] * units[unit], unit)
    what = "not a quantity" if isinstance(text, str) else "write the unit"
    message = f"{what} (got '{text}'; allowed a number and one of: {allowed}), for example '{example}'"
    raise ValueError(message)


def _quantity(
    units: dict[str, float], example: str, low: float = 0.0, high: float | None = None, *, keeps_unit: bool = False
) -> Any:
    def validate(text: object) -> float:
        if isinstance(text, Quantity):
            return text
        value = parse(text, units, example)
        if value < low or (high is not None and value > high):
            unit, factor = next(iter(units.items()))
            scale = 1 / factor
            ceiling = f" to {high * scale:g}" if high is not None else " or more"
            message = f"out of range (got '{text}'; allowed {low * scale:g}{ceiling} {unit})"
            raise ValueError(message)
        return value

    check: Callable[[object], float] = validate
    return Annotated[
        Quantity if keeps_unit else float,
        PlainValidator(check) if keeps_unit else BeforeValidator(check),
        PlainSerializer(float),
        WithJsonSchema({"type": "string", "examples": [example]}),
    ]


Rate = _quantity(
    {"tok/s": 1.0, "output tok/s": 1.0, "input tok/s": 1.0, "requests/s": 1.0}, "90k tok/s", keeps_unit=True
)
"""Tokens or requests per second; ``tok/s`` alone are tokens in the unit of the model it is said of."""
TokensPerMinute = _quantity({"tok/min": 1.0}, "2M tok/min")
"""Tokens per minute."""
Tokens = _quantity({"tokens": 1.0, "token": 1.0}, "8,000 tokens")
"""A count of tokens."""
Ratio = _quantity({"%": 0.01}, "70 %", high=1.0)
"""A part of a whole, 0 to 1, written in per cent."""
Percent = _quantity({"%": 0.01}, "20 %", high=100.0)
"""A ratio that may exceed one, written in per cent."""
Gib = _quantity({"GiB": 1.0, "TiB": 1024.0, "MiB": 1 / 1024}, "66 GiB")
"""Binary gigabytes (2**30 bytes)."""
Seconds = _quantity({"s": 1.0, "ms": 0.001, "min": 60.0, "h": 3600.0, "d": 86400.0}, "15 min")
"""A duration in seconds."""
Gpus = _quantity({"GPUs": 1.0, "GPU": 1.0}, "400 GPUs")
"""A count of GPUs."""
QuotaAmount = _quantity({"vCPU": 1.0, "GPUs": 1.0, "GPU": 1.0}, "6144 vCPU", keeps_unit=True)
"""A granted amount in the unit of its quota."""
UsdPerHour = _quantity({"USD/h": 1.0}, "3.00 USD/h")
"""US dollars per hour."""
UsdPerMonth = _quantity({"USD/month": 1.0}, "1.5M USD/month")
"""US dollars per month of 730 hours."""
