"""What a rule says when it is broken: one form for lock, preview, pack and state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["critical", "high", "medium", "low"]


@dataclass(frozen=True, kw_only=True, order=True)
class Violation:
    """One rule broken at one property of one resource."""

    rule: str
    urn: str
    """Resource, or the fleet's lock (``plan.lock.yaml``) when no resource is at fault."""
    path: str
    """Property, or key of the lock."""
    title: str
    found: str
    allowed: str
    why: str
    fix: str
    chain: str = ""
    """How the values follow from each other, with numbers and units."""
    severity: Severity = "critical"
    decided: bool = True
    """False: a value the rule needs is not known; refused all the same."""
    waivable: bool = False
    refused: bool = True
    """False: reported only, because the deployment neither caused it nor makes it worse."""

    def message(self) -> str:
        """Return the words a user reads, and a last line for machines, which find no other field in a policy event."""
        return f"{self.text()}\n{self.machine_line()}"

    def text(self) -> str:
        """Return the words a user reads."""
        lines = [
            f"[{self.rule}] {self.title}",
            f" where   {self.urn}",
            f"         {self.path}: got {self.found}; allowed {self.allowed}",
            f" why     {self.why}",
        ]
        if self.chain:
            lines.append(f" chain   {self.chain}")
        lines.append(f" fix     {self.fix}")
        if self.waivable:
            lines.append(" waive   entry in waivers.yaml, at most 30 days")
        return "\n".join(lines)

    def machine_line(self) -> str:
        """Return key=value pairs without blanks in any value."""
        return (
            f" rule={self.rule} severity={self.severity} urn={_word(self.urn)} path={_word(self.path)} "
            f"found={_word(self.found)} allowed={_word(self.allowed)} decided={'yes' if self.decided else 'no'}"
        )


def _word(text: str) -> str:
    return "_".join(text.replace(", ", ",").split()) or "-"
