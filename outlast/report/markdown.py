"""The pull-request comment."""

from __future__ import annotations

from collections.abc import Iterable

from outlast.report.spend import SpendReport, oldest_price, ranged, usd
from outlast.spend import LineChange, NodeLine, per_month
from outlast.units import HOURS_PER_MONTH


def spend_comment(report: SpendReport) -> str:
    """Return the comment as GitHub-flavoured Markdown; byte-identical for the same report."""
    verdicts = (f"{'✅' if good else '❌'} {subject}: {detail}" for subject, good, detail in report.verdicts())
    parts = [
        f"### GPU spend of `{report.fleet}`: {report.headline()}",
        " · ".join(verdicts),
        _step(report),
        _regions(report),
        _node_pools(report),
        _unknown(report),
        _broken(report),
        _footer(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _step(report: SpendReport) -> str:
    """Return what the lock's step asks of a deployer; empty for a change that is no step."""
    if report.step == "raise":
        return (
            "This lock **raises**: every count is the larger of before and after, so every state on the way survives. "
            f"Deploy the regions, then routing; then `outlast plan {report.fleet} --settle` gives back what is no "
            "longer needed."
        )
    if report.step == "settle" and report.change.delta_nodes > 0:
        return "This lock is **settled**, and it adds nodes to its base: deploy the regions, then routing."
    if report.step == "settle":
        return "This lock **settles**: it only lowers counts, once the raise before it is deployed everywhere."
    return ""


def _regions(report: SpendReport) -> str:
    headings = ("region", "nodes", "GPUs", "Δ GPUs", "$/month", "Δ $/month", "quota after")
    return _table(
        headings, "lrrrrrl", (_region(report, region, changes) for region, changes in report.by_region().items())
    )


def _region(report: SpendReport, region: str, changes: tuple[LineChange, ...]) -> tuple[str, ...]:
    after = [change.after for change in changes if change.after]
    priced = [line for line in after if not line.unknown]
    nodes = [sum(line.nodes.all[i] or 0 for line in after) for i in range(3)]
    money = [per_month(sum(line.usd_h.all[i] or 0 for line in priced)) for i in range(3)]
    before = sum(per_month(_usd_h(change.before)) for change in changes)
    gpus_before, gpus_after = (sum(_gpus(getattr(c, side)) for c in changes) for side in ("before", "after"))
    quotas = [
        f"{quota.peak:,.0f} of {quota.granted:,.0f} {quota.unit}{'' if quota.is_enough else ' ❌'}"
        for quota in report.quotas
        if quota.region == region
    ]
    return (
        region,
        ranged(*nodes),
        f"{gpus_after:,.0f}",
        f"{gpus_after - gpus_before:+,.0f}",
        ranged(*money, text="${:,.0f}"),
        usd(money[1] - before, sign=True),
        "; ".join(quotas) or "none needed",
    )


def _node_pools(report: SpendReport) -> str:
    if not report.shown:
        return ""
    title = "Node pools" if report.is_total else "Node pools that change"
    money = "$/month" if report.is_total else "Δ $/month"
    headings = ("node pool", "zone", "machine type", "basis", "nodes", "$/h a node", money)
    rows = (_node_pool(change, is_total=report.is_total) for change in report.shown)
    return _folded(title, _table(headings, "llllrrr", rows))


def _node_pool(change: LineChange, *, is_total: bool) -> tuple[str, ...]:
    line = change.line
    old, new = (ranged(*side.nodes.all) if side else "0" for side in (change.before, change.after))
    unknown = any(side and side.unknown for side in (change.before, change.after))
    moved = _usd_h(change.after) - (0.0 if is_total else _usd_h(change.before))
    return (
        f"{line.region} `{line.key}`",
        line.zone,
        line.machine_type,
        line.rate.basis,
        new if is_total else f"{old} → {new}{' (price only)' if change.is_price_only else ''}",
        "unpriced" if line.rate.usd_h is None else usd(line.rate.usd_h, cents=True),
        "unknown" if unknown else usd(per_month(moved), sign=not is_total),
    )


def _unknown(report: SpendReport) -> str:
    rows = [f"- {line.region} `{line.key}`: {line.unknown}" for line in report.change.unknown]
    return "\n".join(["**Not in the sums**", "", *rows]) if rows else ""


def _broken(report: SpendReport) -> str:
    messages = [f"```\n{violation.message()}\n```" for violation in report.violations]
    return _folded("Rules broken", "\n\n".join(messages), is_open=True) if messages else ""


def _footer(report: SpendReport) -> str:
    return (
        f"<sub>List prices less declared discounts, the oldest price of {oldest_price(report.change.lines)} · "
        f"{HOURS_PER_MONTH} h a month · nodes only, without tax · one number where minimum, expected and maximum "
        "agree</sub>"
    )


def _usd_h(line: NodeLine | None) -> float:
    return (line.usd_h.expected or 0.0) if line and not line.unknown else 0.0


def _gpus(line: NodeLine | None) -> float:
    return line.gpus.max or 0.0 if line else 0.0


def _table(headings: tuple[str, ...], aligned: str, rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table; ``aligned`` holds l or r per column."""
    rule = "|".join("---:" if side == "r" else "---" for side in aligned)
    return "\n".join([f"| {' | '.join(headings)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)])


def _folded(title: str, text: str, *, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{title}</summary>\n\n{text}\n\n</details>"
