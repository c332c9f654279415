"""Commands that need no engine and no account: check, plan, verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.context import FleetName

if TYPE_CHECKING:
    from collections.abc import Mapping

    from outlast.cli.context import Fleet
    from outlast.intent import Intent
    from outlast.lock import Lock
    from outlast.planner import Planned
    from outlast.view import Resource


def check(fleet: FleetName) -> None:
    """Check all files of a fleet: every problem of every file at once, then what does not fit together."""
    from outlast.cli.context import load
    from outlast.errors import ConfigError
    from outlast.intent.checks import notices
    from outlast.intent.checks_capacity import ended_in_use
    from outlast.intent.variants import check_variants
    from outlast.lock import short_ranges, zoneless

    found = load(fleet)
    intent = found.intent
    lock = found.lock_in_force()
    problems = [*check_variants(intent, found.folder), *ended_in_use(intent)]
    if lock:
        problems += [*short_ranges(lock, intent), *zoneless(lock, intent)]
    if problems:
        raise ConfigError(problems)
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
    brief: Annotated[bool, typer.Option(help="Without the tables.")] = False,
    premiums: Annotated[bool, typer.Option(help="Also price every rule, and keep the prices in the lock.")] = False,
    what_if: Annotated[
        list[str] | None,
        typer.Option(help="Compare with a variant of variants.yaml, or 'all'; repeatable; writes nothing."),
    ] = None,
    router: Annotated[str | None, typer.Option(help="Compare with the router static or even; writes nothing.")] = None,
    compare: Annotated[
        bool, typer.Option(help="Find the figures of compare.yaml again; writes nothing, ends with 1 if any differs.")
    ] = False,
    within: Annotated[
        str | None, typer.Option(help="granted, requested or unlimited: the best plan within it, and what it lacks.")
    ] = None,
    accept_gaps: Annotated[
        bool, typer.Option("--accept-gaps", help="With --within: write a plan that does not survive all it should.")
    ] = False,
    form: Annotated[str, typer.Option("--format", help="Of a comparison: terminal or json.")] = "terminal",
) -> None:
    """Plan a fleet: replicas, nodes and failover shares, written to plan.lock.yaml."""
    compared = bool(what_if) or router is not None or compare
    _check_together(
        {"--what-if, --router or --compare": compared},
        {"--check": check_only, "--settle": settle, "--premiums": premiums, "--brief": brief},
    )
    _check_together({"--compare": compare}, {"--what-if": bool(what_if), "--router": router is not None})
    _check_together({"--check": check_only}, {"--settle": settle, "--premiums": premiums})
    _check_together({"--format": form != "terminal"}, {"a plan that is compared with nothing": not compared})
    _check_together(
        {"--within": within is not None},
        {"--what-if, --router or --compare": compared, "--check": check_only, "--premiums": premiums},
    )
    _check_together({"--accept-gaps": accept_gaps}, {"a plan that is not --within": within is None})
    if compared:
        from outlast.cli.comparing import compared_with

        compared_with(fleet, what_if or (), router, form, figures=compare)
    elif check_only:
        _check_lock(fleet)
    elif within is not None:
        from outlast.cli.holdings import plan_within

        plan_within(fleet, within, settle=settle, accept_gaps=accept_gaps, dry_run=dry_run, brief=brief)
    else:
        _plan(fleet, settle=settle, premiums=premiums, dry_run=dry_run, brief=brief)


def _plan(fleet: str, *, settle: bool, premiums: bool, dry_run: bool, brief: bool) -> None:
    from outlast.cli.context import load
    from outlast.cli.plan_tables import show_plan

    found = load(fleet)
    found.refuse_ended()
    in_force = found.plannable()
    planned = _planned(found, in_force, settle=settle)
    show_plan(planned, found.intent, brief=brief)
    _write(found, _with_premiums(found.intent, planned.lock, in_force, anew=premiums), in_force, dry_run=dry_run)


def _check_together(these: Mapping[str, bool], those: Mapping[str, bool]) -> None:
    from outlast.errors import ConfigError, Problem, listed

    one, others = [n for n, given in these.items() if given], [n for n, given in those.items() if given]
    if one and others:
        what = f"{one[0]} does not go with {listed(others)}"
        raise ConfigError(Problem(where="outlast plan", what=what, do="Leave one out"))


def _planned(found: Fleet, in_force: Lock | None, *, settle: bool) -> Planned:
    from outlast.cli.printing import step
    from outlast.errors import InfeasiblePlan

    try:
        with step(f"plan {found.intent.name}") as running:
            from outlast import planner

            def progress(what: str, part: float) -> None:
                running.tell(f"{what} {part:.0%}")

            if settle:
                applied = found.applied()
                return planner.settle(found.intent, in_force or found.lock(), applied, progress=progress)
            return planner.plan(found.intent, in_force, progress=progress)
    except InfeasiblePlan as error:
        from outlast.cli.explaining import with_ways

        raise with_ways(found.intent, in_force, error) from error


def _with_premiums(intent: Intent, lock: Lock, in_force: Lock | None, *, anew: bool) -> Lock:
    """Return the lock with the prices of its rules, if it is asked for or the lock in force has them."""
    from outlast.planner import has_premiums_of_other_inputs, to_lock, with_premiums

    if not anew and not has_premiums_of_other_inputs(lock, in_force):
        return with_premiums(lock, in_force)
    from outlast.cli.explaining import priced, show_prices

    prices = priced(intent)
    if anew:
        show_prices(prices)
    return lock.model_copy(update={"premiums": to_lock(prices)})


def _write(found: Fleet, lock: Lock, in_force: Lock | None, *, dry_run: bool) -> None:
    from outlast.intent.writing import write_all
    from outlast.lock import LOCK_FILE, lock_text

    path = found.folder / LOCK_FILE
    if lock == in_force:
        print(f"{path.parent.name}/{path.name} is up to date: {lock.step}")
    elif dry_run:
        print(f"{path.parent.name}/{path.name} not written (--dry-run); it would be a {lock.step}")
    else:
        write_all({path: lock_text(lock)})
        print(f"wrote {path.parent.name}/{path.name}: {lock.step}. Review it with 'git diff', then commit it.")


def _check_lock(fleet: str) -> None:
    from outlast.cli.context import load
    from outlast.errors import StaleLock
    from outlast.lock import freshness, stale_problem

    found = load(fleet)
    lock = found.lock()
    fresh = freshness(lock, found.intent)
    if fresh.stale:
        raise StaleLock(stale_problem(found.intent, fresh))
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
    if any(violation.refused for violation in violations):
        raise RefusedError(
            Problem(
                where=f"{intent.name}/plan.lock.yaml, {v.path}",
                what=f"[{v.rule}] {v.title} ({v.chain})" if v.chain else f"[{v.rule}] {v.title}",
                got=v.found,
                allowed=v.allowed,
                do=f"{v.fix[0].upper()}{v.fix[1:]}",
            )
            for v in violations
            if v.refused
        )


def verify(
    fleet: FleetName,
    previews: Annotated[
        Path | None, typer.Option(help="Folder of previews: judge their resources too.", exists=True, file_okay=False)
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="File of 'pulumi stack export': judge what is deployed.", exists=True, dir_okay=False),
    ] = None,
) -> None:
    """Judge a lock, previews or a deployed state by the same rules as the policy pack."""
    from outlast.cli.context import load
    from outlast.cli.printing import BAD, GOOD, margins, messages
    from outlast.lock import freshness, stale_problem
    from outlast.proof import prove
    from outlast.report import margin_rows
    from outlast.rules import RULES, Deployment, run
    from outlast.view import view_of

    found = load(fleet)
    found.refuse_ended()
    lock = found.lock()
    resources = _resources(fleet, previews, state)
    deployment = Deployment(
        intent=found.intent,
        lock=lock,
        applied=found.applied() if resources else None,
        view=view_of(resources, found.intent.facts),
    )
    violations = run(RULES, deployment)
    refused = [violation for violation in violations if violation.refused]
    fresh = freshness(lock, found.intent)
    if fresh.stale:
        messages([str(stale_problem(found.intent, fresh))])
    print("The tightest case of every pool, once this lock is deployed:")
    margins("losing", margin_rows(prove(lock, found.intent).binding()))
    messages(violation.text() for violation in violations)
    if refused or fresh.stale:
        print(f"{BAD} {fleet}: {_counted(len(refused), 'violation')}{' of a stale lock' if fresh.stale else ''}")
        raise typer.Exit(1)
    if violations:
        print(f"{BAD} {fleet}: {_counted(len(violations), 'finding')}, none made worse by this deployment")
        return
    judged = f"; {len(resources)} resources of {', '.join(deployment.stacks)} are what it says" if resources else ""
    print(f"{GOOD} {fleet}: the lock survives what its classes must survive, where they may be{judged}")


def _resources(fleet: str, previews: Path | None, state: Path | None) -> list[Resource]:
    import json

    from outlast.errors import ConfigError, Problem
    from outlast.previews import check_previews, load_previews
    from outlast.view import from_export

    kept = load_previews(previews, fleet) if previews else ()
    check_previews(kept)
    resources = [resource for preview in kept for resource in preview.after]
    if state:
        try:
            resources += from_export(json.loads(state.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            do = "Write it with 'pulumi stack export --stack FLEET.REGION --file FILE'"
            raise ConfigError(Problem(where=str(state), what="is no exported state", do=do)) from error
    return resources
