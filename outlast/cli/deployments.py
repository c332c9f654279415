"""Commands about what is deployed: applied, exports."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from outlast.cli.context import FleetName
from outlast.errors import EnvironmentProblem, Problem

_BACKEND = 'select their backend: PULUMI_BACKEND_URL, or eval "$(outlast sim env FLEET)"'


def applied(
    fleet: FleetName,
    out: Annotated[str | None, typer.Option(help="File to write; default: OUTLAST_APPLIED, or applied.json.")] = None,
) -> None:
    """Write down what every stack has deployed: the base that a deployment is compared with."""
    from pathlib import Path

    from outlast.cli.context import applied_file, deployed, engine, load
    from outlast.intent import stack_order
    from outlast.lock import write_applied

    intent = load(fleet).intent
    runner = engine()
    known = runner.stacks()
    found = deployed(runner, stack_order(intent), known)
    path = Path(out) if out else applied_file()
    write_applied(path, found)
    print(f"wrote {path}: {len(found)} of {len(stack_order(intent))} stacks have deployed something")
    if set(known).isdisjoint(stack_order(intent)):
        print(f"the backend has no stack of {fleet} yet; if there should be some, {_BACKEND}", file=sys.stderr)


def exports(
    fleet: FleetName,
    out: Annotated[str, typer.Option(help="File to write.")] = "exports.json",
) -> None:
    """Write every stack's outputs, for runs in which a stack's state is out of reach (OUTLAST_EXPORTS)."""
    import json
    from pathlib import Path

    from outlast.cli.context import engine, load
    from outlast.intent import stack_order

    intent = load(fleet).intent
    runner = engine()
    known = runner.stacks()
    document = {stack: runner.outputs(stack) for stack in stack_order(intent) if stack in known}
    if not document:
        do = f"Deploy one first; if there should be some, {_BACKEND}"
        raise EnvironmentProblem(Problem(where="exports", what=f"the backend has no stack of {fleet} yet", do=do))
    Path(out).write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"wrote {out}: {len(document)} stacks")
