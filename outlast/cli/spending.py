"""Commands of a pull request: previews, spend."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.context import FleetName

if TYPE_CHECKING:
    from outlast.cli.context import Fleet
    from outlast.report import SpendReport
    from outlast.spend import NodeLine


def previews(
    fleet: FleetName,
    out: Annotated[str | None, typer.Option(help="Folder to keep them in; default: previews/<fleet>.")] = None,
    init: Annotated[bool, typer.Option("--init", help="Create stacks that do not exist.")] = False,
    pack: Annotated[str, typer.Option(help="Policy pack.")] = "policies",
    stack: Annotated[list[str] | None, typer.Option(help="Only this stack; repeatable.")] = None,
) -> None:
    """Preview every stack of a fleet under the policies, and keep the results."""
    from outlast.cli.context import applied_file, chosen_stacks, deployed, engine, load, project_root
    from outlast.cli.printing import BAD, GOOD, messages, step
    from outlast.intent import stack_order
    from outlast.lock import write_applied
    from outlast.previews import ensure_stacks, preview_in_order, save_preview

    found = load(fleet)
    runner = engine()
    stacks = chosen_stacks(found.intent, stack)
    ensure_stacks(runner, stacks, create=init)
    base = deployed(runner, stack_order(found.intent))
    write_applied(applied_file(), base)
    folder = Path(out) if out else project_root() / "previews" / fleet
    bad = 0
    for preview in preview_in_order(runner, stacks, project_root() / pack, found.lock(), base, step):
        save_preview(folder, preview)
        if not preview.ok:
            bad += 1
            print(f"{BAD} {preview.stack} is refused" if preview.violations else f"{BAD} {preview.stack} failed")
            messages(preview.violations or (preview.problem,))
    if bad:
        raise typer.Exit(1)
    print(f"{GOOD} {len(stacks)} previews pass; kept in {folder}")


def spend(
    fleet: FleetName,
    base: Annotated[str | None, typer.Option(help="Commit whose lock is the base.")] = None,
    base_lock: Annotated[
        Path | None, typer.Option(help="File of the base lock, instead of --base.", exists=True, dir_okay=False)
    ] = None,
    from_previews: Annotated[
        Path | None,
        typer.Option("--previews", help="Folder of previews: both sides from them.", exists=True, file_okay=False),
    ] = None,
    form: Annotated[str, typer.Option("--format", help="terminal, markdown or json.")] = "terminal",
    strict: Annotated[bool, typer.Option(help="Exit with 1 if any verdict is bad, for CI.")] = False,
) -> None:
    """Show what a change of a fleet costs, what it buys, and what cannot be priced."""
    from outlast.cli.context import load
    from outlast.errors import ConfigError, Problem
    from outlast.intent.known import unknown
    from outlast.report import spend_comment

    forms = {"terminal": _show, "markdown": lambda report: print(spend_comment(report), end=""), "json": _show_json}
    if form not in forms:
        raise ConfigError(unknown("--format", "format", form, forms))
    chosen = [
        name for name, given in (("--base", base), ("--base-lock", base_lock), ("--previews", from_previews)) if given
    ]
    if len(chosen) > 1:
        raise ConfigError(Problem(where="spend", what="takes one base", got=" and ".join(chosen), do="Use one of them"))
    report = _report(load(fleet), base, base_lock, from_previews)
    forms[form](report)
    if strict and not all(good for _, good, _ in report.verdicts()):
        raise typer.Exit(1)


def _report(found: Fleet, base: str | None, base_lock: Path | None, previews: Path | None) -> SpendReport:
    from outlast.intent import stack_order
    from outlast.lock import freshness
    from outlast.previews import load_previews
    from outlast.report import SpendReport
    from outlast.rules import RULES, Deployment, run
    from outlast.spend import compare, lines_of_lock, lines_of_view
    from outlast.view import view_of

    intent, lock = found.intent, found.lock()
    if previews:
        kept = load_previews(previews, intent.name)
        before, after = (
            view_of([r for p in kept for r in getattr(p, side)], intent.facts) for side in ("before", "after")
        )
        change = compare(*(lines_of_view(side, intent, lock) for side in (before, after)))
        view = after
        failed = tuple(preview.stack for preview in kept if not preview.ok)
        missing = tuple(sorted(set(stack_order(intent)) - {preview.stack for preview in kept}))
    else:
        after_lines = lines_of_lock(lock, intent)
        change = compare(_base_lines(found, base, base_lock) if base or base_lock else after_lines, after_lines)
        view = view_of((), intent.facts)
        failed = missing = ()
    violations = run(
        RULES, Deployment(intent=intent, lock=lock, applied=found.applied() if previews else None, view=view)
    )
    is_total = not (base or base_lock or previews)
    step = lock.step if change.changed else ""
    stale = freshness(lock, intent).stale
    return SpendReport(intent.name, step, change, violations, intent, lock, stale, failed, missing, is_total)


def _base_lines(found: Fleet, base: str | None, base_lock: Path | None) -> tuple[NodeLine, ...]:
    from outlast.cli.context import project_root
    from outlast.lock import LOCK_FILE, parse_lock
    from outlast.previews import file_at
    from outlast.spend import lines_of_lock

    if base_lock:
        return lines_of_lock(parse_lock(base_lock.read_text(encoding="utf-8"), base_lock.name), found.intent)
    text = file_at(project_root(), str(base), found.folder / LOCK_FILE)
    return lines_of_lock(parse_lock(text, f"{base}:{LOCK_FILE}"), found.intent) if text else ()


def _show(report: SpendReport) -> None:
    from outlast.cli.printing import BAD, GOOD, messages, table
    from outlast.report import ranged, usd
    from outlast.spend import per_month

    print(f"{report.fleet}: {report.headline()}" + (f"  [{report.step}]" if report.step else ""))
    print(" · ".join(f"{GOOD} {subject}" for subject, good, _ in report.verdicts() if good))
    for subject, good, detail in report.verdicts():
        if not good:
            print(f"{BAD} {subject}: {detail}")
    rows = []
    for change in report.shown:
        line = change.line
        old, new = (ranged(*side.nodes.all) if side else "0" for side in (change.before, change.after))
        price = "unpriced" if line.rate.usd_h is None else usd(line.rate.usd_h, cents=True)
        before, after = (side.usd_h.expected or 0.0 if side else 0.0 for side in (change.before, change.after))
        moved = after if report.is_total else after - before
        money = "unknown" if line.rate.usd_h is None else usd(per_month(moved), sign=not report.is_total)
        rows.append(
            (
                line.region,
                line.key,
                line.zone,
                line.machine_type,
                line.rate.basis,
                new if old == new or report.is_total else f"{old} → {new}",
                price,
                money,
            )
        )
    if rows:
        table(
            (
                "region",
                "node pool",
                "zone",
                "machine type",
                "basis",
                "nodes",
                "$/h a node",
                "$/month" if report.is_total else "Δ $/month",
            ),
            rows,
            right=(5, 6, 7),
        )
        print("Nodes: min / expected / max where they differ. The first line counts them at most, money as expected.")
    messages(violation.text() for violation in report.violations)


def _show_json(report: SpendReport) -> None:
    import json

    change = report.change
    money = {"before": change.before_usd_h.all, "after": change.after_usd_h.all, "delta": change.delta_usd_h.all}
    document = {
        "fleet": report.fleet,
        "currency": "USD",
        "step": report.step or None,
        "nodes": {"delta": change.delta_nodes},
        "gpus": {"delta": change.delta_gpus, "after": change.gpus_after},
        "usdPerHour": {
            side: dict(zip(("min", "expected", "max"), values, strict=True)) for side, values in money.items()
        },
        "unpriced": [{"region": line.region, "nodePool": line.key, "reason": line.unknown} for line in change.unknown],
        "verdicts": {subject.lower(): {"good": good, "detail": detail} for subject, good, detail in report.verdicts()},
    }
    print(json.dumps(document, indent=2, sort_keys=True))
