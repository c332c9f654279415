"""The table of the node contract says what the code does."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from components.base import place_of
from components.node_pool.contract import CACHE, DISKS, NodePoolArgs, node_labels, operator_labels, tags, taint
from components.serving import device
from components.serving.devices import spot_tolerations
from components.serving.disks import NAME
from outlast.intent.images import JOINED
from outlast.lock import CONTAINERS_RATIO, cache_gib
from tests.builders import facts
from tests.components.clouds import clouds, intent

PAGE = Path(__file__).parents[2] / "docs" / "node-contract.md"
CLOUDS = {"aws": 2, "gcp": 3, "azure": 4}
"""Cloud -> its column."""


def table():
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.read_text().splitlines()]
    return {row[0]: row for row in rows if len(row) == 5 and not row[0].startswith("---")}


def words(text):
    return set(re.findall(r"`([^`]+)`", text))


def args(**changes):
    known = dict.fromkeys(NodePoolArgs.__dataclass_fields__, None)
    given = {
        "place": place_of(intent(), "us-east", teardown=False),
        "key": "gh100-1-a",
        "accelerator": "h100-sxm-80",
        "gpu_resource": "nvidia.com/gpu",
        "partition": "whole",
        "disk_gib": 6000,
    }
    return NodePoolArgs(**{**known, **given, **changes})


def test_labels_and_tags_are_those_of_the_table():
    assert words(table()["labels"][1]) == set(node_labels(args()))
    left_out = words(table()["tags of what bears cost"][1])
    assert set(node_labels(args())) - set(tags(args())) == left_out


def test_the_taint_is_that_of_the_table():
    (form,) = words(table()["taint, once"][1])
    for resource in words(table()["device of a whole card"][1]):
        assert form.replace("<resource>", resource) == str(taint(args(gpu_resource=resource)))


@pytest.mark.parametrize("cloud", CLOUDS)
def test_replicas_tolerate_the_taints_of_spot_nodes_that_the_table_names(cloud):
    tolerated = {f"{row['key']}={row['value']}:{row['effect']}" for row in spot_tolerations(cloud)}
    assert words(table()["more taints of spot nodes"][CLOUDS[cloud]]) == tolerated


def test_every_card_has_a_device_of_the_table():
    assert {card.resource for card in facts().accelerators.values()} == words(table()["device of a whole card"][1])


@pytest.mark.parametrize(
    ("row", "partition"), [("device of a MIG instance", "mig-7x1g.10gb"), ("device of a time-slice", "slice-4")]
)
@pytest.mark.parametrize("cloud", clouds("node_pool"))
def test_parts_of_cards_have_the_names_of_the_table(row, partition, cloud):
    assert words(table()[row][CLOUDS[cloud]]) == {device(cloud, "nvidia.com/gpu", partition)}


@pytest.mark.parametrize(
    ("row", "partition"), [("division into MIG instances", "mig-7x1g.10gb"), ("division into time-slices", "slice-4")]
)
def test_labels_that_divide_cards_are_those_of_the_table(row, partition):
    found = operator_labels(replace(args(), partition=partition))
    assert set(found) <= words(table()[row][CLOUDS["aws"]])
    assert list(found.values()) == [partition]
    assert operator_labels(args()) == {}


def test_paths_are_those_of_the_table():
    assert words(table()["cache of models"][1]) == {CACHE}
    assert words(table()["local disks joined"][1]) == {f"{DISKS}/0"}


@pytest.mark.parametrize("cloud", CLOUDS)
def test_who_joins_disks_is_as_the_table_says(cloud):
    joined = table()["local disks joined"][CLOUDS[cloud]]
    assert ("by the node itself" in joined) is facts().can(cloud, JOINED)
    assert (f"DaemonSet `{NAME}`" in joined) is not facts().can(cloud, JOINED)


def test_the_space_is_that_of_the_table():
    assert f"{1 - CONTAINERS_RATIO:.0%}".replace("%", " %") in table()["space of the cache"][1]
    assert cache_gib(6000) == int(node_labels(args())["outlast-cache-gib"]) == 4500
