"""What a deploying identity must be allowed: all that stacks declare, and nothing outside the fleet."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache, partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components import names
from outlast.errors import EnvironmentProblem, FactError
from outlast.facts import CatalogueRow
from outlast.intent.stacks import parse, stack_order
from outlast.lock import read_lock
from outlast.operations import Document, documents_for
from outlast.operations.permissions import Deployer, Granted, Site
from outlast.operations.permissions import aws as iam
from outlast.operations.permissions import azure as rbac
from outlast.view import Resource, is_built_in
from stacks.run import declare as declare_stack
from tests.builders import CONFIG, demo_intent, facts, make_intent
from tests.recording import CREDENTIALS, declare

GRANTED = ("policyArn", "roleDefinitionId", "role")
"""Inputs that name what is granted; the first one that is there does, since `role` can also be whom."""
BOUNDARY = "arn:aws:iam::111122223333:policy/bounded"
PARTS = st.integers(1, 32).map("x".__mul__)


@cache
def declared() -> tuple[Resource, ...]:
    """Every resource of every stack of the demo."""
    intent, lock = demo_intent(), read_lock(CONFIG / "fleets" / "demo")
    return tuple(
        resource
        for stack in stack_order(intent)
        for resource in declare(partial(declare_stack, parse(stack), intent, lock), preview=True, stack=stack)
        if not is_built_in(resource.type)
    )


def documents(*regions: str, **changes: Any) -> dict[str, Document]:
    intent = make_intent(**changes) if changes else demo_intent()
    return {document.name: document for document in documents_for(intent, regions or tuple(intent.regions))}


def statements(*regions: str, **changes: Any) -> list[Mapping]:
    found = documents(*regions, **changes)
    return [row for name, one in found.items() if name.startswith("aws") for row in one.content["Statement"]]


def allowed(action: str, rows: list[Mapping]) -> list[Mapping]:
    return [row for row in rows if action in row["Action"]]


def granted_words(verb: str) -> set[str]:
    return {word for row in facts().permissions.values() if row.verb == verb for word in row.permissions}


def test_every_type_that_stacks_declare_has_permissions():
    types = {resource.type for resource in declared() if not resource.type.startswith("pulumi:providers:")}
    assert types - {row.type for row in facts().permissions.values()} == set()


def test_every_type_that_stacks_declare_can_be_read_and_made():
    verbs: dict[str, set[str]] = {}
    for row in facts().permissions.values():
        verbs.setdefault(row.type, set()).add(row.verb)
    types = {resource.type for resource in declared() if not resource.type.startswith("pulumi:providers:")}
    assert [name for name in types if not (verbs[name] >= {"create", "read"} or "all" in verbs[name])] == []


GRANTING = sorted(row.type for row in facts().permissions.values() if row.verb == "grant")


@pytest.mark.parametrize("type_", GRANTING)
def test_what_stacks_grant_may_be_granted(type_):
    (row,) = (row for row in facts().permissions.values() if (row.type, row.verb) == (type_, "grant"))
    granting = [resource for resource in declared() if resource.type == type_]
    named = {str(next(filter(None, map(resource.get, GRANTED)))) for resource in granting}
    assert [name for name in named if not name.endswith(row.permissions)] == []


def test_a_type_of_the_catalogue_without_permissions_is_refused_by_name():
    intent = demo_intent()
    row = next(iter(intent.facts.catalogue.values()))
    extra = {name: CatalogueRow(**row.model_dump() | {"type": name}) for name in ("aws:new/a:A", "aws:new/b:B")}
    changed = replace(intent, facts=replace(intent.facts, catalogue={**intent.facts.catalogue, **extra}))
    with pytest.raises(FactError) as refused:
        documents_for(changed, intent.regions)
    assert [name for name in extra if name in str(refused.value)] == list(extra)


def test_a_cloud_without_a_writer_is_refused():
    intent = make_intent()
    rows = {name: row.model_copy(update={"cloud": "nimbus"}) for name, row in intent.regions.items()}
    other = replace(intent, regions_file=intent.regions_file.model_copy(update={"regions": rows}))
    with pytest.raises(EnvironmentProblem, match="nimbus"):
        documents_for(other, other.regions)


def test_one_identity_deploys_all_regions_of_an_account():
    places = {p for row in statements() for p in _places(row)}
    assert places == {row.provider_region for row in demo_intent().regions.values() if row.cloud == "aws"}


def test_a_region_alone_names_no_other_region():
    assert {p for row in statements("eu-north") for p in _places(row)} == {"eu-north-1"}


def _places(row: Mapping) -> list[str]:
    return row.get("Condition", {}).get("StringEquals", {}).get("aws:RequestedRegion", [])


def test_dns_is_allowed_only_where_the_zone_is_deployed():
    assert allowed("route53:ChangeResourceRecordSets", statements("us-east"))
    assert not allowed("route53:ChangeResourceRecordSets", statements("eu-north"))


def test_every_regional_action_is_bound_to_places_or_names():
    free = [row for row in statements() if row["Resource"] == ["*"] and "Condition" not in row]
    assert {action.partition(":")[0] for row in free for action in row["Action"]} <= {"route53", "sts"}


def test_roles_are_passed_only_by_name_and_to_known_services():
    rows = allowed("iam:PassRole", statements("us-east"))
    assert [row["Resource"] for row in rows] == [["arn:aws:iam::111122223333:role/demo--us-east--*"]]
    assert set(rows[0]["Condition"]["StringEquals"]["iam:PassedToService"]) <= granted_words("pass")


def test_only_policies_that_stacks_attach_may_be_attached():
    rows = allowed("iam:AttachRolePolicy", statements())
    assert [row["Condition"]["ArnEquals"]["iam:PolicyARN"] for row in rows] == [
        sorted(word for word in granted_words("grant") if word.startswith("arn:"))
    ]


@pytest.mark.parametrize("action", ["CreateRole", "PutRolePolicy", "AttachRolePolicy", "PutRolePermissionsBoundary"])
def test_a_boundary_binds_every_way_to_more_rights(action):
    rows = statements("us-east", regions={"regions": {"us-east": {"permissions_boundary": BOUNDARY}}})
    found = allowed(f"iam:{action}", rows)
    assert [row["Condition"]["StringEquals"]["iam:PermissionsBoundary"] for row in found] == [BOUNDARY]


def test_no_policy_is_longer_than_the_cloud_takes():
    lengths = {
        name: len(re.sub(r"\s", "", json.dumps(one.content))) for name, one in documents().items() if "aws" in name
    }
    assert len(lengths) > 1
    assert max(lengths.values()) <= 6144


@settings(max_examples=60, derandomize=True)
@given(PARTS, PARTS, PARTS)
def test_the_pattern_of_roles_covers_every_name_of_a_region(fleet, region, purpose):
    assert fnmatchcase(names.role(fleet, region, purpose), iam.prefix(fleet, region, 64) + "*")
    assert fnmatchcase(names.bucket(fleet, region, purpose, "1"), iam.prefix(fleet, region, 54) + "*")


def test_a_project_is_granted_roles_only_under_a_condition_that_names_them():
    found = documents("eu-west")
    (granting,) = [one for one in found.values() if "resourcemanager.projects.setIamPolicy" in json.dumps(one.content)]
    assert granting.content["includedPermissions"] == ["resourcemanager.projects.setIamPolicy"]
    assert "modifiedGrantsByRole" in granting.commands[-1]
    assert "roles/owner" not in granting.commands[-1]


def test_a_subscriptions_role_is_scoped_and_its_assignment_names_what_may_be_assigned():
    site = Site(region="eu-central", provider_region="polandcentral", permissions_boundary=None)
    deployer = Deployer(fleet="demo", cloud="azure", account="sub-1", role=None, sites=(site,))
    granted = Granted({"all": ("Microsoft.Network/natGateways/write",), "grant": ("0-1", "0-2")})
    (document,) = rbac.documents(deployer, granted)
    assert document.content["AssignableScopes"] == ["/subscriptions/sub-1"]
    assert document.content["Actions"] == ["Microsoft.Network/natGateways/write"]
    assert "GuidEquals {0-1, 0-2}" in document.commands[-1]


def test_the_role_inside_clusters_covers_every_object_and_only_reads_what_it_does_not_own():
    (document,) = [one for name, one in documents().items() if name.startswith("kubernetes")]
    verbs = {
        (g, r): rule["verbs"]
        for rule in document.content["rules"]
        for g in rule["apiGroups"]
        for r in rule["resources"]
    }
    assert "delete" in verbs["apps", "deployments"]
    assert "delete" not in verbs["", "pods"]


def test_every_function_that_components_call_is_allowed():
    called = {row.type: row.permissions for row in facts().permissions.values() if row.verb == "call"}
    assert set(called) == {CREDENTIALS}
    (document,) = [one for name, one in documents("eu-central").items() if name.startswith("azure")]
    assert set(called[CREDENTIALS]) <= set(document.content["Actions"])
