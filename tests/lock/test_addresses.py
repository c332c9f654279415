"""What the ranges of a region's network hold, per cloud, and what is said where they do not."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.intent.ranges import MOST_ZONES, NARROWEST_PREFIX, cut
from outlast.lock import Lock, short_ranges
from tests.builders import facts, make_block, make_intent, make_lock

EXISTING = {
    "existing": "vpc-0a1b2c3d",
    "subnets": {f"use1-az{n}": f"subnet-0000000{n}" for n in (1, 2, 4)},
    "api_subnets": ["subnet-0000000a", "subnet-0000000b"],
}
ZONE_NODES = (4096 - 5) // facts().networks["aws"].node_addresses
"""Nodes of a /20 on AWS."""
CLUSTER_NODES = 2 ** (24 - 17)
"""Nodes of a /17 for pods where each takes a /24."""
PREFIXES = st.integers(8, NARROWEST_PREFIX)


def lock_of(intent, region: str, *nodes: int) -> Lock:
    """One node pool a zone, of so many nodes."""
    blocks = {name: make_block(name, 1) for name in intent.regions}
    return make_lock(intent, blocks | {region: make_block(region, *[1] * len(nodes), nodes=list(nodes))})


def said(region: str, *nodes: int, **row) -> list[str]:
    intent = make_intent("us-east", "eu-west", regions={"regions": {region: row}})
    return [str(problem) for problem in short_ranges(lock_of(intent, region, *nodes), intent)]


def test_a_zones_range_holds_its_nodes_one_more_and_the_systems_where_pods_live_in_it():
    assert said("us-east", ZONE_NODES - 2, ZONE_NODES - 2) == []
    (message,) = said("us-east", ZONE_NODES - 1, 1)
    for word in ("regions.us-east.cidr", "use1-az1", f"holds {ZONE_NODES} nodes", f"holds {ZONE_NODES + 1}"):
        assert word in message


def test_every_zone_that_is_short_is_named():
    assert [zone for zone in ("az1", "az2", "az4") if any(zone in line for line in said("us-east", 90, 1, 90))] == [
        "az1",
        "az4",
    ]


def test_a_range_for_pods_holds_those_of_all_zones_together():
    assert said("eu-west", CLUSTER_NODES - 6, 2) == []
    (message,) = said("eu-west", CLUSTER_NODES - 5, 2)
    assert f"holds {CLUSTER_NODES} nodes" in message
    assert "Widen it to /15" in message


def test_pods_with_a_range_outside_the_network_take_none_of_its_own():
    intent = make_intent("us-east", "eu-central")
    assert list(short_ranges(lock_of(intent, "eu-central", CLUSTER_NODES, CLUSTER_NODES), intent)) == []


def test_a_wider_range_holds_more_where_the_cloud_takes_one():
    assert said("eu-west", 2 * CLUSTER_NODES - 6, 2, cidr="10.128.0.0/15") == []


def test_a_cloud_that_takes_no_wider_range_is_told_other_ways():
    (message,) = said("us-east", 90)
    assert "Widen" not in message
    assert "more zones or regions" in message


def test_a_network_that_exists_is_not_judged():
    assert said("us-east", 90, network=EXISTING) == []


def test_only_the_regions_asked_for_are_looked_at():
    intent = make_intent("us-east", "eu-west")
    assert list(short_ranges(lock_of(intent, "us-east", 90), intent, ["eu-west"])) == []


@given(prefix=PREFIXES, zones=st.integers(1, MOST_ZONES))
def test_the_parts_of_a_range_lie_in_it_and_apart(prefix, zones):
    whole = ipaddress.IPv4Network(f"0.0.0.0/{prefix}")
    found = cut(str(whole), tuple(f"z{n}" for n in range(zones)))
    parts = [
        ipaddress.IPv4Network(text)
        for text in (*found.nodes.values(), *found.entry.values(), found.services, found.pods)
    ]
    assert len(found.nodes) == len(found.entry) == zones
    assert all(part.subnet_of(whole) for part in parts)
    assert not any(a.overlaps(b) for n, a in enumerate(parts) for b in parts[n + 1 :])


@given(prefix=PREFIXES, zones=st.integers(2, MOST_ZONES))
def test_a_zone_added_at_the_end_moves_no_other(prefix, zones):
    names = tuple(f"z{n}" for n in range(zones))
    whole, less = cut(f"0.0.0.0/{prefix}", names), cut(f"0.0.0.0/{prefix}", names[:-1])
    assert {zone: whole.nodes[zone] for zone in less.nodes} == less.nodes


def test_more_zones_than_a_range_is_cut_for_are_never_left_out_in_silence():
    with pytest.raises(ValueError, match="z"):
        cut("10.0.0.0/16", tuple(f"z{n}" for n in range(MOST_ZONES + 1)))


@pytest.mark.parametrize("cloud", sorted(facts().networks))
def test_pods_of_every_cloud_take_addresses_somewhere(cloud):
    use = facts().networks[cloud]
    assert use.node_addresses > 1 or use.pod_prefix is not None
