"""AWS launch templates: what an instance is before it starts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from simcloud.refusals import Violation
from simcloud.row import Case, Name, Reference, Row, between, one_of, refusal
from simcloud.rows.aws.cluster import CLUSTER, NODE_GROUP, TEMPLATE
from simcloud.rows.aws.network import GROUP, SUBNET, VPC

_TARGET = "capacityReservationSpecification.capacityReservationTarget.capacityReservationId"
_EFA = "Amazon EC2 User Guide, Maximize network bandwidth on instances with multiple network cards"
_BLOCK = "Amazon EKS User Guide, Create a managed node group with Capacity Blocks for ML"
_EBS = "Amazon EBS User Guide, General Purpose SSD volumes"

_GPU_FAMILIES = ("p[0-9]*", "g[0-9]*", "gr[0-9]*", "trn*", "inf*")


@refusal(
    "Amazon EC2, Instance types; config/facts/machine_types.csv", phase="plan", watch=("instanceTypes", "instanceType")
)
def machine_type_unknown(case: Case) -> Iterator[Violation]:
    """Refuse a machine type that nobody knows, in a node group or a template."""
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
    name = case.get(_TARGET)
    held = case.world.reservations.get(str(name))
    if name is not None and (held is None or held.region != case.place.region):
        yield Violation(
            property=_TARGET,
            what=f"there is no such reservation in {case.place.region}",
            got=f"'{name}'",
            do="Reserve it and enter it in capacity.yaml",
        )


@refusal(
    "Amazon EC2 User Guide, Capacity Reservations: end date", phase="plan", watch=("capacityReservationSpecification",)
)
def _reservation_ended(case: Case) -> Iterator[Violation]:
    held = case.world.reservations.get(str(case.get(_TARGET)))
    if held and held.ends and held.ends < case.world.today:
        yield Violation(
            property=_TARGET,
            what="has ended",
            got=f"{held.id}, last day {held.ends}",
            allowed=f"a reservation that holds on {case.world.today}",
            do="Prolong it, or use another",
        )


@refusal("Amazon EC2 API Reference, CapacityReservationSpecification")
def _preference_beside_target(case: Case) -> Iterator[Violation]:
    preference = case.get("capacityReservationSpecification.capacityReservationPreference")
    target = case.has("capacityReservationSpecification.capacityReservationTarget")
    if target and preference not in (None, "capacity-reservations-only"):
        yield Violation(
            property="capacityReservationSpecification.capacityReservationPreference",
            what="contradicts the target",
            got=str(preference),
            allowed="capacity-reservations-only beside a target",
            do="Remove it",
        )


@refusal(_BLOCK, phase="plan", watch=("instanceMarketOptions", "capacityReservationSpecification", "instanceType"))
def _block_half_said(case: Case) -> Iterator[Violation]:
    held = case.world.reservations.get(str(case.get(_TARGET)))
    asked = case.get("instanceMarketOptions.marketType") == "capacity-block"
    if held and held.block and not asked:
        yield Violation(
            property="instanceMarketOptions.marketType",
            what=f"'{held.id}' is a capacity block and is used by its own market type",
            allowed="capacity-block",
            do="Set it",
        )
    for path in (_TARGET, "instanceType") if asked else ():
        if not case.has(path):
            yield Violation(property=path, what="is missing: a capacity block needs it", do="Give it in the template")


@refusal(_EFA)
def _primary_only_for_cards(case: Case) -> Iterator[Violation]:
    for where, kind in case.each("networkInterfaces.*.interfaceType"):
        interface = case.inputs["networkInterfaces"][int(where.split("[")[1].split("]")[0])]
        if kind == "efa-only" and not interface.get("networkCardIndex") and not interface.get("deviceIndex"):
            yield Violation(
                property=where,
                what="the first interface carries addresses and cannot be efa-only",
                do="Use efa or interface there",
            )


@refusal(_EBS)
def _disk(case: Case) -> Iterator[Violation]:
    for where, disk in case.each("blockDeviceMappings.*.ebs"):
        if disk.get("volumeType") == "gp3":
            iops, throughput = disk.get("iops", 3000), disk.get("throughput", 125)
            if not 125 <= throughput <= min(iops / 4, 2000):
                yield Violation(
                    property=f"{where}.throughput",
                    what="is out of range",
                    got=f"{throughput} MiB/s with {iops} IOPS",
                    allowed="125 MiB/s to a quarter of the IOPS, at most 2,000",
                    do="Choose a value inside, or raise iops",
                )
        elif disk.get("throughput") is not None:
            yield Violation(
                property=f"{where}.throughput",
                what="goes with gp3 only",
                got=str(disk.get("volumeType")),
                do="Remove it",
            )


ROWS = (
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
            Reference(path="networkInterfaces.*.securityGroups.*", types=(GROUP, VPC, CLUSTER), holds=True),
            Reference(path="networkInterfaces.*.subnetId", types=(SUBNET,), holds=True),
        ),
        unique=("{account}/{region}/{name}",),
        refusals=(
            _security_groups_beside_interfaces,
            _device_index_of_card,
            _metadata_hops,
            _reservation_missing,
            _reservation_ended,
            _preference_beside_target,
            _block_half_said,
            _primary_only_for_cards,
            _disk,
            refusal("Amazon EC2 API Reference, LaunchTemplateInstanceNetworkInterfaceSpecificationRequest")(
                one_of("networkInterfaces.*.interfaceType", ("interface", "efa", "efa-only"))
            ),
            machine_type_unknown,
        ),
    ),
)
