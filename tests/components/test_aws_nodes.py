"""What AWS is asked for of machines, beyond what is the same on every cloud."""

from components.system_pool.aws import ADD_ONS_AFTER_NODES
from outlast.intent.stacks import parse
from outlast.lock import Lock, read_lock
from outlast.view import NodePool, view_of
from stacks.run import declare
from tests.builders import CONFIG, demo_intent, facts, merged
from tests.components.aws_region import ADD_ON, GROUP, TEMPLATE, ZONES, named, region, sources
from tests.recording import record


def pool(recording) -> NodePool:
    (found,) = [found for found in view_of(recording.resources, facts()).node_pools if found.key == "gh100-1-a"]
    return found


def test_pods_get_no_credentials_of_a_node():
    for template in region().of(TEMPLATE):
        assert template.get("metadataOptions.httpTokens") == "required"
        assert template.get("metadataOptions.httpPutResponseHopLimit") == 1


def test_a_block_names_its_machine_in_the_template_alone():
    recording = region(capacity="reserved", reservation="cr-1", block=True)
    template, group = named(recording, TEMPLATE, "pool"), named(recording, GROUP, "pool")
    assert (group.get("capacityType"), group.get("instanceTypes")) == ("CAPACITY_BLOCK", None)
    assert (template.get("instanceType"), template.get("instanceMarketOptions.marketType")) == (
        "p5.48xlarge",
        "capacity-block",
    )
    found = pool(recording)
    assert (found.capacity, found.reservation, found.machine_type) == ("reserved", "cr-1", "p5.48xlarge")


def test_a_group_in_a_block_is_never_upgraded():
    recording = region(capacity="reserved", reservation="cr-1", block=True)
    assert set(named(recording, GROUP, "pool").ignore_changes) == {"version", "launchTemplate"}
    assert not named(region(capacity="reserved", reservation="cr-1"), GROUP, "pool").ignore_changes


def test_every_zone_has_system_nodes_of_its_own():
    groups = [group for group in region().of(GROUP) if "outlast-node-pool" not in group.get("labels")]
    assert {tuple(sources(group, "subnetIds")) for group in groups} == {(f"net-nodes-{zone}",) for zone in ZONES}
    assert {group.get("scalingConfig.minSize") for group in groups} == {1}


def test_an_add_on_that_runs_on_nodes_waits_for_those_of_every_zone():
    recording = region()
    groups = {group.urn for group in recording.of(GROUP) if "outlast-node-pool" not in group.get("labels")}
    waiting = [a for a in recording.of(ADD_ON) if a.get("addonName") in ADD_ONS_AFTER_NODES]
    assert all(groups <= set(add_on.dependencies) for add_on in waiting)


def test_nothing_is_bought_by_a_deployment():
    kinds = {r.type for r in region(capacity="reserved", reservation="cr-1", block=True).resources}
    assert not [kind for kind in kinds if "apacityReservation" in kind or "apacityBlock" in kind]


def test_nodes_have_no_cards_for_each_other_unless_asked():
    assert named(region(), TEMPLATE, "pool").get("networkInterfaces") is None


def test_every_card_is_one_interface_in_the_clusters_own_group():
    recording = region(interconnect_cards=32)
    template = named(recording, TEMPLATE, "pool")
    cards = template.get("networkInterfaces")
    assert [(c["networkCardIndex"], c["deviceIndex"], c["interfaceType"]) for c in cards] == [
        (0, 0, "efa"), *((card, 1, "efa-only") for card in range(1, 32))
    ]  # fmt: skip
    assert all(c["securityGroups"] for c in cards)
    assert (template.get("vpcSecurityGroupIds"), cards[0].get("subnetId")) == (None, None)
    assert sources(template, "networkInterfaces") == {"api"}


def test_a_fault_that_a_reboot_brings_back_replaces_the_node():
    overrides = named(region(), GROUP, "pool").get("nodeRepairConfig.nodeRepairConfigOverrides")
    assert {(o["nodeMonitoringCondition"], o["repairAction"]) for o in overrides} == {
        ("AcceleratedHardwareReady", "Replace")
    }


def test_cards_are_those_of_the_machine_and_only_where_the_lock_says_so():
    rows = {"us-east": {"node_pools": {"rh100-1-a": {"interconnect": True}}}}
    lock = Lock.model_validate(merged(read_lock(CONFIG / "fleets" / "demo").model_dump(), {"regions": rows}))
    recording = record(
        lambda: declare(parse("demo.us-east"), demo_intent(), lock, teardown=True), preview=True, stack="demo.us-east"
    )
    (carded,) = [template for template in recording.of(TEMPLATE) if template.get("networkInterfaces")]
    assert carded.name == "us-east-rh100-1-a"
    last = facts().interconnect_cards("aws", "p5.48xlarge") - 1
    assert carded.get(f"networkInterfaces.{last}.networkCardIndex") == last
    assert carded.get(f"networkInterfaces.{last + 1}") is None
