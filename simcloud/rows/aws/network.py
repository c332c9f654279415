"""AWS networks: VPC, subnets, gateways, routes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simcloud.addresses import malformed, outside, overlapping, private_address, public_address
from simcloud.refusals import Violation
from simcloud.row import Born, Case, Reference, Row, refusal

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
GATEWAY = "aws:ec2/internetGateway:InternetGateway"
NAT = "aws:ec2/natGateway:NatGateway"
ROUTES = "aws:ec2/routeTable:RouteTable"
EIP = "aws:ec2/eip:Eip"
GROUP = "aws:ec2/securityGroup:SecurityGroup"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"

_ARN = "arn:aws:ec2:{region}:{account}"
_CIDR = "Amazon VPC User Guide, VPC CIDR blocks and Subnet CIDR blocks"
_NAT = "Amazon VPC User Guide, NAT gateways; pulumi-aws, aws.ec2.NatGateway"
_ZONE = "Amazon EC2 User Guide, AZ IDs"


@refusal(_CIDR)
def _range_malformed(case: Case) -> Iterator[Violation]:
    yield from malformed(case, "cidrBlock", longest=28, shortest=16)


def zone_of(born: Born) -> str:
    """Name of the zone whose id is given: `use1-az1` is `us-east-1a` in the simulated accounts."""
    zone = str(born.inputs.get("availabilityZoneId", ""))
    return f"{born.place.region}{chr(ord('a') + int(zone[-1]) - 1)}" if zone[-1:].isdigit() else f"{born.place.region}a"


def zone_id_of(born: Born) -> str:
    """Id of the zone whose name is given."""
    zone = str(born.inputs.get("availabilityZone", "a"))
    words = re.sub(r"[a-z]$", "", zone).split("-")
    short = "".join([words[0], *(word[0] for word in words[1:-1]), words[-1]]) if len(words) > 2 else born.place.region
    return f"{short}-az{ord(zone[-1]) - ord('a') + 1}"


@refusal(_ZONE)
def _zone_unknown(case: Case) -> Iterator[Violation]:
    known = case.world.zones("aws", case.place.region)
    zone = case.get("availabilityZoneId")
    prefix = next((item.split("-")[0] for item in sorted(known)), "")
    if isinstance(zone, str) and known and not re.fullmatch(rf"{prefix}-az[1-6]", zone):
        yield Violation(
            property="availabilityZoneId",
            what=f"is not a zone of {case.place.region}",
            got=f"'{zone}'",
            allowed=", ".join(sorted(known)),
            do="Use a zone id of the region",
        )
    name = case.get("availabilityZone")
    if isinstance(name, str) and not re.fullmatch(rf"{case.place.region}[a-f]", name):
        yield Violation(
            property="availabilityZone",
            what=f"is not a zone of {case.place.region}",
            got=f"'{name}'",
            do="Use a zone of the region, better by availabilityZoneId",
        )


@refusal(_ZONE)
def _zone_given_twice(case: Case) -> Iterator[Violation]:
    if case.has("availabilityZone") and case.has("availabilityZoneId"):
        yield Violation(
            property="availabilityZone", what="conflicts with availabilityZoneId", do="Keep availabilityZoneId only"
        )


@refusal(_CIDR, phase="apply", watch=("cidrBlock", "vpcId"))
def _outside_its_network(case: Case) -> Iterator[Violation]:
    vpc = case.target("vpcId", VPC)
    if vpc and (cidr := case.get("cidrBlock")):
        yield from outside("cidrBlock", cidr, [vpc.inputs.get("cidrBlock")], f"VPC {vpc.id}")


@refusal(_CIDR, phase="apply", watch=("cidrBlock", "vpcId"))
def _overlaps_a_subnet(case: Case) -> Iterator[Violation]:
    vpc = case.target("vpcId", VPC)
    for user in case.clouds.users(vpc) if vpc else ():
        if user.type == SUBNET and (case.own is None or user.serial != case.own.serial):
            yield from overlapping("cidrBlock", case.get("cidrBlock"), [(user.id, user.inputs.get("cidrBlock"))])


@refusal(_NAT)
def _mode_and_placement(case: Case) -> Iterator[Violation]:
    if case.unsure("availabilityMode", "connectivityType"):
        return
    regional = case.get("availabilityMode", "zonal") == "regional"
    public = case.get("connectivityType", "public") == "public"
    wrong = {
        "subnetId": regional == case.has("subnetId"),
        "vpcId": regional != case.has("vpcId"),
        "allocationId": case.has("allocationId") if regional else case.has("allocationId") != public,
        "connectivityType": regional and not public,
    }
    for key in (key for key, bad in wrong.items() if bad):
        yield Violation(
            property=key,
            what=f"does not go with a {'regional' if regional else 'zonal'} NAT gateway",
            allowed="regional: vpcId, public, no subnetId, no allocationId; zonal: subnetId, allocationId if public",
            do="Set what this mode takes",
        )


@refusal(_NAT, phase="birth")
def _no_internet_gateway(case: Case) -> Iterator[Violation]:
    subnet = case.target("subnetId", SUBNET)
    vpc = case.target("vpcId", VPC) or (case.resolve(str(subnet.inputs["vpcId"]), VPC) if subnet else None)
    public = case.get("connectivityType", "public") == "public"
    if vpc and public and not any(user.type == GATEWAY for user in case.clouds.users(vpc)):
        yield Violation(what=f"VPC {vpc.id} has no internet gateway attached", do="Attach one first (depends_on)")


@refusal("Amazon VPC User Guide, Delete an internet gateway", phase="delete")
def _addresses_mapped(case: Case) -> Iterator[Violation]:
    vpc = case.target("vpcId", VPC)
    inside = case.clouds.users(vpc) if vpc else []
    inside += [user for subnet in inside if subnet.type == SUBNET for user in case.clouds.users(subnet)]
    gateways = sorted(user.id for user in inside if user.type == NAT)
    if gateways:
        yield Violation(
            what="the network has mapped public addresses", got=", ".join(gateways), do="Delete the NAT gateways first"
        )


_DESTINATIONS = ("destinationCidrBlock", "destinationIpv6CidrBlock", "destinationPrefixListId")
_TARGETS = (
    "carrierGatewayId",
    "coreNetworkArn",
    "egressOnlyGatewayId",
    "gatewayId",
    "localGatewayId",
    "natGatewayId",
    "networkInterfaceId",
    "odbNetworkArn",
    "transitGatewayId",
    "vpcEndpointId",
    "vpcPeeringConnectionId",
)


@refusal("pulumi-aws, aws.ec2.Route: one destination and one target")
def _one_destination_one_target(case: Case) -> Iterator[Violation]:
    for words, kind in ((_DESTINATIONS, "destination"), (_TARGETS, "target")):
        given = [word for word in words if case.has(word)]
        if len(given) != 1:
            yield Violation(
                property=given[1] if given else words[0],
                what=f"a route has exactly one {kind}",
                got=", ".join(given) or "none",
                allowed=", ".join(words),
                do="Give one",
            )


@refusal("Amazon VPC User Guide, Configure route tables", phase="apply", watch=("routeTableId",))
def _subnet_of_another_network(case: Case) -> Iterator[Violation]:
    subnet, table = case.target("subnetId", SUBNET), case.target("routeTableId", ROUTES)
    if subnet and table and subnet.inputs.get("vpcId") != table.inputs.get("vpcId"):
        yield Violation(
            property="routeTableId",
            what="belongs to another VPC than the subnet",
            got=str(table.inputs.get("vpcId")),
            allowed=str(subnet.inputs.get("vpcId")),
            do="Use a route table of the subnet's VPC",
        )


ROWS = (
    Row(
        type=VPC,
        id="vpc-{hash:.17}",
        outputs={
            "arn": _ARN + ":vpc/{id}",
            "defaultNetworkAclId": "acl-{hash:.17}",
            "defaultRouteTableId": "rtb-{hash:.17}",
            "defaultSecurityGroupId": "sg-{hash:.17}",
            "mainRouteTableId": "rtb-{hash:.17}",
            "ownerId": "{account}",
        },
        aliases=("{arn}", "{defaultSecurityGroupId}", "{mainRouteTableId}"),
        immutable=frozenset({"cidrBlock", "ipv4IpamPoolId", "ipv4NetmaskLength"}),
        refusals=(_range_malformed,),
    ),
    Row(
        type=SUBNET,
        id="subnet-{hash:.17}",
        outputs={
            "arn": _ARN + ":subnet/{id}",
            "ownerId": "{account}",
            "availabilityZone": zone_of,
            "availabilityZoneId": zone_id_of,
        },
        aliases=("{arn}",),
        immutable=frozenset({"cidrBlock", "availabilityZone", "availabilityZoneId", "vpcId"}),
        references=(Reference(path="vpcId", types=(VPC,), holds=True),),
        refusals=(_range_malformed, _zone_unknown, _zone_given_twice, _outside_its_network, _overlaps_a_subnet),
    ),
    Row(
        type=GATEWAY,
        id="igw-{hash:.17}",
        outputs={"arn": _ARN + ":internet-gateway/{id}", "ownerId": "{account}"},
        references=(Reference(path="vpcId", types=(VPC,), holds=True),),
        unique=("{vpcId}",),
        refusals=(_addresses_mapped,),
    ),
    Row(
        type=EIP,
        id="eipalloc-{hash:.17}",
        outputs={
            "arn": _ARN + ":elastic-ip/{id}",
            "allocationId": "{id}",
            "publicIp": public_address,
            "publicDns": lambda born: (
                f"ec2-{public_address(born).replace('.', '-')}.{born.place.region}.compute.amazonaws.com"
            ),
        },
        aliases=("{publicIp}",),
        immutable=frozenset({"domain", "networkBorderGroup", "publicIpv4Pool", "address"}),
    ),
    Row(
        type=NAT,
        id="nat-{hash:.17}",
        outputs={"publicIp": public_address, "privateIp": private_address, "networkInterfaceId": "eni-{hash:.17}"},
        immutable=frozenset({"availabilityMode", "connectivityType", "subnetId", "allocationId", "vpcId", "privateIp"}),
        references=(
            Reference(path="subnetId", types=(SUBNET,), holds=True),
            Reference(path="vpcId", types=(VPC,), holds=True),
            Reference(path="allocationId", types=(EIP,), holds=True),
            Reference(path="availabilityZoneAddresses.*.allocationIds.*", types=(EIP,), holds=True),
        ),
        unique=("{allocationId}",),
        refusals=(_mode_and_placement, _no_internet_gateway),
    ),
    Row(
        type=ROUTES,
        id="rtb-{hash:.17}",
        outputs={"arn": _ARN + ":route-table/{id}", "ownerId": "{account}"},
        immutable=frozenset({"vpcId"}),
        references=(
            Reference(path="vpcId", types=(VPC,), holds=True),
            Reference(path="routes.*.gatewayId", types=(GATEWAY,)),
            Reference(path="routes.*.natGatewayId", types=(NAT,)),
        ),
    ),
    Row(
        type="aws:ec2/route:Route",
        id="r-{hash:.24}",
        outputs={"origin": "CreateRoute", "state": "active"},
        immutable=frozenset({"routeTableId", *_DESTINATIONS}),
        references=(
            Reference(path="routeTableId", types=(ROUTES, VPC), cascades=True),
            Reference(path="gatewayId", types=(GATEWAY,), outside="vgw-.*|local"),
            Reference(path="natGatewayId", types=(NAT,)),
            Reference(path="vpcEndpointId", types=(ENDPOINT,)),
        ),
        unique=tuple(f"{{routeTableId}}/{{{word}}}" for word in _DESTINATIONS),
        refusals=(_one_destination_one_target,),
    ),
    Row(
        type="aws:ec2/routeTableAssociation:RouteTableAssociation",
        id="rtbassoc-{hash:.17}",
        immutable=frozenset({"subnetId", "gatewayId"}),
        references=(
            Reference(path="subnetId", types=(SUBNET,), cascades=True),
            Reference(path="routeTableId", types=(ROUTES, VPC), holds=True),
        ),
        unique=("{subnetId}",),
        refusals=(_subnet_of_another_network,),
    ),
)
