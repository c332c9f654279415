"""A change of spend: two sides of node lines, what moved, and what cannot be priced."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce

from outlast.spend.lines import NONE, NodeLine, Range
from outlast.units import HOURS_PER_MONTH


@dataclass(frozen=True)
class LineChange:
    """One node pool before and after; one side may be missing."""

    before: NodeLine | None
    after: NodeLine | None

    @property
    def line(self) -> NodeLine:
        """The side that describes the node pool now, or did."""
        side = self.after or self.before
        if side is None:
            raise AssertionError(self)  # a change has at least one side
        return side

    @property
    def is_price_only(self) -> bool:
        """Whether only the price moved."""
        return (
            self.before is not None
            and self.after is not None
            and self.before.nodes == self.after.nodes
            and self.before.rate != self.after.rate
        )

    @property
    def is_change(self) -> bool:
        """Whether anything moved."""
        return self.before != self.after


@dataclass(frozen=True)
class Change:
    """All node pools before and after, of a whole fleet or of the stacks at hand."""

    lines: tuple[LineChange, ...]

    @cached_property
    def unknown(self) -> tuple[NodeLine, ...]:
        """Lines after the change that have no money."""
        return tuple(change.after for change in self.lines if change.after and change.after.unknown)

    @cached_property
    def before_usd_h(self) -> Range:
        """US dollars per hour before."""
        return _total(change.before for change in self.lines)

    @cached_property
    def after_usd_h(self) -> Range:
        """US dollars per hour after."""
        return _total(change.after for change in self.lines)

    @property
    def delta_usd_h(self) -> Range:
        """US dollars per hour, after less before."""
        return _minus(self.after_usd_h, self.before_usd_h)

    @property
    def nodes_after(self) -> float:
        """Nodes at most, after."""
        return sum(_nodes(c.after) for c in self.lines)

    @property
    def delta_nodes(self) -> float:
        """Nodes at most, after less before."""
        return sum(_nodes(c.after) - _nodes(c.before) for c in self.lines)

    @property
    def delta_gpus(self) -> float:
        """GPUs at most, as a plan counts them, after less before."""
        return sum((_nodes(c.after) - _nodes(c.before)) * c.line.node_gpus for c in self.lines)

    @property
    def gpus_after(self) -> float:
        """GPUs at most, as a plan counts them, after."""
        return sum(_nodes(c.after) * c.line.node_gpus for c in self.lines)

    @property
    def changed(self) -> tuple[LineChange, ...]:
        """Lines that moved."""
        return tuple(change for change in self.lines if change.is_change)


def compare(before: Iterable[NodeLine], after: Iterable[NodeLine]) -> Change:
    """Match two sides by region and node pool key; lines that share a key stay apart, in their order."""
    old, new = _by_key(before), _by_key(after)
    return Change(tuple(LineChange(old.get(key), new.get(key)) for key in sorted({*old, *new})))


def _by_key(lines: Iterable[NodeLine]) -> dict[tuple[str, str, int], NodeLine]:
    seen: Counter[tuple[str, str]] = Counter()
    found: dict[tuple[str, str, int], NodeLine] = {}
    for line in lines:
        found[line.region, line.key, seen[line.region, line.key]] = line
        seen[line.region, line.key] += 1
    return found


def per_month(usd_h: float) -> float:
    """Return US dollars per month of 730 hours."""
    return usd_h * HOURS_PER_MONTH


def _total(lines: Iterable[NodeLine | None]) -> Range:
    return reduce(Range.plus, (line.usd_h for line in lines if line and not line.unknown), NONE)


def _minus(left: Range, right: Range) -> Range:
    return Range(*((a or 0.0) - (b or 0.0) for a, b in zip(left.all, right.all, strict=True)))


def _nodes(line: NodeLine | None) -> float:
    return (line.nodes.max or 0.0) if line else 0.0
