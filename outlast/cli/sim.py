"""``outlast sim``: the real engine against stand-in clouds in a private folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.context import FleetName

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
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
    from outlast.cli.printing import BAD, GOOD, counted, messages
    from outlast.intent import deployed_together, stack_order
    from outlast.lock import write_applied
    from outlast.previews import ensure_stacks

    _, engine = prepared(fleet)
    intent = load(fleet).intent
    stacks = chosen_stacks(intent, stack)
    ensure_stacks(engine, stacks, create=True)
    applied = dict(deployed(engine, stack_order(intent)))
    folder = project_root() / pack
    for group in deployed_together(stacks):
        write_applied(applied_file(), applied)
        ended = _at_once("up", group, lambda name, follow: engine.up(name, folder, follow))
        for name in (name for name, done in ended.items() if done.ok):
            applied |= deployed(engine, [name], known=stacks)
        if failed := [name for name, done in ended.items() if not done.ok]:
            for name in failed:
                print(f"{BAD} {name} {'is refused' if ended[name].violations else 'failed'}")
                messages(ended[name].violations or (ended[name].diagnostics,))
            print(_standing(stacks, applied, failed))
            raise typer.Exit(1)
    write_applied(applied_file(), applied)
    print(f"{GOOD} {counted(len(stacks), 'stack')} {'are' if len(stacks) > 1 else 'is'} up, in simulated clouds")


def _at_once(verb: str, stacks: Sequence[str], act: Callable[[str, Progress], Finished]) -> Mapping[str, Finished]:
    """Do the same to several stacks, as many at a time as there are processors; an interrupt stops all of them."""
    import os
    from concurrent.futures import ThreadPoolExecutor

    from outlast.cli.printing import step
    from outlast.previews import interrupt_running

    def run(name: str) -> Finished:
        with step(f"{verb} {name}", live=len(stacks) == 1) as shown:
            done = act(name, shown.follow)
            shown.failed = not done.ok
        return done

    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        under_way = {name: pool.submit(run, name) for name in stacks}
        try:
            return {name: found.result() for name, found in under_way.items()}
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            interrupt_running()
            raise


def _standing(stacks: Sequence[str], up: Collection[str], failed: Sequence[str]) -> str:
    """Return what stands after a failure: which stacks are up, which are half done, which are not begun."""
    parts = {
        "up": [name for name in up if name not in failed],
        "half done at most": list(failed),
        "not begun": [name for name in stacks if name not in up and name not in failed],
    }
    return "; ".join(f"{what}: {', '.join(names) or 'none'}" for what, names in parts.items())


@app.command()
def down(
    fleet: FleetName,
    stack: Annotated[list[str] | None, typer.Option(help="Only this stack; repeatable.")] = None,
) -> None:
    """Tear the stacks of a fleet down: release protection, destroy, in the reverse order."""
    from outlast.cli.context import chosen_stacks, load
    from outlast.cli.printing import BAD, GOOD, counted, messages
    from outlast.intent import deployed_together
    from simcloud.life import resources

    sim, engine = prepared(fleet)
    chosen = chosen_stacks(load(fleet).intent, stack)
    holding = engine.resource_counts()
    wanted = [name for name in reversed(chosen) if holding.get(name)]
    for group in reversed(deployed_together(wanted)):
        ended = _at_once("down", group, lambda name, follow: _tear_down(engine, name, follow))
        for name in (name for name, done in ended.items() if not done.ok):
            print(f"{BAD} {name} is not down")
            messages((ended[name].diagnostics,))
        if not all(done.ok for done in ended.values()):
            raise typer.Exit(1)
    left = counted(len(resources(sim)), "resource")
    if kept := len(resources(sim, kept=True)) - len(resources(sim)):
        left += f", and {kept} that their clouds never delete; 'outlast sim reset' forgets them before the next 'up'"
    if wanted:
        print(f"{GOOD} {counted(len(wanted), 'stack')} down; the simulated clouds still hold {left}")
    else:
        print(f"nothing to tear down: no resources in {', '.join(chosen)}; the simulated clouds still hold {left}")


def _tear_down(engine: Engine, stack: str, follow: Progress) -> Finished:
    """Lift protection, then destroy; return how the last of both ended."""
    released = engine.release(stack, follow)
    return engine.destroy(stack, follow) if released.ok else released


@app.command()
def reset() -> None:
    """Forget everything the simulated clouds and their engine state hold, of every fleet."""
    from outlast.cli.context import project_root
    from outlast.cli.printing import counted
    from simcloud.environment import sim_directory
    from simcloud.life import reset as forget

    stacks, resources = forget(sim_directory(project_root()))
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
