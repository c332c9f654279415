"""Edits of a lock, as a hand slips."""

from __future__ import annotations

import re
from collections.abc import Callable

Edit = Callable[[str], str]


def in_region(region: str, pattern: str, replacement: str) -> Edit:
    """Replace the first match of a pattern after a region's heading."""

    def change(text: str) -> str:
        start = text.index(f"\n  {region}:\n")
        return text[:start] + re.sub(pattern, replacement, text[start:], count=1, flags=re.DOTALL)

    return change


def fewer_nodes(region: str, by: int = 1) -> Edit:
    """Take nodes from the region's first node pool, and nothing else."""

    def change(text: str) -> str:
        start = text.index(f"\n  {region}:\n")
        found = re.search(r"nodes: \{min: (\d+)", text[start:])
        assert found
        nodes = int(found.group(1)) - by
        row = f"nodes: {{min: {nodes}, expected: {nodes}.0, max: {nodes}}}"
        return text[:start] + re.sub(r"nodes: \{min[^}]*\}", row, text[start:], count=1)

    return change
