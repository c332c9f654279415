"""The clouds that a role has a module for, and one small fleet with a region on each of them, declared once."""

import importlib
from functools import cache
from pathlib import Path

from outlast.intent.stacks import parse
from outlast.lock import Lock
from outlast.view import view_of
from stacks.run import declare
from tests.builders import REGION_PLACES, facts, make_block, make_intent, make_lock_document
from tests.recording import Recording, record

_COMPONENTS = Path(__file__).parents[2] / "components"
REGIONS = {place[0]: name for name, place in reversed(list(REGION_PLACES.items()))}
"""Cloud -> the first region of the builders on it."""
TAGS = {"cost-centre": "42"}
"""People's own, of every region."""
KEY = "more-1-a"
"""A row that no pool lies on, so that it can be anything."""


def clouds(role):
    """The clouds with a module for a role; a new one joins by being there."""
    return sorted({path.stem for path in (_COMPONENTS / role).glob("*.py")} - {"__init__", "contract"})


def reading(cloud):
    """What only tests of one cloud know: which of its resources and inputs say what a contract asks."""
    return importlib.import_module(f"tests.components.reading_{cloud}")


@cache
def intent():
    """A fleet with a region on every cloud."""
    names = sorted(set(REGIONS.values()), key=list(REGION_PLACES).index)
    return make_intent(*names, regions={"regions": {name: {"tags": TAGS} for name in names}})


@cache
def lock_with(cloud, **row):
    """A lock with one row more in the cloud's region, changed as said; `nodes` are least and most."""
    blocks = {name: make_block(name, 2, 2) for name in intent().regions}
    least, most = row.pop("nodes", (1, 1))
    counts = {"min": least, "expected": (least + most) / 2, "max": most}
    rows = blocks[REGIONS[cloud]]["node_pools"]
    rows[KEY] = rows["gh100-1-a"] | row | {"id": "more", "nodes": counts}
    return Lock.model_validate(make_lock_document(intent(), blocks, {}))


@cache
def recorded(cloud, *, preview=True, teardown=False, **row):
    """What the cloud's region declares."""
    region, lock = REGIONS[cloud], lock_with(cloud, **row)
    stack = f"test.{region}"
    stacks = {} if preview else {"test.global": {"keys": {region: "a-key"}}}
    return record(
        lambda: declare(parse(stack), intent(), lock, teardown=teardown), preview=preview, stack=stack, stacks=stacks
    )


@cache
def stored(cloud, *, teardown=False):
    """What outlives the cloud's region, and what the region declares; invented values are known."""
    stack, lock = "test.global", lock_with(cloud)
    lasting = record(lambda: declare(parse(stack), intent(), lock, teardown=teardown), preview=False, stack=stack)
    return Recording((*lasting.resources, *recorded(cloud, preview=False, teardown=teardown).resources))


@cache
def seen(cloud, *, preview=True, teardown=False, **row):
    """The same as a view."""
    return view_of(recorded(cloud, preview=preview, teardown=teardown, **row).resources, facts())
