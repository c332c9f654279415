"""What AWS is asked for, beyond what is the same on every cloud."""

import json
from ipaddress import IPv4Network
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.cluster.aws import ADD_ONS_BEFORE_NODES, configuration
from components.network.aws import SERVICES
from components.system_pool.aws import ADD_ONS_AFTER_NODES
from outlast.intent.ranges import cut
from tests.builders import demo_intent, facts
from tests.components.aws_region import (
    ADD_ON,
    ADMIN,
    ASSOCIATION,
    BOUNDARY,
    CLUSTER,
    ENDPOINT,
    KEY,
    NAT,
    PLACE,
    ROLE,
    ROUTE,
    SUBNET,
    TABLE,
    ZONES,
    named,
    region,
    sources,
)

READS_SECRETS = {
    "AmazonEKSClusterAdminPolicy",
    "AmazonEKSAdminPolicy",
    "AmazonEKSAdminViewPolicy",
    "AmazonEKSEditPolicy",
    "AmazonEKSSecretReaderPolicy",
}
WITHOUT_TAGS = {
    ROUTE,
    ASSOCIATION,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
    "aws:kms/alias:Alias",
    "aws:s3/bucketPolicy:BucketPolicy",
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
}
"""What has no tags: none of it is billed."""


def access(rank):
    kind = "aws:eks/accessPolicyAssociation:AccessPolicyAssociation"
    return [row for row in region().of(kind) if row.name.startswith(f"api-{rank}-")]


@given(st.integers(8, 16), st.integers(1, 6))
@settings(derandomize=True, max_examples=40)
def test_tiers_lie_inside_the_range_and_apart(prefix, zones):
    whole = IPv4Network(f"10.0.0.0/{prefix}")
    ranges = cut(str(whole), tuple(f"z{number}" for number in range(zones)))
    tiers = (ranges.nodes, ranges.entry, ranges.endpoints, ranges.api)
    assert {len(tier) for tier in tiers} == {zones}
    blocks = [IPv4Network(block) for tier in tiers for block in tier.values()]
    blocks += [IPv4Network(ranges.services), IPv4Network(ranges.pods)]
    assert all(block.subnet_of(whole) for block in blocks)
    assert not any(one.overlaps(other) for one, other in combinations(blocks, 2))


def test_every_zone_has_a_subnet_of_every_tier_by_the_id_of_the_zone():
    subnets = region().of(SUBNET)
    assert {(s.name.split("-")[1], s.get("availabilityZoneId")) for s in subnets} == {
        (tier, zone) for tier in ("entry", "nodes", "api", "endpoints") for zone in ZONES
    }


def test_the_control_plane_lies_in_small_subnets_of_its_own():
    recording = region()
    used = sources(named(recording, CLUSTER, "api"), "vpcConfig") & {s.name for s in recording.of(SUBNET)}
    assert used == {f"net-api-{zone}" for zone in ZONES}
    assert {IPv4Network(named(recording, SUBNET, name).get("cidrBlock")).prefixlen for name in used} == {28}


def test_one_way_out_serves_the_region():
    recording = region()
    (nat,) = recording.of(NAT)
    assert nat.get("availabilityMode") == "regional"
    assert nat.get("subnetId") is None
    assert [table.name for table in recording.of(TABLE)] == ["net-entry", "net-nodes"]


def test_a_way_out_in_every_zone_needs_no_other_zone():
    recording = region(nat="zonal")
    for zone in ZONES:
        nat = named(recording, NAT, f"net-nat-{zone}")
        assert (sources(nat, "subnetId"), sources(nat, "allocationId")) == ({f"net-entry-{zone}"}, {f"net-nat-{zone}"})
        assert sources(named(recording, ROUTE, f"net-nodes-{zone}-out"), "natGatewayId") == {nat.name}
        for tier in ("nodes", "api"):
            assert sources(named(recording, ASSOCIATION, f"net-{tier}-{zone}"), "routeTableId") == {f"net-nodes-{zone}"}


@pytest.mark.parametrize("nat", ["regional", "zonal"])
def test_image_layers_and_weights_pass_no_nat_gateway(nat):
    recording = region(nat=nat)
    assert sources(named(recording, ENDPOINT, "net-s3"), "routeTableIds") == {
        table.name for table in recording.of(TABLE)
    }


def test_only_buckets_of_the_region_and_of_its_registries_pass():
    policy = json.loads(named(region(), ENDPOINT, "net-s3").get("policy"))
    found = {resource for statement in policy["Statement"] for resource in statement["Resource"]}
    assert found == {
        "arn:aws:s3:::w",
        "arn:aws:s3:::w/*",
        "arn:aws:s3:::prod-us-east-1-starport-layer-bucket/*",
        "arn:aws:s3:::prod-registry-k8s-io-us-east-1/*",
    }
    assert {word for statement in policy["Statement"] for word in statement["Action"] if "Put" in word} == set()


def test_services_are_reached_by_their_usual_names_from_inside():
    recording = region()
    doors = [door for door in recording.of(ENDPOINT) if door.get("vpcEndpointType") == "Interface"]
    assert {door.get("serviceName") for door in doors} == {f"com.amazonaws.us-east-1.{name}" for name in SERVICES}
    assert {door.get("privateDnsEnabled") for door in doors} == {True}
    assert {name for door in doors for name in sources(door, "securityGroupIds")} == {"net-endpoints"}
    assert all(sources(door, "subnetIds") == {f"net-endpoints-{zone}" for zone in ZONES} for door in doors)


def test_subnets_of_endpoints_lead_nowhere():
    assert not [entry for entry in region().of(ASSOCIATION) if "endpoints" in entry.name]


def test_nothing_passes_the_default_group():
    (group,) = region().of("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup")
    assert (group.get("ingress"), group.get("egress")) == (None, None)


def test_what_passes_is_written_to_a_closed_bucket_of_the_region():
    recording = region()
    (log,) = recording.of("aws:ec2/flowLog:FlowLog")
    (bucket,) = recording.of("aws:s3/bucket:Bucket")
    assert sources(log, "logDestination") == {bucket.name}
    assert bucket.get("region") == PLACE.provider_region
    (block,) = recording.of("aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock")
    shut = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
    assert {block.get(word) for word in shut} == {True}
    (locked,) = recording.of("aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration")
    assert locked.get("rules.0.applyServerSideEncryptionByDefault.kmsMasterKeyId") == KEY


def test_flow_logs_are_read_by_nobody_without_tls():
    (policy,) = region().of("aws:s3/bucketPolicy:BucketPolicy")
    denied = [s for s in json.loads(policy.get("policy"))["Statement"] if s["Effect"] == "Deny"]
    assert [statement["Condition"] for statement in denied] == [{"Bool": {"aws:SecureTransport": "false"}}]


def test_everything_that_can_be_billed_is_tagged():
    found = [r for r in region(nat="zonal").resources if r.type.startswith("aws:")]
    assert {r.type for r in found if r.get("tags.outlast-region") != PLACE.region} == WITHOUT_TAGS
    templates = [kind for r in found for kind in (r.get("tagSpecifications") or ())]
    assert {kind["tags"]["outlast-fleet"] for kind in templates} == {PLACE.fleet}


def test_every_role_is_bounded():
    roles = region().of(ROLE)
    assert len(roles) >= 5
    assert {role.get("permissionsBoundary") for role in roles} == {BOUNDARY}


def test_nodes_may_join_and_pull_and_nothing_else():
    attached = region().of("aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    policies = {a.get("policyArn").rsplit("/", 1)[-1] for a in attached if sources(a, "role") == {"who"}}
    assert policies == {"AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"}
    assert named(region(), ROLE, "who").get("inlinePolicies") is None


def test_the_api_server_answers_inside_and_only_to_whom_eks_knows():
    own = named(region(), CLUSTER, "api")
    assert (own.get("vpcConfig.endpointPrivateAccess"), own.get("vpcConfig.endpointPublicAccess")) == (True, False)
    assert own.get("accessConfig.authenticationMode") == "API"
    assert own.get("accessConfig.bootstrapClusterCreatorAdminPermissions") is False


def test_a_principal_of_two_ranks_has_one_entry():
    entries = region().of("aws:eks/accessEntry:AccessEntry")
    assert sorted(entry.get("principalArn") for entry in entries) == [ADMIN, f"{ADMIN}-b"]
    assert len(region().of("aws:eks/accessPolicyAssociation:AccessPolicyAssociation")) == 3


def test_secrets_and_logs_are_locked_with_the_regions_key():
    (logs,) = region().of("aws:cloudwatch/logGroup:LogGroup")
    assert (logs.get("kmsKeyId"), named(region(), CLUSTER, "api").get("encryptionConfig.provider.keyArn")) == (KEY, KEY)


def test_the_key_lets_the_services_of_logs_in_for_this_account_only():
    (key,) = region().of("aws:kms/key:Key")
    statements = [s for s in json.loads(key.get("policy"))["Statement"] if "Service" in s["Principal"]]
    assert {s["Principal"]["Service"] for s in statements} == {
        "logs.us-east-1.amazonaws.com",
        "delivery.logs.amazonaws.com",
    }
    assert all(PLACE.account in json.dumps(s["Condition"]) for s in statements)


@pytest.mark.parametrize("kubernetes", ["1.35", "1.36"])
def test_facts_pin_every_add_on(kubernetes):
    wanted = {*ADD_ONS_BEFORE_NODES, *ADD_ONS_AFTER_NODES}
    assert wanted == {name for cloud, name, version in facts().add_ons if (cloud, version) == ("aws", kubernetes)}


def test_add_ons_have_the_versions_that_are_pinned():
    pins = demo_intent().add_ons("us-east")
    assert {a.get("addonName"): a.get("addonVersion") for a in region().of(ADD_ON)} == dict(pins)


def test_a_configuration_of_an_add_on_is_the_same_bytes_in_every_run():
    texts = [configuration(name) for name in ADD_ONS_BEFORE_NODES]
    assert any(texts)
    assert all(text == json.dumps(json.loads(text), sort_keys=True) for text in texts if text)


def test_what_calls_aws_inside_the_cluster_has_a_role_of_its_own():
    owned = {
        a.get("addonName"): sources(a, "podIdentityAssociations")
        for a in region().of(ADD_ON)
        if a.get("podIdentityAssociations")
    }
    assert owned == {"vpc-cni": {"api-vpc-cni"}, "aws-ebs-csi-driver": {"system-disks"}}
    for name in ("api-vpc-cni", "system-disks", "stager"):
        (statement,) = json.loads(named(region(), ROLE, name).get("assumeRolePolicy"))["Statement"]
        assert statement["Principal"] == {"Service": "pods.eks.amazonaws.com"}
        assert set(statement["Action"]) == {"sts:AssumeRole", "sts:TagSession"}


def test_the_ways_out_outlive_the_cluster():
    recording = region()
    routes = {route.urn for route in recording.of(ROUTE)}
    assert routes <= set(named(recording, CLUSTER, "api").dependencies)


def test_a_viewer_reads_no_secrets():
    """Source: Amazon EKS User Guide, Review access policy permissions."""
    given = {row.get("policyArn").rpartition("/")[2] for row in access("viewer")}
    assert given
    assert not given & READS_SECRETS
