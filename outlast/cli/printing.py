"""Tables, verdicts and progress on the terminal; plain text where there is no terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.previews import Watched
    from outlast.report import MarginRow

GOOD, BAD = "✔", "✘"
_WIDTH = 140
"""Columns of the output where there is no terminal."""
_LONG = 20
"""Characters of a text that may wrap."""
_APART = 3
"""Characters between two columns, where there is room."""
_QUIET_S = 10.0
"""Without a terminal, say that a step is still running at most this often."""


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[int] = ()) -> None:
    """Print a table; columns in ``right`` are aligned to the right.

    Where the terminal is narrow, columns move together and long texts wrap at spaces. Numbers and names are never
    broken: a table that still does not fit is wider than the terminal.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    cells = [[*map(str, row), *[""] * (len(headings) - len(row))] for row in rows]
    columns = [[heading, *(row[index] for row in cells)] for index, heading in enumerate(headings)]
    room, gaps = Console().width if sys.stdout.isatty() else _WIDTH, len(headings) - 1
    widths, apart = _widths(columns, right, room - _APART * gaps), _APART
    if sum(widths) + _APART * gaps > room:
        widths, apart = _widths(columns, right, room - gaps), 1
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, apart // 2))
    for index, (heading, width) in enumerate(zip(headings, widths, strict=True)):
        shown.add_column(heading, justify="right" if index in right else "left", width=width)
    for row in cells:
        shown.add_row(*row)
    console = Console(width=max(room, sum(widths) + apart * gaps), highlight=False, markup=False)
    with console.capture() as printed:
        console.print(shown)
    print("\n".join(line.rstrip() for line in printed.get().splitlines()))


def _widths(columns: Sequence[Sequence[str]], right: Sequence[int], room: int) -> list[int]:
    """Return the widths of columns: what they hold, the widest long texts narrowed to their longest word at most."""
    widths = [max(map(len, column)) for column in columns]
    least = [
        width if index in right or width <= _LONG else max(len(word) for cell in column for word in cell.split())
        for index, (column, width) in enumerate(zip(columns, widths, strict=True))
    ]
    while sum(widths) > room and widths != least:
        widest = max((index for index in range(len(widths)) if widths[index] > least[index]), key=widths.__getitem__)
        widths[widest] -= 1
    return widths


def margins(losing: str, rows: Iterable[MarginRow]) -> None:
    """Print margins; replicas are those that count (the canary does not) before the loss."""
    before = ["region", "pool", *([losing] if losing else []), "worst hour"]
    shown = [
        (
            r.region,
            r.pool,
            *([r.lost] if losing else []),
            r.worst_hour,
            f"{r.need_tok_s:,.0f}",
            f"{r.available_tok_s:,.0f}",
            r.unit,
            f"{round(r.spare_part, 3) + 0.0:+.1%}",
            r.replicas,
            GOOD if r.holds else BAD,
        )
        for r in rows
    ]
    right = [len(before) + column for column in (0, 1, 3, 4)]
    table([*before, "needs", "has", "", "spare", "replicas before the loss", ""], shown, right=right)


def messages(texts: Iterable[str]) -> None:
    """Print messages of rules, indented, on standard error."""
    for text in texts:
        print("\n".join(f"  {line}".rstrip() for line in text.splitlines()), file=sys.stderr)


def counted(count: int, noun: str) -> str:
    """Return for example ``1 stack`` or ``3 stacks``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


@contextmanager
def step(title: str, *, live: bool = True) -> Iterator[Step]:
    """Show that something runs, what it is doing, how long it took, and whether it went well.

    Steps that run at the same time are not ``live``: each says a line now and then instead of rewriting its own.
    """
    shown = Step(title, live=live and sys.stdout.isatty())
    try:
        yield shown
    except BaseException:
        shown.failed = True
        raise
    finally:
        shown.end()


class Step:
    """One running thing on the terminal; without a terminal, a line at the end and a sign of life now and then."""

    def __init__(self, title: str, *, live: bool) -> None:
        """Start the clock."""
        self.failed = False
        self._title, self._live = title, live
        self._started = self._said = time.monotonic()
        self._watched: Watched | None = None
        if live:
            self._overwrite(title)

    def follow(self, text: str) -> None:
        """Take a line that the engine prints; show how many resources it has met and which came last."""
        from outlast.previews import Watched

        now = time.monotonic()
        self._watched = self._watched or Watched()
        self._watched.take(text)
        if self._live:
            self._overwrite(f"… {self._title}  {now - self._started:.0f} s  {self._watched}")
        elif now - self._said >= _QUIET_S:
            self._said = now
            words = ", ".join(filter(None, [f"{now - self._started:.0f} s", str(self._watched)]))
            print(f"  … {self._title}: {words}", flush=True)

    def tell(self, words: str) -> None:
        """Show how far it has come."""
        now = time.monotonic()
        if self._live:
            self._overwrite(f"… {self._title}  {now - self._started:.0f} s  {words}")
        elif now - self._said >= _QUIET_S:
            self._said = now
            print(f"  … {self._title}: {now - self._started:.0f} s, {words}", flush=True)

    def end(self) -> None:
        """Show the outcome and the time it took."""
        text = f"{BAD if self.failed else GOOD} {self._title}  ({time.monotonic() - self._started:.1f} s)"
        if self._live:
            self._overwrite(text)
            print(flush=True)
        else:
            print(text, flush=True)

    def _overwrite(self, text: str) -> None:
        import shutil

        print(f"\r\x1b[2K{text[: shutil.get_terminal_size().columns - 1]}", end="", flush=True)
