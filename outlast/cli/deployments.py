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

    from outlast.cli.context import applied_path, load, project_root
    from outlast.lock import write_applied
    from outlast.previews import Engine, applied_of, stack_order

    intent = load(fleet).intent
    found = applied_of(Engine(project_root()), stack_order(intent))
    path = Path(out) if out else applied_path()
    write_applied(path, found)
    print(f"wrote {path}: {len(found)} of {len(stack_order(intent))} stacks have deployed something")


def exports(
    fleet: FleetName,
    out: Annotated[str, typer.Option(help="File to write.")] = "exports.json",
) -> None:
    """Write every stack's outputs, for runs in which a stack's state is out of reach (OUTLAST_EXPORTS)."""
    import json
    from pathlib import Path

    from outlast.cli.context import load, project_root
    from outlast.previews import Engine, stack_order

    engine = Engine(project_root())
    known = set(engine.stacks())
    stacks = [stack for stack in stack_order(load(fleet).intent) if stack in known]
    document = {stack: engine.outputs(stack) for stack in stacks}
    Path(out).write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(f"wrote {out}: {len(document)} stacks")
