"""The problem of a word that names nothing."""

from __future__ import annotations

from collections.abc import Iterable

from outlast.errors import Problem, did_you_mean, listed


def unknown(where: str, kind: str, word: str, known: Iterable[str]) -> Problem:
    """Return the problem that ``word`` is no ``kind``, with the nearest right word."""
    words = list(known)
    return Problem(
        where=where,
        what=f"unknown {kind} '{word}'",
        allowed=listed(words),
        do=did_you_mean(word, words) or ("Choose one of them" if words else "Declare it first"),
    )
