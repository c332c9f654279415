"""The pack's reader: nothing of the SDK's proxies leaks, and an unknown value is UNKNOWN, never an exception."""

from __future__ import annotations

import pytest
from pulumi.runtime.proto import analyzer_pb2
from pulumi_policy import (
    PolicyCustomTimeouts,
    PolicyProviderResource,
    PolicyResourceOptions,
    ResourceValidationArgs,
)
from pulumi_policy.proxy import UNKNOWN_NUMBER_VALUE, UNKNOWN_STRING_VALUE, unknown_checking_proxy

from outlast.view import UNKNOWN
from policies.reading import plain, record

URN = "urn:pulumi:demo.us-east::outlast::outlast:node_pool:AwsNodePool$aws:eks/nodeGroup:NodeGroup::us-east-gh100-1-a"
PARENT = "urn:pulumi:demo.us-east::outlast::outlast:node_pool:AwsNodePool::us-east-gh100-1-a"

NO_TIMEOUTS = PolicyCustomTimeouts(0, 0, 0)


def test_unknown_values_become_unknown_wherever_they_stand() -> None:
    proxy = unknown_checking_proxy(
        {
            "name": UNKNOWN_STRING_VALUE,
            "scaling": {"minSize": 3.0, "maxSize": UNKNOWN_NUMBER_VALUE},
            "zones": ["a", UNKNOWN_STRING_VALUE],
        }
    )
    assert plain(proxy) == {"name": UNKNOWN, "scaling": {"minSize": 3, "maxSize": UNKNOWN}, "zones": ("a", UNKNOWN)}


def test_plain_values_are_of_plain_types() -> None:
    value = plain(unknown_checking_proxy({"tags": {"a": "b"}, "list": [1.0, {"c": True}]}))
    assert type(value) is dict
    assert type(value["tags"]) is dict
    assert value["list"] == (1, {"c": True})


def test_a_record_holds_parent_provider_and_options() -> None:
    options = PolicyResourceOptions(True, ["scalingConfig.desiredSize"], False, [], NO_TIMEOUTS, [], PARENT)
    args = ResourceValidationArgs(
        "aws:eks/nodeGroup:NodeGroup", unknown_checking_proxy({"region": "us-east-1"}), URN, "n", options, None, None
    )
    found = record(args)
    assert (found.stack, found.parent, found.protect) == ("demo.us-east", PARENT, True)
    assert found.ignore_changes == ("scalingConfig.desiredSize",)
    assert found.inputs == {"region": "us-east-1"}


def test_a_child_of_the_stack_has_no_parent() -> None:
    stack = "urn:pulumi:demo.us-east::outlast::pulumi:pulumi:Stack::outlast-demo.us-east"
    options = PolicyResourceOptions(False, [], False, [], NO_TIMEOUTS, [], stack)
    args = ResourceValidationArgs("t", unknown_checking_proxy({}), URN, "n", options, None, None)
    assert record(args).parent == ""


@pytest.mark.parametrize(
    ("name", "provider"),
    [("us-east", "urn:pulumi:demo.us-east::outlast::pulumi:providers:aws::us-east"), ("default_7_51_1", "")],
)
def test_a_record_names_its_provider_unless_it_is_a_default_one(name, provider) -> None:
    urn = f"urn:pulumi:demo.us-east::outlast::pulumi:providers:aws::{name}"
    served = PolicyProviderResource("pulumi:providers:aws", unknown_checking_proxy({"region": "us-east-1"}), urn, name)
    options = PolicyResourceOptions(False, [], False, [], NO_TIMEOUTS, [], None)
    found = record(ResourceValidationArgs("t", unknown_checking_proxy({}), URN, "n", options, served, None))
    assert (found.provider, found.provider_inputs) == (provider, {"region": "us-east-1"})


@pytest.mark.parametrize("message", ["AnalyzeRequest", "AnalyzerResource", "AnalyzerResourceOptions"])
def test_the_engine_tells_a_policy_nothing_of_what_is_deleted_with_what(message) -> None:
    fields = {field.name.lower() for field in getattr(analyzer_pb2, message).DESCRIPTOR.fields}
    assert [name for name in fields if "deletedwith" in name.replace("_", "")] == []
