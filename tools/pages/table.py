"""A table of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], right: Iterable[int] = ()) -> Iterator[str]:
    """Yield the lines of a table; columns in ``right`` are aligned to the right."""
    ends = set(right)
    yield f"| {' | '.join(headings)} |"
    yield f"|{'|'.join('--:' if index in ends else '---' for index in range(len(headings)))}|"
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |"
