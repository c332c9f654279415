"""Ids, tags, versions and wishes that a cloud would not take: refused by the loader, with file and key."""

import re
from typing import Any

import pytest

from outlast.intent import load_intent
from tests.builders import facts, messages_of, write_demo

EAST, WEST = "regions/us-east", "regions/eu-west"
POOL = f"{EAST}/node_pools/gh100"
SUBSCRIPTION = "0a1b2c3d-1111-2222-3333-444455556666"
CENTRAL: dict[str, Any] = {
    "cloud": "azure",
    "provider_region": "polandcentral",
    "zones": ["polandcentral-1", "polandcentral-2"],
    "account": SUBSCRIPTION,
    "access": {"admin": [SUBSCRIPTION]},
    "cidr": "10.64.0.0/16",
    "dns_region": "eu-central-1",
    "node_pools": {"amd": {"machine_type": "Standard_ND96isr_MI300X_v5", "zones": ["polandcentral-1"]}},
}
"""A region of a third cloud that is right."""


def central(**changes):
    return {"regions/eu-central": CENTRAL | changes}


IDS = [
    ("an account of 11 digits", {f"{EAST}/account": "11112222333"}, ["us-east.account", "'11112222333'", "12 digits"]),
    (
        "an account for a project",
        {f"{WEST}/account": "111122223333"},
        ["eu-west.account", "'111122223333'", "project id"],
    ),
    ("a project in capitals", {f"{WEST}/account": "Outlast-Demo"}, ["eu-west.account", "'Outlast-Demo'"]),
    ("a subscription's name", central(account="prod"), ["eu-central.account", "'prod'", "subscription id"]),
    ("a principal's name", {f"{EAST}/access/admin": ["ann"]}, ["us-east.access.admin", "'ann'", "role/NAME"]),
    (
        "a group for a role",
        {f"{EAST}/access/viewer": ["group:ann@example.org"]},
        ["us-east.access.viewer", "'group:ann@example.org'", "arn:aws:iam"],
    ),
    ("an address without its kind", {f"{WEST}/access/admin": ["ann@example.org"]}, ["access.admin", "'ann@", "group:"]),
    (
        "an address for an object",
        central(access={"operator": ["a@b.org"]}),
        ["access.operator", "'a@b.org'", "object id"],
    ),
    (
        "a role for a boundary",
        {f"{EAST}/permissions_boundary": "admin"},
        ["permissions_boundary", "'admin'", "policy/NAME"],
    ),
]
TAGS = [
    ("a tag in capitals", {f"{EAST}/tags": {"Team": "x"}}, ["us-east.tags.Team", "lower-case"]),
    ("a tag that starts with a digit", {f"{EAST}/tags": {"1team": "x"}}, ["tags.1team", "starting with a letter"]),
    ("a tag of ours", {f"{EAST}/tags": {"outlast-region": "x"}}, ["tags.outlast-region", "'outlast-'"]),
    ("a value with blanks", {f"{EAST}/tags": {"team": "ML infra"}}, ["tags.team", "'ML infra'", "lower-case"]),
    ("a value too long", {f"{EAST}/tags": {"team": "x" * 64}}, ["tags.team", "63"]),
    ("an empty value", {f"{EAST}/tags": {"team": ""}}, ["tags.team", "''", "1 to 63"]),
    (
        "too many tags",
        {f"{EAST}/tags": {f"t{n}": "x" for n in range(41)}},
        ["us-east.tags", "got 41", "at most 40", "t40"],
    ),
    (
        "too many labels",
        {f"{WEST}/tags": {f"t{n}": "x" for n in range(55)}},
        ["eu-west.tags", "got 55", "at most 54 on gcp", "t54"],
    ),
]
PLACES = [
    (
        "an accelerator that the cloud does not sell",
        {f"{POOL}/machine_type": "Standard_ND96isr_MI300X_v5"},
        ["gh100.machine_type", "of azure, not of aws", "mi300x-192", "region of azure"],
    ),
    (
        "a MIG layout on a card without",
        {f"{EAST}/node_pools/gl40s/partition": "mig-7x1g.10gb"},
        ["gl40s.partition", "no MIG"],
    ),
    (
        "a zone that is none",
        central(zones=["polandcentral-1", "polandcentral-4"]),
        ["eu-central.zones", "'polandcentral-4'"],
    ),
    (
        "a zone where there are none",
        central(provider_region="westus", zones=["westus-1"]),
        ["eu-central.zones", "no zones", "has zones"],
    ),
    (
        "a range beyond the cloud",
        {f"{EAST}/cidr": "10.16.0.0/12"},
        ["us-east.cidr", "got 10.16.0.0/12", "allowed /16)", "Use 10."],
    ),
    (
        "a range too small",
        {f"{EAST}/cidr": "10.16.0.0/22"},
        ["us-east.cidr", "got 10.16.0.0/22", "allowed /16)", "Use 10."],
    ),
    (
        "the range of pods inside clusters",
        central(cidr="100.64.0.0/16"),
        ["eu-central.cidr", "got 100.64.0.0/16", "overlaps 100.64.0.0/11", "which is free"],
    ),
    (
        "a range that clusters cannot use",
        central(cidr="172.30.0.0/16"),
        ["eu-central.cidr", "172.30.0.0/16", "is free"],
    ),
    ("a range of the loop", {f"{EAST}/cidr": "127.0.0.0/16"}, ["us-east.cidr", "overlaps 127.0.0.0/8"]),
    ("a range for many at once", {f"{WEST}/cidr": "224.0.0.0/16"}, ["eu-west.cidr", "overlaps 224.0.0.0/4"]),
    ("a range of one link", {f"{WEST}/cidr": "169.254.0.0/16"}, ["eu-west.cidr", "overlaps 169.254.0.0/16"]),
    ("a range of containers", {f"{EAST}/cidr": "172.17.0.0/16"}, ["us-east.cidr", "overlaps 172.17.0.0/16"]),
    ("a range of others", {f"{WEST}/cidr": "8.8.0.0/16"}, ["eu-west.cidr", "got 8.8.0.0/16", "private", "10.0.0.0/8"]),
    ("shared address space", {f"{EAST}/cidr": "100.64.0.0/16"}, ["us-east.cidr", "private", "192.168.0.0/16"]),
    (
        "one zone for a control plane",
        {f"{EAST}/zones": ["use1-az1"], **{f"{EAST}/node_pools/{p}/zones": ["use1-az1"] for p in ("gh100", "gl40s")}},
        ["us-east.zones", "control plane of aws", "got 1", "2 or more"],
    ),
    (
        "ranges that reach a private API server",
        {f"{EAST}/api": {"private": True, "allow": ["203.0.113.0/24"]}},
        ["us-east.api.allow", "203.0.113.0/24", "private: false"],
    ),
]
WISHES = [
    (
        "a boundary",
        {f"{WEST}/permissions_boundary": "x"},
        ["eu-west.permissions_boundary", "gcp has no policy", "on aws"],
    ),
    (
        "a way out a zone",
        {f"{WEST}/network": {"nat": "zonal"}},
        ["eu-west.network.nat", "gcp has no way out", "aws, azure"],
    ),
    (
        "a partly divided card",
        {f"{WEST}/node_pools/gh100/partition": "mig-3x1g.10gb"},
        ["eu-west.node_pools.gh100.partition", "mig-3x1g.10gb", "on aws"],
    ),
    (
        "time-slices of a card that shares none",
        central(node_pools={"amd": CENTRAL["node_pools"]["amd"] | {"partition": "slice-4"}}),
        ["eu-central.node_pools.amd.partition", "mi300x-192", "slice-4", "'whole'"],
    ),
]
REGIONS = [*IDS, *TAGS, *PLACES, *WISHES]
HELD = {"machine_type": "a3-highgpu-8g", "zone": "europe-west4-b", "nodes": 4, "block": True}
TERM = {"starts": "2026-12-01", "ends": "2027-01-31"}
OURS = {"machine_type": "p5.48xlarge", "zone": "use1-az1", "nodes": 4, "block": True} | TERM
OTHERS = [
    (
        "a block of capacity",
        "capacity",
        {"regions/eu-west/reservations": {"r1": HELD | TERM}},
        ["capacity.yaml, regions.eu-west.reservations.r1.block", "gcp has no capacity blocks", "on aws"],
    ),
    *(
        (
            f"a block that never {key}",
            "capacity",
            {"regions/us-east/reservations": {"r1": {word: said for word, said in OURS.items() if word != key}}},
            [f"capacity.yaml, regions.us-east.reservations.r1.{key}", "missing", "a fixed time", day],
        )
        for key, day in (("starts", "first day"), ("ends", "last day"))
    ),
    (
        "a version that is none",
        "fleet",
        {"kubernetes": "1.99"},
        ["fleet.yaml, kubernetes", "got 1.99", "aws, azure, gcp", "1.36"],
    ),
    (
        "a version of one cloud",
        "fleet",
        {"kubernetes": "1.34"},
        ["fleet.yaml, kubernetes", "got 1.34", "created on azure, gcp", "1.35"],
    ),
    ("a patch for a version", "fleet", {"kubernetes": "1.36.2"}, ["fleet.yaml, kubernetes", "got 1.36.2", "minor"]),
    (
        "an add-on that is none",
        "fleet",
        {"add_ons": {"vpc-cno": "v1.2.3"}},
        ["fleet.yaml, add_ons.vpc-cno", "'vpc-cno'"],
    ),
    ("a DNS zone's name", "fleet", {"dns/existing_zone_id": "example.org"}, ["dns.existing_zone_id", "'example.org'"]),
]
CASES = [*((name, "regions", changes, says) for name, changes, says in REGIONS), *OTHERS]


@pytest.mark.parametrize(("stem", "changes", "says"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_mistake_is_told_in_one_message_with_its_facts(stem, changes, says, tmp_path):
    write_demo(tmp_path, stem, changes)
    lines = messages_of(tmp_path)
    assert [line for line in lines if line.startswith("demo/") and all(word in line for word in says)], lines


RIGHT = [
    ("aws", "principal", "arn:aws:iam::111122223333:user/team/ann"),
    ("aws", "api-server", "https://0A1B2C3D.gr7.eu-north-1.eks.amazonaws.com"),
    ("aws", "api-server", "https://0A1B2C3D.us-gov-west-1.api.aws"),
    ("gcp", "principal", "serviceAccount:ci@outlast-demo.iam.gserviceaccount.com"),
    ("gcp", "principal", "principalSet://iam.googleapis.com/locations/global/workforcePools/p/group/g"),
    ("gcp", "api-server", "https://gke-0a1b-123456.europe-west4.gke.goog"),
    ("azure", "api-server", "https://x-0a1b.0a1b-22.privatelink.polandcentral.azmk8s.io:443"),
    (
        "azure",
        "cluster",
        f"/subscriptions/{SUBSCRIPTION}/resourcegroups/g/providers/Microsoft.ContainerService/managedClusters/c",
    ),
]


@pytest.mark.parametrize(("cloud", "kind", "text"), RIGHT)
def test_an_id_is_taken_in_each_of_its_forms(cloud, kind, text):
    assert facts().id_forms[cloud, kind].read(text) is not None


HOSTS = [
    ("aws", "https://x.gr7.eu-north-1.eks.amazonaws.com", "eu-north-1"),
    ("gcp", "https://gke-0a1b-123456.europe-west4.gke.goog", "europe-west4"),
    ("azure", "https://x-0a1b.hcp.polandcentral.azmk8s.io:443", "polandcentral"),
]


@pytest.mark.parametrize(("cloud", "server", "place"), HOSTS, ids=[case[0] for case in HOSTS])
def test_an_api_server_says_where_it_is(cloud, server, place):
    assert facts().id_forms[cloud, "api-server"].read(server) == {"provider_region": place}


@pytest.mark.parametrize("server", [f"{host[1]}.example.org" for host in HOSTS])
def test_a_host_that_only_begins_like_an_api_server_is_none(server):
    assert [row for row in facts().id_forms.values() if row.kind == "api-server" and row.read(server)] == []


FREE = {
    "overlapping": {f"{WEST}/cidr": "10.16.0.0/16"},
    "small": {f"{EAST}/cidr": "10.16.0.0/22"},
    "wide": {f"{EAST}/cidr": "10.0.0.0/8"},
    "reserved": {f"{EAST}/cidr": "172.17.0.0/16"},
}


@pytest.mark.parametrize("changes", FREE.values(), ids=FREE)
def test_a_range_that_a_message_proposes_is_taken(changes, tmp_path):
    write_demo(tmp_path / "wrong", "regions", changes)
    said = " ".join(messages_of(tmp_path / "wrong"))
    right = dict.fromkeys(changes, re.findall(r"Use ([\d./]+)", said)[0])
    write_demo(tmp_path / "right", "regions", right)
    assert load_intent(tmp_path / "right", "demo", facts())
