"""A cold start is the sum of its parts, each from facts or from a constant with a source."""

import math

import pytest

from outlast.errors import ConfigError, FactError
from outlast.replica import STARTS, cold_start
from tests.builders import facts

WEIGHTS = 140e9


def machine(cloud, name, **changes):
    return facts().machine_types[cloud, name].model_copy(update=changes)


def start(name="p5.48xlarge", kind="new-node", gpus=8, cloud="aws", size=WEIGHTS, **changes):
    return cold_start(facts(), machine(cloud, name, **changes), size, gpus, kind)


def seconds(found) -> dict[str, float]:
    return {step.name: step.seconds for step in found.steps}


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("staged", ["load", "engine"]),
        ("empty-cache", ["download", "load", "engine"]),
        ("new-node", ["node", "image", "download", "load", "engine"]),
    ],
)
def test_a_start_has_the_parts_that_are_still_to_do(kind, parts):
    found = start(kind=kind)
    assert [step.name for step in found.steps] == parts
    assert found.total_s == pytest.approx(sum(seconds(found).values()))


def test_a_small_machine_downloads_at_what_it_sustains_not_at_its_burst():
    # 140 GB at 2.5 Gbit/s
    assert seconds(start("g6e.xlarge", gpus=1, nvme_count=4))["download"] == pytest.approx(448)


def test_a_fast_network_waits_for_disks_and_store():
    slow = seconds(start("g6.xlarge", gpus=1))["download"]
    disks = seconds(start("p5.48xlarge"))["download"]
    store = seconds(start("p5.48xlarge", nvme_count=64))["download"]
    assert slow > disks > store > WEIGHTS / 1e9 / (100 / 8)


def test_more_disks_load_faster_until_the_loader_is_the_limit():
    few, many, more = (seconds(start(nvme_count=count, kind="staged"))["load"] for count in (1, 32, 64))
    assert few > many == more


def test_several_gpus_check_that_they_reach_each_other():
    one, two = (seconds(start(gpus=gpus, kind="staged"))["engine"] for gpus in (1, 2))
    assert two > one


@pytest.mark.parametrize("kind", STARTS)
def test_every_part_says_its_arithmetic_and_what_it_rests_on(kind):
    assert all(step.how and step.basis in ("assumed", "measured", "facts") for step in start(kind=kind).steps)


def test_twice_the_weights_take_twice_as_long_to_move():
    once, twice = seconds(start(size=WEIGHTS)), seconds(start(size=2 * WEIGHTS))
    for part in ("download", "load"):
        assert twice[part] == pytest.approx(2 * once[part])
    assert twice["engine"] == once["engine"]


@pytest.mark.parametrize(("column", "kind"), [("network_gbps", "new-node"), ("nvme_count", "staged")])
def test_a_machine_of_which_facts_say_too_little_is_refused_with_the_column_to_fill_in(column, kind):
    name = "Standard_NC40ads_H100_v5"
    with pytest.raises(FactError, match=rf"machine_types\.csv, azure {name}.*{column}"):
        start(name, kind, 1, "azure", **{column: None})


def test_a_staged_start_needs_no_network():
    assert start("Standard_NC40ads_H100_v5", "staged", 1, "azure", network_gbps=None).total_s > 0


@pytest.mark.parametrize("size", [0, -1, math.nan, math.inf])
def test_weights_of_no_size_are_refused(size):
    with pytest.raises(ConfigError, match="weights_bytes"):
        start(size=size)


@pytest.mark.parametrize(("kind", "gpus"), [("warm", 1), ("staged", 0), ("staged", -1)])
def test_an_unknown_start_and_no_gpus_are_refused(kind, gpus):
    with pytest.raises(ConfigError):
        start(kind=kind, gpus=gpus)
