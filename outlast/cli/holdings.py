"""Commands about what is held: quotas, preflight, and the plan within it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.context import FleetName

if TYPE_CHECKING:
    from collections.abc import Iterable

    from outlast.intent import Intent
    from outlast.operations import Finding, QuotaUse, RequestText
    from outlast.planner.within import Deployable

_FORMS = ("text", "json")


def quotas(
    fleet: FleetName,
    form: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
    requests: Annotated[bool, typer.Option(help="Say how to ask the clouds for what is missing.")] = False,
) -> None:
    """Show what a fleet needs of every quota: now, after a failover and during a raise, and what is missing."""
    from outlast.cli.context import load, say_stale
    from outlast.operations import quota_uses, requests_for

    _check_form(form)
    found = load(fleet)
    applied = found.applied()
    uses = quota_uses(found.intent, found.lock(), applied)
    texts = requests_for(found.intent, uses) if requests else ()
    say_stale(found)
    if form == "json":
        _print_json({"fleet": fleet, "quotas": [_use_row(use) for use in uses], **_request_rows(texts, requests)})
        return
    print(f"{fleet}: needs now are {'those of the lock' if applied is None else 'what stacks have deployed'}")
    _show_uses(uses)
    if requests:
        _show_requests(texts)


def preflight(
    fleet: FleetName,
    form: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
    horizon: Annotated[int, typer.Option(min=0, help="Days that reservations must still last.")] = 30,
    account: Annotated[
        list[str] | None,
        typer.Option(help="REGION=ACCOUNT that the credentials at hand belong to; repeatable."),
    ] = None,
) -> None:
    """Check all that must be right before any resource exists; exit with 1 if anything is not."""
    from outlast.cli.context import load
    from outlast.operations import Situation
    from outlast.operations import preflight as run

    _check_form(form)
    found = load(fleet)
    today = found.intent.today
    accounts = _accounts(account or [], found.intent.regions)
    findings = run(Situation(found.intent, found.lock(), found.applied(), today, horizon, accounts))
    if form == "json":
        _print_json({"fleet": fleet, "today": str(today), "findings": [_finding_row(finding) for finding in findings]})
    else:
        _show_findings(fleet, findings)
    if any(finding.verdict == "failed" for finding in findings):
        raise typer.Exit(1)


def plan_within(fleet: str, bounds: str, *, settle: bool, accept_gaps: bool, dry_run: bool, brief: bool) -> None:
    """Plan what can be deployed within what is held, beside the plan that ignores it; or the settle that follows."""
    from outlast.cli.context import load
    from outlast.cli.plan_tables import show_plan
    from outlast.cli.printing import step
    from outlast.errors import ConfigError, Problem
    from outlast.intent.writing import write_all
    from outlast.lock import LOCK_FILE, lock_text

    found = load(fleet)
    found.refuse_ended()
    in_force = found.plannable()
    from outlast.planner.bounds import bounds_of

    chosen = bounds_of(bounds)
    with step(f"plan {fleet} within what is {bounds}"):
        from outlast.planner.within import deployable, settle_within

        if settle and chosen != "granted":
            do = "Use --within granted"
            raise ConfigError(Problem(where="outlast plan", what="only a plan that is written settles", do=do))
        if settle:
            result = settle_within(found.intent, in_force or found.lock(), found.applied())
        else:
            result = deployable(found.intent, in_force, chosen)
    show_plan(result.planned, found.intent, brief=brief, say_next=not result.lacks)
    _show_beside(result, found.intent)
    path = found.folder / LOCK_FILE
    name = f"{path.parent.name}/{path.name}"
    if not result.planned.changed:
        print(f"{name} is up to date: {result.planned.lock.step}")
    elif why := _not_written(bounds, dry_run=dry_run, refused=bool(result.lacks) and not accept_gaps):
        print(f"{name} not written ({why}); it would be a {result.planned.lock.step}")
    else:
        write_all({path: lock_text(result.planned.lock)})
        print(f"wrote {name}: {result.planned.lock.step}. Review it with 'git diff', then commit it.")
    if result.lacks and not accept_gaps:
        raise typer.Exit(1)


def _not_written(bounds: str, *, dry_run: bool, refused: bool) -> str:
    """Return why a plan is shown and not written; empty if it is written."""
    if dry_run:
        return "--dry-run"
    if bounds != "granted":
        return "it counts on more than is granted; write the grants into capacity.yaml first"
    return "it does not survive all it should: --accept-gaps writes it all the same" if refused else ""


def _show_beside(result: Deployable, intent: Intent) -> None:
    from outlast.cli.printing import BAD, GOOD
    from outlast.proof import hour_text

    target, settled = result.target.solver.usd_h, result.planned.target.solver.usd_h
    print(f"target plan, with quotas and reservations for it: {target:,.2f} USD/h; this one: {settled:,.2f} USD/h")
    if not result.lacks:
        print(f"{GOOD} it serves all demand and survives every loss it must")
    for lack in result.lacks:
        need = f"{lack.pool} needs {lack.need_tok_s:,.0f} {intent.models[lack.pool].unit} at {hour_text(lack.hour)}"
        what = f"class {lack.residency} does not survive the loss of {lack.lost}: elsewhere {need}"
        print(f"{BAD} {what}, all at most {lack.gpus:,.0f} GPUs")
        for problem in lack.lift:
            print(f"  {problem}")
    if result.lacks and result.planned.lock.step == "raise":
        fleet = result.target.fleet
        print(f"next: deploy this raise; 'outlast plan {fleet} --within granted --settle' then settles it")


def _check_form(form: str) -> None:
    from outlast.errors import ConfigError
    from outlast.intent.known import unknown

    if form not in _FORMS:
        raise ConfigError(unknown("--format", "format", form, _FORMS))


def _accounts(given: Iterable[str], regions: Iterable[str]) -> tuple[tuple[str, str], ...]:
    from outlast.errors import ConfigError, Problem
    from outlast.intent.known import unknown

    pairs = [text.partition("=") for text in given]
    problems = []
    for region, _, value in pairs:
        if not value:
            what, do = "not a region and its account", "Write REGION=ACCOUNT"
            problems.append(Problem(where="--account", what=what, got=f"'{region}'", do=do))
        elif region not in regions:
            problems.append(unknown("--account", "region", region, regions))
    if problems:
        raise ConfigError(problems)
    return tuple((region, value) for region, _, value in pairs)


def _show_uses(uses: Iterable[QuotaUse]) -> None:
    from outlast.cli.printing import BAD, GOOD, table

    rows = [
        (
            ", ".join(use.regions),
            use.quota.quota_code,
            *(f"{amount:,.0f}" for amount in (use.now, use.after_failover, use.peak, use.grant.granted)),
            f"{use.grant.requested:,.0f}" if use.grant.requested else "",
            f"{use.missing:,.0f}" if use.missing else "",
            "" if use.used_ratio is None else f"{use.used_ratio:.0%}",
            use.unit,
            BAD if use.missing else GOOD,
        )
        for use in uses
    ]
    headings = ("region", "quota", "now", "after failover", "raise", "granted", "requested", "missing", "used", "", "")
    table(headings, rows, right=(2, 3, 4, 5, 6, 7, 8))


def _show_requests(texts: Iterable[RequestText]) -> None:
    said = False
    for text in texts:
        said = True
        print(f"\n# {text.title}")
        if text.command:
            print(text.command)
        print(f"# {text.form}")
    if not said:
        print("nothing to ask for: grants, or requests under way, cover every peak")


def _show_findings(fleet: str, findings: tuple[Finding, ...]) -> None:
    from outlast.cli.printing import BAD, GOOD, counted, table
    from outlast.operations import CHECKS

    marks = {"passed": GOOD, "warning": "!", "failed": BAD}
    claims = {check.name: check.claim for check in CHECKS}
    worst: dict[tuple[str, str], str] = {}
    order = list(marks)
    for finding in findings:
        key = (finding.check, finding.region)
        worst[key] = max(worst.get(key, "passed"), finding.verdict, key=order.index)
    rows: dict[tuple[str, str], list[str]] = {}
    for (check, region), verdict in worst.items():
        rows.setdefault((check, marks[verdict]), []).append(region)
    table(
        ("", "check", "claim", "regions"),
        [(mark, check, claims[check], ", ".join(regions)) for (check, mark), regions in rows.items()],
    )
    for verdict in ("warning", "failed"):
        for text in dict.fromkeys(str(f.problem) for f in findings if f.verdict == verdict and f.problem):
            print(f"{marks[verdict]} {text}")
    failed = sum(verdict == "failed" for verdict in worst.values())
    if failed:
        print(f"{BAD} {fleet}: {counted(failed, 'check')} of {len(worst)} failed; create nothing yet")
    else:
        print(f"{GOOD} {fleet}: {len(worst)} checks, none failed")


def _use_row(use: QuotaUse) -> dict[str, object]:
    return {
        "regions": list(use.regions),
        "quota": use.quota.quota_code,
        "name": use.quota.quota_name,
        "scope": use.quota.scope,
        "unit": use.unit,
        "now": use.now,
        "after_failover": use.after_failover,
        "raise": use.peak,
        "granted": use.grant.granted,
        "requested": use.grant.requested,
        "missing": use.missing,
        "used_ratio": use.used_ratio,
    }


def _request_rows(texts: Iterable[RequestText], wanted: bool) -> dict[str, object]:
    rows = [{"title": text.title, "command": text.command, "form": text.form} for text in texts]
    return {"requests": rows} if wanted else {}


def _finding_row(finding: Finding) -> dict[str, object]:
    problem = finding.problem
    parts = ("where", "what", "got", "allowed", "do")
    said = {part: getattr(problem, part) for part in parts} if problem else {}
    return {"check": finding.check, "region": finding.region, "verdict": finding.verdict, **said}


def _print_json(document: object) -> None:
    import json

    print(json.dumps(document, indent=1))
