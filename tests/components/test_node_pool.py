"""Node pools of all clouds keep their contract; below it what only one cloud has."""

import pytest

from components.node_pool import azure, gcp
from outlast.errors import ConfigError
from outlast.intent.partitions import mig_profiles
from tests.builders import facts
from tests.components.clouds import KEY, lock_with, recorded
from tests.components.contract_node_pool import ROWS, NodePoolContract
from tests.components.reading_aws import GROUP_TAG, TEMPLATE

ONE_EACH = {"1g.10gb": "MIG1g", "2g.20gb": "MIG2g", "3g.40gb": "MIG3g", "4g.40gb": "MIG4g", "7g.80gb": "MIG7g"}
"""Profile of an H100 -> the API's word. Source: azure-native, enum GPUInstanceProfile."""
ELASTIC = ROWS["elastic"]


@pytest.fixture(params=ROWS)
def kind(request):
    return request.param


class TestNodePool(NodePoolContract):
    """On every cloud, for every kind of row."""


@pytest.mark.parametrize("divide", [gcp.partition_size, azure.partition_size], ids=["gcp", "azure"])
def test_a_cloud_that_fills_cards_refuses_a_division_that_does_not(divide):
    with pytest.raises(ConfigError, match="fills a card"):
        divide("more-1-a", "mig-3x1g.10gb", fills_card=False)


@pytest.mark.parametrize("partition", ["mig-4x1g.20gb", "mig-1x1g.10gb+me"])
def test_a_cloud_that_names_slices_alone_refuses_what_they_do_not_say(partition):
    with pytest.raises(ConfigError, match="fills a card"):
        azure.partition_size("more-1-a", partition, fills_card=True)


def test_the_words_for_instances_are_those_of_the_cards_largest_divisions():
    """The cloud fills a card, so its word for a number of slices must be as many instances as the card holds."""
    most = mig_profiles(facts().accelerators["h100-sxm-80"])
    words = {name: azure.partition_size("more-1-a", f"mig-{most[name]}x{name}", fills_card=True) for name in ONE_EACH}
    assert words == ONE_EACH


def test_an_autoscaler_knows_what_nodes_that_are_not_there_would_offer():
    tags = {
        tag.get("tag.key"): tag.get("tag.value")
        for tag in recorded("aws", **ELASTIC).of(GROUP_TAG)
        if f"-{KEY}-" in tag.name and not tag.get("tag.propagateAtLaunch")
    }
    row = lock_with("aws", **ELASTIC).regions["us-east"].node_pools[KEY]
    start = "k8s.io/cluster-autoscaler/node-template/"
    assert tags == {
        f"{start}label/outlast-node-pool": KEY,
        f"{start}taint/nvidia.com/gpu": "present:NoSchedule",
        f"{start}resources/nvidia.com/gpu": str(row.node_devices),
    }


def test_only_nodes_that_come_and_go_are_described_to_an_autoscaler():
    described = {tag.parent for tag in recorded("aws").of(GROUP_TAG) if "node-template" in tag.get("tag.key")}
    assert not [urn for urn in described if urn.endswith(f"-{KEY}")]


def test_the_launch_template_leaves_the_machine_type_to_the_node_group():
    recording = recorded("aws")
    assert all(template.get("instanceType") is None for template in recording.of(TEMPLATE))
    (group,) = [r for r in recording.of("aws:eks/nodeGroup:NodeGroup") if r.get("labels.outlast-node-pool") == KEY]
    versions = group.property_dependencies["launchTemplate"]
    assert any("launchTemplate:LaunchTemplate" in urn for urn in versions), "a new version must reach the node group"
