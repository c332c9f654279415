"""Every check of the preflight passes on a fleet that is right and fails on one with one thing changed."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from types import MappingProxyType
from typing import Any

import pytest

from outlast.intent import Intent
from outlast.lock import Applied, AppliedFile, Counts, Lock
from outlast.operations import CHECKS, Situation, preflight
from tests.builders import ADMINS, H100, P_QUOTA, RESERVATION, facts, make_block, make_intent, make_lock, make_model

REGIONS = ("us-east", "eu-north")
TODAY = date(2026, 11, 30)
MACHINE = "p5.48xlarge"
GPU_FAMILY = "GPUS-PER-GPU-FAMILY-per-project-region/NVIDIA_H100"
GPU_CAP = "GPUS-ALL-REGIONS-per-project"
LARGER = {"models": {"chat": {"precision": "bf16"}}}
ENOUGH = {"granted": "64 GPUs", "as_of": "2026-11-01"}
NOTHING: Mapping[str, Any] = MappingProxyType({})
REDUNDANT = ("capabilities", ("aws", "zone-redundant-nat"))
ONE_WAY = {"regions": {key: {"network": {"nat": "regional"}} for key in REGIONS}}
REAL = make_intent(*REGIONS).fleet.model_copy(update={"clouds": "real"})
NOBODY = {"regions": {"us-east": {"access": None}}}
UNHELD = {("reservation", "us-east", "failed")}
SPAN = {"machine_type": MACHINE, "zone": "use1-az1", "nodes": 3, "ends": "2027-06-30"}


def situation(intent: Intent | None = None, rows: Mapping[str, Any] = NOTHING, **more: Any) -> Situation:
    """A fleet with its lock, two replicas in every zone of its node pools; ``rows`` changes those of us-east."""
    found = intent or make_intent(*REGIONS)
    return Situation(found, lock_of(found, rows), more.pop("applied", None), TODAY, **more)


def lock_of(intent: Intent, rows: Mapping[str, Any] = NOTHING) -> Lock:
    blocks = {}
    for region, row in intent.regions.items():
        pool = row.node_pools["gh100"]
        changes = rows if region == "us-east" else NOTHING
        kept = {"machine_type": pool.machine_type, "capacity": pool.capacity, "reservation": pool.reservation}
        block = make_block(region, *[2] * len(pool.zones))
        nodes = zip(block["node_pools"].items(), pool.zones, strict=True)
        block["node_pools"] = {key: {**node, **kept, "zone": zone, **changes} for (key, node), zone in nodes}
        blocks[region] = block
    return make_lock(intent, blocks)


def holdings(**us_east: Any) -> dict[str, Any]:
    return {"regions": {"us-east": us_east}}


def of_nodes(count: int) -> dict[str, Any]:
    return {"nodes": dict.fromkeys(("min", "expected", "max"), count)}


def with_quota(**quota: Any) -> Intent:
    return make_intent(*REGIONS, capacity=holdings(quotas={P_QUOTA: quota}))


def with_goodput(**goodput: Any) -> Intent:
    return make_intent(*REGIONS, models={"models": {"chat": {"accelerators": {H100: {"goodput": goodput}}}}})


def with_ages(**ages: str) -> Intent:
    return make_intent(*REGIONS, guardrails={"ages": ages})


def with_facts(table: str, key: Any, regions: Mapping[str, Any] = NOTHING, **changes: Any) -> Intent:
    """The fleet with one row of facts changed; without changes, the row is taken away."""
    intent = make_intent(*REGIONS, regions=dict(regions))
    rows = dict(getattr(facts(), table))
    row = rows.pop(key)
    if changes:
        rows[key] = row.model_copy(update=changes)
    changed: dict[str, Any] = {table: MappingProxyType(rows)}
    return replace(intent, facts=replace(facts(), **changed))


def with_google(first: dict[str, Any] | None, second: dict[str, Any] | None, account: str = "outlast-test") -> Intent:
    """Two regions on one cloud, each with its quota; ``first`` and ``second`` are what they say of the cap above."""
    zones = ["us-central1-a"]
    west: dict[str, Any] = {"cloud": "gcp", "provider_region": "us-central1", "account": account, "zones": zones}
    west |= {"access": {"admin": [ADMINS["gcp"]]}}
    pool = {"machine_type": "a3-highgpu-8g", "zones": zones}
    quotas: list[dict[str, Any]] = [{GPU_FAMILY: ENOUGH, GPU_CAP: cap} for cap in (first, second)]
    return make_intent(
        "eu-west",
        "us-east",
        "us-west",
        regions={"regions": {"us-west": west | {"node_pools": {"gh100": pool}}}},
        capacity={
            "regions": {
                "eu-west": {"quotas": quotas[0]},
                "us-west": {"quotas": {key: held for key, held in quotas[1].items() if held} | {P_QUOTA: None}},
            }
        },
    )


def reserved(**changes: Any) -> Intent:
    """The fleet on a reservation of three nodes in one zone of us-east."""
    pool = {"zones": ["use1-az1"], "capacity": "reserved", "reservation": RESERVATION}
    return make_intent(
        *REGIONS,
        regions={"regions": {"us-east": {"node_pools": {"gh100": pool}}}},
        capacity=holdings(reservations={RESERVATION: SPAN | changes}),
    )


def other_reservations(reservations: Mapping[str, Any]) -> Intent:
    """The reserved fleet after somebody changed what is held without checking the files."""
    intent = reserved()
    held = intent.holdings("us-east")
    rows = {name: held.reservations[RESERVATION].model_copy(update=changes) for name, changes in reservations.items()}
    regions = intent.capacity.regions | {"us-east": held.model_copy(update={"reservations": rows})}
    return replace(intent, capacity=intent.capacity.model_copy(update={"regions": regions}))


def deployed_in(region: str, *zones: str) -> Situation:
    """A fleet of two clouds, one region of which is deployed with these zones."""
    entry = Applied(lock_digest="", counts=Counts(), zones=zones)
    return situation(make_intent("us-east", "eu-west"), applied={f"test.{region}": entry})


def without_homes() -> Situation:
    document = situation().lock.model_dump() | {"homes": {}}
    return replace(situation(), lock=Lock.model_validate(document))


def applied(**nodes: int) -> AppliedFile:
    shape = {"zone": "use1-az1", "partition": "whole", "node_devices": 8}
    rows = {key.replace("_", "-"): {**shape, "nodes_min": n, "nodes_max": n} for key, n in nodes.items()}
    return {"test.us-east": Applied.model_validate({"lock_digest": "", "counts": {"node_pools": rows}})}


def on_one_gpu_nodes(capacity: str) -> Situation:
    """A fleet on nodes with one GPU, which its cloud sells as spot and reserved only."""
    pool = {"machine_type": "a3-highgpu-1g", "capacity": capacity}
    quotas = {"PREEMPTIBLE_NVIDIA_H100_GPUS": ENOUGH, GPU_CAP: ENOUGH}
    intent = make_intent(
        "eu-west",
        "us-east",
        regions={"regions": {"eu-west": {"node_pools": {"gh100": pool}}}},
        models={"models": {"chat": make_model(accelerators={H100: {"gpus_per_replica": 1}})}},
        capacity={"regions": {"eu-west": {"quotas": quotas}}},
    )
    document = lock_of(intent).model_dump()
    for block in document["regions"].values():
        for row in block["node_pools"].values():
            row["node_gpus"] = intent.facts.machine_types["gcp", pool["machine_type"]].node_gpus
        for held in block["pools"].values():
            held["replica_gpus"] = 1
    document["regions"]["us-east"] = {"node_pools": {}, "pools": {}}
    return Situation(intent, Lock.model_validate(document), None, TODAY)


def stale() -> Situation:
    return replace(situation(), lock=lock_of(make_intent(*REGIONS, guardrails={"burst_margin": "5 %"})))


def grown_artifact(size: str) -> Intent:
    return make_intent(*REGIONS, artifacts={"models": {"weights": {"size": size}}})


Case = tuple[Callable[[], Situation], set[tuple[str, str, str]]]
FAILING: dict[str, Case] = {
    "inputs changed since the lock": (stale, {("lock", region, "failed") for region in REGIONS}),
    "a row that is not as declared": (
        lambda: situation(rows={"capacity": "spot"}),
        {("lock", "us-east", "failed"), ("quota", "us-east", "failed"), ("price", "us-east", "warning")},
    ),
    "credentials of another account": (
        lambda: situation(accounts=(("us-east", "444455556666"),)),
        {("account", "us-east", "failed")},
    ),
    "real clouds and no account to compare with": (
        lambda: situation(replace(make_intent(*REGIONS), fleet=REAL)),
        {("account", region, "warning") for region in REGIONS},
    ),
    "a cluster of nobody": (lambda: situation(make_intent(regions=NOBODY)), {("access", "us-east", "failed")}),
    "a network outgrown": (lambda: situation(rows=of_nodes(39)), {("network", "us-east", "failed")}),
    "homes that are nobody's": (without_homes, {("lock", region, "failed") for region in REGIONS}),
    "a zone that the region does not have any more": (
        lambda: situation(rows={"zone": "use1-az9", "state": "leaving"}),
        {("lock", "us-east", "failed")},
    ),
    "fewer zones than the region is deployed with": (
        lambda: deployed_in("us-east", "use1-az1", "use1-az2", "use1-az4", "use1-az6"),
        {("zones", "us-east", "failed")},
    ),
    "a machine type that the region does not offer": (
        lambda: situation(rows={"machine_type": "p4d.24xlarge"}),
        {("lock", "us-east", "failed"), ("offering", "us-east", "failed"), ("price", "us-east", "warning")},
    ),
    "a machine type that a zone does not offer": (
        lambda: situation(with_facts("offerings", ("aws", "us-east-1", MACHINE), zones=("use1-az1", "use1-az2"))),
        {("offering", "us-east", "failed")},
    ),
    "zones that nobody knows": (
        lambda: situation(with_facts("offerings", ("aws", "us-east-1", MACHINE), zones=())),
        {("offering", "us-east", "warning")},
    ),
    "a machine type that nobody sells by the hour": (
        lambda: on_one_gpu_nodes("on_demand"),
        {("capacity-type", "eu-west", "failed"), ("price", "eu-west", "warning")},
    ),
    "a quota below the peak": (lambda: situation(with_quota(granted="575 vCPU")), {("quota", "us-east", "failed")}),
    "a quota of zero": (lambda: situation(with_quota(granted="0 vCPU")), {("quota", "us-east", "failed")}),
    "a quota that nobody granted": (
        lambda: situation(make_intent(*REGIONS, capacity=holdings(quotas={P_QUOTA: None}))),
        {("quota", "us-east", "failed")},
    ),
    "a quota that is only requested": (
        lambda: situation(with_quota(granted="100 vCPU", requested="10k vCPU")),
        {("quota", "us-east", "failed")},
    ),
    "a quota that holds the lock but not what it replaces": (
        lambda: situation(with_quota(granted="576 vCPU"), applied=applied(gh100_1_b=1)),
        {("quota", "us-east", "failed")},
    ),
    "deployed nodes that nothing describes": (
        lambda: situation(applied=applied(gone_1_a=1)),
        {("quota", "us-east", "warning")},
    ),
    "a cap of the account that nobody granted": (
        lambda: situation(with_google(None, None)),
        {("cap", "eu-west", "failed"), ("cap", "us-west", "failed")},
    ),
    "a cap that holds each region but not both": (
        lambda: situation(with_google(ENOUGH | {"granted": "16 GPUs"}, None)),
        {("cap", "eu-west", "failed"), ("cap", "us-west", "failed")},
    ),
    "a cap that regions state differently": (
        lambda: situation(with_google(ENOUGH, ENOUGH | {"granted": "65 GPUs"})),
        {("cap", "eu-west", "failed"), ("cap", "us-west", "failed")},
    ),
    "a reservation that is not held": (
        lambda: situation(other_reservations({"cr-another": {}})),
        UNHELD,
    ),
    "a reservation of another machine type": (
        lambda: situation(other_reservations({RESERVATION: {"machine_type": "p5.4xlarge"}})),
        UNHELD,
    ),
    "a reservation in another zone": (
        lambda: situation(other_reservations({RESERVATION: {"zone": "use1-az2"}})),
        UNHELD,
    ),
    "a reservation with too few nodes": (
        lambda: situation(other_reservations({RESERVATION: {"nodes": 0}})),
        UNHELD,
    ),
    "a reservation that has ended": (
        lambda: situation(other_reservations({RESERVATION: {"ends": date(2026, 11, 29)}})),
        {("reservation-term", "us-east", "failed")},
    ),
    "a reservation that ends too soon": (
        lambda: situation(reserved(ends="2026-12-29")),
        {("reservation-term", "us-east", "failed")},
    ),
    "a reservation that ends within a longer horizon": (
        lambda: situation(reserved(), horizon_days=365),
        {("reservation-term", "us-east", "failed")},
    ),
    "a model too large for its replica": (
        lambda: situation(make_intent(models={"models": {"chat": {"shape": "Llama-3.1-405B"}}})),
        {("memory", region, "failed") for region in REGIONS},
    ),
    "artifacts that grew beyond the disks": (
        lambda: situation(grown_artifact("40 TiB")),
        {("disk", region, "failed") for region in REGIONS},
    ),
    "an artifact that is not released": (
        lambda: situation(rows={"stage": ["weihgts"]}),
        {("disk", "us-east", "failed")},
    ),
    "disks that nobody knows": (
        lambda: situation(with_facts("machine_types", ("aws", MACHINE), nvme_count=None)),
        {("disk", region, "warning") for region in REGIONS},
    ),
    "one way out, in one of the zones": (
        lambda: situation(with_facts(*REDUNDANT, ONE_WAY)),
        {("way-out", region, "warning") for region in REGIONS},
    ),
    "no price": (
        lambda: situation(with_facts("prices", ("aws", "us-east-1", MACHINE, "on_demand"))),
        {("price", "us-east", "warning")},
    ),
    "old prices": (
        lambda: situation(with_ages(prices="10 d")),
        {("price-age", region, "failed") for region in REGIONS},
    ),
    "a price of tomorrow": (
        lambda: situation(with_facts("prices", ("aws", "us-east-1", MACHINE, "on_demand"), as_of=date(2026, 12, 1))),
        {("price-age", "us-east", "failed")},
    ),
    "an old statement of a quota": (
        lambda: situation(with_quota(as_of="2026-08-01")),
        {("quota-age", "us-east", "failed")},
    ),
    "a statement of a quota of tomorrow": (
        lambda: situation(with_quota(as_of="2026-12-01")),
        {("quota-age", "us-east", "failed")},
    ),
    "old goodput": (
        lambda: situation(with_goodput(date="2026-01-01")),
        {("goodput-age", region, "failed") for region in REGIONS},
    ),
    "goodput of tomorrow": (
        lambda: situation(with_goodput(date="2026-12-01")),
        {("goodput-age", region, "failed") for region in REGIONS},
    ),
    "assumed goodput": (
        lambda: situation(with_goodput(kind="assumed")),
        {("goodput-kind", region, "warning") for region in REGIONS},
    ),
    "predicted goodput": (
        lambda: situation(with_goodput(kind="predicted")),
        {("goodput-kind", region, "warning") for region in REGIONS},
    ),
}
"""What is changed -> the fleet, and exactly the checks that speak against it."""
PASSING: dict[str, tuple[Callable[[], Situation], set[str]]] = {
    "nothing changed": (situation, {"lock", "zones", "offering", "price", "goodput-kind"}),
    "credentials of the right account": (lambda: situation(accounts=(("us-east", "111122223333"),)), {"account"}),
    "credentials of another region's account": (
        lambda: situation(accounts=(("ap-south", "444455556666"),)),
        {"account"},
    ),
    "a machine type that is sold as spot only, on spot": (lambda: on_one_gpu_nodes("spot"), {"capacity-type"}),
    "a quota of exactly the peak": (lambda: situation(with_quota(granted="576 vCPU")), {"quota"}),
    "a quota that holds what is deployed too": (
        lambda: situation(with_quota(granted="768 vCPU"), applied=applied(gh100_1_b=1)),
        {"quota"},
    ),
    "a cap of exactly both regions": (lambda: situation(with_google(ENOUGH | {"granted": "24 GPUs"}, None)), {"cap"}),
    "the zones that the region is deployed with": (
        lambda: deployed_in("us-east", "use1-az1", "use1-az2", "use1-az4"),
        {"zones"},
    ),
    "other zones, on a cloud that changes them": (lambda: deployed_in("eu-west", "europe-west4-a"), {"zones"}),
    "one principal who may administer": (lambda: situation(), {"access"}),
    "a network that just holds the nodes": (lambda: situation(rows=of_nodes(38)), {"network"}),
    "a cap that both regions state": (lambda: situation(with_google(ENOUGH, ENOUGH)), {"cap"}),
    "two accounts, each with its cap": (
        lambda: situation(
            with_google(ENOUGH | {"granted": "16 GPUs"}, ENOUGH | {"granted": "8 GPUs"}, "other-project")
        ),
        {"cap"},
    ),
    "a reservation of exactly the nodes": (lambda: situation(reserved(nodes=1)), {"reservation", "reservation-term"}),
    "a reservation until the horizon": (lambda: situation(reserved(ends="2026-12-30")), {"reservation-term"}),
    "a reservation that ends today, without a horizon": (
        lambda: situation(reserved(ends="2026-11-30"), horizon_days=0),
        {"reservation-term"},
    ),
    "a way out a zone": (lambda: situation(with_facts(*REDUNDANT)), {"way-out"}),
    "a reservation without end": (lambda: situation(reserved(ends=None)), {"reservation-term"}),
    "a larger model that fits": (lambda: situation(make_intent(models=LARGER)), {"memory"}),
    "artifacts that just fit": (lambda: situation(grown_artifact("21234 GiB")), {"disk"}),
    "prices as old as they may be": (lambda: situation(with_ages(prices="333 d")), {"price-age"}),
    "statements as old as they may be": (lambda: situation(with_ages(quotas="29 d")), {"quota-age"}),
    "goodput as old as it may be": (lambda: situation(with_ages(goodput="29 d")), {"goodput-age"}),
}
"""What comes close -> the fleet, and the checks that it nearly fails."""


def spoken(case: Situation) -> set[tuple[str, str, str]]:
    return {(f.check, f.region, f.verdict) for f in preflight(case) if f.verdict != "passed"}


@pytest.mark.parametrize("name", FAILING)
def test_preflight_speaks_against_what_is_wrong_and_nothing_else(name):
    build, expected = FAILING[name]
    assert spoken(build()) == expected


@pytest.mark.parametrize("name", PASSING)
def test_preflight_lets_pass_what_comes_close(name):
    build, _ = PASSING[name]
    assert spoken(build()) == set()


@pytest.mark.parametrize("name", FAILING)
def test_what_preflight_speaks_against_is_said_with_place_and_cure(name):
    problems = [finding.problem for finding in preflight(FAILING[name][0]()) if finding.problem]
    assert problems
    assert all(problem.where and problem.what and problem.do for problem in problems)


def test_every_check_has_a_fleet_that_fails_it_and_one_that_comes_close():
    names = {check.name for check in CHECKS}
    assert {name for _, expected in FAILING.values() for name, _, _ in expected} == names
    assert {name for _, close in PASSING.values() for name in close} == names
