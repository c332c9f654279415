"""Node pools are what their rows of the lock say, whatever the files say today."""

from dataclasses import replace

from outlast.intent import Intent
from outlast.intent.stacks import parse
from outlast.lock import Lock
from stacks.run import declare
from tests.builders import demo_intent, merged
from tests.recording import Recording, record
from tests.stacks.conftest import demo_lock

RESERVED = "rh100-1-a"
GROUP, TEMPLATE = "aws:eks/nodeGroup:NodeGroup", "aws:ec2/launchTemplate:LaunchTemplate"


def leaving() -> Lock:
    """The demo's lock, whose reserved node pool in us-east is a block with an interconnect, and leaves."""
    row = {"block": True, "interconnect": True, "state": "leaving"}
    change = {"regions": {"us-east": {"node_pools": {RESERVED: row}}}}
    return Lock.model_validate(merged(demo_lock().model_dump(), change))


def dropped() -> Intent:
    """The demo's files without the reserved node pool and its reservation."""
    intent = demo_intent()
    region, held = intent.regions["us-east"], intent.holdings("us-east")
    pools = {pool: row for pool, row in region.node_pools.items() if pool != "rh100"}
    regions = {**intent.regions, "us-east": region.model_copy(update={"node_pools": pools})}
    holdings = {**intent.capacity.regions, "us-east": held.model_copy(update={"reservations": {}})}
    return replace(
        intent,
        regions_file=intent.regions_file.model_copy(update={"regions": regions}),
        capacity=intent.capacity.model_copy(update={"regions": holdings}),
    )


def east(intent: Intent) -> Recording:
    stack = "demo.us-east"
    return record(lambda: declare(parse(stack), intent, leaving(), teardown=True), preview=True, stack=stack)


def test_a_node_pool_that_leaves_keeps_its_shape_once_the_files_have_dropped_it():
    before, after = east(demo_intent()), east(dropped())
    for kind in (GROUP, TEMPLATE):
        assert [(r.name, r.inputs) for r in before.of(kind)] == [(r.name, r.inputs) for r in after.of(kind)]
    (group,) = (r for r in after.of(GROUP) if r.name.endswith(RESERVED))
    (template,) = (r for r in after.of(TEMPLATE) if r.get("networkInterfaces"))
    assert group.get("capacityType") == "CAPACITY_BLOCK"
    assert template.name.endswith(RESERVED)
