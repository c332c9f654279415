"""Every rule with deployments that pass and deployments that break it and nothing else."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from outlast.intent import Intent
from outlast.intent.capacity import CapacityFile
from outlast.intent.releases import OperationsFile
from outlast.lock import Applied, AppliedFile, applied_output
from outlast.planner import settled_lock
from outlast.rules import LOCK, RULES, Deployment, run
from outlast.view import UNKNOWN, Resource, View, view_of
from tests.builders import (
    facts,
    make_block,
    make_curve,
    make_intent,
    make_lock,
    make_resource,
    with_input,
)
from tests.rules.conftest import declared_resource, demo, demo_with
from tests.stack_records import make_stack
from tests.tiers import cold_fleet

NAMES = ("us-east", "eu-west", "eu-north")
EU = {"serve_in": ["EU"], "fail_over_to": ["EU"], "legal_basis": "contract", "allowed_outage": "15 min"}
SHARES = {
    "open": {lost: {name: 50 for name in NAMES if name != lost} for lost in NAMES},
    "eu": {"eu-west": {"eu-north": 100}, "eu-north": {"eu-west": 100}},
}
EU_AWAY = SHARES | {"eu": {"eu-west": {"us-east": 100}, "eu-north": {"eu-west": 100}}}
BUCKET, NODE_GROUP, SUBNET = "aws:s3/bucket:Bucket", "aws:eks/nodeGroup:NodeGroup", "aws:ec2/subnet:Subnet"
DEPLOYMENT, SERVED = "kubernetes:apps/v1:Deployment", "us-east-serving-chat-large-h100"
GKE_POOL = "gcp:container/nodePool:NodePool"
SLICED = (
    {
        "type": "nvidia-l4",
        "count": 1,
        "gpuSharingConfig": {"gpuSharingStrategy": "TIME_SHARING", "maxSharedClientsPerGpu": 4},
    },
)
NOTHING_LOST = {"region": 0, "zone": 0, "replica": 0}
Found = set[tuple[str, str]]


def intent_of(**guardrails: Any) -> Intent:
    """Three regions of 2800 tok/s each, one class that may go anywhere and one that stays in the EU."""
    tenants = {
        "classes": {"eu": EU},
        "admits": {"EU": ["open", "eu"]},
        "tenants": {"bank": {"residency": "eu", "models": ["chat"]}},
    }
    curves = [make_curve("shop", name, 2800) for name in NAMES]
    return make_intent(*NAMES, tenants=tenants, demand={"demand": curves}, guardrails=guardrails)


def survives(*losses: str) -> Intent:
    return intent_of(losses=NOTHING_LOST | dict.fromkeys(losses, 1))


def deployment(
    *,
    region: str = "us-east",
    intent: Intent | None = None,
    blocks: Mapping[str, Any] | None = None,
    shares: Mapping[str, Any] = SHARES,
    change: Mapping[str, Resource] | None = None,
    more: tuple[Resource, ...] = (),
    applied: AppliedFile | None = None,
) -> Deployment:
    """A region's stack as its lock says, large enough for every loss, with what a row changes."""
    intent = intent or intent_of()
    lock = make_lock(intent, {name: make_block(name, 9, 9) for name in NAMES} | dict(blocks or {}), shares)
    resources = make_stack(intent, lock, region) | dict(change or {})
    return Deployment(intent=intent, lock=lock, applied=applied, view=view_of([*resources.values(), *more], facts()))


def changed(key: str, path: str, value: Any, region: str = "us-east") -> dict[str, Resource]:
    base = deployment(region=region)
    resource = next(found for found in base.view.resources if found.name == key)
    return {key: with_input(resource, path, value)}


def bucket(stack: str, label: Any = None, place: str = "eu-north-1") -> Resource:
    tags = {} if label is None else {"tags": {"outlast-jurisdiction": label}}
    return make_resource("aws:s3/bucket:Bucket", "other", stack, inputs=tags, provider_inputs={"region": place})


def moved_store(**fields: Any) -> dict[str, Resource]:
    store = next(found for found in deployment().view.resources if found.name == "store")
    return {"store": replace(store, **fields)}


def foreign_kubeconfig() -> dict[str, Resource]:
    served = next(found for found in deployment().view.resources if found.name == "kubernetes")
    return {"kubernetes": replace(served, property_dependencies={})}


def stray_nodes(stack: str) -> Resource:
    """A node group of GPUs that lies nowhere the fleet is."""
    place = {"region": "ap-south-1"}
    inputs = {"instanceTypes": ("p5.48xlarge",), "scalingConfig": {"minSize": 9, "desiredSize": 9, "maxSize": 9}}
    return make_resource(NODE_GROUP, "stray", stack, inputs=inputs, provider_inputs=place)


def row_of(**changes: Any) -> dict[str, Any]:
    block = make_block("us-east", 9, 9)
    block["node_pools"]["gh100-1-a"].update(changes)
    return {"us-east": block}


def lowered() -> AppliedFile:
    lock = make_lock(intent_of(), {name: make_block(name, 12, 12) for name in NAMES}, SHARES)
    return {f"test.{name}": Applied.model_validate(applied_output(lock, name)) for name in NAMES}


def drained(*regions: str) -> Deployment:
    """The demo with regions that take no traffic."""
    states = {name: "drained" if name in regions else "serving" for name in demo().intent.regions}
    return replace(demo(), intent=replace(demo().intent, operations=OperationsFile.model_validate({"regions": states})))


def cold(allowed: str) -> Deployment:
    """A model that scales to zero on L4 nodes, under classes that wait as long as a test says."""
    lock = settled_lock(cold_fleet("1 h"))
    return Deployment(intent=cold_fleet(allowed), lock=lock, applied=None, view=view_of([], facts()))


def divided(key: str, partition: str | None, **more: str) -> Resource:
    """A node group of the demo whose nodes ask for another division of their cards."""
    group = declared_resource("demo.us-east", NODE_GROUP, f"us-east-{key}")
    labels: Any = group.get("labels")
    return with_input(group, "labels", dict(labels) | {"nvidia.com/mig.config": partition} | more)


def outgrown(nodes: int) -> Deployment:
    """A lock of so many nodes in one zone; nothing is deployed."""
    return replace(
        deployment(blocks={"us-east": make_block("us-east", 9, 9, nodes=[nodes, 5])}), view=view_of([], facts())
    )


PASSING = {
    "a lock that just fits its network": (lambda: outgrown(38), {"H-35"}),
    "instances of the lock on nodes with a label of somebody else": (
        lambda: demo(divided("mig7-1-a", "mig-7x1g.10gb", team="search")),
        {"H-05"},
    ),
    "a cold start that its class can wait for": (lambda: cold("1 h"), {"H-34"}),
    "a region drained beside one that serves its classes": (lambda: drained("eu-west"), {"H-17"}),
    "the demo as it is declared": (lambda: demo(), {rule.id for rule in RULES}),
    "a region on one cloud": (deployment, {"R-00", "R-01", "R-15", "R-27", "R-28", "H-05", "H-06", "H-08"}),
    "a region on another": (lambda: deployment(region="eu-west"), {"R-00", "R-01", "R-27", "R-28", "H-05"}),
    "a lock alone": (lambda: replace(deployment(), view=view_of([], facts())), {"R-15", "H-06", "H-08", "H-09"}),
    "a lock that was larger": (lambda: deployment(applied=lowered()), {"H-01", "H-02", "H-03", "H-26"}),
    "a type listed as lying nowhere": (
        lambda: deployment(more=(make_resource("aws:iam/role:Role", "role"),)),
        {"R-00", "R-27", "R-28"},
    ),
    "a labelled store of the global stack": (
        lambda: deployment(more=(bucket("test.global", "eu"),)),
        {"R-01", "R-28", "R-36"},
    ),
    "a store in its own region by its own input": (
        lambda: deployment(change=changed("store", "region", "us-east-1")),
        {"R-01", "R-28"},
    ),
    "a share of nothing outside": (
        lambda: deployment(
            shares=SHARES | {"eu": {"eu-west": {"us-east": 0, "eu-north": 100}, "eu-north": {"eu-west": 100}}}
        ),
        {"R-15"},
    ),
    "just enough to take a lost region": (
        lambda: deployment(intent=survives("region"), blocks={"us-east": make_block("us-east", 6)}),
        {"H-02"},
    ),
    "just enough to lose a zone": (
        # 5 × 900 >= 2800 (1 + 0.6 × 5/10)
        lambda: deployment(intent=survives("zone"), blocks={"us-east": make_block("us-east", 5, 5)}),
        {"H-03"},
    ),
    "just enough to lose a replica": (
        lambda: deployment(intent=survives("replica"), blocks={"us-east": make_block("us-east", 5)}),
        {"H-26"},
    ),
    "just enough for normal demand": (
        lambda: deployment(intent=survives(), blocks={"us-east": make_block("us-east", 4)}),
        {"H-01"},
    ),
}

FAILING = {
    "a lock that has outgrown its network": (lambda: outgrown(39), {("H-35", LOCK)}),
    "a cold start that its class cannot wait for": (lambda: cold("2 min"), {("H-34", LOCK)}),
    "a type that is not listed": (
        lambda: deployment(more=(make_resource("aws:dynamodb/table:Table", "table"),)),
        {("R-00", "table")},
    ),
    "a store under another law": (
        lambda: demo_with("demo.global", BUCKET, "us-east-weights", "tags.outlast-jurisdiction", "eu"),
        {("R-01", "us-east-weights")},
    ),
    "a store of the global stack under another law": (
        lambda: demo_with("demo.global", BUCKET, "eu-north-weights", "region", "us-east-1"),
        {("R-01", "eu-north-weights")},
    ),
    "a log of a region's stack under another law": (
        lambda: demo_with(
            "demo.us-east", "aws:cloudwatch/logGroup:LogGroup", "us-east-cluster", "tags.outlast-jurisdiction", "eu"
        ),
        {("R-01", "us-east-cluster")},
    ),
    "a label that is no jurisdiction": (
        lambda: demo_with("demo.global", BUCKET, "us-east-weights", "tags.outlast-jurisdiction", "uss"),
        {("R-01", "us-east-weights")},
    ),
    "a class sent away by a share": (lambda: deployment(shares=EU_AWAY), {("R-15", LOCK)}),
    "a store without a place": (lambda: deployment(change=moved_store(provider_inputs={})), {("R-27", "store")}),
    "a store in a multi-region": (
        lambda: deployment(region="eu-west", change=changed("store", "location", "EU", "eu-west")),
        {("R-27", "store")},
    ),
    "objects in a cluster of no place": (
        lambda: deployment(change=changed("kubernetes", "clusterIdentifier", "another")),
        {("R-27", "kubernetes"), ("R-27", "chat-h100")},
    ),
    "objects in a cluster that somebody else's kubeconfig reaches": (
        lambda: deployment(change=foreign_kubeconfig()),
        {("R-27", "kubernetes"), ("R-27", "chat-h100")},
    ),
    "a subnet of another region": (
        lambda: demo_with("demo.us-east", SUBNET, "us-east-network-nodes-use1-az1", "region", "us-west-2"),
        {("R-28", "us-east-network-nodes-use1-az1")},
    ),
    "a store of another region": (lambda: deployment(more=(bucket("test.us-east", "eu"),)), {("R-28", "other")}),
    "a store of the global stack without a label": (
        lambda: deployment(more=(bucket("test.global"),)),
        {("R-36", "other")},
    ),
    "a label that is not known yet": (lambda: deployment(more=(bucket("test.global", UNKNOWN),)), {("R-36", "other")}),
    "tags that are not known yet": (
        lambda: demo_with("demo.global", BUCKET, "eu-north-weights", "tags", UNKNOWN),
        {("R-36", "eu-north-weights")},
    ),
    "tags of a region's store that are not known yet": (
        lambda: deployment(change=changed("store", "tags", UNKNOWN)),
        {("R-36", "store")},
    ),
    "a stack that is none of the fleet's": (
        lambda: deployment(more=(make_resource("aws:iam/role:Role", "role", "test.nowhere"),)),
        {("R-41", "test.nowhere")},
    ),
    "a node pool of the global stack": (lambda: demo(stray_nodes("demo.global")), {("R-42", "stray")}),
    "a node pool of the routing stack": (lambda: demo(stray_nodes("demo.routing")), {("R-42", "stray")}),
    "too few replicas for normal demand": (
        lambda: deployment(intent=survives(), blocks={"us-east": make_block("us-east", 3)}),
        {("H-01", LOCK)},
    ),
    "too few to take a lost region": (
        # (2800 + 1.6 × 1400) / 900 = 5.6
        lambda: deployment(intent=survives("region"), blocks={"us-east": make_block("us-east", 5)}),
        {("H-02", LOCK)},
    ),
    "a lost region that nobody takes": (
        lambda: deployment(intent=survives("region"), shares=SHARES | {"open": {}}),
        {("H-02", LOCK)},
    ),
    "all replicas in one zone": (
        lambda: deployment(intent=survives("zone"), blocks={"us-east": make_block("us-east", 9)}),
        {("H-03", LOCK)},
    ),
    "no replica to spare": (
        lambda: deployment(intent=survives("replica"), blocks={"us-east": make_block("us-east", 4)}),
        {("H-26", LOCK)},
    ),
    "fewer nodes than the lock says": (
        lambda: demo_with("demo.us-east", NODE_GROUP, "us-east-gh100-1-a", "scalingConfig.minSize", 1),
        {("H-05", "us-east-gh100-1-a")},
    ),
    "a node pool that was never declared": (
        lambda: demo(without=(declared_resource("demo.us-east", NODE_GROUP, "us-east-gh100-1-a").urn,)),
        {("H-05", "demo.us-east")},
    ),
    "a count that is not known yet": (
        lambda: demo_with("demo.us-east", NODE_GROUP, "us-east-gh100-1-a", "scalingConfig.minSize", UNKNOWN),
        {("H-05", "us-east-gh100-1-a")},
    ),
    "instances that are not those of the lock": (
        lambda: demo(divided("mig7-1-a", "mig-4x1g.20gb")),
        {("H-05", "us-east-mig7-1-a")},
    ),
    "whole cards where the lock has parts": (lambda: demo(divided("mig7-1-a", None)), {("H-05", "us-east-mig7-1-a")}),
    "time-slices of cards that the lock has whole": (
        lambda: demo_with("demo.eu-west", GKE_POOL, "eu-west-gl4-1-a", "nodeConfig.guestAccelerators", SLICED),
        {("H-05", "eu-west-gl4-1-a")},
    ),
    "an autoscaler beside the count": (
        lambda: demo_with(
            "demo.eu-west",
            "gcp:container/nodePool:NodePool",
            "eu-west-gh100-1-a",
            "autoscaling",
            {"totalMinNodeCount": 0, "totalMaxNodeCount": 10},
        ),
        {("H-05", "eu-west-gh100-1-a")},
    ),
    "replicas without a node": (
        lambda: deployment(blocks={"us-east": make_block("us-east", 9, 9, nodes=[4, 5])}),
        {("H-06", LOCK)},
    ),
    "replicas beyond the lock": (
        lambda: demo_with("demo.us-east", DEPLOYMENT, SERVED, "metadata.labels", {"outlast-pool": "mine"}),
        {("H-05", SERVED), ("H-05", "demo.us-east")},
    ),
    "a lock beyond the quotas": (
        lambda: replace(deployment(), intent=replace(intent_of(), capacity=CapacityFile()), view=view_of([], facts())),
        {("H-09", LOCK)},
    ),
    "a class that no region serves": (lambda: drained("eu-west", "eu-north", "eu-central"), {("H-17", LOCK)}),
    "a row of another machine type": (lambda: deployment(blocks=row_of(machine_type="p5.4xlarge")), {("H-08", LOCK)}),
}


def found(case: Deployment) -> Found:
    return {(row.rule, row.urn.rsplit("::", 1)[-1]) for row in run(RULES, case) if row.refused}


@pytest.mark.parametrize("name", PASSING)
def test_no_rule_is_broken_by(name):
    assert found(PASSING[name][0]()) == set()


@pytest.mark.parametrize("name", FAILING)
def test_one_rule_alone_is_broken_by(name):
    build, expected = FAILING[name]
    assert found(build()) == expected


@pytest.mark.parametrize("name", FAILING)
def test_what_a_rule_says_of_one_resource_it_says_of_the_whole(name):
    case = FAILING[name][0]()
    local = [rule for rule in RULES if rule.is_local]
    alone = {
        row
        for resource in case.view.cloud_resources
        for row in run(local, replace(case, view=View((resource,), case.view.facts)))
    }
    assert alone == set(run(local, case))


def test_a_negative_margin_that_is_not_lowered_is_only_reported():
    lock = make_lock(intent_of(), {name: make_block(name, 2, 2) for name in NAMES}, SHARES)
    same = {f"test.{name}": Applied.model_validate(applied_output(lock, name)) for name in NAMES}
    case = deployment(blocks={name: make_block(name, 2, 2) for name in NAMES}, applied=same)
    rows = [row for row in run(RULES, case) if row.rule.startswith("H-")]
    assert {row.rule for row in rows} >= {"H-02", "H-26"}
    assert not any(row.refused for row in rows)
    assert all(row.title.startswith("Not yet proven") for row in rows)


def test_a_cold_start_that_is_deployed_already_is_only_reported():
    case = cold("2 min")
    applied = {f"test.{name}": Applied.model_validate(applied_output(case.lock, name)) for name in case.lock.regions}
    rows = [row for row in run(RULES, replace(case, applied=applied)) if row.rule == "H-34"]
    assert rows
    assert not any(row.refused for row in rows)


def test_a_quota_that_was_cut_is_reported_and_does_not_stop_a_deployment():
    case = replace(deployment(), intent=replace(intent_of(), capacity=CapacityFile()))
    assert {(row.rule, row.refused) for row in run(RULES, case)} == {("H-09", False)}


def test_a_value_that_a_rule_needs_and_cannot_know_is_refused_as_undecided():
    undecided = {row.rule for build, _ in FAILING.values() for row in run(RULES, build()) if not row.decided}
    assert {"R-00", "R-27", "R-36", "H-05"} <= undecided
