"""The proof against arithmetic written down a second time, and what must hold for every fleet."""

import math
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.proof import Case, prove
from tests.builders import REGION_PLACES, make_block, make_curve, make_intent, make_lock

REGIONS = ("us-east", "eu-north", "us-west")
few = settings(max_examples=20, deadline=None, derandomize=True)
counts = st.lists(st.integers(0, 5), min_size=3, max_size=3)


@dataclass(frozen=True)
class Fleet:
    """A fleet in plain numbers."""

    zones: dict[str, list[int]]
    """Region -> replicas a zone."""
    curves: dict[str, list[int]]
    """Region -> demand of its own, repeating."""
    shares: dict[str, dict[str, int]]
    floor: dict[str, int]
    """Region -> replicas kept outside 00:00 to 12:00."""
    canary: int
    surge: float

    def intent(self):
        return make_intent(
            *REGIONS,
            demand={"demand": [make_curve("shop", region, *values) for region, values in self.curves.items()]},
            guardrails={"prefill_surge": {"factor": self.surge}},
        )

    def lock(self, intent):
        blocks = {}
        for region, zones in self.zones.items():
            total = sum(zones)
            window = {"days": "mon-sun", "from_h": 0, "to_h": 12, "replicas": total}
            numbers = {"floor": self.floor[region], "planned": total, "max": total, "canary": min(self.canary, total)}
            blocks[region] = make_block(region, *zones, replicas=numbers, floors=[window])
        return make_lock(intent, blocks, self.shares)


@st.composite
def fleets(draw) -> Fleet:
    zones = {region: draw(counts) for region in REGIONS}
    shares = {}
    for lost in REGIONS:
        first, second = (region for region in REGIONS if region != lost)
        part = draw(st.integers(0, 100))
        shares[lost] = {first: part, second: 100 - part}
    return Fleet(
        zones=zones,
        curves={region: draw(st.lists(st.integers(0, 4000), min_size=4, max_size=4)) for region in REGIONS},
        shares=shares,
        floor={region: draw(st.integers(0, sum(zones[region]))) for region in REGIONS},
        canary=draw(st.integers(0, 2)),
        surge=draw(st.sampled_from([1.1, 1.6, 3.0])),
    )


def slack_again(fleet: Fleet, region: str, lost: str) -> float:
    """The worst slack of one case, hour by hour, without anything of the code under test."""
    zones, total = fleet.zones[region], sum(fleet.zones[region])
    canary = min(fleet.canary, total)
    worst, slack = math.inf, 0.0
    for hour in range(24):
        running = total if hour < 12 else fleet.floor[region]
        own = fleet.curves[region][hour % 4]
        if lost == "none":
            slack = 700 * max(0, running - canary) - own
        elif lost == "replica":
            slack = max(0, 700 * (max(0, running - canary) - 1)) - own
        elif lost.startswith("zone "):
            gone = zones[REGION_PLACES[region][2].index(lost.removeprefix("zone "))]
            part = gone / total if total else 1
            left = max(0, running - math.ceil(round(running * part, 9)) - canary)
            slack = 900 * left - own * (1 + (fleet.surge - 1) * part)
        else:
            moved = fleet.curves[lost][hour % 4] * fleet.shares[lost][region] / 100
            slack = 900 * max(0, running - canary) - own - fleet.surge * moved
        worst = min(worst, slack)
    return worst


@few
@given(fleets())
def test_every_margin_is_that_of_arithmetic_written_down_again(fleet):
    intent = fleet.intent()
    margins = prove(fleet.lock(intent), intent).margins
    for case, margin in margins.items():
        assert margin.slack_tok_s == pytest.approx(slack_again(fleet, case.region, case.lost), abs=1e-3), case


@few
@given(fleets())
def test_every_case_is_asked_and_no_other(fleet):
    intent = fleet.intent()
    asked = {(case.region, case.lost) for case in prove(fleet.lock(intent), intent).margins}
    expected = set()
    for region in REGIONS:
        if any(fleet.curves[region]):
            expected |= {(region, "none"), (region, "replica")}
            expected |= {(region, f"zone {zone}") for zone in REGION_PLACES[region][2]}
        for lost in REGIONS:
            if lost != region and any(fleet.curves[lost]) and fleet.shares[lost][region]:
                expected.add((region, lost))
    # A share of no demand may be asked or not: it needs nothing.
    assert {(region, lost) for region, lost in asked if any(fleet.curves.get(lost, [1]))} == expected


@few
@given(fleets(), st.sampled_from(REGIONS), st.integers(0, 2))
def test_one_more_replica_lowers_no_margin_but_that_of_its_own_zone(fleet, region, zone):
    intent = fleet.intent()
    before = prove(fleet.lock(intent), intent).margins
    fleet.zones[region][zone] += 1
    after = prove(fleet.lock(intent), intent).margins
    own = Case("chat", region, f"zone {REGION_PLACES[region][2][zone]}")
    lowered = {case for case in before if after[case].slack_tok_s < before[case].slack_tok_s - 1e-6}
    assert lowered <= {own}


@few
@given(fleets())
def test_twice_the_replicas_lower_no_margin(fleet):
    intent = fleet.intent()
    before = prove(fleet.lock(intent), intent).margins
    for region in REGIONS:
        fleet.zones[region][:] = [2 * count for count in fleet.zones[region]]
        fleet.floor[region] *= 2
    after = prove(fleet.lock(intent), intent).margins
    assert all(after[case].slack_tok_s >= before[case].slack_tok_s - 1e-6 for case in before)


@few
@given(fleets(), st.sampled_from(REGIONS), st.integers(1, 2000))
def test_needs_grow_with_demand(fleet, region, more):
    intent = fleet.intent()
    lock = fleet.lock(intent)
    before = prove(lock, intent).margins
    fleet.curves[region][:] = [value + more for value in fleet.curves[region]]
    after = prove(lock, fleet.intent()).margins
    assert all(after[case].slack_tok_s <= before[case].slack_tok_s + 1e-6 for case in before)


@few
@given(fleets())
def test_what_a_failure_says_is_needed_would_hold(fleet):
    intent = fleet.intent()
    for found in prove(fleet.lock(intent), intent).failures:
        case = found.case
        if case.lost in ("none", *REGIONS):
            occupancy = 700 if case.lost == "none" else 900
            assert found.replicas_needed * occupancy >= found.need_tok_s - 1e-3
            assert (found.replicas_needed - 1) * occupancy < found.need_tok_s
