"""Images that nodes need are released before anything is planned for them."""

from typing import Any

import pytest

from outlast.errors import ConfigError
from outlast.intent.images import DISKS, ENGINES, leaves_disks_raw
from tests.builders import facts, make_artifact, make_intent

AMD: dict[str, Any] = {
    "cloud": "azure",
    "provider_region": "polandcentral",
    "zones": ["polandcentral-1"],
    "node_pools": {
        "gh100": None,
        "gmi300": {"machine_type": "Standard_ND96isr_MI300X_v5", "zones": ["polandcentral-1"]},
    },
}


def problems_of(*regions, **changes):
    with pytest.raises(ConfigError) as raised:
        make_intent(*regions, **changes)
    return [problem for problem in raised.value.problems if problem.where == "test/artifacts.yaml, images"]


def test_every_card_has_an_engine():
    assert {card.resource for card in facts().accelerators.values()} <= set(ENGINES)


@pytest.mark.parametrize(
    ("regions", "image", "user"),
    [(("us-east",), "engine", "regions.us-east.node_pools.gh100"), (("us-east", "eu-west"), DISKS, "regions.eu-west")],
)
def test_an_image_that_nodes_need_and_nobody_released_is_named_with_who_needs_it(regions, image, user):
    (problem,) = problems_of(*regions, artifacts={"images": {image: None, "gateway": make_artifact()}})
    assert f"'{image}'" in problem.what
    assert user in problem.what


def test_cards_of_another_vendor_need_another_engine():
    (problem,) = problems_of("us-east", "eu-north", regions={"regions": {"eu-north": AMD}})
    assert "'engine-amd'" in problem.what
    assert "regions.eu-north.node_pools.gmi300" in problem.what


def test_a_word_that_is_nearly_right_is_suggested():
    (problem,) = problems_of("us-east", artifacts={"images": {"engine": None, "engines": make_artifact()}})
    assert "engines" in problem.do


def test_disks_are_left_raw_where_the_cloud_does_not_join_them():
    intent = make_intent("us-east", "eu-west")
    assert [region for region in intent.regions if leaves_disks_raw(intent, region)] == ["eu-west"]


def test_cards_whose_plugin_gives_whole_ones_only_have_no_slices():
    pools = {"gh100": None, "gmi300": AMD["node_pools"]["gmi300"] | {"partition": "slice-4"}}
    changed: dict[str, Any] = {"regions": {"regions": {"eu-north": AMD | {"node_pools": pools}}}}
    with pytest.raises(ConfigError, match=r"gmi300\.partition.*no time-slices"):
        make_intent("us-east", "eu-north", **changed)
