"""Command that loses a region on paper: what the proof says, and an estimate of the first minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from outlast.cli.context import FleetName

if TYPE_CHECKING:
    from outlast.drill import Assumptions, Outcome
    from outlast.intent import Intent
    from outlast.lock import Lock

SHORT_S = 0.1
"""Waits below are not told apart."""


def drill(
    fleet: FleetName,
    lost: Annotated[str, typer.Option(help="Region to lose, on paper.")],
    detection_s: Annotated[float, typer.Option(help="Estimate: seconds until traffic moves.")] = 60.0,
    prefill: Annotated[
        float | None,
        typer.Option(
            help="Estimate: part of a replica's time spent on prefill when warm, 0 to 1; absent, q of the guardrails.",
        ),
    ] = None,
    cache: Annotated[
        str, typer.Option(help="Estimate: how caches warm up again, as for chat or for multi-turn sessions.")
    ] = "chat",
) -> None:
    """Lose a region on paper: where each class goes, what every survivor then carries, and the first minutes."""
    from outlast.cli.context import load, say_stale
    from outlast.cli.printing import BAD, GOOD, margins, table
    from outlast.errors import ConfigError
    from outlast.intent.known import unknown
    from outlast.proof import misplaced, prove
    from outlast.report import rows_of_loss

    found = load(fleet)
    if lost not in found.intent.regions:
        raise ConfigError(unknown("--lost", "region", lost, found.intent.regions))
    assumptions = _assumptions(found.intent, detection_s, prefill, cache)
    lock = found.lock()
    say_stale(found)
    outlaws = {(sent.residency, sent.region) for sent in misplaced(lock, found.intent) if f".{lost}." in sent.path}
    goes = [
        (residency, region, f"{share} %", BAD if (residency, region) in outlaws else GOOD)
        for residency, losses in lock.shares.items()
        for region, share in losses.get(lost, {}).items()
        if share
    ]
    print(f"{lost} is lost. Its traffic goes, without anybody doing anything:")
    table(("class", "to", "share", "may be there"), goes, right=(2,))
    print("Survivors then carry, in their worst hour and with cold caches:")
    rows = rows_of_loss(prove(lock, found.intent), lost)
    margins("", rows)
    _show_first_minutes(lock, found.intent, lost, assumptions, cache)
    if outlaws or not all(row.holds for row in rows):
        print(f"{BAD} {'a class goes where it may not be' if outlaws else f'the survivors cannot carry {lost}'}")
        raise typer.Exit(1)
    print(f"{GOOD} the survivors carry {lost} at every hour of the week")


def _assumptions(intent: Intent, detection_s: float, prefill: float | None, cache: str) -> Assumptions:
    from outlast.drill import COLD_CACHES, DEFAULT_PREFILL_RATIO, Assumptions
    from outlast.errors import ConfigError
    from outlast.intent.known import unknown

    if cache not in COLD_CACHES:
        raise ConfigError(unknown("--cache", "curve of cold caches", cache, COLD_CACHES))
    declared = intent.guardrails.prefill_surge.q
    ratio = next(value for value in (prefill, declared, DEFAULT_PREFILL_RATIO) if value is not None)
    return Assumptions(detection_s=detection_s, prefill_ratio=ratio, cold_cache=COLD_CACHES[cache])


def _show_first_minutes(lock: Lock, intent: Intent, lost: str, assumptions: Assumptions, cache: str) -> None:
    """Print the worst hour of every pool that takes something over; an estimate, whatever it shows."""
    from outlast.cli.printing import table
    from outlast.drill import simulate, worst_of_survivors
    from outlast.proof import hour_text

    outcomes = worst_of_survivors(simulate(lock, intent, assumptions, (lost,)))
    if not outcomes:
        return
    print("Their first minutes may look like this, in the hour with the longest wait (a simulation, not a proof):")
    table(
        ("region", "pool", "worst hour", "peak load", "longest wait", "queue gone"),
        [
            (it.survivor, it.pool, hour_text(it.hour), *_felt(it))
            for it in sorted(outcomes, key=lambda it: (it.survivor, it.pool))
        ],
        right=(3, 4, 5),
    )
    print(_assumed(assumptions, cache))


def _felt(outcome: Outcome) -> tuple[str, str, str]:
    """Return peak load, longest wait and when the queue is gone, in words where a number would say less."""
    endless = float("inf")
    if outcome.peak_load_ratio == endless:
        return "nothing serves", "no end", "never"
    load = f"{outcome.peak_load_ratio:.0%}"
    if outcome.worst_wait_s == 0:
        return load, "none", "no queue"
    wait = f"{outcome.worst_wait_s:.1f} s" if outcome.worst_wait_s >= SHORT_S else f"under {SHORT_S} s"
    drained = "not within an hour" if outcome.drained_min == endless else f"after {outcome.drained_min:.1f} min"
    return load, wait, drained


def _assumed(assumptions: Assumptions, cache: str) -> str:
    it, minutes = assumptions, len(assumptions.cold_cache)
    return (
        f"  assumed: traffic moves {it.detection_s:g} s after the loss; {it.returning_ratio:.0%} of what failed in the "
        f"last minute returns in the next;\n"
        f"  prefill of moved traffic costs {it.cold_cache[0]:.2f} × at first, {it.cold_cache[-1]:.2f} × from minute "
        f"{minutes} on ({cache}); it is q = {it.prefill_ratio:.0%} of a warm replica's time"
    )
