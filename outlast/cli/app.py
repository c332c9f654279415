"""Puts the commands together and turns mistakes into plain messages."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from outlast.cli import (
    deployments,
    drills,
    explaining,
    holdings,
    imports,
    own_fleet,
    permissions,
    plans,
    rendering,
    replica,
    sim,
    spending,
)
from outlast.errors import OutlastError

_INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the number of the signal."""

app = typer.Typer(
    name="outlast",
    help="Plan, prove, price and provision a multi-region GPU inference platform.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"outlast {version('outlast')}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Say which version this is.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """Plan, prove, price and provision a multi-region GPU inference platform."""


app.command()(own_fleet.init)
app.add_typer(imports.app, name="import")
app.command()(plans.check)
app.command()(plans.plan)
app.command()(explaining.why)
app.command()(explaining.quote)
app.command()(explaining.runway)
app.command()(plans.verify)
app.command()(drills.drill)
app.command()(holdings.quotas)
app.command()(holdings.preflight)
app.command()(permissions.permissions)
app.command()(replica.replica)
app.command()(spending.previews)
app.command()(spending.spend)
app.command()(rendering.render)
app.command()(deployments.applied)
app.command()(deployments.exports)
app.add_typer(sim.app, name="sim")


def main() -> None:
    """Run the command line; a user's mistake ends with exit code 1 and no traceback."""
    try:
        app()
    except OutlastError as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        raise SystemExit(1) from None
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            print("interrupted; what was under way may be half done: run the same command again", file=sys.stderr)
        raise
