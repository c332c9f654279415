"""One class that may go anywhere, whole replicas, no zone and no replica to lose: the optimum is a formula.

With p = own peak, T = what the others must carry when a region is lost, both in replicas, over R regions:

    N = max( sum of p,  the largest p + T of one region,  sum of T / (R - 1) )

The first is every own peak, the second the largest region lost, the third that no region is special.
"""

import math

from hypothesis import given
from hypothesis import strategies as st

from outlast.planner.arrays import to_arrays
from outlast.planner.scale import hourly_bound
from outlast.planner.scaling import to_scale
from tests.builders import REGION_PLACES, make_curve, make_intent
from tests.random_fleets import few

OFF = {"region": 1, "zone": 0, "replica": 0}
# From two replicas' worth on, so that the two replicas of every region in use ask for nothing more.
curves = st.lists(st.lists(st.integers(1401, 9000), min_size=4, max_size=4), min_size=2, max_size=5)


def replicas(tok_s: float, unit: float) -> int:
    return math.ceil(tok_s / unit * (1 - 1e-9))


def closed_form(demand: list[list[int]], surge: float) -> int:
    own = [replicas(max(hours), 700) for hours in demand]
    hourly = list(zip(*demand, strict=True))
    carried = [
        replicas(max(sum(hour) - hour[lost] + surge * hour[lost] for hour in hourly), 900) for lost in range(len(own))
    ]
    largest = max(p + t for p, t in zip(own, carried, strict=True))
    return max(sum(own), largest, math.ceil(sum(carried) / (len(own) - 1)))


@few(40)
@given(curves, st.sampled_from([1.2, 1.6, 2.0]))
def test_the_hourly_optimum_is_the_closed_form(demand, surge):
    names = list(REGION_PLACES)[: len(demand)]
    intent = make_intent(
        *names,
        demand={"demand": [make_curve("shop", name, *hours) for name, hours in zip(names, demand, strict=True)]},
        guardrails={"losses": OFF, "prefill_surge": {"factor": surge}},
        fleet={"objective": "replicas"},
    )
    assert hourly_bound(to_scale(to_arrays(intent)), integer=True).total == closed_form(demand, surge)
