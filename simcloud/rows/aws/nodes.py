"""AWS machines: EKS node groups, and tags of the groups behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.kubernetes_words import is_label_key, is_label_value, minor
from simcloud.refusals import Violation
from simcloud.row import Case, Name, Nodes, Reference, Row, one_of, refusal, reservation_elsewhere
from simcloud.rows.aws.cluster import CLUSTER, GROUP_TAG, NODE_GROUP, TEMPLATE, zone_of_subnet
from simcloud.rows.aws.identity import ROLE, untrusting
from simcloud.rows.aws.network import SUBNET
from simcloud.rows.aws.templates import machine_type_unknown
from simcloud.world import Reservation

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


@refusal("Amazon EKS User Guide, Create a managed node group with Capacity Blocks for ML", phase="apply")
def _block_and_template(case: Case) -> Iterator[Violation]:
    template = case.target("launchTemplate.id", TEMPLATE)
    market = (template.inputs.get("instanceMarketOptions") or {}).get("marketType") if template else None
    asked = case.get("capacityType") == "CAPACITY_BLOCK"
    if asked != (market == "capacity-block"):
        yield Violation(
            property="capacityType" if not asked else "launchTemplate",
            what="a capacity block is named by the node group and its launch template alike",
            got=f"capacityType {case.get('capacityType', 'ON_DEMAND')}, market type {market or 'none'}",
            allowed="CAPACITY_BLOCK with a template of market type capacity-block and an instance type",
            do="Say it in both",
        )


@refusal(
    f"{_EKS}, Create self-managed nodes with Capacity Blocks for ML; Amazon EC2 Auto Scaling User Guide, "
    "Use Capacity Blocks for machine learning workloads",
    phase="apply",
    watch=("launchTemplate", "scalingConfig"),
)
def _block_before_its_start(case: Case) -> Iterator[Violation]:
    nodes = node_group(case)
    held = case.world.reservations.get(nodes.reservation)
    if held and nodes.count > 0 and held.starts > case.world.today:
        yield Violation(
            property="scalingConfig.desiredSize",
            what=f"reservation '{held.id}' has not started",
            got=f"{nodes.count}, first day {held.starts}",
            allowed="0 until then",
            do="Deploy the nodes on its first day",
        )


@refusal(
    f"{_EKS}, Create a managed node group with Capacity Blocks for ML",
    phase="plan",
    watch=("version", "releaseVersion", "launchTemplate.version"),
)
def _block_upgraded_with_nodes(case: Case) -> Iterator[Violation]:
    wanted = case.get("scalingConfig.desiredSize", 0)
    if case.old is not None and case.get("capacityType") == "CAPACITY_BLOCK" and wanted:
        yield Violation(
            property="version",
            what="a node group in a capacity block is upgraded only while it has no nodes",
            got=f"desired {wanted}",
            allowed="0",
            do="Keep its version; a new version is a new block",
        )


@refusal(f"{_EKS}, Amazon EKS node IAM role", phase="apply", watch=("nodeRoleArn",))
def _role_closed_to_machines(case: Case) -> Iterator[Violation]:
    yield from untrusting(case.target("nodeRoleArn", ROLE), "nodeRoleArn", "ec2.amazonaws.com", "sts:AssumeRole")


@refusal(f"{_EKS}, Customize managed nodes with launch templates", phase="apply", watch=("launchTemplate",))
def _subnet_in_template(case: Case) -> Iterator[Violation]:
    template = case.target("launchTemplate.id", TEMPLATE)
    for interface in (template.inputs.get("networkInterfaces") or []) if template else ():
        if interface.get("subnetId"):
            yield Violation(
                property="launchTemplate",
                what="the subnet is the node group's to say",
                got=str(interface["subnetId"]),
                do="Remove subnetId from the template's interfaces",
            )


@refusal(
    "Amazon EC2 API Reference, EfaInfo: maximumEfaInterfaces; config/facts/interconnects.csv",
    phase="apply",
    watch=("launchTemplate", "instanceTypes"),
)
def _more_cards_than_the_machine_has(case: Case) -> Iterator[Violation]:
    template, nodes = case.target("launchTemplate.id", TEMPLATE), node_group(case)
    machine = case.world.machines.get(f"aws/{nodes.machine_type}")
    interfaces = (template.inputs.get("networkInterfaces") or []) if template else []
    wanted = sum(str(item.get("interfaceType", "")).startswith("efa") for item in interfaces)
    if machine and wanted > machine.interconnect_cards:
        yield Violation(
            property="launchTemplate",
            what=f"{nodes.machine_type} has not as many cards for EFA",
            got=str(wanted),
            allowed=f"up to {machine.interconnect_cards}",
            do="Use as many interfaces as the machine has cards",
        )


@refusal(f"{_API}, NodegroupUpdateConfig")
def _update_pace(case: Case) -> Iterator[Violation]:
    yield from one_of("updateConfig.updateStrategy", ("DEFAULT", "MINIMAL"))(case)
    if case.has("updateConfig.maxUnavailable") and case.has("updateConfig.maxUnavailablePercentage"):
        yield Violation(
            property="updateConfig.maxUnavailablePercentage",
            what="conflicts with maxUnavailable",
            do="Give one of them",
        )


@refusal(f"{_API}, NodeRepairConfig and NodeRepairConfigOverrides")
def _repair(case: Case) -> Iterator[Violation]:
    path = "nodeRepairConfig"
    yield from one_of(f"{path}.nodeRepairConfigOverrides.*.repairAction", ("Replace", "Reboot", "NoAction"))(case)
    for word in ("maxParallelNodesRepaired", "maxUnhealthyNodeThreshold"):
        if case.has(f"{path}.{word}Count") and case.has(f"{path}.{word}Percentage"):
            yield Violation(
                property=f"{path}.{word}Percentage", what=f"conflicts with {word}Count", do="Give one of them"
            )


_IMAGES = (
    "AL2_x86_64",
    "AL2_x86_64_GPU",
    "AL2_ARM_64",
    "AL2023_x86_64_STANDARD",
    "AL2023_ARM_64_STANDARD",
    "AL2023_x86_64_NEURON",
    "AL2023_x86_64_NVIDIA",
    "AL2023_ARM_64_NVIDIA",
    "BOTTLEROCKET_ARM_64",
    "BOTTLEROCKET_x86_64",
    "BOTTLEROCKET_ARM_64_FIPS",
    "BOTTLEROCKET_x86_64_FIPS",
    "BOTTLEROCKET_ARM_64_NVIDIA",
    "BOTTLEROCKET_x86_64_NVIDIA",
    "CUSTOM",
    "WINDOWS_CORE_2019_x86_64",
    "WINDOWS_FULL_2019_x86_64",
    "WINDOWS_CORE_2022_x86_64",
    "WINDOWS_FULL_2022_x86_64",
)


@refusal("Kubernetes documentation, Labels and Selectors")
def _label_malformed(case: Case) -> Iterator[Violation]:
    for where, value in case.each("labels.*"):
        key = where.removeprefix("labels.")
        if not is_label_key(key) or not is_label_value(str(value)):
            yield Violation(
                property=where, what="is not a label", got=f"{key}={value}", do="Use at most 63 letters, digits, - _ ."
            )


def _taken(case: Case) -> tuple[Nodes, Reservation | None]:
    nodes = node_group(case)
    return nodes, case.world.reservations.get(nodes.reservation)


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
        draws_down=True,
        refusals=(
            _min_desired_max,
            _given_in_template_too,
            _machine_type_given_twice,
            _template_version_missing,
            _newer_than_its_cluster,
            refusal(
                "Amazon EC2 User Guide, Targeted Capacity Reservations",
                phase="apply",
                watch=("launchTemplate", "subnetIds"),
            )(reservation_elsewhere("launchTemplate", _taken)),
            _block_and_template,
            _block_before_its_start,
            _block_upgraded_with_nodes,
            _role_closed_to_machines,
            _subnet_in_template,
            _more_cards_than_the_machine_has,
            _update_pace,
            _repair,
            _label_malformed,
            machine_type_unknown,
            refusal(f"{_API}, Taint: effect")(_EFFECTS),
            refusal(f"{_API}, CreateNodegroup: capacityType")(_CAPACITY),
            refusal(f"{_API}, CreateNodegroup: amiType")(one_of("amiType", _IMAGES)),
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
)
