"""One thing wrong in a lock: the message names the file and the key, what was got and what is right."""

import copy

import pytest
import yaml

from outlast.errors import BrokenLock
from outlast.lock import LOCK_FILE, check_lock, parse_lock, read_lock
from tests.builders import make_block, make_intent, make_lock_document

WHERE = "test/plan.lock.yaml"
EAST = "regions/us-east"
ROW = f"{EAST}/node_pools/gh100-1-a"
POOL = f"{EAST}/pools/chat-h100"
SHARES = {"us-east": {"eu-north": 100}, "eu-north": {"us-east": 100}}

BROKEN = [
    ("an unknown key", f"{POOL}/replica", 1, ["chat-h100.replica", "'replica'", "mean 'replicas'?"]),
    ("an unknown key at the top", "share", {}, [f"{WHERE}, share", "mean 'shares'?"]),
    ("another version", "lock", "outlast/2", [f"{WHERE}, lock", "'outlast/2'", "'outlast/1'"]),
    ("a missing part", "regions", None, [f"{WHERE}, regions", "Add 'regions'"]),
    ("places that do not sum", f"{POOL}/places/gh100-1-a", 3, ["chat-h100.places", "got 5", "allowed 4"]),
    ("a place that is none", f"{POOL}/places", {"gh100-9-a": 4}, ["chat-h100.places", "'gh100-9-a'", "gh100-1-a"]),
    ("a place of another accelerator", f"{ROW}/accelerator", "l4-24", ["places.gh100-1-a", "l4-24", "h100-sxm-80"]),
    ("a replica larger than a node", f"{POOL}/replica_gpus", 16, ["places.gh100-1-a", "16 GPUs", "up to 8"]),
    ("a fixed pool that may grow", f"{ROW}/nodes/max", 9, ["gh100-1-a.scaling", "min 1, max 9", "elastic"]),
    ("counts out of order", f"{ROW}/nodes/expected", 9, ["gh100-1-a.nodes", "1, 9, 1"]),
    ("no node ever", f"{ROW}/nodes", {"min": 0, "expected": 0, "max": 0}, ["gh100-1-a.nodes", "max 0", "1 or more"]),
    ("a negative count", f"{ROW}/nodes/min", -1, ["gh100-1-a.nodes.min", "got -1", "0 or more"]),
    ("a key of another number", f"{EAST}/node_pools/big-1-a", {}, ["node_pools.big-1-a"]),
    ("reserved without a reservation", f"{ROW}/capacity", "reserved", ["gh100-1-a.reservation", "got none"]),
    ("more staged than fits", f"{ROW}/stage_gib", 4501, ["gh100-1-a.stage_gib", "4,501 GiB", "4,500 GiB"]),
    ("a floor above the plan", f"{POOL}/replicas/floor", 5, ["chat-h100.replicas", "floor 5", "planned 4"]),
    ("a maximum below the plan", f"{POOL}/replicas/max", 3, ["chat-h100.replicas", "planned 4, max 3"]),
    ("more canaries than replicas", f"{POOL}/replicas/canary", 5, ["chat-h100.replicas", "canary 5"]),
    (
        "a window that ends before it begins",
        f"{POOL}/floors",
        [{"days": "mon-fri", "from_h": 9, "to_h": 7, "replicas": 4}],
        ["chat-h100.floors", "9-7 h"],
    ),
    (
        "a window above the plan",
        f"{POOL}/floors",
        [{"days": "mon-fri", "from_h": 7, "to_h": 9, "replicas": 5}],
        ["chat-h100.floors", "5 replicas"],
    ),
    (
        "nine windows",
        f"{POOL}/floors",
        [{"days": "mon-fri", "from_h": hour, "to_h": hour + 1, "replicas": 4} for hour in range(9)],
        ["chat-h100.floors", "got 9", "at most 8"],
    ),
    (
        "days that are none",
        f"{POOL}/floors",
        [{"days": "monday", "from_h": 1, "to_h": 2, "replicas": 4}],
        ["chat-h100.floors.0.days", "'monday'", "'mon-fri'"],
    ),
    ("shares that do not sum", "shares/open/us-east/eu-north", 90, ["shares.open.us-east", "got 90", "100"]),
    ("a share to the lost region", "shares/open/us-east", {"us-east": 100}, ["shares.open.us-east", "got us-east"]),
    ("a share to no region", "shares/open/us-east", {"eu-sout": 100}, ["shares.open.us-east", "'eu-sout'", "eu-north"]),
    ("homes that do not sum", "homes/open/us-east/us-east", 60, ["homes.open.us-east", "got 60", "100"]),
    ("a broken share", "shares/open/us-east/eu-north", 33.3, ["shares.open.us-east.eu-north", "33.3", "whole"]),
]


def document() -> dict:
    blocks = {"us-east": make_block("us-east", 2, 2), "eu-north": make_block("eu-north", 2, 2)}
    return make_lock_document(make_intent(), blocks, SHARES)


def changed(where: str, value: object) -> dict:
    found = document()
    *parents, last = where.split("/")
    owner = found
    for part in parents:
        owner = owner[part]
    if value is None:
        del owner[last]
    else:
        owner[last] = copy.deepcopy(value)
    return found


def messages(text: str) -> list[str]:
    with pytest.raises(BrokenLock) as caught:
        parse_lock(text, WHERE)
    return str(caught.value).splitlines()


@pytest.mark.parametrize(("where", "value", "says"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_a_lock_is_broken_by(where, value, says):
    lines = messages(yaml.safe_dump(changed(where, value)))
    assert any(line.startswith(WHERE) and all(word in line for word in says) for line in lines), lines


def test_the_lock_that_the_rows_change_is_whole():
    assert list(check_lock(parse_lock(yaml.safe_dump(document()), WHERE), WHERE)) == []


@pytest.mark.parametrize(
    ("key", "generation"), [("gh100-2-b", "a"), ("l4-1-a", "a"), ("gh100-a", "a"), ("gh100-one-a", "a")]
)
def test_the_key_of_a_node_pool_says_id_number_and_generation(key, generation):
    found = document()
    rows = found["regions"]["us-east"]["node_pools"]
    rows[key] = rows["gh100-1-a"] | {"generation": generation}
    assert any(
        f"node_pools.{key}:" in line and "<id>-<number>-<generation>" in line
        for line in messages(yaml.safe_dump(found))
    )


def test_several_problems_are_reported_at_once():
    found = changed("shares/open/us-east/eu-north", 90)
    found["regions"]["eu-north"]["pools"]["chat-h100"]["replicas"]["max"] = 1
    lines = messages(yaml.safe_dump(found))
    assert [line.split(",")[1].split(":")[0] for line in lines] == [
        " regions.eu-north.pools.chat-h100.replicas",
        " shares.open.us-east",
    ]


def test_invalid_yaml_names_the_line():
    assert messages("lock: outlast/1\nregions: [\n")[0].startswith(f"{WHERE}, line 3")


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n", "lock\n"])
def test_what_is_no_lock_is_broken(text):
    assert all(line.startswith(WHERE) for line in messages(text))


def test_a_missing_lock_says_how_to_make_one(tmp_path):
    (tmp_path / "prod").mkdir()
    with pytest.raises(BrokenLock, match=f"prod/{LOCK_FILE}.*outlast plan prod"):
        read_lock(tmp_path / "prod")
