"""What Azure Kubernetes Service refuses of a cluster's network and of its API server's place in it."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.addresses import network_of, overlapping
from simcloud.refusals import Violation
from simcloud.row import Case, one_of, refusal
from simcloud.rows.azure.arm import above, holder
from simcloud.rows.azure.network import API_SERVER, SUBNET, prefixes
from simcloud.rows.azure.pools import AKS, node_subnets, pools, said
from simcloud.values import at

_CILIUM = f"{AKS}, Configure Azure CNI powered by Cilium"
_OVERLAY = f"{AKS}, Azure CNI Overlay networking"
_API_SUBNET = f"{AKS}, API Server VNet Integration"
_PRIVATE = f"{AKS}, Create a private cluster"
_NET, _ACCESS = "networkProfile", "apiServerAccessProfile"


@refusal(_CILIUM)
def _cilium_needs(case: Case) -> Iterator[Violation]:
    if case.unsure(*(f"{_NET}.{key}" for key in ("networkDataplane", "networkPlugin", "networkPluginMode"))):
        return
    if case.get(f"{_NET}.networkDataplane") != "cilium":
        if case.get(f"{_NET}.networkPolicy") == "cilium":
            yield Violation(property=f"{_NET}.networkPolicy", what="needs dataplane cilium", do="Set networkDataplane")
        return
    pods = any(said(pool, "podSubnetID") for _, pool in pools(case))
    if case.get(f"{_NET}.networkPlugin") != "azure" or not (pods or case.get(f"{_NET}.networkPluginMode") == "overlay"):
        yield Violation(
            property=f"{_NET}.networkDataplane",
            what="cilium needs plugin azure, with mode overlay or subnets for pods",
            do="Set networkPlugin to azure and networkPluginMode to overlay",
        )
    if case.get(f"{_NET}.networkPolicy", "cilium") not in ("cilium", "none"):
        yield Violation(property=f"{_NET}.networkPolicy", what="is not cilium's", do="Set it to cilium")


@refusal(f"{AKS}, Advanced Container Networking Services: container network security")
def _security_without_cilium(case: Case) -> Iterator[Violation]:
    where = f"{_NET}.advancedNetworking.security"
    if case.get(f"{where}.enabled") is True and case.get(f"{_NET}.networkDataplane") != "cilium":
        yield Violation(property=where, what="needs dataplane cilium", do="Set networkDataplane to cilium")


@refusal(f"{_OVERLAY}: pod address space")
def _pods_without_overlay(case: Case) -> Iterator[Violation]:
    plain = case.get(f"{_NET}.networkPlugin") == "azure" and not case.has(f"{_NET}.networkPluginMode")
    if plain and case.has(f"{_NET}.podCidr"):
        yield Violation(
            property=f"{_NET}.podCidr", what="is for overlay networks", do="Set networkPluginMode to overlay"
        )


@refusal(f"{AKS}, IP address planning: the address of DNS lies in the services' range")
def _dns_address(case: Case) -> Iterator[Violation]:
    services, dns = network_of(case.get(f"{_NET}.serviceCidr")), network_of(f"{case.get(f'{_NET}.dnsServiceIP')}/32")
    if services and dns and (not dns.subnet_of(services) or dns.network_address == services.network_address + 1):
        yield Violation(
            property=f"{_NET}.dnsServiceIP",
            what="is not a free address of the services' range",
            got=str(dns.network_address),
            allowed=f"{services}, but its first address",
            do="Use for example the tenth",
        )


@refusal(f"{_OVERLAY}: ranges do not overlap", phase="apply", watch=(_NET,))
def _ranges_overlap(case: Case) -> Iterator[Violation]:
    ranges = [(f"{_NET}.{key}", case.get(f"{_NET}.{key}")) for key in ("podCidr", "serviceCidr")]
    subnets = [holder(case.clouds, value) for _, value in node_subnets(case)]
    networks = {above(subnet.id): holder(case.clouds, above(subnet.id)) for subnet in subnets if subnet}
    space = [
        (f"virtual network {network.name}", value)
        for network in networks.values()
        if network
        for _, value in at(network.inputs, "addressSpace.addressPrefixes.*")
    ]
    for number, (where, value) in enumerate(ranges):
        yield from overlapping(where, value, [*space, *ranges[:number]])


@refusal(f"{AKS}, Customize cluster egress with outbound types: managed virtual networks")
def _outbound_without_subnet(case: Case) -> Iterator[Violation]:
    kind = case.get(f"{_NET}.outboundType")
    ours = kind in ("userAssignedNATGateway", "userDefinedRouting") and not case.unsure("agentPoolProfiles")
    if ours and not any("vnetSubnetID" in pool for _, pool in pools(case)):
        yield Violation(
            property=f"{_NET}.outboundType", what="needs a network of your own", got=str(kind), do="Give vnetSubnetID"
        )


@refusal(f"{AKS}, Create a user-assigned NAT gateway: it is on the subnet of the nodes", phase="birth")
def _subnet_without_nat(case: Case) -> Iterator[Violation]:
    if case.get(f"{_NET}.outboundType") != "userAssignedNATGateway":
        return
    for where, value in node_subnets(case):
        subnet = holder(case.clouds, value)
        if subnet and not subnet.inputs.get("natGateway"):
            yield Violation(
                property=where, what=f"subnet {subnet.name} has no NAT gateway", do="Give the subnet its gateway first"
            )


@refusal(_API_SUBNET)
def _integration_without_subnet(case: Case) -> Iterator[Violation]:
    own = any("vnetSubnetID" in pool for _, pool in pools(case))
    integrated = case.get(f"{_ACCESS}.enableVnetIntegration") is True
    if own and integrated and not case.has(f"{_ACCESS}.subnetId"):
        yield Violation(property=f"{_ACCESS}.subnetId", what="is needed in a network of your own", do="Give a subnet")
    known = not case.unsure(f"{_ACCESS}.enableVnetIntegration")
    if known and case.has(f"{_ACCESS}.subnetId") and not integrated:
        yield Violation(property=f"{_ACCESS}.subnetId", what="needs enableVnetIntegration", do="Set it to true")


@refusal(f"{_API_SUBNET}: it is not turned off again", phase="plan", watch=(_ACCESS,))
def _integration_turned_off(case: Case) -> Iterator[Violation]:
    before = ((case.old or {}).get(_ACCESS) or {}).get("enableVnetIntegration")
    if before is True and case.get(f"{_ACCESS}.enableVnetIntegration") is not True:
        yield Violation(property=f"{_ACCESS}.enableVnetIntegration", what="stays on", do="Make another cluster")


@refusal(f"{_API_SUBNET}: the subnet is delegated to the service", phase="birth")
def _api_subnet_not_delegated(case: Case) -> Iterator[Violation]:
    subnet = case.target(f"{_ACCESS}.subnetId", SUBNET)
    services = [value for _, value in at(subnet.inputs, "delegations.*.serviceName")] if subnet else []
    if subnet and API_SERVER not in services:
        yield Violation(
            property=f"{_ACCESS}.subnetId",
            what=f"subnet {subnet.name} is not delegated",
            do=f"Delegate it to {API_SERVER}",
        )


@refusal(f"{_API_SUBNET}: the smallest subnet is a /28", phase="birth")
def _api_subnet_too_small(case: Case) -> Iterator[Violation]:
    subnet = case.target(f"{_ACCESS}.subnetId", SUBNET)
    for _, value in prefixes(subnet) if subnet else ():
        parsed = network_of(value)
        if parsed and parsed.prefixlen > 28:
            yield Violation(
                property=f"{_ACCESS}.subnetId",
                what="is too small",
                got=str(value),
                allowed="/28 or larger",
                do="Widen it",
            )


@refusal(f"{_API_SUBNET}: one network, and a subnet of its own", phase="birth")
def _api_subnet_elsewhere(case: Case) -> Iterator[Violation]:
    own = case.get(f"{_ACCESS}.subnetId")
    for where, value in node_subnets(case) if own else ():
        if above(value) != above(str(own)):
            yield Violation(property=where, what="lies in another network than the API server", do="Use one network")
        if value == own:
            yield Violation(property=where, what="is the API server's own subnet", do="Use another for nodes")


@refusal(f"{AKS}, API server authorized IP ranges: not in private clusters")
def _ranges_of_private_cluster(case: Case) -> Iterator[Violation]:
    given = [value for _, value in case.each(f"{_ACCESS}.authorizedIPRanges.*")]
    if given and case.get(f"{_ACCESS}.enablePrivateCluster") is True:
        yield Violation(
            property=f"{_ACCESS}.authorizedIPRanges", what="means nothing in a private cluster", do="Leave it out"
        )
    for value in given:
        if network_of(value) is None:
            yield Violation(
                property=f"{_ACCESS}.authorizedIPRanges", what="is no range", got=f"'{value}'", do="Correct it"
            )


@refusal(f"{_PRIVATE}: public DNS name")
def _public_name_of_public_cluster(case: Case) -> Iterator[Violation]:
    named = case.has(f"{_ACCESS}.enablePrivateClusterPublicFQDN") or case.has(f"{_ACCESS}.privateDNSZone")
    if case.unsure(f"{_ACCESS}.enablePrivateCluster"):
        return
    if named and case.get(f"{_ACCESS}.enablePrivateCluster") is not True:
        yield Violation(
            property=_ACCESS, what="has words for private clusters", do="Set enablePrivateCluster, or drop them"
        )


REFUSALS = (
    _cilium_needs,
    _security_without_cilium,
    _pods_without_overlay,
    _dns_address,
    _ranges_overlap,
    _outbound_without_subnet,
    _subnet_without_nat,
    _integration_without_subnet,
    _integration_turned_off,
    _api_subnet_not_delegated,
    _api_subnet_too_small,
    _api_subnet_elsewhere,
    _ranges_of_private_cluster,
    _public_name_of_public_cluster,
    refusal(f"{AKS}, Customize cluster egress with outbound types")(
        one_of(
            f"{_NET}.outboundType",
            ("loadBalancer", "userDefinedRouting", "managedNATGateway", "userAssignedNATGateway", "none"),
        )
    ),
    refusal(f"{AKS}, CNI networking overview")(one_of(f"{_NET}.networkPlugin", ("azure", "kubenet", "none"))),
)
