"""Commands that need no engine and no account: check, plan, verify, drill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from outlast.intent import Intent
    from outlast.lock import Lock
    from outlast.planner import Planned

FleetName = Annotated[str, typer.Argument(help="Folder below config/fleets.")]


def check(fleet: FleetName) -> None:
    """Check all files of a fleet; every problem is shown at once."""
    from outlast.cli.context import load
    from outlast.intent.checks import notices

    intent = load(fleet).intent
    counts = {"region": intent.regions, "model": intent.models, "tenant": intent.tenants_file.tenants}
    print(f"{fleet}: {', '.join(_counted(len(found), noun) for noun, found in counts.items())}; no problems")
    for notice in notices(intent):
        print(f"  note: {notice}")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def plan(
    fleet: FleetName,
    check_only: Annotated[
        bool, typer.Option("--check", help="Do not plan: say whether the lock fits the files and survives.")
    ] = False,
    settle: Annotated[bool, typer.Option(help="Write the settle lock that follows a deployed raise.")] = False,
    dry_run: Annotated[bool, typer.Option(help="Show the plan, write nothing.")] = False,
) -> None:
    """Plan a fleet: replicas, nodes and failover shares, written to plan.lock.yaml."""
    if check_only:
        _check_lock(fleet)
        return
    from outlast.cli.context import load
    from outlast.cli.printing import step
    from outlast.lock import LOCK_FILE, lock_text

    found = load(fleet)
    with step(f"plan {fleet}"):
        from outlast import planner

        if settle:
            planned = planner.settle(found.intent, found.lock(), found.applied())
        else:
            planned = planner.plan(found.intent, found.lock_in_force())
    _show_plan(planned, found.intent)
    path = found.folder / LOCK_FILE
    if not planned.changed:
        print(f"{path.parent.name}/{path.name} is up to date: {planned.lock.step}")
    elif dry_run:
        print(f"{path.parent.name}/{path.name} not written (--dry-run); it would be a {planned.lock.step}")
    else:
        path.write_text(lock_text(planned.lock), encoding="utf-8")
        print(f"wrote {path.parent.name}/{path.name}: {planned.lock.step}. Review it with 'git diff', then commit it.")


def _check_lock(fleet: str) -> None:
    from outlast.cli.context import load
    from outlast.errors import Problem, StaleLock, listed
    from outlast.lock import freshness

    found = load(fleet)
    lock = found.lock()
    fresh = freshness(lock, found.intent)
    if fresh.stale:
        do = f"Run 'outlast plan {fleet}' and commit the result"
        raise StaleLock(
            Problem(
                where=f"{fleet}/plan.lock.yaml",
                what=f"the lock was made from other inputs (changed: {listed(fresh.stale)})",
                do=do,
            )
        )
    _refuse(found.intent, lock)
    if fresh.repriced:
        print(
            f"{fleet}: prices changed since the lock was made; its counts stand, its money does not. "
            f"Run 'outlast plan {fleet}' to renew it."
        )
    print(
        f"{fleet}: plan.lock.yaml fits its inputs and survives every loss it must "
        f"({lock.step}, {lock.solver.usd_h:,.2f} USD/h)"
    )


def _refuse(intent: Intent, lock: Lock) -> None:
    """Raise what the rules say of a lock alone."""
    from outlast.errors import Problem, RefusedError
    from outlast.rules import RULES, Deployment, run
    from outlast.view import View

    violations = run(RULES, Deployment(intent=intent, lock=lock, applied=None, view=View((), intent.facts)))
    if violations:
        raise RefusedError(
            Problem(
                where=f"{intent.name}/plan.lock.yaml, {v.path}",
                what=f"[{v.rule}] {v.title} ({v.chain})" if v.chain else f"[{v.rule}] {v.title}",
                got=v.found,
                allowed=v.allowed,
                do=f"{v.fix[0].upper()}{v.fix[1:]}",
            )
            for v in violations
        )


def verify(
    fleet: FleetName,
    previews: Annotated[str | None, typer.Option(help="Folder of previews: judge their resources too.")] = None,
    state: Annotated[str | None, typer.Option(help="File of 'pulumi stack export': judge what is deployed.")] = None,
) -> None:
    """Judge a lock, previews or a deployed state by the same rules as the policy pack."""
    import json
    from pathlib import Path

    from outlast.cli.context import load
    from outlast.cli.printing import BAD, GOOD, messages, table
    from outlast.previews import load_previews
    from outlast.proof import prove
    from outlast.report import margin_rows
    from outlast.rules import RULES, Deployment, run
    from outlast.view import from_export, view_of

    found = load(fleet)
    lock = found.lock()
    resources = (
        [resource for preview in load_previews(Path(previews), fleet) for resource in preview.after] if previews else []
    )
    if state:
        resources += from_export(json.loads(Path(state).read_text(encoding="utf-8")))
    applied = found.applied() if resources else None
    violations = run(
        RULES, Deployment(intent=found.intent, lock=lock, applied=applied, view=view_of(resources, found.intent.facts))
    )
    rows = margin_rows(prove(lock, found.intent).binding())
    table(
        ("region", "pool", "tightest when losing", "at", "needs tok/s", "has tok/s", "spare", "replicas", ""),
        [
            (
                r.region,
                r.pool,
                r.lost,
                r.worst_hour,
                f"{r.need_tok_s:,.0f}",
                f"{r.available_tok_s:,.0f}",
                f"{r.spare_part:+.1%}",
                r.replicas,
                GOOD if r.holds else BAD,
            )
            for r in rows
        ],
        right=(4, 5, 6, 7),
    )
    messages(violation.message() for violation in violations)
    if violations:
        print(f"{BAD} {fleet}: {len(violations)} violation{'s' if len(violations) > 1 else ''}")
        raise typer.Exit(1)
    judged = f", {len(resources)} resources are what it says" if resources else ""
    print(
        f"{GOOD} {fleet}: the lock survives the loss of any region, zone and replica "
        f"inside every residency class{judged}"
    )


def drill(
    fleet: FleetName,
    lost: Annotated[str, typer.Option(help="Region to lose, on paper.")],
) -> None:
    """Lose a region on paper: where each class goes, and what every survivor then carries."""
    from outlast.cli.context import load
    from outlast.cli.printing import BAD, GOOD, table
    from outlast.errors import ConfigError
    from outlast.intent.known import unknown
    from outlast.proof import prove
    from outlast.report import rows_of_loss

    found = load(fleet)
    if lost not in found.intent.regions:
        raise ConfigError(unknown("--lost", "region", lost, found.intent.regions))
    lock = found.lock()
    goes = [
        (residency, region, f"{share} %")
        for residency, losses in lock.shares.items()
        for region, share in losses.get(lost, {}).items()
        if share
    ]
    print(f"{lost} is lost. Its traffic goes, without anybody doing anything:")
    table(("class", "to", "share"), goes, right=(2,))
    rows = rows_of_loss(prove(lock, found.intent), lost)
    table(
        ("survivor", "pool", "worst hour", "needs tok/s", "has tok/s", "spare", "replicas", ""),
        [
            (
                r.region,
                r.pool,
                r.worst_hour,
                f"{r.need_tok_s:,.0f}",
                f"{r.available_tok_s:,.0f}",
                f"{r.spare_part:+.1%}",
                r.replicas,
                GOOD if r.holds else BAD,
            )
            for r in rows
        ],
        right=(3, 4, 5, 6),
    )
    if not all(row.holds for row in rows):
        print(f"{BAD} the survivors cannot carry {lost}")
        raise typer.Exit(1)
    print(f"{GOOD} the survivors carry {lost} at every hour of the week, cold caches included")


def _show_plan(planned: Planned, intent: Intent) -> None:
    from outlast.cli.printing import table
    from outlast.planner import explain

    told = explain(intent, planned)
    print(told.first_line)
    table(
        ("region", "pool", "on", "replicas", "nodes", "GPUs", "stranded", "USD/h", "set by"),
        [
            (
                p.region,
                p.pool,
                p.accelerator,
                p.replicas,
                f"{p.nodes:g}",
                f"{p.gpus:g}",
                f"{p.stranded_gpus:g}",
                f"{p.usd_h:,.2f}",
                p.binding,
            )
            for p in told.pools
        ],
        right=(3, 4, 5, 6, 7),
    )
    table(
        ("class", "when losing", "goes to"),
        [(s.residency, s.lost, ", ".join(f"{region} {share} %" for region, share in s.survivors)) for s in told.shares],
    )
    table(
        ("region", "quota", "needs", "granted", "unit"),
        [(q.region, q.quota, f"{q.needed:,.0f}", f"{q.granted:,.0f}", q.unit) for q in told.quotas],
        right=(2, 3),
    )
    if told.next_step:
        print(told.next_step)
