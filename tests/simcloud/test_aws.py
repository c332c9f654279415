"""What AWS refuses through what its resources are to each other, next to what it takes."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from simcloud.cloud import cloud_of
from tests.simcloud.conftest import (
    CLUSTER,
    KEY,
    NODES,
    ROLE,
    SUBNET,
    TEMPLATE,
    TRUST,
    VPC,
    Made,
    Plugin,
    Refusal,
    Site,
    eks,
    pool,
)

ATTACHMENT, ADD_ON = "aws:iam/rolePolicyAttachment:RolePolicyAttachment", "aws:eks/addon:Addon"
ENTRY, LOGS = "aws:eks/accessEntry:AccessEntry", "aws:cloudwatch/logGroup:LogGroup"
ASSOCIATION = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
KEY_POLICY = json.dumps(
    {
        "Statement": [
            {"Effect": "Allow", "Principal": {"Service": f"logs.{region}.amazonaws.com"}, "Action": "kms:*"}
            for region in ("us-east-1", "eu-north-1")
        ]
    }
)


@pytest.fixture
def aws(plugins: Mapping[str, Plugin]) -> Plugin:
    return plugins["aws"]


def role(aws: Plugin, name: str = "pods") -> Made:
    return aws.create(ROLE, name, {"name": name, "assumeRolePolicy": TRUST})


def attached(aws: Plugin, name: str) -> Made:
    inputs = {"role": name, "policyArn": "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"}
    return aws.create(ATTACHMENT, "attachment", inputs)


def locked_logs(aws: Plugin, region: str) -> Made:
    key = aws.create(KEY, "key", {"region": region, "policy": KEY_POLICY})
    return aws.create(LOGS, "logs", {"name": "logs", "kmsKeyId": key.outputs["arn"]})


def test_at_least_thirty_things_are_refused_each_with_its_source() -> None:
    rows = cloud_of("aws").rows.values()
    assert len({(row.type, refusal.claim) for row in rows for refusal in row.refusals if refusal.source}) >= 30


def test_a_key_locks_only_what_lies_in_its_own_region(aws: Plugin) -> None:
    assert locked_logs(aws, "us-east-1").id == "logs"
    with pytest.raises(Refusal, match="lies elsewhere"):
        locked_logs(aws, "eu-north-1")


def test_a_role_has_a_name_of_at_most_64_characters(aws: Plugin) -> None:
    role(aws, "a" * 64)
    with pytest.raises(Refusal, match="is not a name the cloud takes"):
        role(aws, "a" * 65)


def test_a_policy_is_attached_to_a_role_that_exists(aws: Plugin) -> None:
    role(aws)
    attached(aws, "pods")
    with pytest.raises(Refusal, match="there is no Role"):
        attached(aws, "nobody")


def test_a_role_goes_after_its_attachments(aws: Plugin) -> None:
    made = role(aws)
    attachment = attached(aws, "pods")
    with pytest.raises(Refusal, match="is in use"):
        aws.delete(made)
    aws.delete(attachment)
    aws.delete(made)


@pytest.mark.parametrize(("kept", "user"), [("vpc", "subnet1"), ("subnet1", "cluster")])
def test_networks_go_after_what_lies_in_them(site: Site, kept: str, user: str) -> None:
    made = eks(site).made
    assert made[user].type in (SUBNET, CLUSTER)
    with pytest.raises(Refusal, match="is in use"):
        site.plugin(VPC).delete(made[kept])


def test_a_principal_has_one_entry(site: Site) -> None:
    eks(site)
    entry = {"clusterName": "demo", "principalArn": "arn:aws:iam::111122223333:role/admin"}
    site.make("entry", ENTRY, entry)
    with pytest.raises(Refusal, match="exists already"):
        site.make("again", ENTRY, entry)


def test_a_service_account_has_one_role(site: Site) -> None:
    account = {"clusterName": "demo", "namespace": "serving", "serviceAccount": "stager", "roleArn": "@role.arn"}
    eks(site).make("first", ASSOCIATION, account)
    site.make("second", ASSOCIATION, account | {"serviceAccount": "other"})
    with pytest.raises(Refusal, match="exists already"):
        site.make("third", ASSOCIATION, account)


def test_an_identity_of_pods_is_of_a_cluster_that_exists(aws: Plugin) -> None:
    arn = role(aws).outputs["arn"]
    inputs = {"clusterName": "nowhere", "namespace": "serving", "serviceAccount": "stager", "roleArn": arn}
    with pytest.raises(Refusal, match="there is no Cluster"):
        aws.create(ASSOCIATION, "association", inputs)


def test_an_add_on_follows_its_cluster_to_the_next_version(site: Site) -> None:
    made = eks(site).make("old", CLUSTER, dict(site.made["cluster"].inputs) | {"name": "other", "version": "1.35"})
    add_on = {"clusterName": "other", "addonName": "coredns"}
    site.make(
        "nodes", NODES, pool(site, clusterName="other", scalingConfig={"minSize": 0, "desiredSize": 0, "maxSize": 1})
    )
    dns = site.make("dns", ADD_ON, add_on | {"addonVersion": "v1.10.1-eksbuild.1"})
    with pytest.raises(Refusal, match="does not go with Kubernetes"):
        site.plugin(ADD_ON).update(dns, add_on | {"addonVersion": "v1.11.4-eksbuild.2"})
    site.plugin(CLUSTER).update(made, dict(made.inputs) | {"version": "1.36"})
    site.plugin(ADD_ON).update(dns, add_on | {"addonVersion": "v1.11.4-eksbuild.2"})


def block(site: Site, **change: Any) -> Made:
    target = {"capacityReservationTarget": {"capacityReservationId": "cr-block"}}
    given = {"instanceType": "p5.48xlarge", "instanceMarketOptions": {"marketType": "capacity-block"}}
    site.make("template", TEMPLATE, given | {"capacityReservationSpecification": target})
    asked = pool(site, launchTemplate={"id": "@template.id", "version": "1"}, capacityType="CAPACITY_BLOCK", **change)
    return site.make("block", NODES, {key: value for key, value in asked.items() if value is not None})


def test_a_block_is_taken_with_its_machine_type_in_the_template_alone(site: Site) -> None:
    block(eks(site), instanceTypes=None)
    with pytest.raises(Refusal, match="sets the instance type already"):
        block(site, instanceTypes=["p5.48xlarge"], nodeGroupName="again")


def test_a_second_block_finds_the_first_one_full(site: Site) -> None:
    block(eks(site), instanceTypes=None)
    with pytest.raises(Refusal, match="is too small"):
        block(site, instanceTypes=None, nodeGroupName="again")
