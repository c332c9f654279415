"""What every cloud's network promises."""

from dataclasses import dataclass, field

from tests.components.clouds import REGIONS, intent, reading, recorded, seen


@dataclass(frozen=True)
class NetworkSeen:
    """A network as the contract asks about it."""

    zones: frozenset[str]
    """Zones that nodes have a subnet in."""
    exposed: list[str] = field(default_factory=list)
    """What gives nodes public addresses."""
    locked_in: list[str] = field(default_factory=list)
    """Subnets of nodes from which nothing reaches the world."""


class NetworkContract:
    """Invariants, on every cloud."""

    ROLE = "network"

    def test_every_zone_has_a_subnet_for_nodes(self, cloud):
        assert set(intent().regions[REGIONS[cloud]].zones) == reading(cloud).network(recorded(cloud)).zones

    def test_no_node_has_a_public_address(self, cloud):
        assert reading(cloud).network(recorded(cloud)).exposed == []

    def test_nodes_have_a_way_out(self, cloud):
        assert reading(cloud).network(recorded(cloud)).locked_in == []

    def test_what_bears_cost_says_whose_it_is(self, cloud):
        view, region = seen(cloud), REGIONS[cloud]
        wanted = {"fleet": "test", "region": region, "jurisdiction": intent().jurisdiction(region).lower()}
        found = [row for row in view.cloud_resources if row.type in reading(cloud).COSTS]
        assert {row.type for row in found} == set(reading(cloud).COSTS), "the reading names what is not declared"
        for row in found:
            assert wanted.items() <= dict(view.labels(row)).items(), row.urn
