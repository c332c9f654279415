"""What a deployment is refused for before it declares anything: its account, its administrators, its network."""

import json
from dataclasses import replace

import pytest

from outlast.errors import RefusedError
from outlast.intent import Intent
from outlast.intent.regions import Access
from outlast.intent.stacks import parse
from outlast.lock import Applied, Counts, Lock, applied_output, write_applied
from stacks.checks import check_before, check_knobs
from stacks.run import declare
from tests.builders import demo_intent, merged
from tests.recording import record
from tests.stacks.conftest import demo_lock, recorded

EAST = parse("demo.us-east")


@pytest.fixture
def simulated(tmp_path, monkeypatch):
    """An engine that meets the simulated clouds, where nothing is deployed."""
    sim = tmp_path / "sim"
    for name, value in {
        "OUTLAST_SIM": str(sim),
        "PULUMI_HOME": f"{sim}/home",
        "PULUMI_BACKEND_URL": f"file://{sim}/state",
        "OUTLAST_APPLIED": str(tmp_path / "applied.json"),
    }.items():
        monkeypatch.setenv(name, value)
    write_applied(tmp_path / "applied.json", {})
    return tmp_path / "applied.json"


def with_region(**changes) -> Intent:
    intent = demo_intent()
    regions = {**intent.regions, "us-east": intent.regions["us-east"].model_copy(update=changes)}
    return replace(intent, regions_file=intent.regions_file.model_copy(update={"regions": regions}))


def grown(nodes: int) -> Lock:
    """The demo's lock with so many nodes in one node pool of us-east."""
    row = {"nodes": {"min": nodes, "expected": float(nodes), "max": nodes}}
    change = {"regions": {"us-east": {"node_pools": {"gh100-1-a": row}, "quotas": None}}}
    return Lock.model_validate(merged(demo_lock().model_dump(), change))


def refusal(intent=None, lock=None, stack=EAST) -> str:
    with pytest.raises(RefusedError) as caught:
        check_before(stack, intent or demo_intent(), lock or demo_lock())
    return str(caught.value)


@pytest.mark.usefixtures("simulated")
def test_a_region_that_is_right_passes():
    check_before(EAST, demo_intent(), demo_lock())


@pytest.mark.usefixtures("simulated")
def test_a_cluster_that_nobody_may_administer_is_not_made():
    assert "regions.us-east.access.admin: nobody may administer" in refusal(with_region(access=Access()))


@pytest.mark.usefixtures("simulated")
def test_another_stack_does_not_ask_for_a_regions_administrators():
    check_before(parse("demo.eu-north"), with_region(access=Access()), demo_lock())


@pytest.mark.usefixtures("simulated")
def test_a_region_that_outgrows_its_network_is_refused():
    assert "regions.us-east.cidr: too small for the nodes of use1-az1" in refusal(lock=grown(60))


@pytest.mark.usefixtures("simulated")
def test_a_region_is_not_refused_for_the_network_of_another():
    check_before(parse("demo.eu-north"), demo_intent(), grown(60))


def test_a_deployment_that_adds_no_node_to_a_small_network_is_never_refused_for_it(simulated):
    write_applied(simulated, {str(EAST): applied_of(grown(60))})
    check_before(EAST, demo_intent(), grown(59))


def applied_of(lock: Lock, *zones: str) -> Applied:
    return Applied.model_validate(applied_output(lock, "us-east", zones=zones))


EAST_ZONES = demo_intent().regions["us-east"].zones


@pytest.mark.usefixtures("simulated")
@pytest.mark.parametrize("teardown", [False, True], ids=["kept", "teardown"])
@pytest.mark.parametrize("state", ["serving", "leaving"])
def test_a_row_in_a_zone_that_is_gone_is_refused_before_anything_is_declared(state, teardown):
    rows = {key: {"state": state} for key in demo_lock().regions["us-east"].node_pools}
    lock = Lock.model_validate(merged(demo_lock().model_dump(), {"regions": {"us-east": {"node_pools": rows}}}))
    with pytest.raises(RefusedError, match=r"gh100-3-a\.zone: us-east does not have this zone \(got use1-az4"):
        check_before(EAST, with_region(zones=EAST_ZONES[:2]), lock, teardown=teardown)


@pytest.mark.parametrize("teardown", [False, True], ids=["kept", "teardown"])
def test_zones_that_a_cloud_fixes_at_birth_stay(simulated, teardown):
    write_applied(simulated, {str(EAST): applied_of(demo_lock(), *EAST_ZONES)})
    check_before(EAST, demo_intent(), demo_lock(), teardown=teardown)
    write_applied(simulated, {str(EAST): applied_of(demo_lock(), *EAST_ZONES, "use1-az6")})
    with pytest.raises(RefusedError, match=r"demo/regions\.yaml, regions\.us-east\.zones: aws never changes"):
        check_before(EAST, demo_intent(), demo_lock(), teardown=teardown)


def test_another_stack_is_not_refused_for_a_regions_zones(simulated):
    write_applied(simulated, {str(EAST): applied_of(demo_lock(), "use1-az6")})
    check_before(parse("demo.routing"), demo_intent(), demo_lock())


ACCOUNT = {"aws": ("aws", "allowedAccountIds"), "gcp": ("gcp", "project"), "azure": ("azure-native", "subscriptionId")}
"""Cloud -> its package, and the provider's input that keeps a deployment in one account."""


@pytest.mark.parametrize("region", demo_intent().regions)
def test_the_provider_meets_the_allowed_account_only(region):
    row = demo_intent().regions[region]
    package, account = ACCOUNT[row.cloud]
    (provider,) = recorded(f"demo.{region}").of(f"pulumi:providers:{package}")
    assert provider.get(account) in (row.account, json.dumps([row.account]), (row.account,))


def test_what_serves_is_taken_out_of_a_region_in_a_teardown_only():
    with pytest.raises(RefusedError, match=r"Pulumi\.demo\.us-east\.yaml, outlast:inside: only a teardown"):
        check_knobs(EAST, teardown=False, inside=False)
    for teardown, inside in ((True, False), (True, True), (False, True)):
        check_knobs(EAST, teardown=teardown, inside=inside)


def test_a_region_without_what_serves_counts_as_no_capacity():
    def bare():
        declare(EAST, demo_intent(), demo_lock(), teardown=True, inside=False)

    recording = record(bare, preview=False, stack="demo.us-east", stacks={"demo.global": {"keys": {"us-east": "key"}}})
    assert not [found for found in recording.resources if found.type.startswith("kubernetes:")]
    applied = Applied.model_validate(recording.exports["applied"])
    assert (applied.counts, applied.zones) == (Counts(), demo_intent().regions["us-east"].zones)
