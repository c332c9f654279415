"""AWS machines: EKS node groups and the launch templates behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from simcloud.refusals import Violation
from simcloud.row import Case, Name, Nodes, Reference, Row, between, one_of, refusal
from simcloud.rows.aws.cluster import CLUSTER, GROUP_TAG, NODE_GROUP, TEMPLATE, minor, zone_of_subnet
from simcloud.rows.aws.identity import ROLE
from simcloud.rows.aws.network import GROUP, SUBNET, VPC

_ARN = "arn:aws:eks:{region}:{account}"
_EKS = "Amazon EKS User Guide"
_API = "Amazon EKS API Reference"

_SCALING = "Amazon EKS API Reference, NodegroupScalingConfig"


@refusal(_SCALING)
def _min_desired_max(case: Case) -> Iterator[Violation]:
    low, wanted, high = (case.get(f"scalingConfig.{key}Size") for key in ("min", "desired", "max"))
    known = [value for value in (low, wanted, high) if isinstance(value, int)]
    if len(known) == 3 and not 0 <= known[0] <= known[1] <= known[2]:
        key = "minSize" if known[0] > known[1] else "desiredSize"
        yield Violation(
            property=f"scalingConfig.{key}",
            what="sizes must rise from min over desired to max",
            got=f"min {low}, desired {wanted}, max {high}",
            do="Raise desired and max with min",
        )
    if isinstance(high, int) and high < 1:
        yield Violation(
            property="scalingConfig.maxSize", what="is below 1", got=str(high), do="Allow at least one node"
        )


@refusal("terraform-aws-modules/terraform-aws-eks issue 1386; Amazon EKS User Guide, Customize managed nodes")
def _given_in_template_too(case: Case) -> Iterator[Violation]:
    for key in ("diskSize", "remoteAccess"):
        if case.has("launchTemplate") and case.has(key):
            yield Violation(property=key, what="conflicts with launchTemplate", do="Set it in the launch template only")


@refusal(
    "terraform-aws-modules/terraform-aws-eks issue 1386; Amazon EKS User Guide, Customize managed nodes",
    phase="apply",
    watch=("launchTemplate", "instanceTypes"),
)
def _machine_type_given_twice(case: Case) -> Iterator[Violation]:
    template = case.target("launchTemplate.id", TEMPLATE)
    if template and template.inputs.get("instanceType") and case.has("instanceTypes"):
        yield Violation(
            property="instanceTypes",
            what="the launch template sets the instance type already",
            got=str(template.inputs["instanceType"]),
            do="Give it in one place only",
        )


@refusal("Amazon EC2 User Guide, Manage launch template versions", phase="apply", watch=("launchTemplate",))
def _template_version_missing(case: Case) -> Iterator[Violation]:
    template, version = case.target("launchTemplate.id", TEMPLATE), case.get("launchTemplate.version")
    if template and str(version).isdigit() and int(str(version)) > template.revision:
        yield Violation(
            property="launchTemplate.version",
            what=f"template {template.id} has no such version",
            got=str(version),
            allowed=f"1 to {template.revision}",
            do="Pass the template's latest_version",
        )


@refusal(f"{_EKS}, Kubernetes version skew", phase="apply", watch=("version",))
def _newer_than_its_cluster(case: Case) -> Iterator[Violation]:
    cluster = case.target("clusterName", CLUSTER)
    if cluster and minor(case.get("version")) > minor(cluster.inputs.get("version")) > 0:
        yield Violation(
            property="version",
            what="nodes cannot be newer than their control plane",
            got=str(case.get("version")),
            allowed=f"up to {cluster.inputs.get('version')}",
            do="Upgrade the cluster first",
        )


@refusal("Amazon EC2 User Guide, Targeted Capacity Reservations", phase="apply", watch=("launchTemplate", "subnetIds"))
def _reservation_elsewhere(case: Case) -> Iterator[Violation]:
    nodes = node_group(case)
    held = case.world.reservations.get(nodes.reservation)
    if held and (held.machine_type != nodes.machine_type or not nodes.zones <= {held.zone}):
        yield Violation(
            property="launchTemplate",
            what=f"reservation '{held.id}' is for other machines",
            got=f"{nodes.machine_type} in {', '.join(sorted(nodes.zones))}",
            allowed=f"{held.machine_type} in {held.zone}",
            do="Use the reservation's machine type and zone",
        )


@refusal("Kubernetes documentation, Labels and Selectors")
def _label_malformed(case: Case) -> Iterator[Violation]:
    for where, value in case.each("labels.*"):
        key = where.removeprefix("labels.")
        if not re.fullmatch(
            r"([a-z0-9.-]{1,253}/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?", key
        ) or not re.fullmatch(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?", str(value)):
            yield Violation(
                property=where, what="is not a label", got=f"{key}={value}", do="Use at most 63 letters, digits, - _ ."
            )


def node_group(case: Case) -> Nodes:
    """What a node group asks for; a launch template may say the machine type and the reservation."""
    template = case.target("launchTemplate.id", TEMPLATE)
    given = template.inputs if template else {}
    named = next((value for _, value in case.each("instanceTypes.*")), None)
    target = (given.get("capacityReservationSpecification") or {}).get("capacityReservationTarget") or {}
    reservation = str(target.get("capacityReservationId") or "")
    spot = case.get("capacityType") == "SPOT"
    zones = {zone for _, value in case.each("subnetIds.*") if (zone := zone_of_subnet(case, value))}
    wanted = case.get("scalingConfig.desiredSize", 0)
    return Nodes(
        machine_type=str(named or given.get("instanceType") or "t3.medium"),
        capacity="spot" if spot else "reserved" if reservation else "on_demand",
        count=wanted if isinstance(wanted, int) else 0,
        zones=frozenset(zones),
        reservation=reservation,
        property="instanceTypes",
    )


_GPU_FAMILIES = ("p[0-9]*", "g[0-9]*", "gr[0-9]*", "trn*", "inf*")


@refusal(
    "Amazon EC2, Instance types; config/facts/machine_types.csv", phase="plan", watch=("instanceTypes", "instanceType")
)
def _machine_type_unknown(case: Case) -> Iterator[Violation]:
    path = "instanceTypes.*" if case.type == NODE_GROUP else "instanceType"
    for where, value in case.each(path):
        name = str(value)
        known = f"aws/{name}" in case.world.machines
        formed = re.fullmatch(
            r"[a-z][a-z0-9-]*\d[a-z0-9-]*\.(nano|micro|small|medium|large|\d*xlarge|metal(-\d+xl)?)", name
        )
        if not known and (not formed or any(fnmatchcase(name.split(".")[0], family) for family in _GPU_FAMILIES)):
            yield Violation(
                property=where,
                what="is not a machine type that facts know",
                got=f"'{name}'",
                do="Correct it, or add its row to config/facts",
            )


@refusal("Amazon EC2 API Reference, LaunchTemplateInstanceNetworkInterfaceSpecificationRequest")
def _security_groups_beside_interfaces(case: Case) -> Iterator[Violation]:
    if case.has("networkInterfaces") and case.has("vpcSecurityGroupIds"):
        yield Violation(
            property="vpcSecurityGroupIds",
            what="conflicts with networkInterfaces",
            do="Put the security groups inside each interface",
        )


@refusal("Amazon EC2 User Guide, EFA on multi-card instances; eksctl issue 7520")
def _device_index_of_card(case: Case) -> Iterator[Violation]:
    for where, _ in case.each("networkInterfaces.*"):
        index = int(where[len("networkInterfaces[") : -1])
        interface = case.inputs["networkInterfaces"][index]
        card, device = interface.get("networkCardIndex", 0), interface.get("deviceIndex", 0)
        if isinstance(card, int) and isinstance(device, int) and device != (1 if card else 0):
            yield Violation(
                property=f"{where}.deviceIndex",
                what="does not go with its network card",
                got=f"card {card}, device {device}",
                allowed="card 0: device 0; every other card: device 1",
                do="Set deviceIndex so",
            )


@refusal("Amazon EC2 API Reference, LaunchTemplateInstanceMetadataOptionsRequest")
def _metadata_hops(case: Case) -> Iterator[Violation]:
    yield from between("metadataOptions.httpPutResponseHopLimit", 1, 64)(case)
    yield from one_of("metadataOptions.httpTokens", ("required", "optional"))(case)


@refusal("Amazon EC2 User Guide, Capacity Reservations", phase="plan", watch=("capacityReservationSpecification",))
def _reservation_missing(case: Case) -> Iterator[Violation]:
    path = "capacityReservationSpecification.capacityReservationTarget.capacityReservationId"
    name = case.get(path)
    held = case.world.reservations.get(str(name))
    if name is not None and (held is None or held.region != case.place.region):
        yield Violation(
            property=path,
            what=f"there is no such reservation in {case.place.region}",
            got=f"'{name}'",
            do="Reserve it and enter it in capacity.yaml",
        )


@refusal("Amazon EC2 Auto Scaling API Reference, Tag")
def _tag_malformed(case: Case) -> Iterator[Violation]:
    key, value = str(case.get("tag.key", "a")), str(case.get("tag.value", ""))
    if not 1 <= len(key) <= _TAG_KEY or key.startswith("aws:"):
        yield Violation(
            property="tag.key",
            what="is not a key of a tag",
            got=key,
            allowed=f"1 to {_TAG_KEY} characters, not starting with aws:",
            do="Shorten or rename it",
        )
    if len(value) > _TAG_VALUE:
        yield Violation(property="tag.value", what="is too long", got=value, do=f"Keep to {_TAG_VALUE} characters")


_TAG_KEY, _TAG_VALUE = 128, 256


def _tag_key(case: Case) -> str | None:
    group, key = case.get("autoscalingGroupName"), case.get("tag.key")
    return f"{case.place.account}/{case.place.region}/{group}/{key}" if group and key else None


def _scaling_group(outputs: Mapping[str, Any]) -> str | None:
    """Name of the group behind a node group, by which tags refer to it."""
    resources = outputs.get("resources") or [{}]
    groups = resources[0].get("autoscalingGroups") or [{}]
    name = groups[0].get("name")
    return name if isinstance(name, str) else None


_EFFECTS = one_of("taints.*.effect", ("NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"))
_CAPACITY = one_of("capacityType", ("ON_DEMAND", "SPOT", "CAPACITY_BLOCK"))

ROWS = (
    Row(
        type=NODE_GROUP,
        id="{clusterName}:{nodeGroupName}",
        name=Name(
            path="nodeGroupName",
            pattern=r"[0-9A-Za-z][A-Za-z0-9_-]*",
            longest=63,
            source=f"{_API}, CreateNodegroup",
            says="letters, digits, hyphens and underscores, starting with a letter or digit",
        ),
        outputs={
            "arn": _ARN + ":nodegroup/{clusterName}/{nodeGroupName}/{hash:.8}",
            "status": "ACTIVE",
            "resources": [{"autoscalingGroups": [{"name": "eks-{nodeGroupName}-{hash:.8}"}]}],
        },
        immutable=frozenset(
            {
                "clusterName",
                "nodeRoleArn",
                "subnetIds",
                "instanceTypes",
                "capacityType",
                "amiType",
                "diskSize",
                "remoteAccess",
                "launchTemplate.id",
                "launchTemplate.name",
            }
        ),
        references=(
            Reference(path="clusterName", types=(CLUSTER,), named=True, holds=True),
            Reference(path="nodeRoleArn", types=(ROLE,), anywhere=True),
            Reference(path="subnetIds.*", types=(SUBNET,), holds=True),
            Reference(path="launchTemplate.id", types=(TEMPLATE,)),
        ),
        aliases=(_scaling_group,),
        unique=("{account}/{region}/{clusterName}/{nodeGroupName}",),
        nodes=node_group,
        refusals=(
            _min_desired_max,
            _given_in_template_too,
            _machine_type_given_twice,
            _template_version_missing,
            _newer_than_its_cluster,
            _reservation_elsewhere,
            _label_malformed,
            _machine_type_unknown,
            refusal(f"{_API}, Taint: effect")(_EFFECTS),
            refusal(f"{_API}, CreateNodegroup: capacityType")(_CAPACITY),
        ),
    ),
    Row(
        type=GROUP_TAG,
        id=lambda born: f"{born.inputs['autoscalingGroupName']},{born.inputs['tag']['key']}",
        immutable=frozenset({"autoscalingGroupName", "tag.key"}),
        references=(Reference(path="autoscalingGroupName", types=(NODE_GROUP,), cascades=True),),
        unique=(_tag_key,),
        refusals=(_tag_malformed,),
    ),
    Row(
        type=TEMPLATE,
        id="lt-{hash:.17}",
        name=Name(
            path="name",
            pattern=r"[\w().\-/]+",
            shortest=3,
            longest=125,
            source="Amazon EC2 API Reference, CreateLaunchTemplate",
            says="letters, digits and ( ) . - / _",
        ),
        outputs={
            "arn": "arn:aws:ec2:{region}:{account}:launch-template/{id}",
            "latestVersion": lambda born: born.revision,
            "defaultVersion": lambda born: born.revision if born.inputs.get("updateDefaultVersion") else 1,
        },
        moving=frozenset({"latestVersion", "defaultVersion"}),
        aliases=("{arn}", "{name}"),
        references=(
            Reference(path="vpcSecurityGroupIds.*", types=(GROUP, VPC), holds=True),
            Reference(path="networkInterfaces.*.securityGroups.*", types=(GROUP, VPC), holds=True),
        ),
        unique=("{account}/{region}/{name}",),
        refusals=(
            _security_groups_beside_interfaces,
            _device_index_of_card,
            _metadata_hops,
            _reservation_missing,
            _machine_type_unknown,
        ),
    ),
)
