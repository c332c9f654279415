"""What nodes cost, what moved, and what cannot be priced: unknown is a reason, never nothing."""

from dataclasses import replace

import pytest

from outlast.intent import Intent
from outlast.lock import Nodes, read_lock
from outlast.spend import NodeLine, Range, Rate, compare, lines_of_lock, lines_of_view, per_month, rate
from outlast.view import UNKNOWN, view_of
from tests.builders import CONFIG, demo_intent, facts, make_block, make_intent, make_lock, make_resource, with_input
from tests.stack_records import make_stack

NAMES = ("us-east", "eu-west")
P5 = "p5.48xlarge"
OFF = {"cloud": "aws", "basis": "reserved", "off": "40 %", "reference": "contract 1"}


def list_price(cloud: str, place: str, machine_type: str, basis: str = "on_demand") -> float:
    return facts().prices[cloud, place, machine_type, basis].usd_h


def line(key: str = "gh100-1-a", nodes: tuple = (2, 2, 2), usd_h: float | None = 10.0, **fields) -> NodeLine:
    price = Rate(usd_h, "on_demand", unknown="" if usd_h is not None else "no price")
    base = {"region": "us-east", "key": key, "zone": "use1-az1", "machine_type": P5, "capacity": "on_demand"}
    rest = {"accelerator": "h100-sxm-80", "node_gpus": 8, "nodes": Range(*nodes), "rate": price}
    return NodeLine(**{**base, **rest, **fields})


def lock_of(intent: Intent | None = None, **blocks):
    base = {name: make_block(name, 2, 2) for name in NAMES}
    return make_lock(
        intent or make_intent(*NAMES), base | {name.replace("_", "-"): row for name, row in blocks.items()}
    )


def stack_lines(region: str, **changed) -> tuple[NodeLine, ...]:
    intent = make_intent(*NAMES)
    resources = make_stack(intent, lock_of(intent), region)
    for path, value in changed.items():
        resources["gh100-1-a"] = with_input(resources["gh100-1-a"], path.replace("__", "."), value)
    return lines_of_view(view_of(resources.values(), facts()), intent)


def test_a_rate_is_the_list_price_of_its_place_and_basis():
    found = rate(make_intent(*NAMES), "us-east", P5, "on_demand")
    assert (found.usd_h, found.basis, found.unknown) == (list_price("aws", "us-east-1", P5), "on_demand", "")
    assert found.as_of == facts().prices["aws", "us-east-1", P5, "on_demand"].as_of


def test_a_spot_node_has_the_spot_price():
    key = next(key for key in sorted(facts().prices) if key[:2] == ("gcp", "europe-west4") and key[3] == "spot")
    assert rate(make_intent(*NAMES), "eu-west", key[2], "spot").usd_h == list_price(*key)


def test_a_reservation_is_billed_at_the_on_demand_price_less_its_discount():
    intent = make_intent(*NAMES, capacity={"discounts": [OFF]})
    assert rate(intent, "us-east", P5, "reserved").usd_h == pytest.approx(0.6 * list_price("aws", "us-east-1", P5))
    assert "40%" in rate(intent, "us-east", P5, "reserved").basis


def test_a_discount_is_for_its_own_cloud_and_basis():
    intent = make_intent(*NAMES, capacity={"discounts": [OFF]})
    assert rate(intent, "us-east", P5, "on_demand").usd_h == list_price("aws", "us-east-1", P5)
    assert rate(intent, "eu-west", "a3-highgpu-8g", "reserved").usd_h == list_price(
        "gcp", "europe-west4", "a3-highgpu-8g"
    )


def test_discounts_do_not_add_up_the_best_counts():
    intent = make_intent(*NAMES, capacity={"discounts": [OFF, OFF | {"off": "10 %"}]})
    assert rate(intent, "us-east", P5, "reserved").usd_h == pytest.approx(0.6 * list_price("aws", "us-east-1", P5))


@pytest.mark.parametrize(
    ("machine_type", "capacity", "why"),
    [
        ("p9.48xlarge", "on_demand", "no on_demand price of p9.48xlarge in us-east-1"),
        (P5, "unknown", "capacity type is unknown"),
        (P5, "rented", "capacity type is rented"),
    ],
)
def test_what_has_no_price_has_a_reason(machine_type, capacity, why):
    found = rate(make_intent(*NAMES), "us-east", machine_type, capacity)
    assert (found.usd_h, found.unknown) == (None, why)


def test_what_is_listed_but_not_sold_has_no_price():
    listed = [key for key in facts().prices if key[3] == "list_only_not_sold_on_demand" and key[0] == "gcp"]
    intent = make_intent(*NAMES)
    row = intent.regions["eu-west"].model_copy(update={"provider_region": listed[0][1]})
    moved = intent.regions_file.model_copy(update={"regions": {**intent.regions, "eu-west": row}})
    found = rate(replace(intent, regions_file=moved), "eu-west", listed[0][2], "on_demand")
    assert found.usd_h is None
    assert "not sold" in found.unknown


@pytest.mark.parametrize("region", NAMES)
def test_a_lock_and_its_resources_are_the_same_lines(region):
    expected = [row for row in lines_of_lock(lock_of(), make_intent(*NAMES)) if row.region == region]
    assert list(stack_lines(region)) == expected
    assert len(expected) == 2


def test_a_line_counts_nodes_money_and_gpus():
    found = line(nodes=(2, 2.5, 4), usd_h=10.0)
    assert found.usd_h == Range(20, 25, 40)
    assert found.gpus == Range(16, 20, 32)


def test_a_line_without_a_price_is_unknown():
    assert line(usd_h=None).usd_h == Range(None, None, None)
    assert line(usd_h=None).unknown == "no price"


def test_a_count_that_is_not_known_yet_is_unknown():
    (first, _) = stack_lines("us-east", scalingConfig__minSize=UNKNOWN)
    assert first.nodes.min is None
    assert first.usd_h.min is None
    assert "not known before" in first.unknown


def test_a_machine_type_that_is_not_known_yet_has_no_price():
    (first, _) = stack_lines("us-east", instanceTypes=(UNKNOWN,))
    assert (first.machine_type, first.accelerator, first.rate.usd_h) == ("unknown", "unknown", None)
    assert first.unknown


def test_node_pools_without_accelerators_are_left_out():
    intent = make_intent(*NAMES)
    resources = make_stack(intent, lock_of(intent), "us-east")
    group = resources["gh100-1-a"]
    system = replace(
        with_input(with_input(group, "labels", None), "instanceTypes", ("m7i.xlarge",)), urn=f"{group.urn}-s"
    )
    assert len(lines_of_view(view_of([*resources.values(), system], facts()), intent)) == 2


def test_nodes_that_come_and_go_cost_what_the_lock_expects():
    intent, lock = make_intent(*NAMES), lock_of()
    rows = lock.regions["us-east"].node_pools
    rows["gh100-1-a"] = rows["gh100-1-a"].model_copy(update={"nodes": Nodes(min=0, expected=0.5, max=2)})
    resources = make_stack(intent, lock, "us-east")
    resources["gh100-1-a"] = replace(resources["gh100-1-a"], ignore_changes=("scalingConfig.desiredSize",))
    view = view_of(resources.values(), facts())
    assert lines_of_view(view, intent, lock)[0].nodes == Range(0, 0.5, 2)
    assert lines_of_view(view, intent)[0].nodes == Range(0, 0, 2)


def test_gpus_without_the_label_are_lines_of_their_own_name():
    intent = make_intent(*NAMES)
    resources = make_stack(intent, lock_of(intent), "us-east")
    bare = with_input(resources["gh100-1-a"], "labels", None)
    extra = [make_resource(bare.type, name, inputs=bare.inputs) for name in ("one", "two")]
    found = lines_of_view(view_of([*resources.values(), *extra], facts()), intent)
    assert [row.key for row in found] == ["gh100-1-a", "gh100-2-a", "one", "two"]
    assert compare([], found).delta_nodes == 4


def test_a_region_that_the_fleet_no_longer_has_has_no_lines():
    lines = lines_of_lock(lock_of(), make_intent("us-east", "eu-north"))
    assert {row.region for row in lines} == {"us-east"}


def test_nothing_moved_between_equals():
    change = compare([line()], [line()])
    assert (change.changed, change.delta_usd_h, change.delta_nodes, change.delta_gpus) == ((), Range(0, 0, 0), 0, 0)


def test_an_added_node_pool_is_all_new_money():
    change = compare([], [line(nodes=(2, 3, 4))])
    assert change.delta_usd_h == Range(20, 30, 40)
    assert (change.delta_nodes, change.delta_gpus, change.gpus_after) == (4, 32, 32)


def test_a_removed_node_pool_is_money_back():
    change = compare([line()], [])
    assert change.delta_usd_h == Range(-20, -20, -20)
    assert (change.delta_nodes, change.delta_gpus, change.gpus_after) == (-2, -16, 0)
    assert change.changed[0].line.key == "gh100-1-a"


def test_a_changed_count_moves_nodes_gpus_and_money():
    change = compare([line(nodes=(2, 2, 2))], [line(nodes=(5, 5, 5))])
    assert (change.delta_nodes, change.delta_gpus, change.delta_usd_h.min) == (3, 24, 30)
    assert not change.changed[0].is_price_only


def test_a_changed_price_moves_money_only():
    change = compare([line(usd_h=10.0)], [line(usd_h=12.0)])
    assert (change.delta_nodes, change.delta_usd_h) == (0, Range(4, 4, 4))
    assert change.changed[0].is_price_only


def test_a_new_generation_is_one_node_pool_more_while_both_run():
    change = compare([line("gh100-1-a")], [line("gh100-1-a"), line("gh100-1-b")])
    assert [row.line.key for row in change.changed] == ["gh100-1-b"]
    assert change.delta_nodes == 2


def test_equal_keys_of_two_regions_are_two_node_pools():
    change = compare([line()], [line(), line(region="eu-north")])
    assert [row.line.region for row in change.changed] == ["eu-north"]


def test_two_lines_of_one_key_are_both_counted():
    assert compare([], [line(), line(nodes=(3, 3, 3))]).delta_nodes == 5


def test_lines_without_money_are_counted_by_name_and_the_rest_still_adds_up():
    change = compare([], [line("a"), line("b", usd_h=None), line("c", nodes=(None, 2, 2))])
    assert [row.key for row in change.unknown] == ["b", "c"]
    assert change.after_usd_h == Range(20, 20, 20)


def test_a_month_is_730_hours():
    assert per_month(2.0) == 1460.0


def test_all_lines_of_a_lock_add_up():
    lines = lines_of_lock(lock_of(), make_intent(*NAMES))
    expected = 2 * list_price("aws", "us-east-1", P5) + 2 * list_price("gcp", "europe-west4", "a3-highgpu-8g")
    assert compare([], lines).after_usd_h.min == pytest.approx(expected)


def test_a_total_has_the_gpus_of_the_plan_and_its_node_pools_sum_to_it():
    intent, lock = demo_intent(), read_lock(CONFIG / "fleets" / "demo")
    lines = lines_of_lock(lock, intent)
    change = compare(lines, lines)
    assert change.gpus_after == sum(
        row.node_gpus * row.nodes.max for block in lock.regions.values() for row in block.node_pools.values()
    )
    assert change.after_usd_h.expected == pytest.approx(lock.solver.usd_h, abs=0.01)
