"""The demo fleet's stacks, declared against the recording monitor."""

from functools import cache

import pytest

from outlast.intent import stack_order
from outlast.intent.stacks import parse
from outlast.lock import read_lock
from stacks.run import declare
from tests.builders import CONFIG, demo_intent
from tests.recording import record

STACKS = stack_order(demo_intent())


@cache
def demo_lock():
    return read_lock(CONFIG / "fleets" / "demo")


def deployed_stacks():
    """What the demo's stacks export once they are deployed."""
    intent = demo_intent()
    exports = {
        "demo.global": {"keys": {region: f"key-of-{region}" for region in intent.regions}, "dns": {"zone": "Z1"}}
    }
    for name, region in intent.regions.items():
        exports[f"demo.{name}"] = {"gateway_addresses": dict.fromkeys((*region.zones, "regional"), "192.0.2.1")}
    return exports


@cache
def recorded(stack, *, preview=True, teardown=False):
    return record(
        lambda: declare(parse(stack), demo_intent(), demo_lock(), teardown=teardown),
        preview=preview,
        stack=stack,
        stacks={} if preview else deployed_stacks(),
    )


@pytest.fixture(params=STACKS)
def stack(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["preview", "known"])
def preview(request):
    return request.param


@pytest.fixture
def recording(stack, preview):
    return recorded(stack, preview=preview)
