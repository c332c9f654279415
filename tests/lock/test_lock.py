"""The file of a lock, the nodes its replicas need, and what a stack writes down of it."""

from collections import Counter

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.errors import EnvironmentProblem
from outlast.lock import (
    Applied,
    applied_output,
    counts_of,
    lock_digest,
    lock_text,
    nodes_for,
    overfull,
    parse_lock,
    read_applied,
    read_lock,
    write_applied,
)
from outlast.lock.models import Window, floor_at
from tests.builders import CONFIG, make_block, make_intent, make_lock, merged

SHARES = {"us-east": {"eu-north": 100}, "eu-north": {"us-east": 100}}
LOCKS = sorted(path.parent.name for path in (CONFIG / "fleets").glob("*/plan.lock.yaml"))
sizes = st.sampled_from([1, 2, 4, 8])
replicas = st.dictionaries(sizes, st.integers(0, 12), max_size=4).map(Counter)
few = settings(max_examples=60, deadline=None, derandomize=True)


def small_lock(**east):
    return make_lock(
        make_intent(),
        {"us-east": make_block("us-east", 2, 2, **east), "eu-north": make_block("eu-north", 2, 2)},
        SHARES,
    )


@pytest.mark.parametrize("fleet", LOCKS)
def test_a_committed_lock_is_written_as_it_is_read(fleet):
    folder = CONFIG / "fleets" / fleet
    assert lock_text(read_lock(folder)) == (folder / "plan.lock.yaml").read_text()


def test_a_lock_survives_its_text():
    lock = small_lock(floors=[{"days": "mon-fri", "from_h": 6, "to_h": 22, "replicas": 4}], replicas={"floor": 2})
    text = lock_text(lock)
    assert parse_lock(text, "x") == lock
    assert lock_text(parse_lock(text, "x")) == text


def test_a_changed_count_changes_one_line():
    before = lock_text(small_lock()).splitlines()
    after = lock_text(small_lock(replicas={"floor": 3})).splitlines()
    assert sum(old != new for old, new in zip(before, after, strict=True)) == 1


def test_the_digest_of_a_lock_is_that_of_its_content_not_of_its_text():
    lock = small_lock()
    shuffled = yaml.safe_dump(yaml.safe_load(lock_text(lock)), sort_keys=True)
    assert lock_digest(parse_lock(shuffled, "x")) == lock_digest(lock)
    assert lock_digest(small_lock(replicas={"floor": 3})) != lock_digest(lock)


@few
@given(replicas, sizes)
def test_nodes_hold_every_gpu_and_waste_less_than_half_of_each_but_one(wanted, node_gpus):
    fitting = Counter({size: count for size, count in wanted.items() if size <= node_gpus})
    gpus = sum(size * count for size, count in fitting.items())
    # sizes divide each other, so that largest first leaves at most one node partly empty
    assert nodes_for(fitting, node_gpus) == -(-gpus // node_gpus)


@few
@given(replicas, sizes)
def test_one_more_replica_never_takes_fewer_nodes(wanted, size):
    assert 0 <= nodes_for(wanted + Counter([size]), 8) - nodes_for(wanted, 8) <= 1


def test_replicas_that_do_not_divide_a_node_strand_gpus():
    # 3-GPU replicas: two on a node of 8
    assert nodes_for(Counter({3: 5}), 8) == 3


def test_small_replicas_fill_what_large_ones_leave():
    # 6 + 2 and 6 + 1 + 1
    assert nodes_for(Counter({6: 2, 2: 1, 1: 2}), 8) == 2


def test_a_node_pool_with_too_few_nodes_is_overfull():
    found = list(overfull(small_lock(nodes=[1, 0])))
    assert [(row.region, row.node_pool, row.replicas, row.nodes, row.nodes_needed) for row in found] == [
        ("us-east", "gh100-2-a", 2, 0, 1)
    ]


def test_nodes_that_hold_their_replicas_are_not_overfull():
    assert list(overfull(small_lock())) == []


@pytest.mark.parametrize(
    ("hour", "inside"),
    [(5, False), (6, True), (21, True), (22, False), (4 * 24 + 6, True), (5 * 24 + 6, False), (167, False)],
)
def test_a_window_holds_its_hours_on_its_days(hour, inside):
    assert Window(days="mon-fri", from_h=6, to_h=22, replicas=1).holds(hour) is inside


def test_the_floor_in_force_is_the_highest():
    floors = [
        {"days": "mon-sun", "from_h": 0, "to_h": 24, "replicas": 2},
        {"days": "sat-sun", "from_h": 8, "to_h": 9, "replicas": 4},
    ]
    pool = small_lock(replicas={"floor": 1}, floors=floors).regions["us-east"].pools["chat-h100"]
    assert [floor_at(pool.replicas, pool.floors, hour) for hour in (8, 5 * 24 + 8, 5 * 24 + 9)] == [2, 4, 2]


def test_a_region_stack_writes_down_its_own_counts_only():
    output = applied_output(small_lock(), "us-east")
    counts = Applied.model_validate(output).counts
    assert counts == counts_of(small_lock().regions["us-east"])
    assert (counts.homes, counts.shares) == ({}, {})


def test_a_region_stack_writes_down_its_zones():
    output = applied_output(small_lock(), "us-east", zones=("use1-az1", "use1-az2"))
    assert Applied.model_validate(output).zones == ("use1-az1", "use1-az2")


def test_what_an_older_version_applied_names_no_zones():
    output = applied_output(small_lock(), "us-east", zones=("use1-az1",))
    del output["zones"]
    assert Applied.model_validate(output).zones == ()


def test_the_routing_stack_writes_down_homes_and_shares_only():
    counts = Applied.model_validate(applied_output(small_lock(), None, routing=True)).counts
    assert counts.shares == {"open": SHARES}
    assert counts.homes == small_lock().homes
    assert (counts.node_pools, counts.pools) == ({}, {})


def test_the_global_stack_writes_down_no_counts():
    assert Applied.model_validate(applied_output(small_lock(), None)).counts == counts_of(
        small_lock().regions["us-east"].model_copy(update={"node_pools": {}, "pools": {}})
    )


def test_nodes_that_the_cloud_may_take_back_are_not_kept():
    block = make_block("us-east", 2, 2)
    block["node_pools"]["gh100-1-a"]["capacity"] = "spot"
    lock = make_lock(make_intent(), {"us-east": block, "eu-north": make_block("eu-north", 2)}, SHARES)
    kept = counts_of(lock.regions["us-east"]).node_pools
    assert {key: row.nodes_min for key, row in kept.items()} == {"gh100-1-a": 0, "gh100-2-a": 1}


def test_what_is_applied_survives_its_file(tmp_path):
    lock = small_lock()
    applied = {
        "test.us-east": Applied.model_validate(applied_output(lock, "us-east")),
        "test.routing": Applied.model_validate(applied_output(lock, None, routing=True)),
    }
    write_applied(tmp_path / "deep" / "applied.json", applied)
    assert read_applied(tmp_path / "deep" / "applied.json") == applied
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["applied.json"]


def test_whole_numbers_may_come_back_as_floats():
    output = applied_output(small_lock(), "us-east")
    as_floats = merged(output, {"counts": {"pools": {"chat-h100": {"replica_devices": 4.0}}}})
    assert Applied.model_validate(as_floats) == Applied.model_validate(output)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("[]", "one entry a stack"),
        ('{"test.us-east": {}}', "test.us-east, lock_digest"),
        ('{"test.us-east": {"lock_digest": "x", "counts": {"pool": {}}}}', "test.us-east, counts.pool"),
        ('{"test.us-east": 5}', "test.us-east"),
    ],
)
def test_a_broken_file_of_what_is_applied_says_where_and_how_to_renew_it(text, says, tmp_path):
    (tmp_path / "applied.json").write_text(text)
    with pytest.raises(EnvironmentProblem) as caught:
        read_applied(tmp_path / "applied.json")
    message = str(caught.value)
    assert message.startswith("applied.json")
    assert says in message
    assert "outlast applied FLEET" in message
    assert "validation error" not in message


def test_a_missing_file_of_what_is_applied_is_named(tmp_path):
    with pytest.raises(EnvironmentProblem, match=r"applied\.json: cannot be read"):
        read_applied(tmp_path / "applied.json")
