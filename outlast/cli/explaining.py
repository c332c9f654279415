"""Commands that explain a fleet by planning it again or by taking its lock apart: why, quote, runway, and what-if."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.context import FleetName

if TYPE_CHECKING:
    from outlast.errors import InfeasiblePlan
    from outlast.intent import Intent
    from outlast.lock import Lock
    from outlast.planner import MarginalPart, Paid, Price, Quote, Runway, Size, Trials

Form = Annotated[str, typer.Option("--format", help="terminal or json.")]
UNPROVEN = "searches ended before their gaps were closed"
FORMS = ("terminal", "json")
ALL = "all"


def why(
    fleet: FleetName,
    region: Annotated[str | None, typer.Argument(help="Only this region.")] = None,
    pool: Annotated[str | None, typer.Argument(help="Only this pool.")] = None,
    form: Form = "terminal",
) -> None:
    """Say what each GPU of the lock pays for: own demand, then each loss, in this order."""
    from outlast.cli.context import load
    from outlast.errors import ConfigError, StaleLock
    from outlast.intent.known import unknown
    from outlast.lock import freshness, stale_problem
    from outlast.planner import attribution, marginal_prices

    check_form(form)
    found = load(fleet)
    lock = found.lock()
    fresh = freshness(lock, found.intent)
    if fresh.stale:
        raise StaleLock(stale_problem(found.intent, fresh))
    asked = ((region, "region", found.intent.regions), (pool, "pool", found.intent.models))
    if problems := [
        unknown("outlast why", kind, word, known) for word, kind, known in asked if word and word not in known
    ]:
        raise ConfigError(problems)
    paid = [p for p in attribution(found.intent, lock) if region in (None, p.region) and pool in (None, p.pool)]
    parts = [p for p in marginal_prices(found.intent) if region in (None, p.region) and pool in (None, p.pool)]
    if form == "json":
        print_json({"fleet": fleet, "step": lock.step, "paid": paid, "marginal": parts})
        return
    _show_paid(fleet, lock, paid)
    _show_marginal(parts)


def quote(
    fleet: FleetName,
    residency: Annotated[str, typer.Option("--class", help="Residency class of the tenant.")],
    peak: Annotated[str, typer.Option(help="Demand at its peak, for example '5k tok/s'.")],
    hour: Annotated[int, typer.Option(help="Hour of the peak, 0 to 23 UTC.")],
    model: Annotated[str | None, typer.Option(help="Model; default: the only one of the class.")] = None,
    origin: Annotated[
        str | None, typer.Option(help="Where it comes from; default: the only origin of the class.")
    ] = None,
    trough: Annotated[str, typer.Option(help="Part of the peak that remains twelve hours later.")] = "25 %",
    weekend: Annotated[str, typer.Option(help="Saturday and Sunday against a weekday.")] = "100 %",
    form: Form = "terminal",
) -> None:
    """Price a new tenant: plan with it and without; nothing is written."""
    from outlast.cli.context import load
    from outlast.planner import quote as quoted
    from outlast.planner import to_wanted

    check_form(form)
    intent = load(fleet).intent
    shape = {"peak": peak, "peak_utc_hour": hour, "trough": trough, "weekend": weekend}
    wanted = to_wanted(intent, residency, model, origin, shape)
    with trials(f"quote {fleet}", form) as planning:
        found = quoted(intent, wanted, planning)
    if form == "json":
        print_json({"fleet": fleet, "quote": found, "usd_month": found.usd_month, "fits": not found.asks})
        return
    _show_quote(fleet, peak, found)


def runway(
    fleet: FleetName,
    growth: Annotated[str, typer.Option(help="Growth of all demand, such as '3 %/month' or '30 %/year'.")],
    months: Annotated[int, typer.Option(help="How many months to look ahead.")] = 36,
    form: Form = "terminal",
) -> None:
    """Say when a quota or reservation ends under growth, which one, and what the fleet costs then."""
    from datetime import date

    from outlast.cli.context import load
    from outlast.planner import check_months, parse_growth
    from outlast.planner import runway as run

    check_form(form)
    ratio = parse_growth(growth)
    check_months(months)
    intent = load(fleet).intent
    with trials(f"runway {fleet}", form) as planning:
        found = run(intent, ratio, months, intent.fleet.today or date.today(), planning)
    if form == "json":
        print_json({"fleet": fleet, "runway": found})
        return
    _show_runway(fleet, growth, found)


def priced(intent: Intent) -> tuple[Price, ...]:
    """Return the price of every rule of a fleet."""
    from outlast.planner import premiums

    with trials(f"price the rules of {intent.name}", "terminal") as planning:
        return premiums(intent, planning)


def with_ways(intent: Intent, in_force: Lock | None, error: InfeasiblePlan) -> InfeasiblePlan:
    """Return the error of an impossible plan with what would lift it."""
    from outlast.planner import explained

    with trials(f"no plan of {intent.name}: test what would lift it", "terminal") as planning:
        return explained(intent, error, in_force, planning)


def check_form(form: str) -> None:
    """Check the name of an output format.

    Raises:
        ConfigError: there is no such format.
    """
    from outlast.errors import ConfigError
    from outlast.intent.known import unknown

    if form not in FORMS:
        raise ConfigError(unknown("--format", "format", form, FORMS))


@contextmanager
def trials(title: str, form: str) -> Iterator[Trials]:
    """Plan with a step on the terminal; without one where the output is for a machine."""
    from outlast.cli.printing import counted, step
    from outlast.planner import Trials

    if form == "json":
        yield Trials()
        return
    with step(title) as shown:
        yield Trials(began=lambda made: shown.tell(f"{counted(made, 'plan')} made"))


def print_json(document: object) -> None:
    """Print dataclasses and models as JSON."""
    import json
    from dataclasses import fields, is_dataclass

    def plain(value: object) -> object:
        if is_dataclass(value):
            return {field.name: getattr(value, field.name) for field in fields(value)}
        return value.model_dump(mode="json") if hasattr(value, "model_dump") else str(value)

    print(json.dumps(document, indent=2, default=plain))


def _show_paid(fleet: str, lock: Lock, paid: Sequence[Paid]) -> None:
    from outlast.cli.printing import table
    from outlast.proof import hour_text

    gpus, usd_h = sum(p.gpus for p in paid), sum(p.usd_h for p in paid)
    print(
        f"{fleet}: {gpus:,.0f} GPUs, {usd_h:,.2f} USD/h ({lock.step}). Each reason is what it adds to those before it:"
    )
    reasons: dict[str, tuple[float, float]] = {}
    for p in paid:
        reason = f"losing {p.lost}" if p.layer == "region loss" else p.layer
        before = reasons.get(reason, (0.0, 0.0))
        reasons[reason] = (before[0] + p.gpus, before[1] + p.usd_h)
    totals = [(r, f"{g:,.0f}", f"{g / gpus:.0%}" if gpus else "", f"{u:,.2f}") for r, (g, u) in reasons.items()]
    table(("pays for", "GPUs", "part", "USD/h"), totals, right=(1, 2, 3))
    rows = []
    for p in paid:
        when = "" if p.hour is None else hour_text(p.hour)
        lost = f"losing {p.lost}" if p.layer == "region loss" else ""
        part = f"{p.gpus / gpus:.0%}" if gpus else ""
        reason = ", ".join(filter(None, [lost or p.layer, when]))
        rows.append((p.region, p.pool, p.accelerator, reason, p.replicas, f"{p.gpus:,.4g}", part, f"{p.usd_h:,.2f}"))
    table(("region", "pool", "on", "pays for", "replicas", "GPUs", "part", "USD/h"), rows, right=(4, 5, 6, 7))


def _show_marginal(parts: Sequence[MarginalPart]) -> None:
    from outlast.cli.printing import table
    from outlast.proof import hour_text

    if not parts:
        return
    print("At the margin, in the best plan with fractions, the capacity of each pool is bought for:")
    rows: dict[tuple[str, str], list[str]] = {}
    for p in parts:
        hour = "" if p.hour is None else f" at {hour_text(p.hour)}"
        reason = "what it needs alone" if p.lost is None else f"losing {p.lost}{hour}"
        rows.setdefault((p.region, p.pool), []).append(f"{p.part:.0%} {reason}")
    table(("region", "pool", "bought for"), [(*key, ", ".join(reasons)) for key, reasons in rows.items()])


def _show_quote(fleet: str, peak: str, found: Quote) -> None:
    from outlast.cli.printing import BAD, GOOD, table

    wanted = found.wanted
    when = f"{peak} at {wanted.shape.peak_utc_hour:02d}:00 UTC"
    print(f"{fleet}: a tenant of '{wanted.residency}' from '{wanted.origin}' on '{wanted.model}', {when}, costs")
    print(f"  {_sized(found.more)}, {found.usd_month:+,.0f} USD/month")
    if found.unproven_usd_h:
        print(f"  give or take {found.unproven_usd_h:,.2f} USD/h: {UNPROVEN}")
    if found.more.replicas and not found.more.nodes:
        print("  its replicas fit on nodes that are there anyway; the next tenant may not")
    table(
        ("region", "replicas", "nodes", "GPUs", "then set by"),
        [(r.region, f"{r.replicas:+,}", f"{r.nodes:+,}", f"{r.gpus:+,g}", r.set_by) for r in found.regions],
        right=(1, 2, 3),
    )
    if not found.asks:
        print(f"{GOOD} it fits what is held")
    for ask in found.asks:
        print(f"{BAD} it does not fit what is held: {ask}")


def _show_runway(fleet: str, growth: str, found: Runway) -> None:
    from outlast.cli.printing import BAD, GOOD, table

    print(f"{fleet}: today {_total(found.today)}; demand grows by {growth}")
    last = "the last plan that fits what is held" if found.ends else "the last month asked for"
    print(f"  month {found.last_month} ({found.last_day}): {_total(found.last)}, {last}")
    if not found.ends:
        print(f"{GOOD} what is held lasts for all {found.months} months")
    for nth, end in enumerate(found.ends):
        when = f"month {end.month} ({end.day}, demand x {end.growth_ratio:.2f})"
        print(f"{BAD} {'ends' if not nth else 'ends next, if that is granted without end,'} in {when}:")
        for ask in end.asks:
            print(f"    {ask}")
        print(f"    the fleet then: {_total(end.size)}")
    if found.asks_to_last:
        print(f"  to last for all {found.months} months:")
    for ask in found.asks_to_last:
        print(f"    {ask}")
    for expiry in found.expiries:
        print(f"{BAD} reservation {expiry.reservation} in {expiry.region} ends on {expiry.day}, whatever the demand")
    table(
        ("region", "held", f"used in month {found.last_month}", "of", "unit", "part"),
        [
            (u.region, u.name, f"{u.needed:,.0f}", f"{u.held:,.0f}", u.unit, f"{u.needed / u.held:.0%}")
            for u in found.uses
        ],
        right=(2, 3, 5),
    )


def show_prices(prices: Sequence[Price]) -> None:
    """Print the price of every rule."""
    from outlast.cli.printing import BAD, messages, table

    print("What each rule costs: as the first one in, and as the last one. Prices do not add up.")

    def cells(price: Price) -> tuple[str, ...]:
        sizes = (price.first_in, price.last_in)
        return tuple(
            text for s in sizes for text in ((f"{s.gpus:+,.0f}", f"{s.usd_h:+,.2f}") if s else (BAD, "no plan"))
        )

    headings = ("rule", "on top of", "GPUs first in", "USD/h first in", "GPUs last in", "USD/h last in")
    table(headings, [(price.rule, price.on_top_of, *cells(price)) for price in prices], right=(2, 3, 4, 5))
    if unproven := max((price.unproven_usd_h for price in prices), default=0.0):
        print(f"give or take {unproven:,.2f} USD/h: {UNPROVEN}")
    for price in prices:
        if price.why_not:
            print(f"{BAD} {price.rule}: a plan to compare with does not exist")
            messages(price.why_not)


def _sized(more: Size) -> str:
    return f"{more.replicas:+,} replicas, {more.nodes:+,} nodes, {more.gpus:+,.0f} GPUs, {more.usd_h:+,.2f} USD/h"


def _total(size: Size) -> str:
    return f"{size.replicas:,} replicas, {size.gpus:,.0f} GPUs, {size.usd_h:,.2f} USD/h"
