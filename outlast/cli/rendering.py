"""``outlast render``: a region's Kubernetes objects as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.context import FleetName

if TYPE_CHECKING:
    from collections.abc import Mapping

    from outlast.intent import Intent
    from outlast.operations import Change


def render(
    fleet: FleetName,
    stack: Annotated[str, typer.Option(help="Stack of the region: FLEET.REGION, or REGION.")],
    out: Annotated[Path, typer.Option(help="Folder to write into.", file_okay=False)],
) -> None:
    """Write every Kubernetes object of a region as one YAML file, for GitOps; Secrets are never written."""
    from outlast.cli.context import applied_file, deployed, engine, load
    from outlast.cli.printing import counted, step
    from outlast.intent import stack_order
    from outlast.lock import write_applied
    from outlast.operations import change_of, rendered
    from outlast.previews import check_previews, preview_stack

    intent = load(fleet).intent
    name = _region_stack(intent, stack)
    runner = engine()
    deploy_first = _deploy_first(runner.resource_counts(), intent, name)
    write_applied(applied_file(), deployed(runner, stack_order(intent)))
    with step(f"preview {name}") as shown:
        preview = preview_stack(runner, name, None, shown.follow)
        shown.failed = not preview.ok
    check_previews([preview])
    files = rendered(name, preview.after, deploy_first)
    change = change_of(out, files)
    _apply(change, out)
    for secret in files.left_out:
        print(f"Secret {secret} is left out: secrets are never written")
    print(
        f"{out}: {counted(len(files.texts), 'object')} of {name}; {len(change.write)} written, "
        f"{len(change.remove)} removed"
    )


def _region_stack(intent: Intent, stack: str) -> str:
    """Return the whole name of a region's stack.

    Raises:
        ConfigError: there is no such stack, or it is not a region's.
    """
    from outlast.cli.context import chosen_stacks
    from outlast.errors import ConfigError, Problem, listed
    from outlast.intent.stacks import parse

    (name,) = chosen_stacks(intent, [stack])
    if parse(name).region is None:
        regions = listed(f"{intent.name}.{region}" for region in intent.regions)
        what = f"{name} has no cluster, so no Kubernetes objects"
        raise ConfigError(Problem(where="--stack", what=what, allowed=regions, do="Name the stack of a region"))
    return name


def _deploy_first(holds: Mapping[str, int], intent: Intent, stack: str) -> str:
    """Return the stack that has to be deployed before a region's values are known: the first that holds nothing.

    Args:
        holds: stacks of the backend with the number of resources of each.
        intent: the fleet.
        stack: the region's.

    Raises:
        EnvironmentProblem: the stack does not exist.
    """
    from outlast.errors import EnvironmentProblem, Problem
    from outlast.intent.stacks import global_stack

    if stack not in holds:
        do = f"Create it: pulumi stack init {stack}; for simulated clouds: outlast sim up {intent.name}"
        raise EnvironmentProblem(Problem(where=stack, what="the backend has no such stack", do=do))
    return next((name for name in (global_stack(intent.name), stack) if not holds.get(name)), stack)


def _apply(change: Change, folder: Path) -> None:
    """Write what is new and take away what is gone, with folders that this leaves empty."""
    from outlast.intent.writing import write_all

    for path in change.write:
        path.parent.mkdir(parents=True, exist_ok=True)
    write_all(change.write)
    for path in change.remove:
        path.unlink()
        for up in path.parents:
            if up == folder or any(up.iterdir()):
                break
            up.rmdir()
