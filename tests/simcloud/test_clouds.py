"""What the simulated clouds refuse, promise and do, whatever the type: asked in this process, without the engine."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2

from simcloud.provider import Provider, refuse_elsewhere
from simcloud.refusals import Refused
from simcloud.values import DEFAULTS, UNKNOWN, encode
from tests.simcloud.conftest import (
    ADDRESS,
    AWS,
    BUCKET,
    GCP,
    KEY,
    NETWORK,
    NODES,
    RING,
    ROLE,
    SUBNET,
    TEMPLATE,
    TRUST,
    VPC,
    Context,
    Plugin,
    Refusal,
    Site,
    eks,
    gke,
    pool,
    set_fault,
    urn_of,
)


def sized(count: int) -> dict[str, Any]:
    return {"scalingConfig": {"minSize": count, "desiredSize": count, "maxSize": count}}


# the plugin


def test_a_plugin_reports_the_version_of_its_sdk(plugins: Mapping[str, Plugin]) -> None:
    for plugin in plugins.values():
        answer = plugin.provider.GetPluginInfo(None, plugin.context)
        assert answer.version == plugin.operations.shapes.version


@pytest.mark.parametrize("backend", ["", "https://api.example.com", "file:///elsewhere/state", "s3://bucket"])
def test_a_backend_outside_the_sim_is_refused(backend: str) -> None:
    with pytest.raises(Refused, match="only the state inside its sim directory"):
        refuse_elsewhere({"OUTLAST_SIM": "/sim", "PULUMI_BACKEND_URL": backend})


def test_a_plugin_without_a_sim_is_refused() -> None:
    with pytest.raises(Refused):
        refuse_elsewhere({"PULUMI_BACKEND_URL": "file:///sim/state"})


def test_a_refused_backend_stops_configuration_and_check(site: Site) -> None:
    provider = Provider(site.plugins["aws"].operations, {"OUTLAST_SIM": "/sim", "PULUMI_BACKEND_URL": "file:///real"})
    for ask, request in (
        (provider.Configure, provider_pb2.ConfigureRequest()),
        (provider.CheckConfig, provider_pb2.CheckRequest(urn="urn:pulumi:s::p::pulumi:providers:aws::aws")),
    ):
        with pytest.raises(Refusal, match="sim directory"):
            ask(request, Context())


def test_another_account_is_refused(plugins: Mapping[str, Plugin]) -> None:
    with pytest.raises(Refusal, match="lead to another account"):
        plugins["aws"].configure(region="us-east-1", allowedAccountIds=json.dumps(["999999999999"]))
    with pytest.raises(Refusal, match="do not reach the project"):
        plugins["gcp"].configure(region="europe-west4", project="somebody-elses")


def test_ambient_credentials_of_another_account_are_refused(plugins: Mapping[str, Plugin]) -> None:
    plugins["aws"].clouds.set("account/aws", "999999999999")
    with pytest.raises(Refusal, match="lead to another account"):
        plugins["aws"].configure(region="us-east-1", allowedAccountIds=json.dumps([AWS]))


def test_a_region_that_does_not_exist_is_refused_with_the_nearest(plugins: Mapping[str, Plugin]) -> None:
    with pytest.raises(Refusal, match="Did you mean 'us-east-1'"):
        plugins["aws"].configure(region="us-eest-1")


@pytest.mark.parametrize(
    ("package", "change"),
    [
        ("aws", {"region": "eu-north-1"}),
        ("aws", {"allowedAccountIds": "[]"}),
        ("gcp", {"project": "other"}),
        ("kubernetes", {"clusterIdentifier": "other"}),
    ],
)
def test_a_provider_of_another_place_is_another_provider(
    plugins: Mapping[str, Plugin], package: str, change: dict[str, str]
) -> None:
    old = {"region": "us-east-1", "project": GCP, "clusterIdentifier": "demo", "allowedAccountIds": "[1]"}
    request = provider_pb2.DiffRequest(old_inputs=encode(old), news=encode(old | change))
    assert list(plugins[package].provider.DiffConfig(request, Context()).replaces) == list(change)


def test_a_type_without_a_row_is_refused(plugins: Mapping[str, Plugin]) -> None:
    with pytest.raises(Refusal, match="has no type"):
        plugins["aws"].create("aws:sqs/queue:Queue", "queue", {})


def test_a_function_is_refused(plugins: Mapping[str, Plugin]) -> None:
    with pytest.raises(Refusal, match="answer no functions"):
        plugins["aws"].provider.Invoke(provider_pb2.InvokeRequest(tok="aws:index/getRegion:getRegion"), Context())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"scalingConfig": {"minSize": 1, "desiredSize": 1, "maxSize": 1, "maxSiz": 1}}, "Did you mean"),
        ({"scalingConfig": {"minSize": 1}}, "is required and missing"),
        ({"scalingConfig": {"minSize": "one", "desiredSize": 1, "maxSize": 1}}, "must be an integer"),
        ({"subnetIds": "subnet-1"}, "must be a list"),
        ({"labels": ["a"]}, "must be an object"),
        ({"clusterName": None}, "is required and missing"),
    ],
)
def test_a_shape_the_sdk_does_not_know_is_refused(
    plugins: Mapping[str, Plugin], change: dict[str, Any], reason: str
) -> None:
    inputs = {"clusterName": "c", "nodeRoleArn": "r", "subnetIds": [], **sized(1), **change}
    failures = plugins["aws"].check(NODES, "nodes", inputs).failures
    assert any(reason in failure.reason for failure in failures)


def test_an_unknown_field_deep_in_an_object_is_refused(plugins: Mapping[str, Plugin]) -> None:
    spec = {"template": {"spec": {"containers": [{"name": "a", "imagePullPolcy": "Always"}]}}, "selector": {}}
    failures = plugins["kubernetes"].check("kubernetes:apps/v1:Deployment", "d", {"spec": spec}).failures
    assert any("spec.template.spec.containers[0].imagePullPolcy" in failure.reason for failure in failures)


def test_unknown_values_are_never_a_violation(plugins: Mapping[str, Plugin]) -> None:
    inputs = {"clusterName": UNKNOWN, "nodeRoleArn": UNKNOWN, "subnetIds": UNKNOWN, **sized(2)}
    made = plugins["aws"].preview(NODES, "nodes", {**inputs, "instanceTypes": ["p5.48xlarge"]})
    assert made["arn"] == UNKNOWN


def test_numbers_arrive_as_floats_and_leave_as_they_came(plugins: Mapping[str, Plugin]) -> None:
    made = plugins["aws"].create(KEY, "key", {"deletionWindowInDays": 7.0})
    assert made.outputs["deletionWindowInDays"] == 7


def test_an_omitted_name_is_made_from_the_logical_one_and_kept(plugins: Mapping[str, Plugin]) -> None:
    made = plugins["aws"].create(BUCKET, "weights", {})
    assert made.outputs["bucket"].startswith("weights-")
    assert made.inputs[DEFAULTS] == ["bucket", "forceDestroy"]
    assert plugins["aws"].checked(BUCKET, "weights", {}, made.inputs)["bucket"] == made.outputs["bucket"]


def test_a_replacement_gets_another_made_up_name(plugins: Mapping[str, Plugin]) -> None:
    made = plugins["aws"].create(BUCKET, "weights", {})
    assert plugins["aws"].checked(BUCKET, "weights", {})["bucket"] != made.outputs["bucket"]


def test_a_given_name_is_deleted_before_it_is_replaced(plugins: Mapping[str, Plugin]) -> None:
    given = plugins["aws"].create(BUCKET, "weights", {"bucket": "outlast-weights"})
    made_up = plugins["aws"].create(BUCKET, "logs", {})
    moved = {"region": "eu-north-1"}
    assert plugins["aws"].diff(given, {"bucket": "outlast-weights", **moved}).deleteBeforeReplace
    assert not plugins["aws"].diff(made_up, moved).deleteBeforeReplace


def test_a_bucket_name_is_taken_for_the_whole_world(plugins: Mapping[str, Plugin]) -> None:
    plugins["aws"].create(BUCKET, "one", {"bucket": "outlast-weights"})
    with pytest.raises(Refusal, match="exists already"):
        plugins["aws"].preview(BUCKET, "two", {"bucket": "outlast-weights", "region": "eu-north-1"})


def test_two_of_one_name_in_one_preview_are_refused(plugins: Mapping[str, Plugin]) -> None:
    plugins["aws"].preview(BUCKET, "one", {"bucket": "outlast-weights"})
    with pytest.raises(Refusal, match="another resource of this program"):
        plugins["aws"].preview(BUCKET, "two", {"bucket": "outlast-weights"})


def test_what_a_cloud_never_deletes_must_be_adopted(plugins: Mapping[str, Plugin]) -> None:
    made = plugins["gcp"].create(RING, "ring", {"name": "outlast", "location": "europe-west4"})
    plugins["gcp"].delete(made)
    with pytest.raises(Refusal, match=r"outlast sim reset.*teardown"):
        plugins["gcp"].create(RING, "ring", {"name": "outlast", "location": "europe-west4"})


def test_a_resources_own_region_goes_before_the_providers(plugins: Mapping[str, Plugin]) -> None:
    made = plugins["aws"].create(KEY, "key", {"region": "eu-north-1"})
    assert ":eu-north-1:" in made.outputs["arn"]
    assert made.outputs["region"] == "eu-north-1"
    assert plugins["aws"].diff(made, {}).replaces


def test_a_reference_into_another_region_is_refused_in_preview(site: Site) -> None:
    site.make("far", VPC, {"cidrBlock": "10.0.0.0/16", "region": "eu-north-1"})
    with pytest.raises(Refusal, match="lies elsewhere"):
        site.plugins["aws"].preview(SUBNET, "subnet", site.filled({"vpcId": "@far.id", "cidrBlock": "10.0.0.0/24"}))


def test_a_reference_into_another_project_is_refused(plugins: Mapping[str, Plugin]) -> None:
    with pytest.raises(Refusal, match="do not reach the project"):
        plugins["gcp"].create(NETWORK, "net", {"project": "somebody-elses"})


def test_a_name_that_a_preview_cannot_know_is_not_refused_before_the_update(plugins: Mapping[str, Plugin]) -> None:
    versioning = {"bucket": "outlast-weights", "versioningConfiguration": {"status": "Enabled"}}
    kind = "aws:s3/bucketVersioning:BucketVersioning"
    plugins["aws"].preview(kind, "versioning", versioning)
    with pytest.raises(Refusal, match="there is no Bucket"):
        plugins["aws"].create(kind, "versioning", versioning)


@pytest.mark.parametrize("ask", ["preview", "create"])
def test_a_machine_type_is_refused_where_it_is_not_offered(site: Site, ask: str) -> None:
    elsewhere = pool(eks(site), subnetIds=["@subnet2.id"])
    with pytest.raises(Refusal, match=r"p5\.48xlarge is not offered in use1-az2"):
        getattr(site.plugins["aws"], ask)(NODES, "nodes", elsewhere)


@pytest.mark.parametrize("ask", ["preview", "create"])
def test_a_quota_is_refused_beyond_what_is_granted(site: Site, ask: str) -> None:
    site_with = eks(site)
    getattr(site.plugins["aws"], ask)(NODES, "first", pool(site_with))
    with pytest.raises(Refusal, match=r"quota P \(P instances\) is exceeded .*got 960 vCPU, of which 576 here"):
        getattr(site.plugins["aws"], ask)(NODES, "second", pool(site_with, **sized(3)))


def test_a_quota_is_judged_when_an_update_asks_for_more_and_never_when_for_less(site: Site) -> None:
    made = site.plugins["aws"].create(NODES, "nodes", pool(eks(site), **sized(4)))
    set_fault(site.clouds, "revoke-quota", {"cloud": "aws", "region": "*", "code": "P", "granted": "0"})
    with pytest.raises(Refusal, match="quota P"):
        site.plugins["aws"].update(made, pool(site, **sized(5)), preview=True)
    site.plugins["aws"].update(made, pool(site, **sized(3)))


def test_a_quota_is_free_again_after_a_deletion(site: Site) -> None:
    made = site.plugins["aws"].create(NODES, "nodes", pool(eks(site), **sized(4)))
    site.plugins["aws"].delete(made)
    site.plugins["aws"].create(NODES, "others", pool(site, **sized(4)))


def test_a_quota_of_gpus_counts_every_zone(site: Site) -> None:
    site.make("network", NETWORK, {"name": "net"})
    site.make("cluster", "gcp:container/cluster:Cluster", gke())
    nodes = {"cluster": "@cluster.id", "location": "europe-west4", "nodeLocations": ["europe-west4-b"], "nodeCount": 5}
    with pytest.raises(Refusal, match="got 40 GPUs"):
        site.make("nodes", "gcp:container/nodePool:NodePool", nodes | {"nodeConfig": {"machineType": "a3-highgpu-8g"}})


def reserved(site: Site, name: str, machine: int) -> dict[str, Any]:
    target = {"capacityReservationTarget": {"capacityReservationId": name}}
    site.make(f"lt{machine}", TEMPLATE, {"capacityReservationSpecification": target})
    return pool(site, launchTemplate={"id": f"@lt{machine}.id", "version": "1"}, **sized(machine))


def test_a_reservation_is_refused_beyond_what_is_held(site: Site) -> None:
    short = reserved(eks(site), "cr-1", 3)
    with pytest.raises(Refusal, match="reservation 'cr-1' is too small"):
        site.plugins["aws"].create(NODES, "nodes", short)


def test_reserved_machines_use_the_reservation(site: Site) -> None:
    site.plugins["aws"].create(NODES, "nodes", reserved(eks(site), "cr-1", 2))
    assert site.clouds.used("reservation|cr-1") == 2


def test_an_update_preview_keeps_invented_values_known(plugins: Mapping[str, Plugin]) -> None:
    made = plugins["aws"].create(VPC, "vpc", {"cidrBlock": "10.0.0.0/16"})
    seen = plugins["aws"].update(made, {"cidrBlock": "10.0.0.0/16", "enableDnsHostnames": True}, preview=True)
    assert seen.outputs["arn"] == made.outputs["arn"]


def test_what_an_update_moves_is_unknown_in_its_preview(plugins: Mapping[str, Plugin]) -> None:
    made = plugins["aws"].create(TEMPLATE, "template", {})
    seen = plugins["aws"].update(made, {"description": "new"}, preview=True)
    assert (made.outputs["latestVersion"], seen.outputs["latestVersion"]) == (1, UNKNOWN)
    assert plugins["aws"].update(made, {"description": "new"}).outputs["latestVersion"] == 2


def test_an_update_of_what_is_gone_says_so(plugins: Mapping[str, Plugin]) -> None:
    made = plugins["aws"].create(VPC, "vpc", {"cidrBlock": "10.0.0.0/16"})
    plugins["aws"].delete(made)
    with pytest.raises(Refusal, match="pulumi refresh"):
        plugins["aws"].update(made, {"cidrBlock": "10.0.0.0/16", "tags": {"a": "b"}})


def test_what_is_gone_reads_as_gone_and_deletes_quietly(plugins: Mapping[str, Plugin]) -> None:
    made = plugins["aws"].create(VPC, "vpc", {"cidrBlock": "10.0.0.0/16"})
    plugins["aws"].delete(made)
    plugins["aws"].delete(made)
    assert plugins["aws"].read(VPC, "vpc", made.id).id == ""


def test_two_spellings_of_a_policy_are_no_change(plugins: Mapping[str, Plugin]) -> None:
    made = plugins["aws"].create(ROLE, "role", {"assumeRolePolicy": TRUST})
    answer = plugins["aws"].diff(made, {"assumeRolePolicy": TRUST.replace(" ", "")})
    assert answer.changes == provider_pb2.DiffResponse.DIFF_NONE


def test_a_difference_names_its_exact_path(plugins: Mapping[str, Plugin]) -> None:
    made = plugins["aws"].create(VPC, "vpc", {"cidrBlock": "10.0.0.0/16", "tags": {"a": "b"}})
    answer = plugins["aws"].diff(made, {"cidrBlock": "10.1.0.0/16", "tags": {"a": "c"}})
    assert set(answer.detailedDiff) == {"cidrBlock", "tags.a"}
    assert list(answer.replaces) == ["cidrBlock"]


def test_a_policy_of_prevention_stops_a_deletion(plugins: Mapping[str, Plugin]) -> None:
    made = plugins["gcp"].create(ADDRESS, "address", {"deletionPolicy": "PREVENT"})
    with pytest.raises(Refusal, match="PREVENT"):
        plugins["gcp"].delete(made)


def test_a_slip_of_ours_reaches_the_user_as_one_sentence(plugins: Mapping[str, Plugin]) -> None:
    request = provider_pb2.CreateRequest(urn=urn_of(BUCKET, "b"), properties=encode({"bucket": {"a": 1}}))
    with pytest.raises(Refusal, match="OUTLAST_SIM_TRACE") as refusal:
        plugins["aws"].provider.Create(request, plugins["aws"].context)
    assert "\n" not in str(refusal.value)
