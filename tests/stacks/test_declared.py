"""What the demo's stacks declare, as the engine is told."""

from collections import Counter

import pytest

from components.base import PlatformComponent, output_names
from outlast.proof import realises
from outlast.view import UNKNOWN, view_of
from tests.builders import demo_intent, facts
from tests.stacks.conftest import STACKS, demo_lock, recorded

PROTECTED = {
    "aws:eks/cluster:Cluster": ("deletionProtection", True, False),
    "gcp:container/cluster:Cluster": ("deletionProtection", True, False),
    "aws:cloudwatch/logGroup:LogGroup": ("deletionProtectionEnabled", True, False),
    "aws:s3/bucket:Bucket": ("forceDestroy", False, True),
    "gcp:storage/bucket:Bucket": ("deletionPolicy", "PREVENT", "DELETE"),
    "aws:ecr/repository:Repository": ("forceDelete", False, True),
    "gcp:artifactregistry/repository:Repository": ("deletionPolicy", "PREVENT", "DELETE"),
    "gcp:kms/cryptoKey:CryptoKey": ("deletionPolicy", "PREVENT", "DELETE"),
    "aws:kms/key:Key": ("deletionWindowInDays", 30, 30),
}
"""Type -> input that guards it in the cloud, its value, and its value under teardown."""


def subclasses(cls):
    return {found for child in cls.__subclasses__() for found in (child, *subclasses(child))}


def classes():
    """The component classes that the demo declares."""
    for stack in STACKS:
        recorded(stack)
    return {
        cls
        for cls in subclasses(PlatformComponent)
        if hasattr(cls, "token") and cls.__module__.startswith("components.")
    }


def test_a_preview_and_an_update_declare_the_same(stack):
    preview, known = recorded(stack, preview=True), recorded(stack, preview=False)
    assert [r.urn for r in preview.resources] == [r.urn for r in known.resources]


def test_every_resource_belongs_to_a_component(recording):
    alone = {r.urn for r in recording.resources if not r.parent}
    assert all(r.type.startswith(("outlast:", "pulumi:providers:")) for r in recording.resources if r.urn in alone)


def test_nothing_uses_a_default_provider(recording):
    declared = {r.urn for r in recording.resources if r.type.startswith("pulumi:providers:")}
    assert recording.providers, "no resource was recorded"
    assert {urn: given for urn, given in recording.providers.items() if given not in declared} == {}


def test_components_register_exactly_their_annotated_outputs(recording):
    by_token = {cls.token: cls for cls in classes()}
    for resource in recording.resources:
        if resource.type.startswith("outlast:"):
            assert set(recording.outputs[resource.urn]) == output_names(by_token[resource.type])


def test_type_tokens_are_unique_and_name_role_and_class():
    assert max(Counter(cls.token for cls in classes()).values()) == 1
    for cls in classes():
        _, role, name = cls.token.split(":")
        assert cls.__module__.split(".")[1] == role
        assert cls.__name__ == name


def test_every_place_is_decided_in_a_preview_and_is_the_stacks_own(stack):
    view = view_of(recorded(stack).resources, facts())
    regions = demo_intent().regions
    own = [regions[stack.removeprefix("demo.")]] if stack.removeprefix("demo.") in regions else list(regions.values())
    allowed = {(row.cloud, row.provider_region) for row in own}
    for resource in view.cloud_resources:
        location = view.location(resource)
        assert location.undecided == "", resource.urn
        assert {(place.cloud, place.provider_region) for place in location.places} <= allowed, resource.urn


def test_labels_of_jurisdiction_agree_with_the_place(stack):
    view = view_of(recorded(stack).resources, facts())
    for resource in view.cloud_resources:
        claim, location = view.label(resource, "jurisdiction"), view.location(resource)
        for place in location.places if claim else ():
            real = facts().jurisdiction_of(place.cloud, place.provider_region)
            assert real is not None
            assert claim == real.lower(), resource.urn


@pytest.mark.parametrize("region", demo_intent().regions)
def test_a_region_is_what_its_block_of_the_lock_says(region):
    view = view_of(recorded(f"demo.{region}").resources, facts())
    assert realises(view, demo_lock(), region) == ()


@pytest.mark.parametrize("teardown", [False, True], ids=["kept", "teardown"])
def test_one_flag_guards_everything_that_holds_data(stack, teardown):
    for resource in recorded(stack, teardown=teardown).resources:
        if resource.type in PROTECTED:
            key, kept, torn = PROTECTED[resource.type]
            assert resource.get(key) == (torn if teardown else kept), resource.urn
            assert resource.protect is not teardown, resource.urn
        if teardown:
            assert not resource.protect, resource.urn


def test_a_deployed_fleet_is_declared_without_a_warning(stack):
    assert recorded(stack, preview=False).warnings == []


def test_every_stack_says_on_which_clouds_it_is(recording):
    assert recording.exports["clouds"] == "simulated"


def test_a_stack_says_what_it_applied_only_once_that_exists(stack):
    assert set(recorded(stack, preview=False).exports["applied"]) == {"lock_digest", "counts", "zones"}
    claims_capacity = stack != "demo.global"
    assert (recorded(stack, preview=True).exports["applied"] is UNKNOWN) is claims_capacity


@pytest.mark.parametrize("region", demo_intent().regions)
def test_a_region_says_the_zones_it_was_deployed_with(region):
    applied = recorded(f"demo.{region}", preview=False).exports["applied"]
    assert tuple(applied["zones"]) == demo_intent().regions[region].zones


def test_objects_go_with_their_cluster_except_the_load_balancer():
    recording = recorded("demo.us-east")
    (cluster,) = recording.of("aws:eks/cluster:Cluster")
    objects = [r for r in recording.resources if r.type.startswith("kubernetes:")]
    alone = [r.name for r in objects if recording.deleted_with[r.urn] != cluster.urn]
    assert alone == ["us-east-serving-gateway"]


def test_a_replica_may_only_pull_from_its_own_region_and_only_by_digest():
    for region, prefix in {
        "us-east": "111122223333.dkr.ecr.us-east-1.amazonaws.com/demo/us-east/engine",
        "eu-west": "europe-west4-docker.pkg.dev/outlast-demo-eu/demo--eu-west--images/engine",
    }.items():
        digest = demo_intent().artifacts.images["engine"].digest
        deployments = recorded(f"demo.{region}").of("kubernetes:apps/v1:Deployment")
        images = {deployment.get("spec.template.spec.containers.0.image") for deployment in deployments}
        assert images == {f"{prefix}@{digest}"}


def test_the_log_group_comes_before_the_cluster_and_the_attachment_outlives_it():
    recording = recorded("demo.us-east")
    (cluster,) = recording.of("aws:eks/cluster:Cluster")
    kinds = {urn.split("::")[2].rsplit("$", 1)[-1] for urn in cluster.dependencies}
    assert {"aws:cloudwatch/logGroup:LogGroup", "aws:iam/rolePolicyAttachment:RolePolicyAttachment"} <= kinds


def test_nodes_wait_for_the_add_ons_they_need_and_core_dns_waits_for_nodes():
    recording = recorded("demo.us-east")
    add_ons = {r.get("addonName"): r for r in recording.of("aws:eks/addon:Addon")}
    for group in recording.of("aws:eks/nodeGroup:NodeGroup"):
        assert {add_ons[name].urn for name in ("vpc-cni", "kube-proxy")} <= set(group.dependencies)
    assert any("nodeGroup:NodeGroup::us-east-system-" in urn for urn in add_ons["coredns"].dependencies)
