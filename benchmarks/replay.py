"""Recorded weeks of public services, replayed with every region lost at every hour: our plan beside the even one.

Each trace is the shape of one fleet of three regions with peaks of 90k, 60k and 40k tok/s. Where a trace is of one
place, every region follows it at its own local hours; a trace that blends places already is every region's as it is.
The even plan is the inference-platform programme's: survivors share a lost region evenly, and hold it at 70 % of
goodput at every hour, with warm caches. Ours is `outlast.planner.plan` with fixed shares, once as fleets plan by
default (moved demand × 1.6 within 90 % of goodput) and once dearer (× 2 within 95 %); replicas are minimised, zone and
replica loss left out, as there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outlast.drill import COLD_CACHES, Assumptions, FleetLoad, load_of, lose_regions, worst
from outlast.intent import HOURS
from outlast.planner import plan
from tests.builders import H100, make_intent, make_model

TRACES = Path(__file__).parent / "traces"
PEAK_TOK_S = {"us-east": 90_000.0, "eu-west": 60_000.0, "ap-south": 40_000.0}
UTC_OFFSET_H = {"us-east": -5, "eu-west": 1, "ap-south": 6}
"""Local time of the regions in winter; India's half hour is rounded up."""
GOODPUT_TOK_S = 2500.0
OCCUPANCY = 0.7
CASES = {
    f"{name}, q {q:.0%}": Assumptions(prefill_ratio=q, cold_cache=curve)
    for name, curve in COLD_CACHES.items()
    for q in (0.4, 0.8)
}

MARGINS = ((1.6, "90 %"), (2.0, "95 %"))
"""Prefill surge and occupancy after a loss that our plans hold."""
AS_LONG_S = 0.5
"""Waits that differ by less are called equal."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Week:
    """A recorded week from its first hour, Monday where the weekday is known."""

    name: str
    shape: Floats
    local: bool
    """Whether hour 0 is midnight where its users are; otherwise the users are everywhere, and it is UTC."""

    def demand_tok_s(self) -> Floats:
        """Return (hour, region), UTC."""
        shifts = [-UTC_OFFSET_H[region] if self.local else 0 for region in PEAK_TOK_S]
        peaks = list(PEAK_TOK_S.values())
        columns = [np.roll(self.shape, shift) * peak for shift, peak in zip(shifts, peaks, strict=True)]
        demand: Floats = np.stack(columns, axis=1) / self.shape.max()
        return demand


@dataclass(frozen=True)
class Replayed:
    """A plan under a week: replicas, and the worst load and wait of each case."""

    plan: str
    replicas: int
    loads: tuple[float, ...]
    waits_s: tuple[float, ...]


def weeks() -> Iterator[Week]:
    """Yield the recorded weeks; the code service's hours are moved from UTC to the east of the US, where its day is."""
    azure = _trace("azure2024_hourly_digitised")["services"]
    to_monday = {"code": -3 * 24, "conv": -24}  # they start on a Friday and on a Sunday
    rolled = {name: np.roll(azure[name]["requests_per_min_by_hour"], days) for name, days in to_monday.items()}
    yield Week("Azure 2024 code", np.roll(rolled["code"], UTC_OFFSET_H["us-east"]), local=True)
    yield Week("Azure 2024 conv", rolled["conv"], local=False)
    for name, model in _trace("servegen_hourly")["models"].items():
        if model["hours"] >= HOURS:
            yield Week(f"ServeGen {name}", np.array(model["requests_per_s"][:HOURS]), local=True)


def even(demand: Floats) -> Replayed:
    """Return the even plan, replayed."""
    regions = tuple(PEAK_TOK_S)
    moved = np.stack(
        [np.outer(demand[:, lost], 0.5 * (np.arange(len(regions)) != lost)) for lost in range(len(regions))]
    )
    need = np.maximum(demand, (demand + moved).max(axis=0)).max(axis=0)
    replicas = np.ceil(need / (GOODPUT_TOK_S * OCCUPANCY) - 1e-9)
    capacity = np.broadcast_to(replicas * GOODPUT_TOK_S, demand.shape)
    load = FleetLoad(regions, ("chat",), regions, capacity[..., None], demand[..., None], moved[..., None])
    return _replayed("even", int(replicas.sum()), load)


def ours(demand: Floats, surge: float, failure: str) -> Replayed:
    """Return our plan, replayed."""
    curves = [
        {"tenants": ["shop"], "origin": region, "model": "chat", "hours": [f"{value:.3f} tok/s" for value in hours]}
        for region, hours in zip(PEAK_TOK_S, demand.T, strict=True)
    ]
    model = make_model(accelerators={H100: {"goodput": {"value": f"{GOODPUT_TOK_S} tok/s"}}})
    intent = make_intent(
        *PEAK_TOK_S,
        fleet={"objective": "replicas"},
        models={"models": {"chat": model}},
        demand={"demand": curves},
        guardrails={
            "occupancy": {"normal": f"{OCCUPANCY:.0%}", "failure": failure},
            "prefill_surge": {"factor": surge},
            "losses": {"region": 1, "zone": 0, "replica": 0},
        },
    )
    lock = plan(intent, None).lock
    replicas = sum(pool.replicas.planned for block in lock.regions.values() for pool in block.pools.values())
    return _replayed(f"ours × {surge:g}, {failure}", replicas, load_of(lock, intent))


def run() -> None:
    """Print replicas, worst load and longest wait of every plan in every week, and what they say together."""
    demands = {week.name: week.demand_tok_s() for week in weeks()}
    replayed = {
        name: [even(demand), *(ours(demand, surge, failure) for surge, failure in MARGINS)]
        for name, demand in demands.items()
    }
    print("recorded weeks, any region lost at any hour: highest load of full goodput / longest queue wait")
    print(_row("", "", "replicas", *CASES))
    for name, plans in replayed.items():
        for one in plans:
            cells = [f"{load:.2f} / {wait:.0f} s" for load, wait in zip(one.loads, one.waits_s, strict=True)]
            print(_row(name, one.plan, one.replicas, *cells))
    for index in range(1, 1 + len(MARGINS)):
        print(reading([(plans[0], plans[index]) for plans in replayed.values()]))


def reading(pairs: list[tuple[Replayed, Replayed]]) -> str:
    """Return in one line how our plans compare with the even ones."""
    fewer = [theirs.replicas - mine.replicas for theirs, mine in pairs]
    longer_s = [a - b for theirs, mine in pairs for a, b in zip(mine.waits_s, theirs.waits_s, strict=True)]
    longer = [difference for difference in longer_s if difference >= AS_LONG_S]
    times = (
        f"longer in {len(longer)} of {len(longer_s)} cases, by up to {max(longer):.0f} s" if longer else "never longer"
    )
    return (
        f"{pairs[0][1].plan}: {min(fewer)} to {max(fewer)} replicas fewer than even; waits {times} "
        f"(an estimate, not a proof)"
    )


def _row(name: object, plan_name: object, *cells: object) -> str:
    return f"  {name:<17}{plan_name:<17}" + "".join(f"{cell:>19}" for cell in cells)


def _replayed(name: str, replicas: int, load: FleetLoad) -> Replayed:
    found = [worst(lose_regions(load, assumptions)) for assumptions in CASES.values()]
    outcomes = [outcome for outcome in found if outcome]
    return Replayed(
        name, replicas, tuple(it.peak_load_ratio for it in outcomes), tuple(it.worst_wait_s for it in outcomes)
    )


def _trace(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((TRACES / f"{name}.json").read_text(encoding="utf-8"))
    return found
