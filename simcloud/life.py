"""The life of a sim: prepare it, look into it, make things go wrong in it, empty it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast.errors import EnvironmentProblem, Problem
from simcloud import faults as faults_
from simcloud.environment import environment
from simcloud.existing import is_existing, seed
from simcloud.faults import Fault
from simcloud.fleet_config import mirror
from simcloud.home import WORLD, compile_config, install
from simcloud.state import Clouds, Stored
from simcloud.values import merge
from simcloud.world import load

_STATE = "clouds.sqlite"
_APPLIED = "applied.json"
_STACK_FILE = (".json", ".json.gz")
"""How the names of the engine's state files end, and their backups do not."""
_NOTHING_APPLIED = "{}\n"
"""What every stack has deployed in clouds that are empty."""


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One thing the engine asked of a simulated cloud."""

    package: str
    method: str
    preview: bool
    urn: str
    outcome: str
    """`done` or `refused`."""


def prepare(sim: Path, repo: Path, fleet: str, config: Path | None = None) -> dict[str, str]:
    """Bring a sim up to date with the configuration and the installed SDKs; return the environment to use it with.

    Cheap when nothing has changed, so every `outlast sim` command calls it.

    Args:
        sim: the sim directory.
        repo: the repository, which holds `simcloud` and, unless `config` says otherwise, `config/`.
        fleet: the fleet.
        config: the config root.

    Raises:
        OutlastError: a file people write is wrong, or there is no such fleet.
    """
    mirrored = mirror(config or repo / "config", sim, fleet)
    (sim / "state").mkdir(parents=True, exist_ok=True)
    compile_config(sim, mirrored, fleet)
    install(sim, repo)
    with _open(sim) as clouds:
        seed(clouds, load(sim / WORLD))
    variables = environment(sim, repo, fleet)
    if not (sim / _APPLIED).exists():
        (sim / _APPLIED).write_text(_NOTHING_APPLIED, encoding="utf-8")
    return variables


def reset(sim: Path) -> tuple[int, int]:
    """Empty the simulated clouds and forget the engine's state; plugins and configuration stay.

    Returns:
        How many stacks and how many resources it forgot.
    """
    stacks = len([path for path in (sim / "state").glob(".pulumi/stacks/*/*") if path.name.endswith(_STACK_FILE)])
    held = len(resources(sim))
    if (sim / "state").is_dir():
        shutil.rmtree(sim / "state")
    (sim / "state").mkdir(parents=True)
    (sim / _APPLIED).write_text(_NOTHING_APPLIED, encoding="utf-8")
    with _open(sim) as clouds:
        with clouds.change():
            clouds.clear()
        if (sim / WORLD).is_file():
            seed(clouds, load(sim / WORLD))
    return stacks, held


def resources(sim: Path, *, kept: bool = False) -> list[Stored]:
    """List what the clouds hold, oldest first, but for what stood there before any program.

    Args:
        sim: the sim directory.
        kept: also what the clouds never delete (key rings and keys).
    """
    with _open(sim) as clouds:
        return [item for item in clouds.every() if (kept or not item.kept) and not is_existing(item)]


def orphans(sim: Path, known: frozenset[str]) -> list[Stored]:
    """List what the clouds hold and no state knows.

    Args:
        sim: the sim directory.
        known: `type id` of every resource in every stack's state.
    """
    return [item for item in resources(sim) if f"{item.type} {item.id}" not in known]


def operations(sim: Path) -> list[Operation]:
    """List what the engine asked of the clouds, oldest first."""
    with _open(sim) as clouds:
        rows = clouds.operations()
    return [Operation(package=a, method=b, preview=c, urn=d, outcome=e) for a, b, c, d, e in rows]


def faults(sim: Path) -> list[Fault]:
    """List the faults in force."""
    with _open(sim) as clouds:
        return faults_.in_force(clouds)


def set_fault(sim: Path, kind: str, arguments: Mapping[str, Any], times: int | None = None) -> Fault:
    """Put a fault into force; `simcloud.faults.KINDS` lists kinds and their arguments.

    Args:
        sim: the sim directory.
        kind: for example `stockout`.
        arguments: every argument of the kind, by name.
        times: how often it strikes; None: until lifted for lost places, stockouts and quotas, once for the others.

    Raises:
        EnvironmentProblem: unknown kind or arguments, or one that names nothing the clouds know.
    """
    with _open(sim) as clouds:
        return faults_.set_fault(clouds, load(sim / WORLD), kind, arguments, times)


def lift_faults(sim: Path, number: int | None = None) -> None:
    """Lift one fault, or all."""
    with _open(sim) as clouds, clouds.change():
        clouds.lift_faults(number)


def drift(sim: Path, kind: str, name: str, change: Mapping[str, Any]) -> Stored:
    """Change a resource behind the engine's back, as a person at a console would; a refresh sees it.

    Args:
        sim: the sim directory.
        kind: type token.
        name: the resource's id or name in the cloud.
        change: inputs to lay over the resource's own.

    Raises:
        EnvironmentProblem: the clouds hold no such resource.
    """
    with _open(sim) as clouds, clouds.change():
        found = [item for item in clouds.every(kind=kind) if name in (item.id, item.name)]
        if not found:
            raise EnvironmentProblem(
                Problem(
                    where=f"drift of {kind} '{name}'", what="the clouds hold no such resource", do="Deploy it first"
                )
            )
        checked = merge(dict(found[0].checked), dict(change))
        clouds.observe(found[0], checked, found[0].outputs)
        return found[0]


def vanish(sim: Path, kind: str, name: str) -> None:
    """Delete a resource behind the engine's back, with everything inside it."""
    with _open(sim) as clouds, clouds.change():
        for item in clouds.every(kind=kind):
            if name in (item.id, item.name):
                clouds.remove(item)


def set_account(sim: Path, cloud: str, account: str) -> None:
    """Let the ambient credentials of a cloud lead to one account only; empty: to those of the fleet's regions."""
    with _open(sim) as clouds, clouds.change():
        clouds.set(f"account/{cloud}", account)


@contextmanager
def _open(sim: Path) -> Iterator[Clouds]:
    sim.mkdir(parents=True, exist_ok=True)
    clouds = Clouds(sim / _STATE)
    try:
        yield clouds
    finally:
        clouds.close()
