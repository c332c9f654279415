"""Commands that begin a fleet: init."""

from __future__ import annotations

from typing import Annotated

import typer


def init(
    fleet: Annotated[str, typer.Argument(help="Name of the new fleet; its folder below config/fleets.")],
    regions: Annotated[
        str,
        typer.Option(
            help="Comma-separated: NAME of a first region, or NAME=CLOUD:PROVIDER_REGION. Default: four regions."
        ),
    ] = "",
) -> None:
    """Write the commented files of a small fleet that plans and deploys to simulated clouds at once."""
    from datetime import date

    from outlast.cli.context import written_root
    from outlast.cli.printing import counted
    from outlast.facts import load_facts
    from outlast.ingest.scaffold import create

    root = written_root()
    chosen = [text for text in regions.split(",") if text.strip()]
    folder, *stacks = create(root, fleet, chosen, load_facts(root), date.today())
    print(f"wrote {folder} and {counted(len(stacks), 'stack file')} in {stacks[0].parent}")
    for path in sorted(folder.iterdir()):
        print(f"  {path.name}")
    print(f"Next: outlast check {fleet}, outlast plan {fleet}, outlast sim up {fleet}; then edit what says EXAMPLE")
