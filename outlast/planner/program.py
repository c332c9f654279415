"""A mixed-integer programme as plain data: columns and rows by name, no solver."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

INFINITY = math.inf
Terms: TypeAlias = Mapping[int, float]
"""Column -> coefficient."""


@dataclass(frozen=True)
class Column:
    """A variable."""

    name: str
    lower: float
    upper: float
    is_integer: bool


@dataclass(frozen=True)
class Row:
    """``lower <= sum of coefficient × column <= upper``."""

    name: str
    """``<constraint family> <what>``."""
    lower: float
    upper: float
    terms: Terms


@dataclass
class Program:
    """Columns and rows, in the order in which they were defined."""

    columns: list[Column] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)

    def integer(self, name: str, lower: float, upper: float) -> int:
        """Add an integer column and return its index."""
        self.columns.append(Column(name, lower, upper, is_integer=True))
        return len(self.columns) - 1

    def real(self, name: str, lower: float, upper: float) -> int:
        """Add a continuous column and return its index."""
        self.columns.append(Column(name, lower, upper, is_integer=False))
        return len(self.columns) - 1

    def at_least(self, name: str, terms: Terms, bound: float) -> None:
        """Add ``terms >= bound``."""
        self.rows.append(Row(name, bound, INFINITY, terms))

    def at_most(self, name: str, terms: Terms, bound: float) -> None:
        """Add ``terms <= bound``."""
        self.rows.append(Row(name, -INFINITY, bound, terms))

    def equal(self, name: str, terms: Terms, value: float) -> None:
        """Add ``terms == value``."""
        self.rows.append(Row(name, value, value, terms))

    def bound(self, column: int, lower: float, upper: float) -> None:
        """Change the bounds of a column."""
        self.columns[column] = replace(self.columns[column], lower=lower, upper=upper)

    def copy(self) -> Program:
        """Return a programme that can be changed without changing this one."""
        return Program(list(self.columns), list(self.rows))
