"""A component registers exactly what it promises, and a cloud without a module is refused in plain words."""

from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import combinations
from typing import ClassVar

import pulumi
import pytest

from components import network
from components.base import PlatformComponent, class_of, output_names, place_of, plain_inputs
from outlast.errors import ConfigError
from outlast.intent.ranges import cut
from tests.builders import demo_intent
from tests.recording import record


@dataclass(frozen=True, kw_only=True)
class Args:
    zone_nodes: int
    zones: tuple[str, ...]
    given: pulumi.Input[str]


class Kept(PlatformComponent):
    token: ClassVar[str] = "outlast:test:Kept"
    promised: str

    def __init__(self, name, args, **outputs):
        super().__init__(name, args)
        for key, value in outputs.items():
            setattr(self, key, value)
        self.register()


def test_annotated_attributes_are_the_outputs():
    recording = record(lambda: Kept("kept", args(), promised="yes"), preview=False)
    assert list(recording.outputs.values()) == [{"promised": "yes"}]
    assert output_names(Kept) == {"promised"}


@pytest.mark.parametrize("outputs", [{}, {"promised": "yes", "more": "no"}], ids=["missing", "extra"])
def test_a_promise_not_kept_is_an_error(outputs):
    with pytest.raises(TypeError, match="Kept: outputs not set"):
        record(lambda: Kept("kept", args(), **outputs), preview=False)


def test_plain_arguments_are_the_inputs_and_invented_ones_are_not():
    (kept,) = record(lambda: Kept("kept", args(), promised="yes"), preview=True).resources
    assert kept.inputs == {"zoneNodes": 2, "zones": ("a", "b")}


def test_the_place_is_spelled_out():
    place = place_of(demo_intent(), "eu-west", teardown=False)
    inputs = plain_inputs(network.NetworkArgs(place=place, cidr="10.32.0.0/16", key="a-key", buckets=("a-bucket",)))
    assert inputs["jurisdiction"] == "EU"
    assert inputs["providerRegion"] == "europe-west4"
    assert inputs["protect"] is True


def test_an_unknown_cloud_is_named_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"cloud 'gpc': no network can be declared there .*Did you mean 'gcp'"):
        class_of(network.Network, "gpc")


@pytest.mark.parametrize("zones", [("a",), ("a", "b", "c"), ("a", "b", "c", "d", "e", "f")])
def test_ranges_do_not_overlap_and_do_not_move_when_a_zone_is_added(zones):
    ranges = cut("10.16.0.0/16", zones)
    blocks = [*ranges.nodes.values(), *ranges.entry.values(), ranges.services, ranges.pods]
    assert len(ranges.nodes) == len(ranges.entry) == len(zones)
    assert not any(one.overlaps(other) for one, other in combinations(map(IPv4Network, blocks), 2))
    assert cut("10.16.0.0/16", zones[:-1]).nodes.items() <= ranges.nodes.items()


def args():
    return Args(zone_nodes=2, zones=("a", "b"), given=pulumi.Output.from_input("invented"))
