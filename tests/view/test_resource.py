"""Raw values of every reader become the same plain values, and paths lead to them."""

import pytest

from outlast.view import UNKNOWN, name_of, normalise, stack_of, type_of, value_at
from outlast.view.resource import unknown_paths
from tests.builders import make_resource

SENTINEL = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = "1b47061264138c4ac30d75fd1eb44270"
URN = "urn:pulumi:demo.us-east::outlast::outlast:cluster:Aws$aws:eks/cluster:Cluster::main::part"


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (3.0, 3),
        (3.5, 3.5),
        ("a", "a"),
        (SENTINEL, UNKNOWN),
        ("[secret]", UNKNOWN),
        (UNKNOWN, UNKNOWN),
        ({SIGNATURE: SECRET, "value": 2.0}, 2),
        ({SIGNATURE: SECRET, "ciphertext": "x"}, UNKNOWN),
        ({"a": [1.0, {"b": SENTINEL}], "__defaults": []}, {"a": (1, {"b": UNKNOWN})}),
        (1j, UNKNOWN),
    ],
    ids=str,
)
def test_a_raw_value_becomes(raw, value):
    found = normalise(raw)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", 1),
        ("list.1.c", 2),
        ("list.9", None),
        ("list.x", None),
        ("missing.deep", None),
        ("a.b.deeper", None),
        ("later", UNKNOWN),
        ("later.whatever.0", UNKNOWN),
    ],
)
def test_a_path_leads_to(path, value):
    assert value_at({"a": {"b": 1}, "list": (0, {"c": 2}), "later": UNKNOWN}, path) == value


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("region", "us-east-1"),
        ("defaultTags.tags.a", "b"),
        ("defaultTags.tags", {"a": "b"}),
        ("accounts", ("1",)),
        ("accounts.0", "1"),
        ("torn", UNKNOWN),
        ("later.tags", UNKNOWN),
        ("hidden.tags", UNKNOWN),
        ("missing.tags", None),
    ],
)
def test_a_path_leads_into_what_an_sdk_sends_a_provider_as_text(path, value):
    inputs = {
        "region": "us-east-1",
        "defaultTags": '{"tags": {"a": "b"}}',
        "accounts": '["1"]',
        "torn": "{",
        "later": UNKNOWN,
        "hidden": f'{{"tags": "{SENTINEL}"}}',
    }
    assert make_resource("aws:s3/bucket:Bucket", "x", provider_inputs=inputs).provider_get(path) == value


def test_unknown_values_are_found_at_their_paths():
    assert list(unknown_paths({"a": {"b": UNKNOWN}, "c": (1, UNKNOWN)})) == ["a.b", "c.1"]


def test_an_unknown_value_is_a_word_in_messages():
    assert str(UNKNOWN) == repr(UNKNOWN) == "unknown"


def test_a_urn_says_stack_type_and_name():
    assert (stack_of(URN), type_of(URN), name_of(URN)) == ("demo.us-east", "aws:eks/cluster:Cluster", "main::part")


@pytest.mark.parametrize(
    ("type_", "package"),
    [
        ("aws:s3/bucket:Bucket", "aws"),
        ("kubernetes:apps/v1:Deployment", "kubernetes"),
        ("pulumi:providers:gcp", "gcp"),
        ("outlast:cluster:AwsCluster", "outlast"),
    ],
)
def test_the_package_of_a_type(type_, package):
    assert make_resource(type_, "x").package == package
