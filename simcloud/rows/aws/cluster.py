"""AWS clusters: EKS."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from simcloud.addresses import authority
from simcloud.kubernetes_words import one_step
from simcloud.refusals import Violation
from simcloud.row import Born, Case, Name, Reference, Row, between, one_of, refusal
from simcloud.rows.aws.identity import KEY, ROLE, untrusting
from simcloud.rows.aws.network import GROUP, SUBNET, VPC, zone_id_of

CLUSTER = "aws:eks/cluster:Cluster"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP_TAG = "aws:autoscaling/tag:Tag"
ENTRY = "aws:eks/accessEntry:AccessEntry"

_ARN = "arn:aws:eks:{region}:{account}"
_EKS = "Amazon EKS User Guide"
_API = "Amazon EKS API Reference"
_NETWORKING = f"{_EKS}, View Amazon EKS networking requirements for VPC and subnets"
_CLUSTER_NAME = Name(
    path="name",
    pattern=r"[0-9A-Za-z][A-Za-z0-9_-]*",
    longest=100,
    source=f"{_API}, CreateCluster",
    says="letters, digits, hyphens and underscores, starting with a letter or digit",
)
IN_CLUSTER = Reference(path="clusterName", types=(CLUSTER,), named=True, cascades=True)


def zone_of_subnet(case: Case, subnet: object) -> str:
    """Zone id of a subnet that exists; empty if it is not known."""
    found = case.resolve(str(subnet), SUBNET)
    if found is None:
        return ""
    if zone := found.inputs.get("availabilityZoneId"):
        return str(zone)
    born = Born(
        id=found.id, hash=found.hash, revision=1, place=case.place, inputs=found.inputs, clouds=case.clouds, config={}
    )
    return zone_id_of(born) if found.inputs.get("availabilityZone") else ""


@refusal(f"{_EKS}, Understand the Kubernetes version lifecycle")
def _version_malformed(case: Case) -> Iterator[Violation]:
    version = case.get("version")
    if version is not None and not re.fullmatch(r"1\.\d+", str(version)):
        yield Violation(property="version", what="is not a version", got=f"'{version}'", do="Write it as 1.36")


@refusal(
    f"{_EKS}, Kubernetes version lifecycle; config/facts/kubernetes_versions.csv", phase="plan", watch=("version",)
)
def _version_not_offered(case: Case) -> Iterator[Violation]:
    version, known = case.get("version"), case.world.kubernetes_versions("aws")
    if version is not None and known and str(version) not in known:
        yield Violation(
            property="version",
            what="is not a version that EKS offers",
            got=f"'{version}'",
            allowed=", ".join(known),
            do="Choose one of these",
        )


@refusal(_NETWORKING, phase="apply", watch=("vpcConfig",))
def _two_zones(case: Case) -> Iterator[Violation]:
    zones = _zones_of(case, [value for _, value in case.each("vpcConfig.subnetIds.*")])
    if len(zones) < 2:
        yield Violation(
            property="vpcConfig.subnetIds",
            what="a cluster needs subnets in at least two zones",
            got=", ".join(sorted(zones)) or "none",
            do="Add a subnet in another zone",
        )


def _zones_of(case: Case, subnets: Iterable[object]) -> frozenset[str]:
    return frozenset(zone for subnet in subnets if (zone := zone_of_subnet(case, subnet)))


@refusal(f"{_NETWORKING}; config/facts/closed_zones.csv", phase="apply", watch=("vpcConfig",))
def _zone_without_control_planes(case: Case) -> Iterator[Violation]:
    closed = case.world.closed_zones("aws")
    for where, subnet in case.each("vpcConfig.subnetIds.*"):
        if zone_of_subnet(case, subnet) in closed:
            yield Violation(
                property=where,
                what="lies in a zone that takes no control plane",
                got=zone_of_subnet(case, subnet),
                do="Choose a subnet in another zone",
            )


@refusal(_NETWORKING, phase="apply", watch=("vpcConfig",))
def _zones_of_birth(case: Case) -> Iterator[Violation]:
    born = _zones_of(case, ((case.old or {}).get("vpcConfig") or {}).get("subnetIds") or ())
    now = _zones_of(case, [value for _, value in case.each("vpcConfig.subnetIds.*")])
    if born and now != born:
        yield Violation(
            property="vpcConfig.subnetIds",
            what="must lie in exactly the zones in which the cluster was born",
            got=", ".join(sorted(now)),
            allowed=", ".join(sorted(born)),
            do="Keep the zones, or make a cluster with others and move to it",
        )


@refusal(f"{_EKS}, Amazon EKS cluster IAM role", phase="apply", watch=("roleArn",))
def _role_closed_to_eks(case: Case) -> Iterator[Violation]:
    yield from untrusting(case.target("roleArn", ROLE), "roleArn", "eks.amazonaws.com", "sts:AssumeRole")


@refusal(f"{_API}, VpcConfigRequest")
def _no_way_to_the_api(case: Case) -> Iterator[Violation]:
    private, public = (
        case.get("vpcConfig.endpointPrivateAccess", False),
        case.get("vpcConfig.endpointPublicAccess", True),
    )
    if private is False and public is False:
        yield Violation(
            property="vpcConfig.endpointPrivateAccess",
            what="the API server could be reached by nobody",
            got="neither private nor public access",
            do="Set endpointPrivateAccess to true",
        )


@refusal(f"{_API}, ScoringStrategy and ResourceWeight")
def _scoring(case: Case) -> Iterator[Violation]:
    path = "kubeSchedulerConfig.nodeResourcesFit.scoringStrategy"
    yield from one_of(f"{path}.type", ("LeastAllocated", "MostAllocated"))(case)
    yield from between(f"{path}.resources.*.weight", 1, 100)(case)


_LOG_TYPES = ("api", "audit", "authenticator", "controllerManager", "scheduler")


@refusal("pulumi-aws, aws.eks.Cluster: EKS Auto Mode")
def _auto_mode_in_parts(case: Case) -> Iterator[Violation]:
    parts = {
        "computeConfig.enabled": case.get("computeConfig.enabled"),
        "storageConfig.blockStorage.enabled": case.get("storageConfig.blockStorage.enabled"),
        "kubernetesNetworkConfig.elasticLoadBalancing.enabled": case.get(
            "kubernetesNetworkConfig.elasticLoadBalancing.enabled"
        ),
    }
    values = {bool(value) for value in parts.values()}
    if len(values) > 1:
        wrong = next(key for key, value in parts.items() if not value)
        yield Violation(
            property=wrong, what="Auto Mode needs all three switches alike", allowed=", ".join(parts), do="Set all"
        )


@refusal(f"{_EKS}, Protect EKS clusters from accidental deletion", phase="delete")
def _protected(case: Case) -> Iterator[Violation]:
    if case.get("deletionProtection") is True:
        yield Violation(
            property="deletionProtection", what="the cluster is protected", do="Set it to false, deploy, then delete"
        )


@refusal(f"{_EKS}, Change authentication mode to use access entries", phase="plan", watch=("accessConfig",))
def _authentication_mode_is_one_way(case: Case) -> Iterator[Violation]:
    order = ["CONFIG_MAP", "API_AND_CONFIG_MAP", "API"]
    old = ((case.old or {}).get("accessConfig") or {}).get("authenticationMode")
    new = case.get("accessConfig.authenticationMode")
    if old in order and new in order and order.index(new) < order.index(old):
        yield Violation(
            property="accessConfig.authenticationMode",
            what="cannot be changed back",
            got=f"{old} to {new}",
            do="Keep it",
        )


def _network(born: Born) -> dict[str, Any]:
    subnet = next(iter((born.inputs.get("vpcConfig") or {}).get("subnetIds") or []), "")
    found = born.clouds.find(subnet, [SUBNET])
    return {
        "vpcId": found[0].inputs.get("vpcId") if found else None,
        "clusterSecurityGroupId": born.fill("sg-{hash:.17}"),
    }


ROWS = (
    Row(
        type=CLUSTER,
        id="{name}",
        name=_CLUSTER_NAME,
        outputs={
            "arn": _ARN + ":cluster/{name}",
            "endpoint": "https://{hash:.32}.gr7.{region}.eks.amazonaws.com",
            "certificateAuthority": {"data": authority},
            "status": "ACTIVE",
            "platformVersion": "eks.1",
            "identities": [{"oidcs": [{"issuer": "https://oidc.eks.{region}.amazonaws.com/id/{hash:.32}"}]}],
            "vpcConfig": _network,
        },
        aliases=("{arn}", "{endpoint}", lambda outputs: (outputs.get("vpcConfig") or {}).get("clusterSecurityGroupId")),
        immutable=frozenset(
            {
                "roleArn",
                "encryptionConfig",
                "bootstrapSelfManagedAddons",
                "outpostConfig",
                "kubernetesNetworkConfig.serviceIpv4Cidr",
                "kubernetesNetworkConfig.ipFamily",
                "accessConfig.bootstrapClusterCreatorAdminPermissions",
                "vpcConfig.controlPlaneEgressMode",
            }
        ),
        defaults={"bootstrapSelfManagedAddons": True},
        references=(
            Reference(
                path="roleArn", types=(ROLE,), anywhere=True, outside=r"arn:aws:iam::\d{12}:role/aws-service-role/.*"
            ),
            Reference(path="vpcConfig.subnetIds.*", types=(SUBNET,), holds=True),
            Reference(path="vpcConfig.securityGroupIds.*", types=(GROUP, VPC), holds=True),
            Reference(path="encryptionConfig.provider.keyArn", types=(KEY,)),
        ),
        unique=("{account}/{region}/{name}",),
        refusals=(
            _version_malformed,
            _version_not_offered,
            refusal(f"{_EKS}, Update existing cluster to new Kubernetes version", phase="plan", watch=("version",))(
                one_step("version")
            ),
            _role_closed_to_eks,
            _no_way_to_the_api,
            _scoring,
            refusal(f"{_API}, LogSetup")(one_of("enabledClusterLogTypes.*", _LOG_TYPES)),
            refusal(f"{_API}, UpgradePolicyRequest")(one_of("upgradePolicy.supportType", ("STANDARD", "EXTENDED"))),
            refusal(f"{_API}, VpcConfigRequest: controlPlaneEgressMode")(
                one_of("vpcConfig.controlPlaneEgressMode", ("AWS_MANAGED", "CUSTOMER_ROUTED", "CUSTOMER_ISOLATED"))
            ),
            _two_zones,
            _zone_without_control_planes,
            _zones_of_birth,
            _auto_mode_in_parts,
            _protected,
            _authentication_mode_is_one_way,
        ),
    ),
)
