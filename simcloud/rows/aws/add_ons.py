"""What an EKS cluster holds besides nodes: add-ons, access entries, identities of pods."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from simcloud.kubernetes_words import minor
from simcloud.refusals import Violation
from simcloud.row import Case, Reference, Row, one_of, refusal
from simcloud.rows.aws.cluster import CLUSTER, ENTRY, IN_CLUSTER, NODE_GROUP
from simcloud.rows.aws.identity import ROLE, untrusting

PODS = "pods.eks.amazonaws.com"

_ARN = "arn:aws:eks:{region}:{account}"
_EKS = "Amazon EKS User Guide"
_API = "Amazon EKS API Reference"
_POD_ROLE = f"{_EKS}, Create an IAM role with the trust policy required by EKS Pod Identity"

_NEED_NODES = frozenset({"coredns", "metrics-server", "aws-ebs-csi-driver", "snapshot-controller"})


@refusal(f"{_EKS}, Available Amazon EKS add-ons; config/facts/add_ons.csv", phase="plan")
def _addon_without_facts(case: Case) -> Iterator[Violation]:
    name, known = case.get("addonName"), case.world.add_ons("aws")
    if name is not None and known and name not in known:
        yield Violation(
            property="addonName",
            what="is not an add-on that facts know",
            got=f"'{name}'",
            allowed=", ".join(sorted(known)),
            do="Use one of these, or add its versions to config/facts/add_ons.csv",
        )


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


@refusal(f"{_EKS}, Add-on versions; config/facts/add_ons.csv", phase="apply", watch=("addonVersion",))
def _addon_of_another_version(case: Case) -> Iterator[Violation]:
    cluster, name, version = case.target("clusterName", CLUSTER), str(case.get("addonName")), case.get("addonVersion")
    here = minor(cluster.inputs.get("version")) if cluster else 0
    fitting = {minor(key) for key, pin in case.world.add_ons("aws").get(name, {}).items() if pin == version}
    of_kubernetes = name == "kube-proxy" and minor(version) > here
    if here and (of_kubernetes or (fitting and here not in fitting)):
        wanted = case.world.add_ons("aws").get(name, {}).get(f"1.{here}", f"v1.{here}")
        yield Violation(
            property="addonVersion",
            what=f"{name} does not go with Kubernetes 1.{here}",
            got=f"'{version}'",
            allowed=wanted,
            do="Pin the version that goes with the cluster",
        )


@refusal(_POD_ROLE, phase="apply")
def _addon_role_closed_to_pods(case: Case) -> Iterator[Violation]:
    for where, arn in case.each("podIdentityAssociations.*.roleArn"):
        yield from untrusting(case.resolve(str(arn), ROLE), where, PODS, "sts:AssumeRole", "sts:TagSession")


@refusal(f"{_EKS}, Assign an IAM role to an Amazon EKS add-on")
def _two_ways_to_a_role(case: Case) -> Iterator[Violation]:
    if case.has("serviceAccountRoleArn") and case.has("podIdentityAssociations"):
        yield Violation(
            property="serviceAccountRoleArn", what="conflicts with podIdentityAssociations", do="Keep the associations"
        )


@refusal(_POD_ROLE, phase="apply", watch=("roleArn",))
def _role_closed_to_pods(case: Case) -> Iterator[Violation]:
    yield from untrusting(case.target("roleArn", ROLE), "roleArn", PODS, "sts:AssumeRole", "sts:TagSession")


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
            what="is not an access policy that is known here",
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
        type="aws:eks/addon:Addon",
        id="{clusterName}:{addonName}",
        outputs={"arn": _ARN + ":addon/{clusterName}/{addonName}/{hash:.8}"},
        immutable=frozenset({"clusterName", "addonName", "namespaceConfig"}),
        references=(
            IN_CLUSTER,
            Reference(path="serviceAccountRoleArn", types=(ROLE,), anywhere=True),
            Reference(path="podIdentityAssociations.*.roleArn", types=(ROLE,), anywhere=True),
        ),
        unique=("{account}/{region}/{clusterName}/{addonName}",),
        refusals=(
            _addon_without_facts,
            _addon_version_malformed,
            _addon_of_another_version,
            _addon_role_closed_to_pods,
            _two_ways_to_a_role,
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
        references=(IN_CLUSTER,),
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
        references=(IN_CLUSTER, Reference(path="principalArn", types=(ENTRY,), named=True, cascades=True)),
        unique=("{account}/{region}/{clusterName}/{principalArn}/{policyArn}",),
        refusals=(_access_policy_unknown, _namespaces_and_scope),
    ),
    Row(
        type="aws:eks/podIdentityAssociation:PodIdentityAssociation",
        id="a-{hash:.17}",
        outputs={
            "associationArn": _ARN + ":podidentityassociation/{clusterName}/{id}",
            "associationId": "{id}",
            "externalId": None,
        },
        defaults={"disableSessionTags": False},
        immutable=frozenset({"clusterName", "namespace", "serviceAccount"}),
        references=(
            IN_CLUSTER,
            Reference(path="roleArn", types=(ROLE,), anywhere=True),
            Reference(path="targetRoleArn", types=(ROLE,), anywhere=True, outside=r"arn:aws:iam::.*"),
        ),
        unique=("{account}/{region}/{clusterName}/{namespace}/{serviceAccount}",),
        refusals=(_role_closed_to_pods,),
    ),
)
