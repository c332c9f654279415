"""AWS clusters: EKS, its add-ons and access."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from simcloud.addresses import authority
from simcloud.refusals import Violation
from simcloud.row import Born, Case, Name, Reference, Row, one_of, refusal
from simcloud.rows.aws.identity import KEY, ROLE
from simcloud.rows.aws.network import GROUP, SUBNET, VPC, zone_id_of

CLUSTER = "aws:eks/cluster:Cluster"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP_TAG = "aws:autoscaling/tag:Tag"
ENTRY = "aws:eks/accessEntry:AccessEntry"

_ARN = "arn:aws:eks:{region}:{account}"
_EKS = "Amazon EKS User Guide"
_API = "Amazon EKS API Reference"
_CLUSTER_NAME = Name(
    path="name",
    pattern=r"[0-9A-Za-z][A-Za-z0-9_-]*",
    longest=100,
    source=f"{_API}, CreateCluster",
    says="letters, digits, hyphens and underscores, starting with a letter or digit",
)
_IN_CLUSTER = Reference(path="clusterName", types=(CLUSTER,), named=True, cascades=True)


def minor(version: object) -> int:
    """The minor number of a Kubernetes version such as `1.36`."""
    match = re.fullmatch(r"v?1\.(\d+).*", str(version))
    return int(match[1]) if match else 0


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


@refusal(f"{_EKS}, Update existing cluster to new Kubernetes version", phase="plan", watch=("version",))
def _version_step(case: Case) -> Iterator[Violation]:
    old, new = minor((case.old or {}).get("version")), minor(case.get("version"))
    if old and new and not old <= new <= old + 1:
        yield Violation(
            property="version",
            what="a control plane moves up one minor version at a time",
            got=f"1.{old} to 1.{new}",
            allowed=f"1.{old} or 1.{old + 1}",
            do="Go step by step",
        )


@refusal(f"{_EKS}, View Amazon EKS networking requirements for VPC and subnets", phase="apply", watch=("vpcConfig",))
def _two_zones(case: Case) -> Iterator[Violation]:
    zones = {zone for _, value in case.each("vpcConfig.subnetIds.*") if (zone := zone_of_subnet(case, value))}
    if len(zones) < 2:
        yield Violation(
            property="vpcConfig.subnetIds",
            what="a cluster needs subnets in at least two zones",
            got=", ".join(sorted(zones)) or "none",
            do="Add a subnet in another zone",
        )


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


_ADDONS = (
    "amazon-cloudwatch-observability",
    "aws-ebs-csi-driver",
    "aws-efs-csi-driver",
    "aws-fsx-csi-driver",
    "aws-mountpoint-s3-csi-driver",
    "cert-manager",
    "coredns",
    "eks-node-monitoring-agent",
    "eks-pod-identity-agent",
    "external-dns",
    "kube-proxy",
    "kube-state-metrics",
    "metrics-server",
    "prometheus-node-exporter",
    "snapshot-controller",
    "vpc-cni",
)
_NEED_NODES = frozenset({"coredns", "metrics-server", "aws-ebs-csi-driver", "snapshot-controller"})


@refusal(f"{_EKS}, Add-on versions")
def _addon_version_malformed(case: Case) -> Iterator[Violation]:
    version = case.get("addonVersion")
    if version is not None and not re.fullmatch(r"v\d+\.\d+\.\d+(-[a-z0-9.]+)?-eksbuild\.\d+", str(version)):
        yield Violation(
            property="addonVersion",
            what="is not an add-on version",
            got=f"'{version}'",
            do="Write it as v1.2.3-eksbuild.1",
        )


@refusal(f"{_API}, CreateAddon: configurationValues")
def _addon_configuration_malformed(case: Case) -> Iterator[Violation]:
    text = case.get("configurationValues")
    try:
        json.loads(text) if isinstance(text, str) else None
    except ValueError:
        yield Violation(property="configurationValues", what="is not JSON", got=f"'{text}'", do="Use json.dumps")


@refusal("pulumi/pulumi-eks issue 1525: CoreDNS stays DEGRADED without nodes", phase="birth")
def _addon_before_nodes(case: Case) -> Iterator[Violation]:
    cluster = case.target("clusterName", CLUSTER)
    name = case.get("addonName")
    if cluster and name in _NEED_NODES and not any(user.type == NODE_GROUP for user in case.clouds.users(cluster)):
        yield Violation(
            property="addonName",
            what=f"{name} has no node to run on and would stay DEGRADED",
            do="Create it after the first node group (depends_on)",
        )


@refusal("pulumi/pulumi-eks issue 2373: duplicate access entry", phase="birth")
def _entry_exists_for_nodes(case: Case) -> Iterator[Violation]:
    cluster = case.target("clusterName", CLUSTER)
    for user in case.clouds.users(cluster) if cluster else ():
        if user.type == NODE_GROUP and user.inputs.get("nodeRoleArn") == case.get("principalArn"):
            yield Violation(
                property="principalArn",
                what="the node group made this access entry already",
                got=user.id,
                do="Do not declare an entry for a managed node group's role",
            )


_POLICIES = (
    "AmazonEKSClusterAdminPolicy",
    "AmazonEKSAdminPolicy",
    "AmazonEKSAdminViewPolicy",
    "AmazonEKSEditPolicy",
    "AmazonEKSViewPolicy",
    "AmazonEKSAutoNodePolicy",
    "AmazonEKSSecretReaderPolicy",
)


@refusal(f"{_EKS}, Review access policy permissions")
def _access_policy_unknown(case: Case) -> Iterator[Violation]:
    arn = case.get("policyArn")
    prefix = "arn:aws:eks::aws:cluster-access-policy/"
    if arn is not None and str(arn).removeprefix(prefix) not in _POLICIES:
        yield Violation(
            property="policyArn",
            what="is not an access policy",
            got=f"'{arn}'",
            allowed=", ".join(f"{prefix}{name}" for name in _POLICIES),
            do="Use one of them",
        )


@refusal(f"{_API}, AccessScope")
def _namespaces_and_scope(case: Case) -> Iterator[Violation]:
    kind = case.get("accessScope.type")
    if kind in ("cluster", "namespace") and (kind == "namespace") != case.has("accessScope.namespaces"):
        yield Violation(
            property="accessScope.namespaces",
            what=f"does not go with type {kind}",
            allowed="namespaces with type namespace only",
            do="Add or remove them",
        )


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
        aliases=("{arn}", "{endpoint}"),
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
            _version_step,
            _two_zones,
            _auto_mode_in_parts,
            _protected,
            _authentication_mode_is_one_way,
        ),
    ),
    Row(
        type="aws:eks/addon:Addon",
        id="{clusterName}:{addonName}",
        outputs={"arn": _ARN + ":addon/{clusterName}/{addonName}/{hash:.8}"},
        immutable=frozenset({"clusterName", "addonName", "namespaceConfig"}),
        references=(_IN_CLUSTER, Reference(path="serviceAccountRoleArn", types=(ROLE,), anywhere=True)),
        unique=("{account}/{region}/{clusterName}/{addonName}",),
        refusals=(
            refusal(f"{_EKS}, Available Amazon EKS add-ons")(one_of("addonName", _ADDONS)),
            _addon_version_malformed,
            _addon_configuration_malformed,
            _addon_before_nodes,
        ),
    ),
    Row(
        type=ENTRY,
        id="{clusterName}:{principalArn}",
        aliases=("{principalArn}",),
        outputs={"accessEntryArn": _ARN + ":access-entry/{clusterName}/{hash:.8}"},
        defaults={"type": "STANDARD"},
        immutable=frozenset({"clusterName", "principalArn", "type"}),
        references=(_IN_CLUSTER,),
        unique=("{account}/{region}/{clusterName}/{principalArn}",),
        refusals=(
            refusal(f"{_API}, CreateAccessEntry: type")(
                one_of("type", ("STANDARD", "EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "EC2", "HYBRID_LINUX"))
            ),
            _entry_exists_for_nodes,
        ),
    ),
    Row(
        type="aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
        id="{clusterName}#{principalArn}#{policyArn}",
        outputs={"associatedAt": "simulated"},
        immutable=frozenset({"clusterName", "principalArn", "policyArn", "accessScope"}),
        references=(_IN_CLUSTER, Reference(path="principalArn", types=(ENTRY,), named=True, cascades=True)),
        unique=("{account}/{region}/{clusterName}/{principalArn}/{policyArn}",),
        refusals=(_access_policy_unknown, _namespaces_and_scope),
    ),
)
