"""Reads files that other tools wrote: as text, as JSON, as a table; and says what is wrong with one in plain words."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast.errors import ConfigError, Problem, did_you_mean, listed

_LARGEST_MIB = 64
"""A result file is far smaller; reading more than this is a slip of the path."""


@dataclass(frozen=True)
class Table:
    """Rows of a CSV file under their headings."""

    headings: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    """Cells by heading; row 0 stands in line 2 of the file."""

    def column(self, where: str, name: str) -> str:
        """Return ``name`` if the table has it.

        Raises:
            ConfigError: it does not.
        """
        if name not in self.headings:
            do = did_you_mean(name, self.headings) or "Name one of its columns"
            what = f"there is no column '{name}'"
            raise ConfigError(Problem(where=where, what=what, allowed=listed(self.headings, 40), do=do))
        return name


def text_of(path: Path) -> str:
    """Return the text of a file.

    Raises:
        ConfigError: it is missing, a folder, unreadable, empty, far too large or not UTF-8 text.
    """
    where = str(path)
    if path.is_dir():
        raise ConfigError(Problem(where=where, what="is a folder", do="Name the file in it"))
    if not path.is_file():
        raise ConfigError(Problem(where=where, what="no such file", do="Correct the path"))
    size_mib = path.stat().st_size / 2**20
    if size_mib > _LARGEST_MIB:
        allowed = f"up to {_LARGEST_MIB} MiB"
        raise ConfigError(
            Problem(where=where, what="is too large", got=f"{size_mib:.0f} MiB", allowed=allowed, do="Export less")
        )
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        what = "is not UTF-8 text"
        raise ConfigError(Problem(where=where, what=what, do="Name the text file that the tool wrote")) from error
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise ConfigError(Problem(where=where, what=what, do="Correct its permissions")) from error
    if not text.strip():
        raise ConfigError(Problem(where=where, what="is empty", do="Export it again"))
    return text


def is_json(text: str) -> bool:
    """Whether a text begins as JSON objects and lists do."""
    return text.lstrip()[:1] in ("{", "[")


def json_of(text: str, where: str) -> Any:
    """Return the document of a JSON text.

    Raises:
        ConfigError: it is not JSON, or holds NaN or an infinite number.
    """

    def refuse(constant: str) -> float:
        what = f"holds {constant}, which is no number"
        raise ConfigError(Problem(where=where, what=what, do="Find out why the tool wrote it, and run it again"))

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError as error:
        at = getattr(error, "lineno", 0)
        place = f"{where}, line {at}" if at else where
        raise ConfigError(Problem(where=place, what="is not valid JSON", do="Export it again, whole")) from error
    except RecursionError as error:
        raise ConfigError(Problem(where=where, what="is nested too deeply", do="Name the right file")) from error


def table_of(text: str, where: str) -> Table:
    """Return the table of a CSV text: first line headings, commas between cells.

    Raises:
        ConfigError: no headings or rows, a heading twice, or rows of another length.
    """
    try:
        lines = [line for line in csv.reader(text.splitlines()) if line and not line[0].startswith("#")]
    except csv.Error as error:
        raise ConfigError(Problem(where=where, what=f"is no CSV table: {error}", do="Name the right file")) from error
    headings = tuple(cell.strip() for cell in lines[0]) if lines else ()
    if len(headings) < 2:
        do = "Export it with commas between the columns and a line of headings"
        raise ConfigError(Problem(where=where, what="is no table of two or more columns", do=do))
    twice = sorted({name for name in headings if headings.count(name) > 1})
    if twice:
        raise ConfigError(Problem(where=where, what=f"column '{twice[0]}' stands twice", do="Rename one"))
    if len(lines) == 1:
        raise ConfigError(Problem(where=where, what="holds headings and no rows", do="Export it again"))
    wrong = [
        Problem(where=f"{where}, row {number}", what="has another number of cells", got=str(len(cells)))
        for number, cells in enumerate(lines[1:], start=1)
        if len(cells) != len(headings)
    ]
    if wrong:
        raise ConfigError(wrong[:10])
    return Table(headings, tuple(dict(zip(headings, map(str.strip, cells), strict=True)) for cells in lines[1:]))


def whole(problems: list[Problem], where: str, limit: int = 10) -> None:
    """Raise the first ``limit`` problems, and say how many more there are.

    Raises:
        ConfigError: there is any problem.
    """
    more = len(problems) - limit
    if more > 0:
        problems = [*problems[:limit], Problem(where=where, what=f"has {more} more like these", do="Mend those first")]
    if problems:
        raise ConfigError(problems)
