"""Machines that are not there yet or are leaving: what they need; and that every region is looked at."""

from datetime import timedelta

import pytest

from outlast.operations import CHECKS, preflight
from tests.operations.test_preflight import MACHINE, REGIONS, TODAY, reserved, situation, spoken, with_facts, with_quota


@pytest.mark.parametrize(("days", "verdict"), [(1, "failed"), (0, "passed"), (-1, "passed")])
def test_nodes_come_from_a_reservations_first_day_on(days, verdict):
    found = preflight(situation(reserved(starts=(TODAY + timedelta(days=days)).isoformat())))
    assert [f.verdict for f in found if (f.check, f.region) == ("reservation-term", "us-east")] == [verdict]


def test_rows_that_are_leaving_need_no_offering():
    intent = with_facts("offerings", ("aws", "us-east-1", MACHINE), zones=("use1-az1",))
    assert spoken(situation(intent, {"state": "leaving"})) == set()


def test_rows_that_are_leaving_still_need_quota():
    assert spoken(situation(with_quota(granted="575 vCPU"), {"state": "leaving"})) == {("quota", "us-east", "failed")}


def test_every_check_has_a_finding_in_every_region():
    assert {(f.check, f.region) for f in preflight(situation())} == {(c.name, r) for c in CHECKS for r in REGIONS}
