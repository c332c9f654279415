"""``outlast sim``: the real engine against stand-in clouds in a private folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.plans import FleetName

if TYPE_CHECKING:
    from pathlib import Path

    from outlast.previews import Engine, Progress

app = typer.Typer(
    help="Simulated clouds: the real engine and program, offline.", no_args_is_help=True, rich_markup_mode=None
)


def prepared(fleet: str) -> tuple[Path, Engine]:
    """Prepare the simulated clouds for a fleet and point this process at them.

    Returns:
        The folder of the simulation, and an engine that meets it.
    """
    import os

    from outlast.cli.context import project_root
    from outlast.previews import Engine
    from simcloud.environment import sim_directory
    from simcloud.life import prepare

    root = project_root()
    sim = sim_directory(root)
    variables = prepare(sim, root, fleet, _source(sim, root))
    os.environ.update(variables)
    return sim, Engine(root, variables)


def _source(sim: Path, root: Path) -> Path:
    """Return the configuration to mirror: ``OUTLAST_CONFIG``, unless that is the mirror itself; else the project's."""
    import os
    from pathlib import Path

    named = Path(os.environ.get("OUTLAST_CONFIG") or root / "config")
    if named.absolute() != (sim / "config").absolute():
        return named
    linked = next((path for path in (sim / "config" / "facts").glob("*.csv") if path.is_symlink()), None)
    return linked.readlink().parent.parent if linked else root / "config"


@app.command()
def env(fleet: FleetName) -> None:
    """Print the variables of the simulated clouds: eval "$(outlast sim env FLEET)"."""
    from outlast.cli.context import applied_file, load
    from outlast.intent import stack_order
    from outlast.lock import write_applied
    from outlast.previews import applied_of
    from simcloud.environment import shell_exports

    _, engine = prepared(fleet)
    write_applied(applied_file(), applied_of(engine, stack_order(load(fleet).intent)))
    print(shell_exports(dict(engine.environment)), end="")


@app.command()
def up(
    fleet: FleetName,
    pack: Annotated[str, typer.Option(help="Policy pack.")] = "policies",
    stack: Annotated[list[str] | None, typer.Option(help="Only this stack; repeatable.")] = None,
) -> None:
    """Deploy the stacks of a fleet to simulated clouds, under the policies."""
    from outlast.cli.context import applied_file, load, project_root
    from outlast.cli.printing import BAD, GOOD, messages, step
    from outlast.intent import stack_order
    from outlast.lock import write_applied
    from outlast.previews import applied_of, ensure_stacks

    _, engine = prepared(fleet)
    stacks = tuple(stack) if stack else stack_order(load(fleet).intent)
    ensure_stacks(engine, stacks, create=True)
    applied = dict(applied_of(engine, stack_order(load(fleet).intent)))
    for name in stacks:
        write_applied(applied_file(), applied)
        with step(f"up {name}") as shown:
            done = engine.up(name, project_root() / pack, shown.follow)
            shown.failed = not done.ok
        if not done.ok:
            print(f"{BAD} {name} {'is refused' if done.violations else 'failed'}")
            messages(done.violations or (done.diagnostics,))
            raise typer.Exit(1)
        applied |= applied_of(engine, [name], known=stacks)
    write_applied(applied_file(), applied)
    print(f"{GOOD} {len(stacks)} stack{'s are' if len(stacks) > 1 else ' is'} up, in simulated clouds")


@app.command()
def down(
    fleet: FleetName,
    stack: Annotated[list[str] | None, typer.Option(help="Only this stack; repeatable.")] = None,
) -> None:
    """Tear the stacks of a fleet down: release protection, destroy, in the reverse order."""
    from outlast.cli.context import load
    from outlast.cli.printing import GOOD, step
    from outlast.intent import stack_order
    from simcloud.life import resources

    sim, engine = prepared(fleet)
    known = set(engine.stacks())
    wanted = set(stack or stack_order(load(fleet).intent)) & known
    for name in reversed(stack_order(load(fleet).intent)):
        if name in wanted:
            with step(f"down {name}") as shown:
                _tear_down(engine, name, shown.follow)
    left = len(resources(sim))
    print(
        f"{GOOD} {len(wanted)} stack{'' if len(wanted) == 1 else 's'} down; the simulated clouds hold {left} resources"
    )


def _tear_down(engine: Engine, stack: str, follow: Progress) -> None:
    from outlast.errors import EnvironmentProblem, Problem

    released = engine.release(stack, follow)
    done = engine.destroy(stack, follow) if released.ok else released
    if not done.ok:
        raise EnvironmentProblem(
            Problem(where=f"down {stack}", what=done.diagnostics, do="Mend the cause and run it again")
        )


@app.command()
def reset(fleet: FleetName) -> None:
    """Forget everything the simulated clouds and their engine state hold."""
    from simcloud.life import reset as forget

    sim, _ = prepared(fleet)
    forget(sim)
    print(f"{sim} is empty")


@app.command()
def faults(
    fleet: FleetName,
    kind: Annotated[str | None, typer.Argument(help="Fault to set; without one, list them.")] = None,
    arguments: Annotated[list[str] | None, typer.Argument(help="key=value of the fault.")] = None,
    times: Annotated[int | None, typer.Option(help="How often it strikes.")] = None,
    lift: Annotated[bool, typer.Option(help="Lift all faults.")] = False,
) -> None:
    """Set, list or lift what goes wrong in the simulated clouds."""
    from outlast.cli.printing import table
    from outlast.errors import ConfigError, Problem
    from simcloud.life import faults as in_force
    from simcloud.life import lift_faults, set_fault

    sim, _ = prepared(fleet)
    if lift:
        lift_faults(sim)
    if kind:
        wrong = [text for text in arguments or () if "=" not in text]
        if wrong:
            raise ConfigError(
                Problem(where=f"fault {kind}", what="arguments are key=value", got=wrong[0], do="Write key=value")
            )
        set_fault(sim, kind, dict(text.split("=", 1) for text in arguments or ()), times)
    rows = [
        (f.kind, ", ".join(f"{k}={v}" for k, v in f.arguments.items()), f.times or "until lifted")
        for f in in_force(sim)
    ]
    table(("fault", "where", "times"), rows)
