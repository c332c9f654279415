"""``outlast import``: demand, goodput, quotas and prices from other tools' files; shown first, written with --write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.context import FleetName

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from outlast.ingest.prices import PriceImport
    from outlast.intent import Intent

app = typer.Typer(
    help="Take over demand, goodput, quotas or prices from other tools' files; shows, and writes only with --write.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
SourceFile = Annotated[Path, typer.Argument(help="File that the other tool wrote.")]
Write = Annotated[bool, typer.Option("--write", help="Write it; without, only show.")]
ModelName = Annotated[str, typer.Option(help="Model of models.yaml.")]
_SHOWN_ROWS = 30


@app.command()
def demand(
    fleet: FleetName,
    file: SourceFile,
    model: ModelName,
    origin: Annotated[str, typer.Option(help="Origin of regions.yaml.")],
    tenants: Annotated[list[str], typer.Option(help="Tenants of one class; repeatable, or with commas.")],
    form: Annotated[
        str | None, typer.Option("--format", help="csv or prometheus; default: told from the file.")
    ] = None,
    reading: Annotated[str, typer.Option(help="'largest day', week or 'mean day'.")] = "largest day",
    unit: Annotated[
        str | None, typer.Option(help="output tok/s, input tok/s or requests/s; default: the model's.")
    ] = None,
    lengths: Annotated[str | None, typer.Option(help="Of requests: mean PROMPT:OUTPUT tokens, as 2000:300.")] = None,
    timezone: Annotated[str | None, typer.Option(help="Zone of times that say none, such as UTC.")] = None,
    column: Annotated[str | None, typer.Option(help="CSV: column of the values.")] = None,
    fill: Annotated[str | None, typer.Option(help="interpolate: fill hours without samples.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="With --write: put it in the place of the curve.")] = False,
    write: Write = False,
) -> None:
    """Make a demand curve from a CSV table or the answer of a Prometheus range query."""
    from outlast.errors import ConfigError
    from outlast.ingest.demand import Asked, changed_files, lengths_of, read_demand, split
    from outlast.intent.known import unknown
    from outlast.proof import hour_text

    if fill not in (None, "interpolate"):
        raise ConfigError(unknown("--fill", "way to fill", str(fill), ["interpolate"]))
    root, intent = _fleet(fleet)
    asked = Asked(
        model=model,
        origin=origin,
        tenants=split(tenants),
        reading=reading,
        form=form,
        unit=unit,
        lengths=lengths_of(lengths),
        column=column,
        zone=timezone,
        interpolate=fill is not None,
    )
    found = read_demand(file, asked, intent)
    hour, peak = found.peak
    when = f"on {hour_text(hour)}" if len(found.curve.values) > 24 else f"at {hour:02d}:00 UTC"
    print(f"{found.says}: {len(found.curve.values)} hours, peak {peak:,.0f} {found.unit} {when}")
    print(f"{fleet}/{found.trace} holds it. Entry of {fleet}/demand.yaml:")
    print(f"  - {found.entry}")
    if found.stands is not None:
        print(f"It takes the place of demand.{found.stands} (--replace).")
    _finish(changed_files(found, root, intent, replace=replace) if write else None)


@app.command()
def goodput(
    fleet: FleetName,
    file: SourceFile,
    model: ModelName,
    accelerator: Annotated[str, typer.Option(help="Accelerator of the model in models.yaml.")],
    gpus: Annotated[int, typer.Option(help="GPUs that served the run.")],
    day: Annotated[str | None, typer.Option("--date", help="Day of the run, if the file does not say it.")] = None,
    cache_hit: Annotated[
        str | None, typer.Option(help="Share of prompt tokens in the prefix cache, as '40 %'.")
    ] = None,
    force_model: Annotated[bool, typer.Option("--force-model", help="The file's model is this one.")] = False,
    write: Write = False,
) -> None:
    """Make a goodput record from a result of vllm bench serve, inference-perf or aiconfigurator."""
    from outlast.ingest.goodput import Asked, changed_file, read_goodput

    root, intent = _fleet(fleet)
    asked = Asked(
        model=model,
        accelerator=accelerator,
        gpus=gpus,
        day=_day(day, "--date"),
        cache_hit=cache_hit,
        force_model=force_model,
    )
    found = read_goodput(file, asked, intent)
    for line in (*found.met, *found.notes):
        print(f"  {line}")
    print(f"Goodput of {model} on {accelerator} in {fleet}/models.yaml, instead of {found.before}:")
    for key, value in found.record.items():
        if value is not None:
            print(f"  {key}: {value}")
    _finish(changed_file(found, asked, root, intent) if write else None)


@app.command()
def quotas(
    fleet: FleetName,
    file: SourceFile,
    region: Annotated[str, typer.Option(help="Our region that the listing is of.")],
    as_of: Annotated[str | None, typer.Option(help="Day of the listing; default: today.")] = None,
    write: Write = False,
) -> None:
    """Take over granted quotas from what a cloud's command line lists, and show what differs."""
    from datetime import date

    from outlast.cli.printing import table
    from outlast.ingest.quotas import changed_file, read_quotas
    from outlast.ingest.yaml_edit import flow

    root, intent = _fleet(fleet)
    today = intent.fleet.today or date.today()
    found = read_quotas(file, region, intent, _day(as_of, "--as-of") or today)
    rows = [
        (
            quota.code,
            "none" if quota.before is None else f"{quota.before:,g}",
            f"{quota.after:,g}",
            quota.unit,
            "differs" if quota.changed else "",
            "" if quota.needed else "no node pool counts against it",
        )
        for quota in found.quotas
    ]
    table(("quota", "before", "after", "unit", "", ""), rows, right=(1, 2))
    for code in found.missing:
        print(f"  note: the listing lacks {code}, which node pools of {region} count against")
    for note in found.notes:
        print(f"  note: {note}")
    print(f"Entries of {fleet}/capacity.yaml, regions.{region}.quotas:")
    for code, keys in found.entries().items():
        print(f"  {code}: {flow(keys)}")
    _finish(changed_file(found, root, intent) if write else None)


@app.command()
def prices(
    file: SourceFile,
    accept_large_change: Annotated[
        bool, typer.Option("--accept-large-change", help="Much of it moves, and that is right.")
    ] = False,
    write: Write = False,
) -> None:
    """Compare a list of prices with facts/prices.csv, row by row, and put it in its place."""
    from outlast.cli.context import written_root
    from outlast.facts import load_facts
    from outlast.ingest.prices import FILE, read_prices, refuse_large

    root = written_root()
    facts = load_facts(root)
    found = read_prices(file, root, facts)
    _show_prices(found)
    if not accept_large_change:
        refuse_large(found, facts, file.name)
    _finish({root / "facts" / FILE: found.text} if write else None)


def _show_prices(found: PriceImport) -> None:
    from outlast.cli.printing import table

    rows = [
        *(
            (*key, f"{before:,.4f}", f"{after:,.4f}", f"{after / before - 1:+.1%}")
            for key, (before, after) in found.changed.items()
        ),
        *((*key, "", f"{after:,.4f}", "added") for key, after in found.added.items()),
        *((*key, f"{before:,.4f}", "", "vanished") for key, before in found.vanished.items()),
    ]
    if rows:
        headings = ("cloud", "region", "machine type", "basis", "USD/h before", "after", "")
        table(headings, rows[:_SHOWN_ROWS], right=(4, 5, 6))
    if len(rows) > _SHOWN_ROWS:
        print(f"and {len(rows) - _SHOWN_ROWS} more")
    print(
        f"{found.rows} rows: {len(found.added)} added, {len(found.changed)} changed, {len(found.vanished)} vanished, "
        f"{found.renewed} with the same price and a newer source"
    )


def _fleet(fleet: str) -> tuple[Path, Intent]:
    from outlast.cli.context import written_root
    from outlast.facts import load_facts
    from outlast.intent import load_intent

    root = written_root()
    return root, load_intent(root, fleet, load_facts(root))


def _day(text: str | None, where: str) -> date | None:
    from datetime import date

    from outlast.errors import ConfigError, Problem

    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise ConfigError(
            Problem(where=where, what="is no date", got=f"'{text}'", do="Write it as 2026-11-30")
        ) from error


def _finish(texts: Mapping[Path, str] | None) -> None:
    """Write files and say so, or say how to."""
    from outlast.intent.writing import write_all

    if texts is None:
        print("nothing written; add --write")
        return
    write_all(texts)
    print(f"wrote {_names(texts)}. Review it with 'git diff', then plan again.")


def _names(paths: Iterable[Path]) -> str:
    return " and ".join(f"{path.parent.name}/{path.name}" for path in paths)
