"""What stands at the doors of AWS networks: endpoints, security groups and their rules, flow logs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simcloud.addresses import network_of
from simcloud.refusals import Violation
from simcloud.row import Case, Name, Reference, Row, one_of, refusal
from simcloud.rows.aws.data import BUCKET
from simcloud.rows.aws.identity import policy_malformed
from simcloud.rows.aws.network import ENDPOINT, GROUP, NAT, ROUTES, SUBNET, VPC

_ARN = "arn:aws:ec2:{region}:{account}"

_ENDPOINT = "AWS PrivateLink Guide; pulumi-aws, aws.ec2.VpcEndpoint"


@refusal(_ENDPOINT)
def _service_name(case: Case) -> Iterator[Violation]:
    name, region = case.get("serviceName"), case.get("serviceRegion", case.place.region)
    match = re.match(r"(com|aws)\.(amazonaws|api)\.(vpce\.)?([a-z0-9-]+)\.", str(name or ""))
    if isinstance(name, str) and (match is None or match[4] != region):
        yield Violation(
            property="serviceName",
            what="names no service of the region",
            got=f"'{name}'",
            allowed=f"com.amazonaws.{region}.SERVICE",
            do="Correct the region, or set serviceRegion on purpose",
        )


@refusal(_ENDPOINT)
def _kind_and_arguments(case: Case) -> Iterator[Violation]:
    if case.unsure("vpcEndpointType"):
        return
    kind = case.get("vpcEndpointType", "Gateway")
    wrong = ("subnetIds", "securityGroupIds", "privateDnsEnabled") if kind == "Gateway" else ("routeTableIds",)
    for key in wrong:
        if case.has(key):
            yield Violation(property=key, what=f"does not go with an endpoint of type {kind}", do="Remove it")
    name = str(case.get("serviceName") or "")
    if kind == "Gateway" and name and name.rsplit(".", 1)[-1] not in ("s3", "dynamodb"):
        yield Violation(
            property="vpcEndpointType", what="only S3 and DynamoDB have gateway endpoints", got=name, do="Use Interface"
        )


@refusal(_ENDPOINT)
def _endpoint_policy_malformed(case: Case) -> Iterator[Violation]:
    yield from policy_malformed(case, "policy")


@refusal("Amazon VPC User Guide, DNS attributes for your VPC; AWS PrivateLink Guide, Private DNS", phase="apply")
def _private_names_without_host_names(case: Case) -> Iterator[Violation]:
    vpc = case.target("vpcId", VPC)
    if vpc is None or case.get("privateDnsEnabled") is not True:
        return
    wanted = {"enableDnsHostnames": False, "enableDnsSupport": True}
    off = [key for key, usual in wanted.items() if vpc.inputs.get(key, usual) is not True]
    if off:
        yield Violation(
            property="privateDnsEnabled",
            what=f"VPC {vpc.id} gives no private names",
            got=", ".join(f"{key} is off" for key in off),
            do="Set enableDnsHostnames and enableDnsSupport of the VPC to true",
        )


@refusal("AWS PrivateLink Guide, Subnets and Availability Zones", phase="apply", watch=("subnetIds",))
def _two_subnets_of_a_zone(case: Case) -> Iterator[Violation]:
    zones: dict[str, str] = {}
    for where, value in case.each("subnetIds.*"):
        subnet = case.resolve(str(value), SUBNET)
        zone = str(subnet.inputs.get("availabilityZoneId", "")) if subnet else ""
        if zone and zone in zones:
            yield Violation(
                property=where, what=f"a second subnet in {zone}", got=f"{zones[zone]}, {value}", do="Keep one a zone"
            )
        zones.setdefault(zone, str(value))


def _private_name(case: Case) -> str | None:
    vpc, name = case.get("vpcId"), case.get("serviceName")
    return f"{vpc}/{name}" if vpc and name and case.get("privateDnsEnabled") is True else None


@refusal("Amazon VPC User Guide, Security group rules")
def _rule_range(case: Case) -> Iterator[Violation]:
    for key in ("ingress", "egress"):
        for where, block in case.each(f"{key}.*.cidrBlocks.*"):
            if network_of(block) is None:
                yield Violation(property=where, what="is not a range", got=f"'{block}'", do="Write an address range")


_RULE = "Amazon EC2 API Reference, AuthorizeSecurityGroupIngress"
_SOURCES = ("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId")


@refusal("pulumi-aws, aws.vpc.SecurityGroupIngressRule: one source")
def _one_source(case: Case) -> Iterator[Violation]:
    given = [word for word in _SOURCES if case.has(word)]
    if len(given) != 1:
        yield Violation(
            property=given[1] if given else _SOURCES[0],
            what="a rule has exactly one source",
            got=", ".join(given) or "none",
            allowed=", ".join(_SOURCES),
            do="Give one",
        )


@refusal(_RULE)
def _ports_and_protocol(case: Case) -> Iterator[Violation]:
    protocol, low, high = str(case.get("ipProtocol", "")), case.get("fromPort"), case.get("toPort")
    known = not case.unsure("fromPort", "toPort")
    if protocol == "-1" and (case.has("fromPort") or case.has("toPort")):
        yield Violation(
            property="fromPort", what="every protocol means every port", got=f"{low} to {high}", do="Remove the ports"
        )
    elif (
        known
        and protocol in ("tcp", "udp", "6", "17")
        and (low is None or high is None or not 0 <= low <= high <= _PORTS)
    ):
        yield Violation(
            property="fromPort",
            what="is not a range of ports",
            got=f"{low} to {high}",
            allowed=f"0 to {_PORTS}, rising",
            do="Give fromPort and toPort",
        )


_PORTS = 65535


@refusal(_RULE)
def _source_malformed(case: Case) -> Iterator[Violation]:
    block = case.get("cidrIpv4")
    if block is not None and network_of(block) is None:
        yield Violation(property="cidrIpv4", what="is not a range", got=f"'{block}'", do="Write an address range")


def _rule_key(case: Case) -> str | None:
    words = ("securityGroupId", "ipProtocol", "fromPort", "toPort", *_SOURCES)
    return "/".join(str(case.get(word, "")) for word in words) if case.get("securityGroupId") else None


_FLOWS = "Amazon EC2 API Reference, CreateFlowLogs"
_WATCHED = ("eniId", "regionalNatGatewayId", "subnetId", "transitGatewayAttachmentId", "transitGatewayId", "vpcId")


@refusal(_FLOWS)
def _one_thing_watched(case: Case) -> Iterator[Violation]:
    given = [word for word in _WATCHED if case.has(word)]
    if len(given) != 1:
        yield Violation(
            property=given[1] if given else "vpcId",
            what="a flow log watches exactly one thing",
            got=", ".join(given) or "none",
            allowed=", ".join(_WATCHED),
            do="Give one",
        )


@refusal(_FLOWS)
def _destination_and_options(case: Case) -> Iterator[Violation]:
    kind = case.get("logDestinationType", "cloud-watch-logs")
    if case.unsure("logDestinationType"):
        return
    if kind != "s3" and case.has("destinationOptions"):
        yield Violation(property="destinationOptions", what="go with S3 only", got=str(kind), do="Remove them")
    if kind == "s3" and case.has("iamRoleArn"):
        yield Violation(property="iamRoleArn", what="delivery to S3 takes no role", do="Remove it")
    if kind == "cloud-watch-logs" and not case.has("iamRoleArn"):
        yield Violation(property="iamRoleArn", what="delivery to a log group needs a role", do="Give one")


@refusal(_FLOWS)
def _interval(case: Case) -> Iterator[Violation]:
    yield from one_of("maxAggregationInterval", (60, 600))(case)


ROWS = (
    Row(
        type=ENDPOINT,
        id="vpce-{hash:.17}",
        outputs={
            "arn": _ARN + ":vpc-endpoint/{id}",
            "ownerId": "{account}",
            "state": "available",
            "prefixListId": "pl-{hash:.8}",
            "requesterManaged": False,
        },
        immutable=frozenset({"vpcId", "serviceName", "serviceRegion", "vpcEndpointType"}),
        references=(
            Reference(path="vpcId", types=(VPC,), holds=True),
            Reference(path="routeTableIds.*", types=(ROUTES, VPC)),
            Reference(path="subnetIds.*", types=(SUBNET,), holds=True),
            Reference(path="securityGroupIds.*", types=(GROUP, VPC), holds=True),
        ),
        unique=(_private_name,),
        refusals=(
            _service_name,
            _kind_and_arguments,
            _endpoint_policy_malformed,
            _private_names_without_host_names,
            _two_subnets_of_a_zone,
        ),
    ),
    Row(
        type=GROUP,
        id="sg-{hash:.17}",
        name=Name(
            path="name",
            longest=255,
            pattern=r"(?!sg-)[\w .:/()#,@\[\]+=&;{}!$*-]+",
            says="not starting with sg-",
            source="Amazon EC2 User Guide, Security groups",
        ),
        outputs={"arn": _ARN + ":security-group/{id}", "ownerId": "{account}"},
        defaults={"description": "Managed by Pulumi", "revokeRulesOnDelete": False},
        immutable=frozenset({"description", "vpcId"}),
        references=(
            Reference(path="vpcId", types=(VPC,), holds=True),
            Reference(path="ingress.*.securityGroups.*", types=(GROUP, VPC), holds=True),
            Reference(path="egress.*.securityGroups.*", types=(GROUP, VPC), holds=True),
        ),
        unique=("{vpcId}/{name}",),
        refusals=(_rule_range,),
    ),
    Row(
        type="aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
        id="sg-{hash:.17}",
        outputs={"arn": _ARN + ":security-group/{id}", "ownerId": "{account}", "name": "default"},
        defaults={"revokeRulesOnDelete": False},
        immutable=frozenset({"vpcId"}),
        references=(Reference(path="vpcId", types=(VPC,), cascades=True),),
        unique=("{vpcId}",),
        refusals=(_rule_range,),
    ),
    Row(
        type="aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        id="sgr-{hash:.17}",
        outputs={"arn": _ARN + ":security-group-rule/{id}", "securityGroupRuleId": "{id}"},
        immutable=frozenset({"securityGroupId"}),
        references=(
            Reference(path="securityGroupId", types=(GROUP, VPC), cascades=True),
            Reference(path="referencedSecurityGroupId", types=(GROUP, VPC)),
        ),
        unique=(_rule_key,),
        refusals=(_one_source, _ports_and_protocol, _source_malformed),
    ),
    Row(
        type="aws:ec2/flowLog:FlowLog",
        id="fl-{hash:.17}",
        outputs={"arn": _ARN + ":vpc-flow-log/{id}"},
        immutable=frozenset(
            {*_WATCHED, "destinationOptions", "logDestination", "logDestinationType", "maxAggregationInterval"}
            | {"trafficType", "logFormat"}
        ),
        references=(
            Reference(path="vpcId", types=(VPC,), cascades=True),
            Reference(path="subnetId", types=(SUBNET,), cascades=True),
            Reference(path="regionalNatGatewayId", types=(NAT,), cascades=True),
            Reference(
                path="logDestination",
                types=(BUCKET,),
                anywhere=True,
                outside=r"arn:aws:(?!s3:).*|arn:aws:s3:::[^/]+/.*",
            ),
        ),
        refusals=(
            _one_thing_watched,
            _destination_and_options,
            _interval,
            refusal(_FLOWS)(one_of("trafficType", ("ACCEPT", "REJECT", "ALL"))),
            refusal(f"{_FLOWS}: DestinationOptions")(
                one_of("destinationOptions.fileFormat", ("plain-text", "parquet"))
            ),
        ),
    ),
)
