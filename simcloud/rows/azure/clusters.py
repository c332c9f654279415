"""What Azure Kubernetes Service refuses of a cluster's network, identity, access and keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simcloud.addresses import network_of, overlapping
from simcloud.refusals import Violation
from simcloud.row import Case, one_of, refusal
from simcloud.rows.azure.arm import GUID, above, allowed, holder, principal_of
from simcloud.rows.azure.data import WRAPS_ALL, key_at
from simcloud.rows.azure.network import API_SERVER, SUBNET, prefixes
from simcloud.rows.azure.pools import AKS, pools, said
from simcloud.state import Stored
from simcloud.values import at

_CILIUM = f"{AKS}, Configure Azure CNI powered by Cilium"
_OVERLAY = f"{AKS}, Azure CNI Overlay networking"
_API_SUBNET = f"{AKS}, API Server VNet Integration"
_PRIVATE = f"{AKS}, Create a private cluster"
_ROLES = f"{AKS}, Use managed identities"
_KMS = f"{AKS}, Add KMS etcd encryption"
_NET, _ACCESS = "networkProfile", "apiServerAccessProfile"
_KEY = "securityProfile.azureKeyVaultKms"


def _identities(case: Case) -> list[object]:
    return [value for _, value in case.each("identity.userAssignedIdentities.*")]


def _node_subnets(case: Case) -> list[tuple[str, str]]:
    found = ((where, said(pool, "vnetSubnetID")) for where, pool in pools(case))
    return [(f"{where}vnetSubnetID", str(value)) for where, value in found if value is not None]


# ---------------------------------------------------------------- network


@refusal(_CILIUM)
def _cilium_needs(case: Case) -> Iterator[Violation]:
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
    plain = case.get(f"{_NET}.networkPlugin") == "azure" and case.get(f"{_NET}.networkPluginMode") is None
    if plain and case.has(f"{_NET}.podCidr"):
        yield Violation(property=f"{_NET}.podCidr", what="is for overlay networks", do="Set networkPluginMode to overlay")


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
    subnets = [holder(case.clouds, value) for _, value in _node_subnets(case)]
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
    if kind in ("userAssignedNATGateway", "userDefinedRouting") and not any("vnetSubnetID" in pool for _, pool in pools(case)):
        yield Violation(
            property=f"{_NET}.outboundType", what="needs a network of your own", got=str(kind), do="Give vnetSubnetID"
        )


@refusal(f"{AKS}, Create a user-assigned NAT gateway: it is on the subnet of the nodes", phase="birth")
def _subnet_without_nat(case: Case) -> Iterator[Violation]:
    if case.get(f"{_NET}.outboundType") != "userAssignedNATGateway":
        return
    for where, value in _node_subnets(case):
        subnet = holder(case.clouds, value)
        if subnet and not subnet.inputs.get("natGateway"):
            yield Violation(
                property=where, what=f"subnet {subnet.name} has no NAT gateway", do="Give the subnet its gateway first"
            )


# ---------------------------------------------------------------- API server


@refusal(_API_SUBNET)
def _integration_without_subnet(case: Case) -> Iterator[Violation]:
    own = any("vnetSubnetID" in pool for _, pool in pools(case))
    integrated = case.get(f"{_ACCESS}.enableVnetIntegration") is True
    if own and integrated and not case.has(f"{_ACCESS}.subnetId"):
        yield Violation(property=f"{_ACCESS}.subnetId", what="is needed in a network of your own", do="Give a subnet")
    if case.has(f"{_ACCESS}.subnetId") and not integrated:
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
            property=f"{_ACCESS}.subnetId", what=f"subnet {subnet.name} is not delegated", do=f"Delegate it to {API_SERVER}"
        )


@refusal(f"{_API_SUBNET}: the smallest subnet is a /28", phase="birth")
def _api_subnet_too_small(case: Case) -> Iterator[Violation]:
    subnet = case.target(f"{_ACCESS}.subnetId", SUBNET)
    for _, value in prefixes(subnet) if subnet else ():
        parsed = network_of(value)
        if parsed and parsed.prefixlen > 28:
            yield Violation(
                property=f"{_ACCESS}.subnetId", what="is too small", got=str(value), allowed="/28 or larger", do="Widen it"
            )


@refusal(f"{_API_SUBNET}: one network, and a subnet of its own", phase="birth")
def _api_subnet_elsewhere(case: Case) -> Iterator[Violation]:
    own = case.get(f"{_ACCESS}.subnetId")
    for where, value in _node_subnets(case) if own else ():
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
    if named and case.get(f"{_ACCESS}.enablePrivateCluster") is not True:
        yield Violation(property=_ACCESS, what="has words for private clusters", do="Set enablePrivateCluster, or drop them")


# ---------------------------------------------------------------- identity and access


@refusal(f"{_ROLES}: bring your own network, kubelet identity or key")
def _system_identity(case: Case) -> Iterator[Violation]:
    kind = str(case.get("identity.type", "SystemAssigned"))
    wanted = {
        f"{_ACCESS}.subnetId": case.has(f"{_ACCESS}.subnetId"),
        "identityProfile": case.has("identityProfile"),
        f"{_KEY}.keyId": case.has(f"{_KEY}.keyId"),
    }
    for where, asked in wanted.items():
        if asked and kind != "UserAssigned":
            yield Violation(
                property=where, what="needs a user-assigned identity", got=kind, do="Set identity.type to UserAssigned"
            )


@refusal(f"{_ROLES}: one identity of the control plane")
def _one_identity(case: Case) -> Iterator[Violation]:
    if case.get("identity.type") == "UserAssigned" and len(_identities(case)) != 1:
        yield Violation(
            property="identity.userAssignedIdentities", what="needs one", got=str(len(_identities(case))), do="Give one"
        )


def _lacking(case: Case, scope: Stored | None, roles: tuple[str, ...], where: str) -> Iterator[Violation]:
    for identity in _identities(case) if scope else ():
        principal = principal_of(case, identity)
        if scope and principal and not allowed(case, principal, scope.id, roles):
            yield Violation(
                property=where,
                what=f"the cluster's identity may not use {scope.name}",
                got=f"no role assignment for {principal}",
                do=f"Give it {roles[0]} on {scope.id} first",
            )


@refusal(f"{_ROLES}: Network Contributor on the subnets", phase="birth")
def _may_not_join_subnets(case: Case) -> Iterator[Violation]:
    own = [(f"{_ACCESS}.subnetId", str(value)) for _, value in case.each(f"{_ACCESS}.subnetId")]
    for where, value in (*_node_subnets(case), *own):
        yield from _lacking(case, holder(case.clouds, value), ("Network Contributor",), where)


@refusal(f"{_ROLES}: Managed Identity Operator on the kubelet's identity", phase="birth")
def _may_not_give_kubelet_identity(case: Case) -> Iterator[Violation]:
    where = "identityProfile.kubeletidentity.resourceId"
    for _, value in case.each(where):
        yield from _lacking(case, holder(case.clouds, str(value)), ("Managed Identity Operator",), where)


@refusal(f"{AKS}, Manage local accounts with AKS-managed Microsoft Entra integration")
def _locked_out(case: Case) -> Iterator[Violation]:
    if case.get("disableLocalAccounts") is True and case.get("aadProfile.managed") is not True:
        yield Violation(
            property="disableLocalAccounts", what="leaves nobody who could sign in", do="Set aadProfile.managed to true"
        )


@refusal(f"{AKS}, Use Azure role-based access control for Kubernetes authorization")
def _roles_without_directory(case: Case) -> Iterator[Violation]:
    if case.get("aadProfile.enableAzureRBAC") is True and case.get("aadProfile.managed") is not True:
        yield Violation(property="aadProfile.enableAzureRBAC", what="needs managed", do="Set aadProfile.managed to true")
    for where, value in case.each("aadProfile.adminGroupObjectIDs.*"):
        if not re.fullmatch(GUID, str(value)):
            yield Violation(property=where, what="is no group of the directory", got=f"'{value}'", do="Write its object id")


@refusal(f"{AKS}, Deploy and configure workload identity: the issuer comes first")
def _workloads_without_issuer(case: Case) -> Iterator[Violation]:
    wanted = case.get("securityProfile.workloadIdentity.enabled") is True
    if wanted and case.get("oidcIssuerProfile.enabled") is not True:
        yield Violation(
            property="securityProfile.workloadIdentity", what="needs the issuer", do="Set oidcIssuerProfile.enabled to true"
        )


@refusal(f"{AKS}, Create an OpenID Connect provider: it is not turned off again", phase="plan", watch=("oidcIssuerProfile",))
def _issuer_turned_off(case: Case) -> Iterator[Violation]:
    before = ((case.old or {}).get("oidcIssuerProfile") or {}).get("enabled")
    if before is True and case.get("oidcIssuerProfile.enabled") is not True:
        yield Violation(property="oidcIssuerProfile.enabled", what="stays on", do="Leave it true")


# ---------------------------------------------------------------- keys, names, tiers


@refusal(f"{_KMS}: private key vaults")
def _private_key_without_integration(case: Case) -> Iterator[Violation]:
    if case.get(f"{_KEY}.keyVaultNetworkAccess") != "Private":
        return
    if not case.has(f"{_KEY}.keyVaultResourceId"):
        yield Violation(property=f"{_KEY}.keyVaultResourceId", what="is needed for a private vault", do="Give its id")
    if case.get(f"{_ACCESS}.enableVnetIntegration") is not True:
        yield Violation(
            property=f"{_KEY}.keyVaultNetworkAccess",
            what="a private vault is reached through API Server VNet Integration only",
            do="Set enableVnetIntegration to true",
        )


@refusal(f"{_KMS}: key identifiers carry a version")
def _key_without_version(case: Case) -> Iterator[Violation]:
    value = case.get(f"{_KEY}.keyId")
    if value is not None and not re.fullmatch(r"https://[\w-]+\.vault\.[\w.]+/keys/[\w-]+/[0-9a-f]{32}", str(value)):
        yield Violation(
            property=f"{_KEY}.keyId", what="is not the identifier of a version", got=f"'{value}'", do="Use keyUriWithVersion"
        )


@refusal(f"{_KMS}: permissions of the identity", phase="birth")
def _key_out_of_reach(case: Case) -> Iterator[Violation]:
    key = key_at(case, case.get(f"{_KEY}.keyId"))
    yield from _lacking(case, key, ("Key Vault Crypto User", *WRAPS_ALL), f"{_KEY}.keyId")


@refusal(f"{_KMS}: a private vault is open to what is inside the network only", phase="birth")
def _closed_vault_as_public(case: Case) -> Iterator[Violation]:
    key = key_at(case, case.get(f"{_KEY}.keyId"))
    vault = holder(case.clouds, above(key.id)) if key else None
    closed = vault and (vault.inputs.get("properties") or {}).get("publicNetworkAccess") == "Disabled"
    if closed and case.get(f"{_KEY}.keyVaultNetworkAccess", "Public") != "Private":
        yield Violation(
            property=f"{_KEY}.keyVaultNetworkAccess", what="the vault is closed to the public", do="Set it to Private"
        )


@refusal(f"{AKS}, Frequently asked questions: length of the node resource group's name")
def _node_group_too_long(case: Case) -> Iterator[Violation]:
    words = [str(case.get(key, "")) for key in ("resourceGroupName", "resourceName")]
    name = str(case.get("nodeResourceGroup") or "_".join(["MC", *words, case.place.region]))
    if len(name) > 80:
        yield Violation(
            property="nodeResourceGroup", what="is too long", got=f"'{name}', {len(name)} characters", allowed="80", do="Name it"
        )


@refusal("AKS REST API, Managed Clusters - Create Or Update: dnsPrefix")
def _dns_prefix(case: Case) -> Iterator[Violation]:
    prefix = case.get("dnsPrefix")
    if prefix is None and not case.has("dnsPrefix") and not case.has("fqdnSubdomain"):
        yield Violation(property="dnsPrefix", what="is missing", do="Give it")
    elif prefix is not None and not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9-]{0,52}[A-Za-z0-9])?", str(prefix)):
        yield Violation(
            property="dnsPrefix",
            what="is no prefix",
            got=f"'{prefix}'",
            allowed="1 to 54 letters, digits and hyphens, starting and ending with a letter or digit",
            do="Correct it",
        )


@refusal(f"{AKS}, Long-term support: Premium tier")
def _support_without_tier(case: Case) -> Iterator[Violation]:
    if case.get("supportPlan") == "AKSLongTermSupport" and case.get("sku.tier") != "Premium":
        yield Violation(property="supportPlan", what="needs the Premium tier", do="Set sku.tier to Premium")


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
    _system_identity,
    _one_identity,
    _may_not_join_subnets,
    _may_not_give_kubelet_identity,
    _locked_out,
    _roles_without_directory,
    _workloads_without_issuer,
    _issuer_turned_off,
    _private_key_without_integration,
    _key_without_version,
    _key_out_of_reach,
    _closed_vault_as_public,
    _node_group_too_long,
    _dns_prefix,
    _support_without_tier,
    refusal(f"{AKS}, Customize cluster egress with outbound types")(
        one_of(
            f"{_NET}.outboundType",
            ("loadBalancer", "userDefinedRouting", "managedNATGateway", "userAssignedNATGateway", "none"),
        )
    ),
    refusal(f"{AKS}, CNI networking overview")(one_of(f"{_NET}.networkPlugin", ("azure", "kubenet", "none"))),
    refusal(f"{AKS}, Free, Standard, and Premium pricing tiers")(one_of("sku.tier", ("Free", "Standard", "Premium"))),
    refusal(f"{AKS}, Automatically upgrade a cluster: channels")(
        one_of("autoUpgradeProfile.upgradeChannel", ("none", "patch", "stable", "rapid", "node-image"))
    ),
    refusal(f"{AKS}, Automatically upgrade node images: channels")(
        one_of("autoUpgradeProfile.nodeOSUpgradeChannel", ("None", "Unmanaged", "NodeImage", "SecurityPatch"))
    ),
)
