"""Everything Outlast tells a user who made a mistake.

    OutlastError                 base; carries one or more problems, printed without a traceback
    ├── ConfigError              a file people write is wrong
    ├── FactError                a file of facts is wrong or lacks a row
    ├── PlanError                planning or a lock failed
    │   ├── InfeasiblePlan       no plan exists; names the smallest conflict
    │   ├── StaleLock            the lock was made from other inputs
    │   └── BrokenLock           the lock is wrong in itself
    ├── RefusedError             a deployment breaks a rule or lowers a margin
    └── EnvironmentProblem       the machine, engine or stack is not as the command needs it

Form of a message: ``where: what (got ...; allowed ...). Do this.``
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_QUESTION = "Did you mean"


@dataclass(frozen=True, kw_only=True, order=True)
class Problem:
    """One thing that is wrong, in the user's terms."""

    where: str
    """File and key, command, or resource."""
    what: str
    """What is wrong, without a final full stop."""
    got: str = ""
    """The value found, if one was."""
    allowed: str = ""
    """The values that would be right."""
    do: str = ""
    """The imperative sentence that mends it, or the question of `did_you_mean`, without the final sign."""

    def __str__(self) -> str:
        """Return the one-line form."""
        facts = "; ".join(
            text for text in (self.got and f"got {self.got}", self.allowed and f"allowed {self.allowed}") if text
        )
        detail = f" ({facts})" if facts else ""
        end = "?" if self.do.startswith(_QUESTION) else "."
        action = f" {self.do}{end}" if self.do else ""
        return f"{self.where}: {self.what}{detail}.{action}"


class OutlastError(Exception):
    """Base of every error a user can cause; holds all problems found, not only the first."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        """Hold ``problems`` in a stable order without repeats."""
        found = (problems,) if isinstance(problems, Problem) else tuple(dict.fromkeys(problems))
        self.problems: tuple[Problem, ...] = found
        super().__init__("\n".join(str(problem) for problem in found))


class ConfigError(OutlastError):
    """A file people write is wrong."""


class FactError(OutlastError):
    """A file of facts is wrong, or a fact that is needed is missing."""


class PlanError(OutlastError):
    """Planning failed, or a lock cannot be used."""


class InfeasiblePlan(PlanError):
    """No plan exists; the problems name the smallest conflict and what would lift it."""


class StaleLock(PlanError):
    """The lock was made from other inputs than the files hold now."""


class BrokenLock(PlanError):
    """The lock is wrong in itself: a key, a sum or a reference does not hold."""


class RefusedError(OutlastError):
    """A deployment breaks a rule, or lowers a margin that is already negative."""


class EnvironmentProblem(OutlastError):
    """The machine, the engine or a stack is not as the command needs it."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``Did you mean 'x'`` for the nearest known word, whatever its case, or an empty string."""
    spelled = {str(right).lower(): str(right) for right in known}
    near = difflib.get_close_matches(str(word).lower(), list(spelled), n=1, cutoff=0.6)
    return f"{_QUESTION} '{spelled[near[0]]}'" if near else ""


def listed(words: Iterable[str], limit: int = 12) -> str:
    """Join words for a message, sorted, cut after ``limit``."""
    ordered: Sequence[str] = sorted({str(word) for word in words})
    more = f" and {len(ordered) - limit} more" if len(ordered) > limit else ""
    return (", ".join(ordered[:limit]) + more) or "none"
