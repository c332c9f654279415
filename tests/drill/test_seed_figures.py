"""The region-loss simulation on the inference-platform programme's fleet, against figures computed independently.

The figures come from another simulation of the same loss, written separately with steps of five seconds; peak load over
full goodput and longest wait, worst over every lost region, hour and survivor, are known to 0.01 and 0.1 s. Replicas
and shares are the plans' they were computed for.
"""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from benchmarks.replay import even, ours
from outlast.drill import COLD_CACHES, Assumptions, FleetLoad, lose_regions, worst

REGIONS = ("us-east", "eu-west", "ap-south")
PEAKS = {"us-east": (90_000, 18), "eu-west": (60_000, 12), "ap-south": (40_000, 7)}
GOODPUT = 2500
CASES = list(product(COLD_CACHES, (0.4, 0.8)))

Shares = Callable[[int], np.ndarray]
"""Lost region -> (hour, survivor) shares, or shares that hold at every hour."""


def demand() -> np.ndarray:
    """(hour, region): a cosine that falls to a quarter of its peak."""
    hours = np.arange(24)
    curves = [p * (0.25 + 0.75 * (1 + np.cos(2 * np.pi * (hours - at) / 24)) / 2) for p, at in PEAKS.values()]
    return np.stack(curves, axis=1)


def fixed(*table: tuple[float, ...]) -> Shares:
    return lambda lost: np.array(table[lost])


def by_room(replicas: tuple[int, ...], occupancy: float) -> Shares:
    """In proportion to what each survivor has left at an occupancy, hour by hour."""

    def shares(lost: int) -> np.ndarray:
        room = np.maximum(0, np.array(replicas) * GOODPUT * occupancy - demand())
        room[:, lost] = 0
        return room / room.sum(axis=1, keepdims=True)

    return shares


def worst_of(replicas: tuple[int, ...], shares: Shares, case: tuple[str, float]) -> tuple[float, float]:
    moved = np.stack([demand()[:, [lost]] * shares(lost) for lost in range(3)])
    capacity = np.tile(np.array(replicas) * float(GOODPUT), (24, 1))
    load = FleetLoad(REGIONS, ("chat",), REGIONS, capacity[..., None], demand()[..., None], moved[..., None])
    found = worst(lose_regions(load, Assumptions(prefill_ratio=case[1], cold_cache=COLD_CACHES[case[0]])))
    assert found is not None
    return found.peak_load_ratio, found.worst_wait_s


EVEN = ((64, 54, 37), fixed((0, 0.5, 0.5), (0.5, 0, 0.5), (0.5, 0.5, 0)))
PLANS = {
    "even 155": (*EVEN, ((1.02, 1.2), (1.19, 11.4), (1.15, 9.3), (1.46, 42.4))),
    "static 145, no surge planned": (
        (55, 42, 48),
        fixed((0, 0.2195, 0.7805), (0.1667, 0, 0.8333), (0.5946, 0.4054, 0)),
        ((1.17, 10.4), (1.38, 22.8), (1.34, 20.2), (1.71, 97.7)),
    ),
    "hourly 139, no surge planned": (
        (52, 52, 35),
        by_room((52, 52, 35), 0.7),
        ((1.12, 7.0), (1.30, 18.0), (1.26, 15.6), (1.59, 74.0)),
    ),
    "static 142, surge 1.6 within 90 %": (
        (52, 50, 40),
        fixed((0, 0.4518, 0.5482), (0.4041, 0, 0.5959), (1, 0, 0)),
        ((1.02, 1.4), (1.20, 11.8), (1.16, 9.5), (1.47, 43.8)),
    ),
    "hourly 141, surge 1.6 within 90 %": (
        (52, 46, 43),
        by_room((52, 46, 43), 0.9),
        ((1.02, 1.2), (1.19, 11.3), (1.15, 9.2), (1.46, 42.0)),
    ),
    "static 152, surge 2 within 95 %": (
        (52, 55, 45),
        fixed((0, 0.4760, 0.5240), (0.3900, 0, 0.6100), (1, 0, 0)),
        ((0.93, 0.0), (1.02, 1.3), (0.99, 0.0), (1.25, 15.2)),
    ),
    "hourly 151, surge 2 within 95 %": (
        (52, 63, 36),
        by_room((52, 63, 36), 0.95),
        ((0.92, 0.0), (1.03, 1.6), (1.00, 0.0), (1.25, 15.0)),
    ),
}


@pytest.mark.parametrize("case", range(4), ids=[f"{name}-q{q}" for name, q in CASES])
@pytest.mark.parametrize("name", PLANS)
def test_the_worst_loss_is_as_computed_elsewhere(name, case):
    replicas, shares, expected = PLANS[name]
    load, wait_s = worst_of(replicas, shares, CASES[case])
    assert load == pytest.approx(expected[case][0], abs=0.01)
    assert wait_s == pytest.approx(expected[case][1], abs=0.15)


def test_the_even_plan_of_the_replays_is_the_programmes():
    assert even(demand()).replicas == 155


def test_our_plan_of_142_replicas_waits_about_as_long_as_the_even_155():
    theirs, mine = even(demand()), ours(demand(), 1.6, "90 %")
    assert mine.replicas == 142
    assert all(load <= other + 0.02 for load, other in zip(mine.loads, theirs.loads, strict=True))
    assert all(wait_s <= other * 1.1 + 0.5 for wait_s, other in zip(mine.waits_s, theirs.waits_s, strict=True))


def test_our_plan_for_a_surge_of_two_is_smaller_and_waits_less_than_the_even_155():
    theirs, mine = even(demand()), ours(demand(), 2.0, "95 %")
    assert mine.replicas < theirs.replicas
    assert all(wait_s < other for wait_s, other in zip(mine.waits_s, theirs.waits_s, strict=True))
