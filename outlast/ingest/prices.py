"""A new ``facts/prices.csv``: validated row by row and against the other facts, and compared with the one in use."""

from __future__ import annotations

import csv
import io
import math
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from outlast.errors import ConfigError, FactError, Problem, listed
from outlast.facts import Facts, Price, load_facts
from outlast.ingest.sources import Table, table_of, text_of, whole
from outlast.intent.reading import validate

FILE = "prices.csv"
_HEADINGS = ("cloud", "provider_region", "machine_type", "usd_h", "basis", "source", "as_of")
LARGE_RATIO = 0.3
"""A list of which more than this part moves or vanishes is more often a slip than a market."""

Key = tuple[str, str, str, str]
"""Cloud, provider region, machine type, basis."""


@dataclass(frozen=True, kw_only=True)
class PriceImport:
    """A list of prices against the one in use; node-hours in US dollars."""

    text: str
    """The file as it would be written."""
    added: Mapping[Key, float]
    changed: Mapping[Key, tuple[float, float]]
    """Before and after."""
    vanished: Mapping[Key, float]
    renewed: int
    """Rows with the same price and another source or day."""
    rows: int

    def moved(self, facts: Facts) -> Mapping[str, float]:
        """Return cloud -> part of its rows in use that change or vanish."""
        return {
            cloud: sum(key[0] == cloud for key in (*self.changed, *self.vanished)) / len(used)
            for cloud in facts.clouds
            if (used := [key for key in facts.prices if key[0] == cloud])
        }


def read_prices(path: Path, config_root: Path, facts: Facts) -> PriceImport:
    """Return how a list of prices differs from the one in use.

    Raises:
        ConfigError: a heading, row or reference is wrong.
    """
    where, text = path.name, text_of(path)
    table = table_of(text, where)
    if set(table.headings) != set(_HEADINGS):
        got, allowed = listed(table.headings), ", ".join(_HEADINGS)
        raise ConfigError(Problem(where=where, what="has other columns", got=got, allowed=allowed, do="Rename them"))
    rows = _rows(table, where)
    written = _written(table.rows)
    _check_facts(written, config_root, facts, where)
    before, after = facts.prices, {_key(row): row for row in rows}
    return PriceImport(
        text=written,
        added={key: row.usd_h for key, row in after.items() if key not in before},
        changed={
            key: (before[key].usd_h, row.usd_h)
            for key, row in after.items()
            if key in before and before[key].usd_h != row.usd_h
        },
        vanished={key: row.usd_h for key, row in before.items() if key not in after},
        renewed=sum(
            key in before and before[key] != row and before[key].usd_h == row.usd_h for key, row in after.items()
        ),
        rows=len(rows),
    )


def refuse_large(found: PriceImport, facts: Facts, where: str) -> None:
    """Refuse a list of which too much moves.

    Raises:
        ConfigError: more than `LARGE_RATIO` of a cloud's rows change or vanish.
    """
    problems = [
        Problem(
            where=where,
            what=f"so many prices of {cloud} change or vanish that it looks like a slip",
            got=f"{part:.0%}",
            allowed=f"up to {LARGE_RATIO:.0%}",
            do="Look at them; if they are right, add --accept-large-change",
        )
        for cloud, part in found.moved(facts).items()
        if part > LARGE_RATIO
    ]
    if problems:
        raise ConfigError(problems)


def _written(rows: tuple[Mapping[str, str], ...]) -> str:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, _HEADINGS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def _rows(table: Table, where: str) -> list[Price]:
    problems: list[Problem] = []
    rows: list[Price] = []
    seen: set[Key] = set()
    for number, cells in enumerate(table.rows, start=1):
        place = f"{where}, row {number}"
        row = validate(cells, place, Price, problems)
        if row is None:
            continue
        if not math.isfinite(row.usd_h):
            problems.append(Problem(where=f"{place}, usd_h", what="is no price", got=cells["usd_h"], do="Correct it"))
        if _key(row) in seen:
            problems.append(Problem(where=place, what=f"two rows for {' '.join(_key(row))}", do="Keep one"))
        seen.add(_key(row))
        rows.append(row)
    whole(problems, where)
    return rows


def _key(row: Price) -> Key:
    return row.cloud, row.provider_region, row.machine_type, row.basis


def _check_facts(text: str, config_root: Path, used: Facts, where: str) -> None:
    """Load all facts with the list in its place; names of machines, and of places not in use yet, must be known there.

    Raises:
        ConfigError: a row names something that facts do not know.
    """
    with tempfile.TemporaryDirectory(prefix="outlast-") as scratch:
        shutil.copytree(config_root / "facts", Path(scratch) / "facts")
        (Path(scratch) / "facts" / FILE).write_text(text, encoding="utf-8")
        try:
            facts = load_facts(Path(scratch))
        except FactError as error:
            raise ConfigError(
                replace(
                    problem, where=problem.where.replace(f"facts/{FILE}", where), do=problem.do or "Correct the row"
                )
                for problem in error.problems
            ) from error
    known = set(facts.provider_regions) | {(row.cloud, row.provider_region) for row in used.prices.values()}
    strange = sorted({(row.cloud, row.provider_region) for row in facts.prices.values()} - known)
    whole(
        [
            Problem(where=where, what=f"facts know no region '{region}' of {cloud}", do="Correct the row")
            for cloud, region in strange
        ],
        where,
    )
