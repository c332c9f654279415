"""How a simulated cloud says no: one sentence, in the user's terms, with the public source of the rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

from outlast.errors import Problem


@dataclass(frozen=True, kw_only=True)
class Violation:
    """One thing a simulated cloud refuses."""

    property: str = ""
    """Exact path of the input at fault; empty: the resource as a whole."""
    what: str
    """What is wrong, without a final full stop."""
    got: str = ""
    allowed: str = ""
    do: str = ""
    """The imperative sentence that mends it, without a final full stop."""
    source: str = ""
    """Title or address of the public documentation of the rule."""

    def cite(self, source: str) -> Violation:
        """Return the same violation with its source, unless it has one."""
        return self if self.source else replace(self, source=source)

    def sentence(self, where: str) -> str:
        """Return the whole message, starting with where."""
        text = str(Problem(where=where, what=self.what, got=self.got, allowed=self.allowed, do=self.do))
        return f"{text} Source: {self.source}." if self.source else text

    def reason(self) -> str:
        """The message without where, for places where the engine prints the resource and the property itself."""
        return self.sentence("-").removeprefix("-: ")


class Refused(Exception):
    """A simulated cloud refuses an operation."""

    def __init__(self, *violations: Violation) -> None:
        """Hold what is wrong."""
        self.violations = violations
        super().__init__("; ".join(violation.what for violation in violations))


class Throttled(Refused):
    """A simulated cloud asks the caller to come back later."""
