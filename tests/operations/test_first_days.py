"""A reservation holds no machine before its first day."""

from datetime import timedelta

import pytest

from outlast.operations import preflight
from tests.operations.test_preflight import TODAY, reserved, situation


@pytest.mark.parametrize(("days", "verdict"), [(1, "failed"), (0, "passed"), (-1, "passed")])
def test_nodes_come_from_a_reservations_first_day_on(days, verdict):
    found = preflight(situation(reserved(starts=(TODAY + timedelta(days=days)).isoformat())))
    assert [f.verdict for f in found if (f.check, f.region) == ("reservation-term", "us-east")] == [verdict]
