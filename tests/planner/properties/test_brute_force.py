"""Tiny fleets against every count there is, by arithmetic written down a second time: no solver, no planner."""

import math
from collections.abc import Iterator, Mapping
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.intent import Intent
from outlast.planner import settled_lock
from tests.builders import H100, make_curve, make_holdings, make_intent, make_model
from tests.random_fleets import L4, L4_ZONES, few

NORMAL, FAILURE = 0.7, 0.9
GOODPUT = {H100: 1000.0, L4: 300.0}
MOST = {H100: 12, L4: 30}
USD_H = {("us-east", H100): 55.04, ("us-east", L4): 0.8048, ("eu-north", H100): 58.8928, ("eu-north", L4): 0.8536}
"""Of the nodes these fleets use, as the lists of the cloud say."""
NAMES = ("us-east", "eu-north")
busy = st.lists(st.integers(900, 2500), min_size=1, max_size=1).map(lambda hours: hours * 2)
days = st.lists(st.integers(0, 2500), min_size=2, max_size=2)


def fleet(
    curves: Mapping[str, list[int]], cards: tuple[str, ...], l4_nodes: int, *, l4_zones: int = 3, **guardrails: object
) -> Intent:
    measured = {"kind": "measured", "date": "2026-11-01", "source": "a test"}
    per_replica = {H100: 4, L4: 1}
    runs_on = {
        card: {"gpus_per_replica": per_replica[card], "goodput": measured | {"value": f"{GOODPUT[card]} tok/s"}}
        for card in cards
    }
    warm = {name: {"warm": {"machine_type": "g6.xlarge", "zones": list(L4_ZONES[name][:l4_zones])}} for name in NAMES}
    l4 = {"L-DB2E81BA": {"granted": f"{4 * l4_nodes} vCPU", "as_of": "2026-11-01"}}
    return make_intent(
        regions={"regions": {name: {"node_pools": warm[name]} for name in NAMES}},
        models={"models": {"chat": make_model() | {"accelerators": runs_on}}},
        capacity={"regions": {name: {"quotas": l4 | make_holdings(name)["quotas"]} for name in NAMES}},
        demand={"demand": [make_curve("shop", name, *hours) for name, hours in curves.items()]},
        guardrails=guardrails,
    )


def spread(count: int, zones: int) -> list[int]:
    """Replicas by zone, equal within one, extra ones first in the order of the file."""
    return [count // zones + (zone < count % zones) for zone in range(zones)]


def zones_of(intent: Intent, region: str, card: str) -> tuple[str, ...]:
    return intent.regions[region].node_pools["gh100" if card == H100 else "warm"].zones


def shortfalls(
    intent: Intent, region: str, counts: Mapping[str, int], own: list[int], moved: list[int]
) -> Iterator[float]:
    """Have less need of every loss and hour of the pool in one region."""
    rules = intent.guardrails
    surge, canary = rules.prefill_surge.value, rules.canary_replicas
    usable = {card: max(0, count - canary) if count else 0 for card, count in counts.items()}
    whole = sum(usable[card] * GOODPUT[card] for card in counts)
    planned = sum(count * GOODPUT[card] for card, count in counts.items())
    lost = max((GOODPUT[card] for card, count in counts.items() if count), default=0.0)
    zones = sorted({zone for card in counts for zone in zones_of(intent, region, card)})
    where = {
        c: dict(zip(zones_of(intent, region, c), spread(n, len(zones_of(intent, region, c))), strict=True))
        for c, n in counts.items()
    }
    for base, more in zip(own, moved, strict=True):
        yield whole * NORMAL - base
        yield (whole - lost) * NORMAL - base if rules.losses.replica and base else 0.0
        for zone in zones if rules.losses.zone and max(own) else ():
            gone = sum(where[card].get(zone, 0) * GOODPUT[card] for card in counts)
            left = sum(max(0, usable[card] - where[card].get(zone, 0)) * GOODPUT[card] for card in counts)
            yield left * FAILURE - base * (1 + (surge - 1) * gone / planned) if planned else -1.0
        yield whole * FAILURE - base - surge * more if rules.losses.region and more else 0.0


def cheapest(
    intent: Intent, region: str, cards: tuple[str, ...], own: list[int], moved: list[int], l4_nodes: int
) -> float:
    """The least money of a region over all counts."""
    canary, found = intent.guardrails.canary_replicas, math.inf
    for each in product(*(range(1 + (MOST[card] if card == H100 else min(MOST[card], l4_nodes))) for card in cards)):
        counts = dict(zip(cards, each, strict=True))
        if any(0 < count <= canary for count in each) or sum(max(0, count - canary) for count in each) < 2:
            continue
        on_node = {H100: 2, L4: 1}
        nodes = {
            card: sum(-(-n // on_node[card]) for n in spread(count, len(zones_of(intent, region, card))))
            for card, count in counts.items()
        }
        money = sum(USD_H[region, card] * nodes[card] for card in cards)
        if money < found and min(shortfalls(intent, region, counts, own, moved)) >= -1e-6:
            found = money
    return found


def brute_force(intent: Intent, cards: tuple[str, ...], curves: Mapping[str, list[int]], l4_nodes: int) -> float:
    """The least money of both regions; the only survivor takes all that is lost, so neither knows of the other."""
    moves = bool(intent.guardrails.losses.region)
    total = 0.0
    for region, other in (NAMES, NAMES[::-1]):
        nothing = [0, 0]
        if region in curves or (moves and other in curves):
            arriving = curves.get(other, nothing) if moves else nothing
            total += cheapest(intent, region, cards, curves.get(region, nothing), arriving, l4_nodes)
    return total


losses = st.fixed_dictionaries({kind: st.integers(0, 1) for kind in ("region", "zone", "replica")})
homes = st.fixed_dictionaries({"us-east": days}, optional={"eu-north": days})


@pytest.mark.parametrize("cards", [(H100,), (H100, L4)], ids=["one accelerator", "two accelerators"])
@few(20)
@given(
    curves=homes,
    losses=losses,
    canary=st.integers(0, 1),
    surge=st.sampled_from([1.2, 2.0]),
    l4_nodes=st.sampled_from([5, 11, 30]),
)
def test_no_counts_are_cheaper_than_the_plan(cards, curves, losses, canary, surge, l4_nodes):
    intent = fleet(curves, cards, l4_nodes, losses=losses, canary_replicas=canary, prefill_surge={"factor": surge})
    solver = settled_lock(intent).solver
    found = brute_force(intent, cards, curves, l4_nodes)
    assert solver.bound_usd_h <= found + 0.011
    assert solver.usd_h == pytest.approx(found, abs=0.011)


@few(20)
@given(curves=st.fixed_dictionaries(dict.fromkeys(NAMES, busy)), canary=st.integers(1, 2), l4_nodes=st.just(30))
def test_no_counts_are_cheaper_where_one_accelerator_is_in_one_zone_with_its_canary(curves, canary, l4_nodes):
    cards, surge = (H100, L4), {"factor": 1.2}
    intent = fleet(curves, cards, l4_nodes, l4_zones=1, canary_replicas=canary, prefill_surge=surge)
    solver = settled_lock(intent).solver
    found = brute_force(intent, cards, curves, l4_nodes)
    assert solver.bound_usd_h <= found + 0.011
    assert solver.usd_h == pytest.approx(found, abs=0.011)
