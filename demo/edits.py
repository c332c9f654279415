"""Edits of files that acts make, as a person would make them, and their undoing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def edited(path: Path, text: str) -> Iterator[None]:
    """Replace a file's text for the length of a block."""
    before = path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(before, encoding="utf-8")


def one_node_fewer(lock: str, region: str) -> tuple[str, str]:
    """Return a lock's text with one node fewer in a region's first node pool, and that node pool's key."""
    block = re.search(
        rf"^  {region}:\n    node_pools:\n      (\S+):\n.*?nodes: \{{min: (\d+), expected: [\d.]+, max: \d+\}}",
        lock,
        re.DOTALL | re.MULTILINE,
    )
    if block is None:
        msg = f"no node pool of {region} in the lock"
        raise ValueError(msg)
    nodes = int(block.group(2)) - 1
    shrunk = re.sub(r"nodes: \{[^}]*\}$", f"nodes: {{min: {nodes}, expected: {nodes}.0, max: {nodes}}}", block.group(0))
    return lock.replace(block.group(0), shrunk, 1), block.group(1)


def more_demand(demand: str, factor: float) -> str:
    """Return demand.yaml's text with the peak of every daily curve multiplied."""
    return re.sub(r"peak: ([\d.]+)", lambda found: f"peak: {float(found.group(1)) * factor:g}", demand)
