"""What holds for every fleet of one dedicated pool, exactly; other tiers are in `properties`."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.errors import ConfigError
from outlast.intent import Intent
from outlast.lock import Lock
from outlast.planner import plan
from outlast.planner.arrays import to_arrays
from outlast.planner.pruning import binding_hours
from tests.builders import make_curve, make_intent, merged

REGIONS = ("us-east", "eu-north", "eu-west")
CENT = 0.011
curve = st.lists(st.integers(0, 9000), min_size=3, max_size=3)
few = settings(max_examples=12, deadline=None, derandomize=True)
EU = {"serve_in": ["EU"], "fail_over_to": ["EU"], "legal_basis": "contract", "allowed_outage": "1 h"}


@st.composite
def fleets(draw) -> dict:
    """Changes to the small fleet over three regions: curves of two classes, canaries, losses, surge, router."""
    curves = [make_curve("shop", name, *draw(curve)) for name in draw(st.sets(st.sampled_from(REGIONS), min_size=1))]
    curves += [make_curve("bank", name, *draw(curve)) for name in draw(st.sets(st.sampled_from(REGIONS[1:])))]
    return {
        "tenants": {
            "classes": {"eu": EU},
            "admits": {"EU": ["open", "eu"]},
            "tenants": {"bank": {"residency": "eu", "models": ["chat"]}},
        },
        "demand": {"demand": curves},
        "guardrails": {
            "canary_replicas": draw(st.integers(0, 2)),
            "prefill_surge": {"factor": draw(st.sampled_from([1.2, 1.6, 2.5]))},
            "losses": {kind: draw(st.integers(0, 1)) for kind in ("region", "zone", "replica")},
        },
        "fleet": {"router": draw(st.sampled_from(["static", "even"]))},
    }


def usd_h(changes: dict) -> float:
    return plan(make_intent(*REGIONS, **changes), None).lock.solver.usd_h


def margins(intent: Intent, lock: Lock):
    """Have less need of every pool, loss and hour, by loops over plain numbers."""
    rules, demand = intent.guardrails, intent.home_demand
    normal, failure = 1000 * rules.occupancy.normal, 1000 * rules.occupancy.failure
    surge = rules.prefill_surge.value
    for region, block in lock.regions.items():
        zones = list(block.pools["chat-h100"].places.values()) if block.pools else []
        planned = sum(zones)
        usable = max(0, planned - rules.canary_replicas)
        for hour in range(24):
            base = sum(hours[hour] for (_, _, home), hours in demand.items() if home == region)
            yield usable * normal - base
            if base and rules.losses.replica:
                yield (usable - 1) * normal - base
            for gone in zones if base and rules.losses.zone else ():
                yield (usable - gone) * failure - base * (1 + (surge - 1) * gone / planned)
            for lost in intent.regions if rules.losses.region else ():
                moved = sum(
                    hours[hour] * lock.shares[residency][lost].get(region, 0) / 100
                    for (_, residency, home), hours in demand.items()
                    if home == lost != region
                )
                if moved:
                    yield usable * failure - base - surge * moved


@few
@given(fleets())
def test_every_margin_holds_and_the_lock_is_in_order(changes):
    intent = make_intent(*REGIONS, **changes)
    lock = plan(intent, None).lock
    assert min(margins(intent, lock)) >= -1e-4
    assert all(sum(shares.values()) == 100 for rows in lock.shares.values() for shares in rows.values())
    for block in lock.regions.values():
        for pool in block.pools.values():
            zones = len(intent.regions[next(r for r, b in lock.regions.items() if b is block)].zones)
            spread = [*pool.places.values(), *[0] * (zones - len(pool.places))]
            assert max(spread) - min(spread) <= 1
            assert pool.replicas.planned - pool.replicas.canary >= 2


@few
@given(fleets(), st.integers(0, 2), st.integers(1, 5000))
def test_more_demand_is_never_cheaper(changes, index, more):
    curves = changes["demand"]["demand"]
    raised = [dict(entry) for entry in curves]
    entry = raised[index % len(raised)]
    entry["hours"] = [f"{float(value.split()[0]) + more} tok/s" for value in entry["hours"]]
    assert usd_h({**changes, "demand": {"demand": raised}}) >= usd_h(changes) - CENT


@few
@given(fleets())
def test_more_residency_is_never_cheaper(changes):
    changes = merged(changes, {"fleet": {"router": "static"}})
    closed = merged(changes, {"tenants": {"classes": {"open": {"fail_over_to": ["US", "EU"]}, "eu": EU}}})
    free = merged(changes, {"tenants": {"classes": {"eu": {"fail_over_to": ["*"]}}, "admits": {"US": ["open", "eu"]}}})
    assert usd_h(closed) >= usd_h(free) - CENT


@few
@given(st.integers(1, 3), st.integers(0, 2**32), st.data())
def test_pruned_hours_never_bind(classes, seed, data):
    random = np.random.default_rng(seed)
    base, moved = (
        random.integers(0, 50, 168).astype(float),
        [random.integers(0, 50, 168).astype(float) for _ in range(classes)],
    )
    kept = binding_hours(base, moved)
    for _ in range(20):
        weights = [data.draw(st.floats(0, 3)) for _ in moved]
        need = base + sum(w * hours for w, hours in zip(weights, moved, strict=True))
        assert need[kept].max() == pytest.approx(need.max())


def test_a_fleet_without_homes_is_refused_before_planning():
    with pytest.raises(ConfigError):
        to_arrays(make_intent(*REGIONS, demand={"demand": []}))
