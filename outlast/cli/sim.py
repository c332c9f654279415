"""``outlast sim``: the real engine against stand-in clouds in a private folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.plans import FleetName

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from outlast.previews import Engine, Finished, Progress

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

    from outlast.cli.context import mirrored

    named = Path(os.environ.get("OUTLAST_CONFIG") or root / "config")
    if named.absolute() != (sim / "config").absolute():
        return named
    return mirrored(sim / "config") or root / "config"


@app.command()
def env(fleet: FleetName) -> None:
    """Print the variables of the simulated clouds: eval "$(outlast sim env FLEET)"."""
    from outlast.cli.context import applied_file, deployed, load
    from outlast.intent import stack_order
    from outlast.lock import write_applied
    from simcloud.environment import shell_exports

    _, engine = prepared(fleet)
    write_applied(applied_file(), deployed(engine, stack_order(load(fleet).intent)))
    print(shell_exports(dict(engine.environment)), end="")


@app.command()
def up(
    fleet: FleetName,
    pack: Annotated[str, typer.Option(help="Policy pack.")] = "policies",
    stack: Annotated[list[str] | None, typer.Option(help="Only this stack; repeatable.")] = None,
) -> None:
    """Deploy the stacks of a fleet to simulated clouds, under the policies."""
    from outlast.cli.context import applied_file, chosen_stacks, deployed, load, project_root
    from outlast.cli.printing import BAD, GOOD, counted, messages, step
    from outlast.intent import stack_order
    from outlast.lock import write_applied
    from outlast.previews import ensure_stacks

    _, engine = prepared(fleet)
    intent = load(fleet).intent
    stacks = chosen_stacks(intent, stack)
    ensure_stacks(engine, stacks, create=True)
    applied = dict(deployed(engine, stack_order(intent)))
    for name in stacks:
        write_applied(applied_file(), applied)
        with step(f"up {name}") as shown:
            done = engine.up(name, project_root() / pack, shown.follow)
            shown.failed = not done.ok
        if not done.ok:
            print(f"{BAD} {name} {'is refused' if done.violations else 'failed'}")
            messages(done.violations or (done.diagnostics,))
            print(_standing(stacks, applied, name))
            raise typer.Exit(1)
        applied |= deployed(engine, [name], known=stacks)
    write_applied(applied_file(), applied)
    print(f"{GOOD} {counted(len(stacks), 'stack')} {'are' if len(stacks) > 1 else 'is'} up, in simulated clouds")


def _standing(stacks: Sequence[str], up: Collection[str], failed: str) -> str:
    """Return what stands after a failure: which stacks are up, which one is half done, which are not begun."""
    after = stacks[stacks.index(failed) + 1 :]
    parts = {
        "up": [name for name in up if name != failed],
        "half done at most": [failed],
        "not begun": [name for name in after if name not in up],
    }
    return "; ".join(f"{what}: {', '.join(names) or 'none'}" for what, names in parts.items())


@app.command()
def down(
    fleet: FleetName,
    stack: Annotated[list[str] | None, typer.Option(help="Only this stack; repeatable.")] = None,
) -> None:
    """Tear the stacks of a fleet down: release protection, destroy, in the reverse order."""
    from outlast.cli.context import chosen_stacks, load
    from outlast.cli.printing import BAD, GOOD, counted, messages, step
    from simcloud.life import resources

    sim, engine = prepared(fleet)
    chosen = chosen_stacks(load(fleet).intent, stack)
    holding = engine.resource_counts()
    wanted = [name for name in reversed(chosen) if holding.get(name)]
    for name in wanted:
        with step(f"down {name}") as shown:
            done = _tear_down(engine, name, shown.follow)
            shown.failed = not done.ok
        if not done.ok:
            print(f"{BAD} {name} is not down")
            messages((done.diagnostics,))
            raise typer.Exit(1)
    left = counted(len(resources(sim)), "resource")
    if wanted:
        print(f"{GOOD} {counted(len(wanted), 'stack')} down; the simulated clouds still hold {left}")
    else:
        print(f"nothing to tear down: no resources in {', '.join(chosen)}; the simulated clouds still hold {left}")


def _tear_down(engine: Engine, stack: str, follow: Progress) -> Finished:
    """Lift protection, then destroy; return how the last of both ended."""
    released = engine.release(stack, follow)
    return engine.destroy(stack, follow) if released.ok else released


@app.command()
def reset(fleet: FleetName) -> None:
    """Forget everything the simulated clouds and their engine state hold."""
    from outlast.cli.printing import counted
    from simcloud.life import reset as forget

    sim, _ = prepared(fleet)
    stacks, resources = forget(sim)
    print(f"forgot {counted(stacks, 'stack')} and {counted(resources, 'resource')}")


@app.command()
def faults(
    fleet: FleetName,
    kind: Annotated[str | None, typer.Argument(help="Fault to set; without one, list them.")] = None,
    arguments: Annotated[list[str] | None, typer.Argument(help="key=value of the fault.")] = None,
    times: Annotated[int | None, typer.Option(help="How often it strikes.")] = None,
    lift: Annotated[bool, typer.Option(help="Lift all faults.")] = False,
) -> None:
    """Set, list or lift what goes wrong in the simulated clouds.

    Until lifted:

    lose-region cloud= region=: nothing there answers.

    lose-zone cloud= zone=: its nodes degrade and no new ones come.

    stockout cloud= machine_type= zone=: no new nodes of that machine type.

    revoke-quota cloud= region= code= granted=: the quota is only that much.

    Once, or as often as --times says:

    throttle cloud=: asked to come back later.

    fail-before type= name=: a resource fails, and nothing was made.

    fail-half-way type= name=: a resource is made and never becomes ready.

    kill type= name=: the plugin dies once the cloud has the resource.

    Regions, zones and machine types are called as their cloud calls them, resources as the program does; * is any.

    Example: outlast sim faults demo stockout cloud=aws machine_type=p5.48xlarge zone=use1-az2
    """
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
                Problem(where=f"fault '{kind}'", what="arguments are key=value", got=wrong[0], do="Write key=value")
            )
        set_fault(sim, kind, dict(text.split("=", 1) for text in arguments or ()), times)
    rows = [
        (f.kind, ", ".join(f"{k}={v}" for k, v in f.arguments.items()), f.times or "until lifted")
        for f in in_force(sim)
    ]
    table(("fault", "where", "times"), rows)
