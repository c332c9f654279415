"""What the nodes for a cluster's own needs promise, in however many groups the cloud keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass

from outlast.lock import SYSTEM_ZONE_NODES
from tests.builders import facts
from tests.components.clouds import REGIONS, intent, reading, recorded


@dataclass(frozen=True)
class SystemPoolSeen:
    """The nodes as the contract asks about them."""

    nodes: Mapping[str, float]
    """Zone -> nodes that are always there."""
    machine_types: frozenset[str]
    cards: bool
    """Whether accelerators are put into the machines."""
    labels: list[Mapping[str, str]]
    """Of the nodes of each group, in Kubernetes."""
    tags: list[Mapping[str, str]]
    """Of everything that is paid for."""


class SystemPoolContract:
    """Invariants, on every cloud."""

    ROLE = "system_pool"

    def seen(self, cloud):
        return reading(cloud).system_pool(recorded(cloud))

    def test_the_loss_of_a_zone_leaves_the_clusters_own_pods_a_place(self, cloud):
        zones = intent().regions[REGIONS[cloud]].zones
        assert self.seen(cloud).nodes == dict.fromkeys(zones, SYSTEM_ZONE_NODES)

    def test_it_has_no_accelerators(self, cloud):
        found = self.seen(cloud)
        assert found.machine_types
        assert not [name for name in found.machine_types if (cloud, name) in facts().machine_types]
        assert not found.cards

    def test_no_replica_takes_its_nodes_for_a_row_of_the_lock(self, cloud):
        assert [labels for labels in self.seen(cloud).labels if "outlast-node-pool" in labels] == []

    def test_what_is_paid_for_says_whose_it_is(self, cloud):
        region = REGIONS[cloud]
        law = intent().jurisdiction(region).lower()
        wanted = {"outlast-fleet": "test", "outlast-region": region, "outlast-jurisdiction": law}
        tags = self.seen(cloud).tags
        assert tags
        assert [found for found in tags if not wanted.items() <= found.items()] == []
