"""What `outlast plan` compares and never writes: variants, another router, and published figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from outlast.cli.explaining import ALL, check_form, print_json, trials

if TYPE_CHECKING:
    from outlast.cli.context import Fleet
    from outlast.intent import Intent
    from outlast.planner import Choice, Figure


def what_if(found: Fleet, names: Sequence[str], router: str | None, form: str) -> None:
    """Compare the plan of a fleet with its plans under variants and another router; nothing is written."""
    from outlast.planner import compare

    check_form(form)
    others = _choices(found, names, router)
    with trials(f"plan {found.intent.name} and {len(others)} more", form) as planning:
        choices = compare(found.intent, others, planning)
    if form == "json":
        print_json({"fleet": found.intent.name, "choices": choices})
        return
    _show_choices(choices)


def published(found: Fleet, form: str) -> None:
    """Print the figures of compare.yaml beside those found here; end with 1 if any differs."""
    import typer

    from outlast.errors import ConfigError, Problem
    from outlast.intent.variants import with_variant
    from outlast.planner import compare_published

    check_form(form)
    intent = found.intent
    file = intent.published
    if not (file.plans or file.optima or file.memory or file.demand):
        do = "Write published figures there, as the seed fleet does"
        raise ConfigError(Problem(where=f"{intent.name}/compare.yaml", what="holds no figures", do=do))
    asked = (*(row.variant for row in file.plans), *(row.variant for row in file.optima))
    names = dict.fromkeys(name for name in asked if name is not None)
    with trials(f"find the figures of {intent.published.source or intent.name}", form) as planning:
        variants = {name: with_variant(intent, found.folder, name) for name in names}
        figures = compare_published(intent, variants, planning)
    if form == "json":
        print_json({"fleet": intent.name, "source": intent.published.source, "figures": figures})
    else:
        _show_figures(intent, figures)
    if not all(figure.is_same for figure in figures):
        raise typer.Exit(1)


def _show_figures(intent: Intent, figures: Sequence[Figure]) -> None:
    from outlast.cli.printing import BAD, GOOD, table

    last = ""
    rows = []
    for figure in figures:
        says = "" if figure.says == last else figure.says
        rows.append((says, figure.what, figure.published, figure.found, GOOD if figure.is_same else BAD))
        last = figure.says
    table(("published", "figure", "there", "here", ""), rows, right=(2, 3))
    wrong = sum(not figure.is_same for figure in figures)
    verdict = f"{BAD} {wrong} of {len(figures)} figures differ" if wrong else f"{GOOD} all {len(figures)} figures again"
    print(f"{verdict}: {intent.published.source or intent.name}")


def _choices(found: Fleet, names: Sequence[str], router: str | None) -> dict[str, Intent]:
    from outlast.errors import ConfigError, Problem
    from outlast.intent.known import unknown
    from outlast.intent.variants import with_variant
    from outlast.planner import ROUTERS, with_router

    problems: list[Problem] = []
    variants = found.intent.variants.variants
    others: dict[str, Intent] = {}
    if ALL in names and not variants:
        where = f"{found.intent.name}/variants.yaml"
        problems.append(Problem(where=where, what="there are no variants", do="Add one, or leave --what-if out"))
    for name in dict.fromkeys(name for given in names for name in (variants if given == ALL else (given,))):
        try:
            others[name] = with_variant(found.intent, found.folder, name)
        except ConfigError as error:
            problems += error.problems
    if router is not None and router not in ROUTERS:
        problems.append(unknown("--router", "router", router, ROUTERS))
    elif router is not None:
        others[f"router {router}"] = with_router(found.intent, router)
    if problems:
        raise ConfigError(problems)
    return others


def _show_choices(choices: Sequence[Choice]) -> None:
    from outlast.cli.printing import BAD, messages, table

    def row(choice: Choice) -> tuple[object, ...]:
        size, more = choice.size, choice.more
        if size is None:
            return choice.name, BAD, "no plan", "", "", "", ""
        differs = (f"{more.gpus:+,.0f}", f"{more.usd_h:+,.2f}") if more else ("", "")
        return (
            choice.name,
            size.replicas,
            f"{size.gpus:,.0f}",
            size.nodes,
            f"{size.usd_h:,.2f}",
            *differs,
            f"{choice.gap_pct:g}",
        )

    headings = ("plan", "replicas", "GPUs", "nodes", "USD/h", "GPUs more", "USD/h more", "gap %")
    table(headings, [row(choice) for choice in choices], right=tuple(range(1, 8)))
    for choice in choices:
        if choice.why_not:
            print(f"{BAD} {choice.name}: there is no plan")
            messages(choice.why_not)
