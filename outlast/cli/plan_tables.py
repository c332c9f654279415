"""What a plan prints: pools, hours, shares, rollout windows, quotas, and what remains to be done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.intent import Intent
    from outlast.lock import Window
    from outlast.planner import Explanation, Planned, PoolLine

_BLOCKS = "▁▂▃▄▅▆▇█"
"""An eighth of a pool's goodput each."""


def show_plan(planned: Planned, intent: Intent, *, brief: bool, say_next: bool = True) -> None:
    """Print what a plan holds and says of itself, and what remains to be done."""
    from outlast.planner import explain

    told = explain(intent, planned)
    print(told.first_line)
    if not brief:
        _show_tables(told)
    for warning in told.warnings:
        print(f"  note: {warning}")
    if told.next_step and say_next:
        print(told.next_step)


def _show_tables(told: Explanation) -> None:
    """Print the tables of a plan, and what each is."""
    from outlast.cli.printing import table

    print(
        "Pools: 'alone' for its own peak only; 'at peak' and 'lost', the part of goodput in use then and after a loss:"
    )
    headings = ("region", "pool", "on", "replicas", "alone", "nodes", "GPUs", "stranded", "at peak", "lost", "USD/h")
    table((*headings, "set by, UTC"), [_pool(line) for line in told.pools], right=tuple(range(3, 11)))
    if told.strips:
        print("The fullest pool of each survivor by hour of the day, 00 to 23 UTC, moved traffic with cold caches:")
        table(
            ("when losing", "carries", "pool", "00    06    12    18    ", "at most"),
            [(s.lost, s.region, s.pool, strip(s.ratios), f"{max(s.ratios):.0%}") for s in told.strips],
            right=(4,),
        )
    table(
        ("class", "when losing", "goes to"),
        [(s.residency, s.lost, ", ".join(f"{region} {share} %" for region, share in s.survivors)) for s in told.shares],
    )
    if told.rollouts:
        print("A tenth of a pool or more is free for a rollout, UTC:")
        rows = [(r.region, r.pool, ", ".join(_windows(r.windows))) for r in told.rollouts]
        table(("region", "pool", "hours: replicas free"), rows)
    table(
        ("region", "quota", "needs", "granted", "unit"),
        [(q.region, q.quota, f"{q.needed:,.0f}", f"{q.granted:,.0f}", q.unit) for q in told.quotas],
        right=(2, 3),
    )
    if told.bounds is not None:
        found = told.bounds
        print(
            f"Without whole nodes no plan costs less than {found.static:,.2f} {found.unit} with one set of shares, "
            f"{found.hourly:,.2f} with shares that differ by hour."
        )


def strip(ratios: Sequence[float]) -> str:
    """Return one block a value, full at 1 or more."""
    return "".join(_BLOCKS[min(len(_BLOCKS) - 1, int(ratio * len(_BLOCKS)))] for ratio in ratios)


def _pool(line: PoolLine) -> tuple[object, ...]:
    full = line.full
    return (
        line.region,
        line.pool,
        line.accelerator,
        line.replicas,
        full.own_replicas if full else "",
        f"{line.nodes:.3g}",
        f"{line.gpus:.4g}",
        f"{line.stranded_gpus:.3g}",
        f"{full.peak_ratio:.0%}" if full else "",
        f"{full.worst_ratio:.0%}" if full and full.worst_ratio else "",
        f"{line.usd_h:,.2f}",
        line.binding.removesuffix(" UTC"),
    )


def _windows(windows: Sequence[Window]) -> Iterator[str]:
    for window in windows:
        yield f"{window.days} {window.from_h:02d}–{window.to_h:02d}: {window.replicas}"
