"""Azure networks: virtual networks, subnets, security groups."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.addresses import network_of, outside, overlapping
from simcloud.refusals import Violation
from simcloud.row import Case, Reference, Row, one_of, refusal
from simcloud.rows.azure.arm import arm_id, copied, said
from simcloud.rows.azure.outbound import NAT, network_name
from simcloud.state import Stored
from simcloud.values import at, is_unknown

VNET = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"
RULES = "azure-native:network:NetworkSecurityGroup"

API_SERVER = "Microsoft.ContainerService/managedClusters"
"""Service that the subnet of an AKS API server is delegated to."""

_VNET_ID = arm_id("Microsoft.Network/virtualNetworks", "virtualNetworkName")
_SUBNET_ID = arm_id("Microsoft.Network/virtualNetworks/subnets", "virtualNetworkName", "subnetName")
_RULES_ID = arm_id("Microsoft.Network/networkSecurityGroups", "networkSecurityGroupName")

_FAQ = "Azure Virtual Network FAQ"
_SUBNETS = "Azure Virtual Network documentation, Add, change, or delete a virtual network subnet"
_NSG = "Azure network security groups documentation, Security rules"


def prefixes(subnet: Stored | Case) -> list[tuple[str, object]]:
    """Ranges of a subnet with the inputs that hold them."""
    return [*at(subnet.inputs, "addressPrefix"), *at(subnet.inputs, "addressPrefixes.*")]


def network_above(case: Case) -> Stored | None:
    """The virtual network a subnet is part of."""
    found = case.clouds.every("azure", VNET, case.place.account)
    name = (case.get("resourceGroupName"), case.get("virtualNetworkName"))
    return next((item for item in found if _named(item) == name), None)


def _named(item: Stored) -> tuple[object, object]:
    return item.inputs.get("resourceGroupName"), item.inputs.get("virtualNetworkName")


def subnets_of(case: Case, network: Stored | None) -> list[Stored]:
    """Subnets of a virtual network, besides the one under judgement."""
    every = case.clouds.every("azure", SUBNET, case.place.account) if network else []
    besides = case.own.serial if case.own else 0
    return [item for item in every if network and _named(item) == _named(network) and item.serial != besides]


@refusal(f"{_FAQ}, What address ranges can I use in my VNets?")
def _space_malformed(case: Case) -> Iterator[Violation]:
    for where, value in case.each("addressSpace.addressPrefixes.*"):
        parsed = network_of(value)
        if parsed is None or parsed.prefixlen > 29 or parsed.is_multicast or parsed.is_loopback or parsed.is_link_local:
            yield Violation(
                property=where,
                what="is not a range a virtual network takes",
                got=f"'{value}'",
                allowed="a network address with /2 to /29, not multicast, loopback or link-local",
                do="Correct the range",
            )


@refusal(f"{_FAQ}, What address ranges can I use in my VNets?")
def _no_space(case: Case) -> Iterator[Violation]:
    if not case.has("addressSpace.addressPrefixes.*"):
        yield Violation(property="addressSpace", what="a virtual network needs a range", do="Give addressPrefixes")


@refusal("pulumi/pulumi-azure-native issue 611; Azure/bicep-types-az issue 1687", phase="apply", watch=("subnets",))
def _inline_subnets_beside_others(case: Case) -> Iterator[Violation]:
    given = {str(value) for _, value in case.each("subnets.*.name")}
    others = [item.name for item in subnets_of(case, case.own)]
    lost = [name for name in others if name not in given]
    if case.has("subnets") and lost:
        yield Violation(
            property="subnets",
            what="would delete the subnets that are declared beside the network",
            got=", ".join(lost),
            do="Leave subnets out, and declare every subnet by itself",
        )


@refusal(f"{_SUBNETS}: a range in use", phase="apply", watch=("addressSpace",))
def _space_without_subnets(case: Case) -> Iterator[Violation]:
    ranges = [value for _, value in case.each("addressSpace.addressPrefixes.*")]
    for subnet in subnets_of(case, case.own):
        for _, value in prefixes(subnet):
            yield from outside("addressSpace", value, ranges, f"the new ranges: subnet {subnet.name}")


@refusal(f"{_SUBNETS}: InUseSubnetCannotBeDeleted", phase="delete")
def _subnets_in_use(case: Case) -> Iterator[Violation]:
    for subnet in subnets_of(case, case.own):
        users = case.clouds.users(subnet, holding=True)
        if users:
            names = ", ".join(f"{user.type.split(':')[-1]} {user.name}" for user in users)
            yield Violation(
                what=f"subnet {subnet.name} is in use", got=f"used by {names}", do="Delete what uses it first"
            )


@refusal(f"{_FAQ}, How small and how large can virtual networks and subnets be?")
def _range_malformed(case: Case) -> Iterator[Violation]:
    for where, value in (*case.each("addressPrefix"), *case.each("addressPrefixes.*")):
        parsed = network_of(value)
        if parsed is None or not 2 <= parsed.prefixlen <= 29:
            yield Violation(
                property=where,
                what="is not a range a subnet takes",
                got=f"'{value}'",
                allowed="a network address with /2 to /29",
                do="Correct the range",
            )


@refusal(f"{_FAQ}, subnets: address range", phase="check")
def _range_once(case: Case) -> Iterator[Violation]:
    if case.has("addressPrefix") == case.has("addressPrefixes"):
        yield Violation(
            property="addressPrefix", what="give either addressPrefix or addressPrefixes", do="Set one of them"
        )


@refusal(f"{_SUBNETS}: NetcfgInvalidSubnet", phase="apply", watch=("addressPrefix", "addressPrefixes"))
def _range_outside_network(case: Case) -> Iterator[Violation]:
    network = network_above(case)
    ranges = [value for _, value in at(network.inputs, "addressSpace.addressPrefixes.*")] if network else []
    for where, value in prefixes(case) if network else ():
        yield from outside(where, value, ranges, f"virtual network {network.name if network else ''}")


@refusal(f"{_SUBNETS}: NetcfgSubnetRangesOverlap", phase="apply", watch=("addressPrefix", "addressPrefixes"))
def _range_overlaps_sibling(case: Case) -> Iterator[Violation]:
    siblings = subnets_of(case, network_above(case))
    taken = [(f"subnet {item.name}", value) for item in siblings for _, value in prefixes(item)]
    for where, value in prefixes(case):
        yield from overlapping(where, value, taken)


@refusal(f"{_SUBNETS}: InUsePrefixCannotBeDeleted", phase="apply", watch=("addressPrefix", "addressPrefixes"))
def _range_in_use(case: Case) -> Iterator[Violation]:
    if case.own is not None and case.clouds.users(case.own, holding=True):
        yield Violation(
            property="addressPrefix",
            what="cannot change while something lies in the subnet",
            got=", ".join(user.name for user in case.clouds.users(case.own, holding=True)),
            do="Make another subnet beside it",
        )


@refusal(f"{_SUBNETS}: delegation", phase="apply", watch=("delegations",))
def _delegation_in_use(case: Case) -> Iterator[Violation]:
    if case.old is not None and case.own is not None and case.clouds.users(case.own, holding=True):
        before = [item for _, item in at(dict(case.old), "delegations.*.serviceName")]
        if before != [item for _, item in case.each("delegations.*.serviceName")]:
            yield Violation(
                property="delegations", what="cannot change while something lies in the subnet", do="Empty it first"
            )


@refusal("Azure Virtual Network documentation, What is subnet delegation?")
def _delegations_of_one_service(case: Case) -> Iterator[Violation]:
    services = [value for _, value in case.each("delegations.*.serviceName")]
    if len(services) > 1:
        yield Violation(
            property="delegations", what="a subnet is delegated to one service", got=str(len(services)), do="Keep one"
        )
    for where, value in case.each("delegations.*.serviceName"):
        if not str(value).startswith("Microsoft.") or "/" not in str(value):
            yield Violation(
                property=where, what="is no service", got=f"'{value}'", do=f"Write for example {API_SERVER}"
            )


@refusal(f"{_NSG}: priority")
def _priorities(case: Case) -> Iterator[Violation]:
    seen: set[tuple[object, object]] = set()
    for where, rule in case.each("securityRules.*"):
        priority, way = rule.get("priority"), rule.get("direction")
        if is_unknown(priority):
            continue
        if not isinstance(priority, int) or not 100 <= priority <= 4096:
            yield Violation(
                property=f"{where}.priority",
                what="is out of range",
                got=str(priority),
                allowed="100 to 4096",
                do="Correct it",
            )
        elif (priority, way) in seen:
            yield Violation(
                property=f"{where}.priority",
                what=f"two rules for {way} traffic have the same priority",
                got=str(priority),
                do="Give each its own",
            )
        seen.add((priority, way))


@refusal(f"{_NSG}: sources and destinations")
def _rule_incomplete(case: Case) -> Iterator[Violation]:
    needed = {
        "source": ("sourceAddressPrefix", "sourceAddressPrefixes", "sourceApplicationSecurityGroups"),
        "source port": ("sourcePortRange", "sourcePortRanges"),
        "destination": (
            "destinationAddressPrefix",
            "destinationAddressPrefixes",
            "destinationApplicationSecurityGroups",
        ),
        "destination port": ("destinationPortRange", "destinationPortRanges"),
    }
    for where, rule in case.each("securityRules.*"):
        for word, keys in needed.items():
            if not any(rule.get(key) for key in keys):
                yield Violation(property=where, what=f"has no {word}", do=f"Give {keys[0]}, for example *")


ROWS = (
    Row(
        type=VNET,
        id=_VNET_ID,
        name=network_name("virtualNetworkName", 64, shortest=2),
        outputs=said(
            "Microsoft.Network/virtualNetworks", "virtualNetworkName", provisioningState="Succeeded", etag="{hash:.12}"
        ),
        unique=(_VNET_ID,),
        refusals=(
            _no_space,
            _space_malformed,
            _inline_subnets_beside_others,
            _space_without_subnets,
            _subnets_in_use,
        ),
    ),
    Row(
        type=SUBNET,
        id=_SUBNET_ID,
        name=network_name("subnetName", made=copied),
        place="virtualNetworkName",
        outputs={"name": "{subnetName}", "provisioningState": "Succeeded", "etag": "{hash:.12}"},
        immutable=frozenset({"virtualNetworkName"}),
        references=(
            Reference(path="natGateway.id", types=(NAT,), holds=True),
            Reference(path="networkSecurityGroup.id", types=(RULES,), holds=True),
        ),
        unique=(_SUBNET_ID,),
        refusals=(
            _range_once,
            _range_malformed,
            _range_outside_network,
            _range_overlaps_sibling,
            _range_in_use,
            _delegations_of_one_service,
            _delegation_in_use,
            refusal("Azure Private Link documentation, Manage network policies for private endpoints")(
                one_of(
                    "privateEndpointNetworkPolicies",
                    ("Enabled", "Disabled", "NetworkSecurityGroupEnabled", "RouteTableEnabled"),
                )
            ),
        ),
    ),
    Row(
        type=RULES,
        id=_RULES_ID,
        name=network_name("networkSecurityGroupName"),
        outputs=said(
            "Microsoft.Network/networkSecurityGroups", "networkSecurityGroupName", provisioningState="Succeeded"
        ),
        unique=(_RULES_ID,),
        refusals=(
            _priorities,
            _rule_incomplete,
            refusal(f"{_NSG}: protocol")(one_of("securityRules.*.protocol", ("Tcp", "Udp", "Icmp", "Esp", "Ah", "*"))),
            refusal(f"{_NSG}: direction")(one_of("securityRules.*.direction", ("Inbound", "Outbound"))),
            refusal(f"{_NSG}: action")(one_of("securityRules.*.access", ("Allow", "Deny"))),
        ),
    ),
)
