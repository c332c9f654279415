"""All rules, in the order in which they are listed."""

from __future__ import annotations

from outlast.rules import headroom, residency
from outlast.rules.rule import Rule

RULES: tuple[Rule, ...] = (*residency.RULES, *headroom.RULES)
"""Legal rules first."""
