"""``outlast permissions``: the policy documents of the identities that deploy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.context import FleetName

if TYPE_CHECKING:
    from collections.abc import Iterable

    from outlast.intent import Intent
    from outlast.operations import Document

_COMMANDS = "commands.txt"
_FORMS = ("terminal", "json")


def permissions(
    fleet: FleetName,
    region: Annotated[str | None, typer.Option(help="Only what deploys this region.")] = None,
    cloud: Annotated[str | None, typer.Option(help="Only regions of this cloud.")] = None,
    form: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
    out: Annotated[
        Path | None, typer.Option(help="Folder to write one file a document and commands.txt into.", file_okay=False)
    ] = None,
) -> None:
    """Print what the identity that deploys a fleet must be allowed on each cloud, and nothing more."""
    import json

    from outlast.cli.context import load
    from outlast.errors import ConfigError
    from outlast.intent.known import unknown
    from outlast.intent.writing import write_all
    from outlast.operations import documents_for

    if form not in _FORMS:
        raise ConfigError(unknown("--format", "format", form, _FORMS))
    intent = load(fleet).intent
    found = documents_for(intent, _chosen(intent, region, cloud))
    if out:
        out.mkdir(parents=True, exist_ok=True)
        files = {f"{document.name}.json": _text(document.content) for document in found} | {_COMMANDS: _script(found)}
        write_all({out / name: text for name, text in files.items()})
        print(f"wrote {out}: {', '.join(files)}")
    elif form == "json":
        print(json.dumps({document.name: document.content for document in found}, indent=2))
    else:
        _show(found)


def _chosen(intent: Intent, region: str | None, cloud: str | None) -> list[str]:
    from outlast.errors import ConfigError, Problem
    from outlast.intent.known import unknown

    if region and cloud:
        problem = Problem(where="outlast permissions", what="takes --region or --cloud", do="Leave one of them out")
        raise ConfigError(problem)
    if region and region not in intent.regions:
        raise ConfigError(unknown("--region", "region", region, intent.regions))
    clouds = {row.cloud for row in intent.regions.values()}
    if cloud and cloud not in clouds:
        raise ConfigError(unknown("--cloud", "cloud of the fleet", cloud, clouds))
    return [
        name
        for name, row in intent.regions.items()
        if (not region or name == region) and (cloud or row.cloud) == row.cloud
    ]


def _show(documents: Iterable[Document]) -> None:
    for document in documents:
        print(f"{document.name}.json")
        print(f"  {document.note}")
        for command in document.commands:
            print(f"  $ {command}")
        print(_text(document.content))


def _script(documents: Iterable[Document]) -> str:
    return "\n".join(
        "".join(f"{line}\n" for line in (f"# {document.name}.json: {document.note}", *document.commands))
        for document in documents
    )


def _text(content: object) -> str:
    import json

    return json.dumps(content, indent=2) + "\n"
