"""Where the project and its configuration lie, and how files are loaded for a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.errors import EnvironmentProblem, Problem

if TYPE_CHECKING:
    from outlast.intent import Intent
    from outlast.lock import AppliedFile, Lock
    from outlast.previews import Engine

FleetName = Annotated[str, typer.Argument(help="Folder below config/fleets.")]


def project_root() -> Path:
    """Return the folder with Pulumi.yaml, here or above.

    Raises:
        EnvironmentProblem: there is none.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "Pulumi.yaml").is_file():
            return folder
    raise EnvironmentProblem(
        Problem(where=str(here), what="no Pulumi.yaml here or above", do="Run the command inside the project")
    )


def config_root() -> Path:
    """Return the root of configuration that the environment or the project says."""
    from outlast.intent import config_in

    return config_in(os.environ, _root_or_here())


def written_root() -> Path:
    """Return the root of configuration that people write: behind the mirror of a simulation, what it mirrors."""
    root, sim = config_root(), os.environ.get("OUTLAST_SIM")
    is_mirror = sim is not None and root.absolute() == (Path(sim) / "config").absolute()
    return (mirrored(root) if is_mirror else None) or root


def mirrored(config: Path) -> Path | None:
    """Return the root of configuration that a simulation's mirror leads to, or None if it is no mirror."""
    linked = next((path for path in sorted((config / "facts").glob("*.csv")) if path.is_symlink()), None)
    return linked.readlink().parent.parent if linked else None


def applied_file() -> Path:
    """Return the file of what is applied that the environment or the project says."""
    from outlast.lock import applied_path

    return applied_path(os.environ, _root_or_here())


def engine() -> Engine:
    """Return the engine of the project; program and policy pack read the same files as this command."""
    from outlast.previews import Engine

    return Engine(project_root(), {"OUTLAST_CONFIG": str(config_root()), "OUTLAST_APPLIED": str(applied_file())})


def chosen_stacks(intent: Intent, names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the stacks that a command is asked for, in the order of deployment; without names, all of the fleet.

    Args:
        intent: the fleet.
        names: whole names, or what stands behind the fleet's: ``us-east`` is ``<fleet>.us-east``.

    Raises:
        ConfigError: the fleet has no such stack.
    """
    from outlast.errors import ConfigError
    from outlast.intent import stack_order
    from outlast.intent.known import unknown

    order = stack_order(intent)
    whole = {name: name if "." in name else f"{intent.name}.{name}" for name in names or ()}
    problems = [unknown("--stack", "stack", name, order) for name, stack in whole.items() if stack not in order]
    if problems:
        raise ConfigError(problems)
    return tuple(stack for stack in order if stack in whole.values()) if whole else order


def deployed(engine: Engine, stacks: Iterable[str], known: Iterable[str] | None = None) -> AppliedFile:
    """Return what stacks have deployed; say of those whose outputs are not whole that they count as not deployed."""
    from outlast.previews import applied_of

    def incomplete(stack: str) -> None:
        what = "its outputs are incomplete, so it counts as not deployed"
        print(f"{stack}: {what}; run 'pulumi up -s {stack}'", file=sys.stderr)

    return applied_of(engine, stacks, known, incomplete)


def _root_or_here() -> Path:
    """Return the project, or this folder where the environment names everything that is needed."""
    return project_root() if "OUTLAST_CONFIG" not in os.environ else Path.cwd()


@dataclass(frozen=True)
class Fleet:
    """A fleet's files as they are now."""

    intent: Intent
    folder: Path
    """Where its files lie."""

    def lock(self) -> Lock:
        """Return the lock; it must exist and hold together."""
        from outlast.lock import read_lock

        return read_lock(self.folder)

    def lock_in_force(self) -> Lock | None:
        """Return the lock, or None if the fleet was never planned."""
        from outlast.lock import LOCK_FILE

        return self.lock() if (self.folder / LOCK_FILE).is_file() else None

    def plannable(self) -> Lock | None:
        """Return the lock to plan from, or say how to get rid of a damaged one."""
        from outlast.errors import BrokenLock
        from outlast.lock import LOCK_FILE

        try:
            return self.lock_in_force()
        except BrokenLock as error:
            name = f"{self.folder.name}/{LOCK_FILE}"
            do = f"Restore it (git checkout HEAD -- {self.folder / LOCK_FILE}), or remove it to plan from nothing"
            raise BrokenLock([Problem(where=name, what="the lock is damaged", do=do), *error.problems]) from error

    def refuse_ended(self) -> None:
        """Refuse to go on with reservations that have ended.

        Raises:
            ConfigError: node pools use some.
        """
        from outlast.errors import ConfigError
        from outlast.intent.checks_capacity import ended_in_use

        if problems := list(ended_in_use(self.intent)):
            raise ConfigError(problems)

    def applied(self) -> AppliedFile | None:
        """Return what stacks have deployed, or None if nobody wrote it down."""
        from outlast.lock import applied_in

        return applied_in(os.environ, _root_or_here())


def say_stale(found: Fleet) -> None:
    """Say on standard error that the lock, which must exist, was made from other files than these."""
    from outlast.cli.printing import messages
    from outlast.lock import freshness, stale_problem

    fresh = freshness(found.lock(), found.intent)
    if fresh.stale:
        messages([str(stale_problem(found.intent, fresh))])


def load(fleet: str) -> Fleet:
    """Load a fleet's intent with the facts it needs."""
    from outlast.facts import load_facts
    from outlast.intent import fleet_folder, load_intent

    root = config_root()
    folder = fleet_folder(root, fleet)
    return Fleet(load_intent(root, fleet, load_facts(root)), folder)
