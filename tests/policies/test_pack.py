"""The pack: what it judges, and that nothing it cannot read or run gets through."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from pulumi_policy import EnforcementLevel, PolicyCustomTimeouts, PolicyResourceOptions, ResourceValidationArgs
from pulumi_policy.proxy import unknown_checking_proxy

from outlast.rules import RULES
from policies import pack as pack_module
from policies.pack import LOCAL, Pack, policies

REPO = Path(__file__).parents[2]
BUCKET = "aws:s3/bucket:Bucket"

NO_TIMEOUTS = PolicyCustomTimeouts(0, 0, 0)


def _args(type_: str, inputs: dict, stack: str = "demo.global") -> ResourceValidationArgs:
    urn = f"urn:pulumi:{stack}::outlast::{type_}::thing"
    options = PolicyResourceOptions(False, [], False, [], NO_TIMEOUTS, [], None)
    return ResourceValidationArgs(type_, unknown_checking_proxy(inputs), urn, "thing", options, None, None)


def _stack_args(*found: ResourceValidationArgs) -> SimpleNamespace:
    resources = [
        SimpleNamespace(
            resource_type=args.resource_type, props=args.props, urn=args.urn, opts=args.opts, provider=None,
            dependencies=[], property_dependencies={},
        )
        for args in found
    ]  # fmt: skip
    return SimpleNamespace(resources=resources)


def _said(check, *args) -> list[str]:
    said: list[str] = []
    check(*args, lambda message, *_: said.append(message))
    return said


def _eu_bucket(region: str) -> ResourceValidationArgs:
    return _args(BUCKET, {"region": region, "tags": {"outlast-jurisdiction": "eu"}})


def test_a_store_in_its_jurisdiction_passes_and_one_outside_is_refused() -> None:
    pack = Pack(REPO, {})
    assert _said(pack.check_resource, _eu_bucket("eu-north-1")) == []
    (message,) = _said(pack.check_resource, _eu_bucket("us-east-1"))
    assert message.startswith("[R-01]")


def test_an_unlisted_type_is_refused() -> None:
    (message,) = _said(Pack(REPO, {}).check_resource, _args("aws:new/thing:Thing", {"region": "eu-north-1"}))
    assert message.startswith("[R-00]")


def test_a_violation_is_reported_once_though_both_policies_see_it() -> None:
    pack = Pack(REPO, {})
    bucket = _eu_bucket("us-east-1")
    first = _said(pack.check_resource, bucket)
    second = _said(pack.check_stack, _stack_args(bucket))
    assert [message for message in second if message in first] == []


def test_configuration_that_cannot_be_read_refuses_the_stack(tmp_path) -> None:
    (message,) = _said(Pack(tmp_path, {}).check_stack, _stack_args(_eu_bucket("eu-north-1")))
    assert message.startswith("[X-01]")
    assert "nothing can be allowed" in message


def test_an_unknown_fleet_refuses_the_stack() -> None:
    bucket = _args(BUCKET, {"region": "eu-north-1"}, stack="other.global")
    assert _said(Pack(REPO, {}).check_stack, _stack_args(bucket))[0].startswith("[X-01]")


def test_a_rule_that_crashes_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_deployment):
        raise KeyError("gone")

    broken = type(RULES[0])(**{**vars(RULES[0]), "check": crash})
    monkeypatch.setattr(pack_module, "LOCAL", (broken,))
    (message,) = _said(Pack(REPO, {}).check_resource, _eu_bucket("eu-north-1"))
    assert message.startswith("[X-00]")


def test_inputs_collected_from_resources_stand_in_for_those_a_stack_policy_does_not_see() -> None:
    pack = Pack(REPO, {})
    pack.collect(_eu_bucket("eu-north-1"))
    blind = _args(BUCKET, {})
    assert pack.merged(_stack_args(blind).resources[0]).get("region") == "eu-north-1"


def test_local_rules_are_some_of_all_rules() -> None:
    assert set(LOCAL) < set(RULES)


def test_every_finding_is_mandatory() -> None:
    assert {policy.enforcement_level for policy in policies(REPO)} == {EnforcementLevel.MANDATORY}


def test_there_is_one_resource_policy_and_one_stack_policy() -> None:
    assert [policy.name for policy in policies(REPO)] == ["outlast-resource", "outlast-stack"]


def test_configuration_is_read_from_the_environment_or_the_packs_own_root(tmp_path, monkeypatch) -> None:
    shutil.copytree(REPO / "config", tmp_path / "config")
    monkeypatch.setenv("OUTLAST_CONFIG", str(tmp_path / "config"))
    (resource, _) = policies(tmp_path)
    assert resource.name == "outlast-resource"
