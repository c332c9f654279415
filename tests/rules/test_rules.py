"""Every rule with deployments that pass and deployments that break it and nothing else."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from outlast.intent import Intent
from outlast.lock import Applied, AppliedFile, applied_output
from outlast.rules import LOCK, RULES, Deployment, run
from outlast.view import UNKNOWN, Resource, view_of
from tests.builders import facts, make_block, make_curve, make_intent, make_lock, make_resource, make_stack, with_input

NAMES = ("us-east", "eu-west", "eu-north")
EU = {"serve_in": ["EU"], "fail_over_to": ["EU"], "legal_basis": "contract", "allowed_outage": "15 min"}
SHARES = {
    "open": {lost: {name: 50 for name in NAMES if name != lost} for lost in NAMES},
    "eu": {"eu-west": {"eu-north": 100}, "eu-north": {"eu-west": 100}},
}
EU_AWAY = SHARES | {"eu": {"eu-west": {"us-east": 100}, "eu-north": {"eu-west": 100}}}
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


def row_of(**changes: Any) -> dict[str, Any]:
    block = make_block("us-east", 9, 9)
    block["node_pools"]["gh100-1-a"].update(changes)
    return {"us-east": block}


def lowered() -> AppliedFile:
    lock = make_lock(intent_of(), {name: make_block(name, 12, 12) for name in NAMES}, SHARES)
    return {f"test.{name}": Applied.model_validate(applied_output(lock, name)) for name in NAMES}


PASSING = {
    "a region on one cloud": (deployment, {"R-00", "R-01", "R-15", "R-27", "R-28", "H-05", "H-06", "H-08"}),
    "a region on another": (lambda: deployment(region="eu-west"), {"R-00", "R-01", "R-27", "R-28", "H-05"}),
    "a lock alone": (lambda: replace(deployment(), view=view_of([], facts())), {"R-15", "H-06", "H-08"}),
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
    "a type that is not listed": (
        lambda: deployment(more=(make_resource("aws:dynamodb/table:Table", "table"),)),
        {("R-00", "table")},
    ),
    "a store under another law": (
        lambda: deployment(change=changed("store", "tags.outlast-jurisdiction", "eu")),
        {("R-01", "store")},
    ),
    "a store of the global stack under another law": (
        lambda: deployment(more=(bucket("test.global", "eu", "us-east-1"),)),
        {("R-01", "other")},
    ),
    "a class sent away by a share": (lambda: deployment(shares=EU_AWAY), {("R-15", LOCK)}),
    "a store without a place": (lambda: deployment(change=moved_store(provider_inputs={})), {("R-27", "store")}),
    "a store in a multi-region": (
        lambda: deployment(region="eu-west", change=changed("store", "location", "EU", "eu-west")),
        {("R-27", "store")},
    ),
    "objects in a cluster of no place": (
        lambda: deployment(change=changed("kubernetes", "clusterIdentifier", "another")),
        {("R-27", "kubernetes")},
    ),
    "a store of another region": (
        lambda: deployment(more=(bucket("test.us-east", "eu"),)),
        {("R-28", "other")},
    ),
    "a store of the global stack without a label": (
        lambda: deployment(more=(bucket("test.global"),)),
        {("R-36", "other")},
    ),
    "a label that is not known yet": (
        lambda: deployment(more=(bucket("test.global", UNKNOWN),)),
        {("R-36", "other")},
    ),
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
        lambda: deployment(change=changed("gh100-1-a", "scalingConfig.minSize", 1)),
        {("H-05", "gh100-1-a")},
    ),
    "a node pool that was never declared": (
        lambda: deployment(change={"gh100-1-a": make_resource("aws:iam/role:Role", "gh100-1-a")}),
        {("H-05", "test.us-east")},
    ),
    "a count that is not known yet": (
        lambda: deployment(change=changed("gh100-1-a", "scalingConfig.minSize", UNKNOWN)),
        {("H-05", "gh100-1-a")},
    ),
    "replicas without a node": (
        lambda: deployment(blocks={"us-east": make_block("us-east", 9, 9, nodes=[4, 5])}),
        {("H-06", LOCK)},
    ),
    "a row of another machine type": (
        lambda: deployment(blocks=row_of(machine_type="p5.4xlarge")),
        {("H-08", LOCK)},
    ),
}


def found(case: Deployment) -> Found:
    return {(row.rule, row.urn.rsplit("::", 1)[-1]) for row in run(RULES, case)}


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
    alone = {row for resource in case.view.cloud_resources for row in run(local, case.of(resource))}
    assert alone == set(run(local, case))


def test_a_value_that_a_rule_needs_and_cannot_know_is_refused_as_undecided():
    undecided = {row.rule for build, _ in FAILING.values() for row in run(RULES, build()) if not row.decided}
    assert {"R-00", "R-27", "R-36", "H-05"} <= undecided


def test_a_type_that_hides_its_place_breaks_a_rule():
    case = deployment()
    row = facts().catalogue["aws:s3/bucket:Bucket"].model_copy(update={"kind": "opaque"})
    table = replace(facts(), catalogue={**facts().catalogue, row.type: row})
    assert ("R-00", "store") in found(replace(case, view=view_of(case.view.resources, table)))


def test_a_negative_margin_that_is_not_lowered_breaks_no_rule():
    small = {"us-east": make_block("us-east", 1)}
    before = deployment(blocks=small).lock
    applied = {f"test.{name}": Applied.model_validate(applied_output(before, name)) for name in NAMES}
    assert found(deployment(blocks=small, applied=applied)) == set()


def test_a_negative_margin_that_is_lowered_breaks_rules():
    small = {"us-east": make_block("us-east", 1)}
    assert {rule for rule, _ in found(deployment(blocks=small, applied=lowered()))} == {"H-01", "H-02", "H-03", "H-26"}


def test_a_stack_of_another_region_is_not_asked_for_this_regions_replicas():
    case = deployment(region="eu-north", blocks={"us-east": make_block("us-east", 9, 9, nodes=[4, 5])})
    assert found(case) == set()


def test_every_rule_has_a_deployment_that_breaks_it_and_one_that_comes_close():
    ids = {rule.id for rule in RULES}
    assert {rule for _, expected in FAILING.values() for rule, _ in expected} == ids
    assert {rule for _, passed in PASSING.values() for rule in passed} == ids
