"""Physical names are plain, valid for their kind, and never shared by different things."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from components import names

OURS = st.from_regex(r"[a-z][a-z0-9]{0,11}(-[a-z0-9]{1,9}){0,3}", fullmatch=True).filter(lambda name: len(name) <= 32)
ROW = st.from_regex(r"[a-z0-9]{1,8}-[1-9][0-9]?-[a-z]", fullmatch=True)
SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
ACCOUNT = st.from_regex(r"\d{12}", fullmatch=True)
RFC_1035 = r"[a-z]([-a-z0-9]*[a-z0-9])?"
KINDS = {
    "cluster": (lambda fleet, region, _: names.cluster(fleet, region), 40, RFC_1035),
    "node-pool": (lambda fleet, region, _: names.node_pool(f"{fleet}-{region}"), 40, RFC_1035),
    "role": (lambda fleet, region, part: names.role(fleet, region, part), 64, r"[\w+=,.@-]+"),
    "service-account": (lambda fleet, region, part: names.service_account(fleet, region, part), 30, RFC_1035),
    "bucket": (lambda fleet, region, part: names.bucket(fleet, region, part, "111122223333"), 63, RFC_1035),
    "repository": (names.repository, 256, r"[a-z0-9]+([._/-][a-z0-9]+)*"),
    "registry": (lambda fleet, region, _: names.registry(fleet, region), 63, RFC_1035),
    "key-alias": (lambda fleet, region, _: names.key_alias(fleet, region), 256, r"alias/[a-zA-Z0-9/_-]+"),
    "key-ring": (lambda fleet, region, _: names.key_ring(fleet, region), 63, r"[a-zA-Z0-9_-]+"),
    "network-part": (lambda fleet, region, part: names.resource(fleet, region, part), 63, RFC_1035),
    "resource-group": (names.resource_group, 80, r"[-\w.()]+"),
    "vault": (
        lambda fleet, region, _: names.vault(fleet, region, SUBSCRIPTION),
        24,
        r"[a-z]([a-z0-9]|-(?!-))*[a-z0-9]",
    ),
    "container-registry": (
        lambda fleet, region, _: names.container_registry(fleet, region, SUBSCRIPTION),
        50,
        r"[a-z0-9]{5,}",
    ),
    "storage-account": (
        lambda fleet, region, part: names.storage_account(fleet, region, part, SUBSCRIPTION),
        24,
        r"[a-z0-9]{3,}",
    ),
    "agent-pool": (lambda fleet, region, _: names.agent_pool(f"{fleet}-{region}"), 12, r"[a-z][a-z0-9]*"),
    "role-assignment": (names.role_assignment, 36, r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "kubernetes-object": (names.kubernetes_object, 63, r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"),
}
USES_PART = {
    *("role", "service-account", "bucket", "repository", "network-part", "kubernetes-object"),
    *("resource-group", "storage-account", "role-assignment"),
}
OF_A_KEY = {"node-pool", "agent-pool"}
"""Made from the key of a lock's row, not from fleet and region."""


@pytest.mark.parametrize("kind", KINDS)
@given(fleet=OURS, region=OURS, part=OURS)
def test_a_name_is_valid_and_stays_the_same(kind, fleet, region, part):
    make, longest, pattern = KINDS[kind]
    name = make(fleet, region, part)
    assert len(name) <= longest
    assert re.fullmatch(pattern, name)
    assert make(fleet, region, part) == name


@pytest.mark.parametrize("kind", sorted(set(KINDS) - OF_A_KEY))
@given(one=st.tuples(OURS, OURS, OURS), other=st.tuples(OURS, OURS, OURS))
def test_different_things_have_different_names(kind, one, other):
    make, _, _ = KINDS[kind]
    same = one == other if kind in USES_PART else one[:2] == other[:2]
    assert (make(*one) == make(*other)) == same


@pytest.mark.parametrize("kind", sorted(set(KINDS) - OF_A_KEY))
def test_a_hyphen_never_moves_between_parts(kind):
    make, _, _ = KINDS[kind]
    assert make("demo-us", "east", "x") != make("demo", "us-east", "x")


@given(one=OURS, other=OURS)
def test_node_pools_of_a_cluster_have_different_names(one, other):
    assert (names.node_pool(f"{one}-1-a") == names.node_pool(f"{other}-1-a")) == (one == other)


@given(one=ROW, other=ROW)
@example(one="gh1-11-a", other="gh11-1-a")
@example(one="1a-1-a", other="a1-1-a")
def test_rows_of_a_lock_have_different_names_on_every_cloud(one, other):
    for name in (names.node_pool, names.agent_pool):
        assert (name(one) == name(other)) == (one == other)


@given(one=OURS, other=OURS)
def test_no_row_has_the_name_of_the_pool_that_a_cluster_is_born_with(one, other):
    assert "system" not in {names.agent_pool(one), names.agent_pool(f"{other}-1-a")}


@pytest.mark.parametrize(
    "make",
    [
        names.vault,
        names.container_registry,
        lambda fleet, region, account: names.storage_account(fleet, region, "weights", account),
    ],
    ids=["vault", "container-registry", "storage-account"],
)
@given(one=ACCOUNT, other=ACCOUNT)
def test_names_that_all_accounts_share_hold_the_account(make, one, other):
    assert (make("demo", "us-east", one) == make("demo", "us-east", other)) == (one == other)


@given(st.tuples(ACCOUNT, ACCOUNT))
def test_buckets_of_different_accounts_have_different_names(accounts):
    one, other = (names.bucket("demo", "us-east", "weights", account) for account in accounts)
    assert (one == other) == (accounts[0] == accounts[1])


@given(st.text(max_size=200))
def test_a_label_value_is_valid_on_every_cloud_and_settled(text):
    value = names.label_value(text)
    assert re.fullmatch(r"([a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?)?", value)
    assert names.label_value(value) == value


def test_labels_hold_only_what_is_known():
    assert names.labels(fleet="demo", jurisdiction="EU", node_pool="gh100-1-a") == {
        "outlast-fleet": "demo",
        "outlast-jurisdiction": "eu",
        "outlast-node-pool": "gh100-1-a",
        "outlast-managed-by": "outlast",
    }


def test_a_host_reads_from_its_class_to_the_zone():
    assert names.host("us-east", "leaf", "open", zone="api.example.org") == "us-east.leaf.open.api.example.org"
