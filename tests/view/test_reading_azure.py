"""Node pools read from hand-made records of AKS."""

from typing import Any

import pytest

from outlast.view import UNKNOWN, NodePool, view_of
from tests.builders import facts, make_resource, with_input

POOL, CLUSTER = "azure-native:containerservice:AgentPool", "azure-native:containerservice:ManagedCluster"
SLICES = {"outlast-node-pool": "gh100-1-a", "nvidia.com/device-plugin.config": "slice-4"}


def read(inputs=(), *, location="polandcentral", clusters=1) -> NodePool:
    """The node pool of a record in so many clusters, with some inputs set."""
    served: dict[str, Any] = {"provider_inputs": {"location": "westeurope"}}
    made = [make_resource(CLUSTER, f"aks-{n}", inputs={"location": location}, **served) for n in range(clusters)]
    base = {
        "resourceName": UNKNOWN,
        "availabilityZones": ("1",),
        "vmSize": "Standard_ND96isr_H100_v5",
        "count": 2,
        "nodeLabels": {"outlast-node-pool": "gh100-1-a"},
    }
    refers = {"resourceName": tuple(cluster.urn for cluster in made)} if made else {}
    pool = make_resource(POOL, "pool", inputs=base, property_dependencies=refers, **served)
    for path, value in dict(inputs).items():
        pool = with_input(pool, path, value)
    (found,) = view_of([pool, *made], facts()).node_pools
    return found


def test_a_pool_on_demand_says_all_of_itself():
    found = read()
    assert (found.key, found.cloud, found.machine_type) == ("gh100-1-a", "azure", "Standard_ND96isr_H100_v5")
    assert (found.zone, found.capacity, found.reservation, found.partition) == (
        "polandcentral-1", "on_demand", None, "whole"
    )  # fmt: skip
    assert (found.nodes_min, found.nodes_desired, found.nodes_max, found.count_ignored) == (2, 2, 2, False)


def test_other_resources_are_no_node_pools():
    assert view_of([make_resource(CLUSTER, "aks")], facts()).node_pools == ()


@pytest.mark.parametrize(
    ("zones", "zone"),
    [
        (("1", "2"), "polandcentral-1,polandcentral-2"),
        ((UNKNOWN,), UNKNOWN),
        (UNKNOWN, UNKNOWN),
        (None, None),
    ],
)
def test_the_zone_is_the_number_in_the_location_of_the_cluster(zones, zone):
    assert read({"availabilityZones": zones}).zone == zone


def test_a_cluster_whose_location_is_not_known_leaves_the_zone_unknown():
    assert read(location=UNKNOWN).zone is UNKNOWN
    assert read(clusters=2).zone is UNKNOWN, "it lies in one of them"


def test_a_cluster_that_is_not_declared_lies_where_the_provider_makes_things():
    assert read(clusters=0).zone == "westeurope-1"


@pytest.mark.parametrize(
    ("inputs", "capacity"),
    [
        ({"scaleSetPriority": "Regular"}, "on_demand"),
        ({"scaleSetPriority": "Spot"}, "spot"),
        ({"scaleSetPriority": "Spot", "capacityReservationGroupID": UNKNOWN}, "spot"),
        ({"scaleSetPriority": UNKNOWN}, UNKNOWN),
        ({"scaleSetPriority": "Low"}, "spot"),
        ({"capacityReservationGroupID": "group"}, "reserved"),
        ({"capacityReservationGroupID": UNKNOWN}, UNKNOWN),
    ],
)
def test_the_capacity_is_what_can_be_taken_away_or_is_held(inputs, capacity):
    assert read(inputs).capacity == capacity


@pytest.mark.parametrize(
    ("inputs", "partition"),
    [
        ({"gpuInstanceProfile": "MIG1g"}, "mig-7x1g"),
        ({"gpuInstanceProfile": "MIG3g"}, "mig-2x3g"),
        ({"gpuInstanceProfile": "MIG9g"}, "mig-MIG9g"),
        ({"gpuInstanceProfile": UNKNOWN}, UNKNOWN),
        ({"nodeLabels": SLICES}, "slice-4"),
        ({"nodeLabels": SLICES, "gpuInstanceProfile": "MIG7g"}, "mig-1x7g+slice-4"),
        ({"nodeLabels": UNKNOWN}, UNKNOWN),
    ],
)
def test_cards_are_divided_as_the_profile_or_the_label_says(inputs, partition):
    assert read(inputs).partition == partition


@pytest.mark.parametrize(
    ("inputs", "limits"),
    [
        ({"enableAutoScaling": True, "minCount": 1, "maxCount": 5}, (1, 5)),
        ({"enableAutoScaling": True}, (None, None)),
        ({"enableAutoScaling": UNKNOWN}, (UNKNOWN, UNKNOWN)),
        ({"enableAutoScaling": False, "minCount": 1}, (2, 2)),
        ({"count": UNKNOWN}, (UNKNOWN, UNKNOWN)),
    ],
)
def test_an_autoscaler_decides_whatever_count_stands_beside_it(inputs, limits):
    found = read(inputs)
    assert (found.nodes_min, found.nodes_max) == limits
