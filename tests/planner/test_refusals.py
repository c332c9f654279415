"""What is not planned, cannot be priced or cannot be held is said in the user's words."""

import pytest

from outlast.errors import InfeasiblePlan, PlanError
from outlast.planner import plan, settled_lock
from tests.builders import H100, P_QUOTA, RESERVATION, make_artifact, make_curve, make_intent, make_model

FLAT = {"demand": [make_curve("shop", "us-east", 2800)]}
NODE_POOL = "regions.us-east.node_pools"


def with_pools(**pools: dict | None) -> dict:
    return {"regions": {"us-east": {"node_pools": pools}}}


@pytest.mark.parametrize("change", [{"capacity": "spot"}, {"scaling": "elastic"}], ids=["spot", "elastic"])
def test_headroom_on_nodes_that_may_be_missing(change):
    with pytest.raises(PlanError, match="can carry the headroom of 'chat'"):
        plan(make_intent(regions=with_pools(gh100=change)), None)


def test_a_spot_node_pool_beside_a_fixed_one_carries_nothing():
    spot = {"machine_type": "p5.48xlarge", "zones": ["use1-az1"], "capacity": "spot"}
    block = plan(make_intent(regions=with_pools(spot=spot)), None).lock.regions["us-east"]
    assert {row.id for row in block.node_pools.values()} == {"gh100"}


def one_gpu() -> dict:
    return {"models": {"chat": make_model(accelerators={H100: {"gpus_per_replica": 1}})}}


def test_a_node_type_without_a_price():
    # facts offer p5.4xlarge in sa-east-1, but no source gives its price
    region = {
        "provider_region": "sa-east-1",
        "zones": ["sae1-az1", "sae1-az3"],
        "node_pools": {"gh100": {"zones": ["sae1-az3"]}},
    }
    intent = make_intent(
        regions={"regions": {"us-east": region}},
        tenants={"admits": {"BR": ["open"]}},
        demand=FLAT,
        guardrails={"losses": {"zone": 0}},
    )
    with pytest.raises(
        PlanError, match=r"no on_demand price of p5\.48xlarge in sa-east-1, which region 'us-east' uses"
    ):
        plan(intent, None)


def test_a_pool_in_one_zone_cannot_lose_it():
    only = make_intent(regions=with_pools(gh100={"zones": ["use1-az1"]}), demand=FLAT)
    with pytest.raises(InfeasiblePlan, match="'chat' cannot survive the loss of its only zone"):
        plan(only, None)
    free = make_intent(
        regions=with_pools(gh100={"zones": ["use1-az1"]}), demand=FLAT, guardrails={"losses": {"zone": 0}}
    )
    assert plan(free, None).lock.regions["us-east"].pools["chat-h100"].replicas.planned == 5


def test_artifacts_larger_than_the_disks():
    # 8 disks of 3800 GB, 28,312 GiB, three quarters of it
    large = {"models": {"weights": make_artifact() | {"size": "30 TiB"}}}
    with pytest.raises(PlanError, match=r"do not fit the cache \(weights\) \(got 30,720 GiB; allowed up to 21,234 GiB"):
        plan(make_intent(artifacts=large), None)


def quota(region: str, granted: str) -> dict:
    return {"regions": {region: {"quotas": {P_QUOTA: {"granted": granted}}}}}


def test_a_short_quota_names_need_grant_and_cure():
    # us-east: 2800 / 700 + 1 -> 5, zones -> 6 replicas, 2 a zone: 3 nodes of 192 vCPU = 576
    intent = make_intent(demand=FLAT, guardrails={"losses": {"region": 0}}, capacity=quota("us-east", "575 vCPU"))
    with pytest.raises(InfeasiblePlan) as raised:
        plan(intent, None)
    [problem] = raised.value.problems
    assert problem.where == f"test/capacity.yaml, regions.us-east.quotas.{P_QUOTA}"
    assert "us-east needs 576 vCPU for 6 replicas of 'chat'" in problem.what
    assert problem.got == "575 vCPU granted"
    assert "Raise the quota to 576 vCPU (Service Quotas" in problem.do


def test_a_quota_that_fits_to_the_last_unit_is_enough():
    intent = make_intent(demand=FLAT, guardrails={"losses": {"region": 0}}, capacity=quota("us-east", "576 vCPU"))
    needed = plan(intent, None).lock.regions["us-east"].quotas[P_QUOTA]
    assert (needed.min, needed.peak, needed.granted) == (576, 576, 576)


def test_a_quota_that_is_not_listed_is_zero():
    intent = make_intent(demand=FLAT, capacity={"regions": {"eu-north": None}})
    with pytest.raises(InfeasiblePlan, match=r"eu-north needs .*losing us-east, Mon.*got 0 vCPU granted"):
        plan(intent, None)


def test_only_the_smallest_conflict_is_named():
    # a lost us-east may go to eu-north or eu-west; both lack quota, one is enough
    short = {"regions": {"eu-west": {"quotas": None}, **quota("eu-north", "1 vCPU")["regions"]}}
    intent = make_intent("us-east", "eu-north", "eu-west", demand=FLAT, capacity=short)
    with pytest.raises(InfeasiblePlan) as raised:
        plan(intent, None)
    assert len(raised.value.problems) == 1


def test_a_reservation_that_is_too_small_is_named_with_the_nodes_to_reserve():
    held = {RESERVATION: {"machine_type": "p5.48xlarge", "zone": "use1-az1", "nodes": 1}}
    intent = make_intent(
        regions=with_pools(gh100={"zones": ["use1-az1"], "capacity": "reserved", "reservation": RESERVATION}),
        capacity={"regions": {"us-east": {"reservations": held}}},
        demand=FLAT,
        guardrails={"losses": {"zone": 0}},
    )
    with pytest.raises(
        InfeasiblePlan, match=r"reservations\.cr-\w+: .*needs 3 nodes.*got 1 nodes reserved.*Reserve 3 nodes"
    ):
        plan(intent, None)


def test_old_and_new_side_by_side_must_fit_the_quota():
    zones = {"zones": ["use1-az1", "use1-az2"]}
    old = settled_lock(make_intent(demand=FLAT, guardrails={"losses": {"region": 0}}))
    moved = make_intent(
        demand=FLAT,
        guardrails={"losses": {"region": 0}},
        regions=with_pools(gh100={"zones": ["use1-az4", *zones["zones"]]}),
        capacity=quota("us-east", "576 vCPU"),
    )
    with pytest.raises(InfeasiblePlan, match=r"needs 1,152 vCPU for what runs now and what arrives, side by side"):
        plan(moved, old)
