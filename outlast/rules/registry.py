"""All rules, legal ones first; a rule that is not here does not run."""

from __future__ import annotations

from outlast.rules import headroom, placement, residency
from outlast.rules.rule import Rule

RULES: tuple[Rule, ...] = (*residency.RULES, *placement.RULES, *headroom.RULES)
