"""Commands about what is deployed: applied, exports."""

from __future__ import annotations

from typing import Annotated

import typer

from outlast.cli.plans import FleetName


def applied(
    fleet: FleetName,
    out: Annotated[str | None, typer.Option(help="File to write; default: OUTLAST_APPLIED, or applied.json.")] = None,
) -> None:
    """Write down what every stack has deployed: the base that a deployment is compared with."""
    from pathlib import Path

    from outlast.cli.context import applied_file, engine, load
    from outlast.intent import stack_order
    from outlast.lock import write_applied
    from outlast.previews import applied_of

    intent = load(fleet).intent
    found = applied_of(engine(), stack_order(intent))
    path = Path(out) if out else applied_file()
    write_applied(path, found)
    print(f"wrote {path}: {len(found)} of {len(stack_order(intent))} stacks have deployed something")


def exports(
    fleet: FleetName,
    out: Annotated[str, typer.Option(help="File to write.")] = "exports.json",
) -> None:
    """Write every stack's outputs, for runs in which a stack's state is out of reach (OUTLAST_EXPORTS)."""
    import json
    from pathlib import Path

    from outlast.cli.context import engine, load
    from outlast.intent import stack_order

    runner = engine()
    known = set(runner.stacks())
    stacks = [stack for stack in stack_order(load(fleet).intent) if stack in known]
    document = {stack: runner.outputs(stack) for stack in stacks}
    Path(out).write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"wrote {out}: {len(document)} stacks")
