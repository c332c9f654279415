"""What Azure Kubernetes Service refuses of a cluster's identity, access, keys, names and tiers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simcloud.refusals import Violation
from simcloud.row import Case, one_of, refusal
from simcloud.rows.azure.arm import GUID, above, allowed, holder, principal_of
from simcloud.rows.azure.data import WRAPS_ALL, key_at
from simcloud.rows.azure.pools import AKS, node_subnets
from simcloud.state import Stored

_ROLES = f"{AKS}, Use managed identities"
_KMS = f"{AKS}, Add KMS etcd encryption"
_ACCESS = "apiServerAccessProfile"
_KEY = "securityProfile.azureKeyVaultKms"


def _identities(case: Case) -> list[object]:
    return [value for _, value in case.each("identity.userAssignedIdentities.*")]


@refusal(f"{_ROLES}: bring your own network, kubelet identity or key")
def _system_identity(case: Case) -> Iterator[Violation]:
    kind = "" if case.unsure("identity.type") else str(case.get("identity.type", "SystemAssigned"))
    wanted = {
        f"{_ACCESS}.subnetId": case.has(f"{_ACCESS}.subnetId"),
        "identityProfile": case.has("identityProfile"),
        f"{_KEY}.keyId": case.has(f"{_KEY}.keyId"),
    }
    for where, asked in wanted.items():
        if asked and kind not in ("", "UserAssigned"):
            yield Violation(
                property=where, what="needs a user-assigned identity", got=kind, do="Set identity.type to UserAssigned"
            )


@refusal(f"{_ROLES}: one identity of the control plane")
def _one_identity(case: Case) -> Iterator[Violation]:
    known = not case.unsure("identity.userAssignedIdentities")
    if known and case.get("identity.type") == "UserAssigned" and len(_identities(case)) != 1:
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
    for where, value in (*node_subnets(case), *own):
        yield from _lacking(case, holder(case.clouds, value), ("Network Contributor",), where)


@refusal(f"{_ROLES}: Managed Identity Operator on the kubelet's identity", phase="birth")
def _may_not_give_kubelet_identity(case: Case) -> Iterator[Violation]:
    where = "identityProfile.kubeletidentity.resourceId"
    for _, value in case.each(where):
        yield from _lacking(case, holder(case.clouds, str(value)), ("Managed Identity Operator",), where)


@refusal(f"{AKS}, Manage local accounts with AKS-managed Microsoft Entra integration")
def _locked_out(case: Case) -> Iterator[Violation]:
    known = not case.unsure("aadProfile.managed")
    if known and case.get("disableLocalAccounts") is True and case.get("aadProfile.managed") is not True:
        yield Violation(
            property="disableLocalAccounts", what="leaves nobody who could sign in", do="Set aadProfile.managed to true"
        )


@refusal(f"{AKS}, Use Azure role-based access control for Kubernetes authorization")
def _roles_without_directory(case: Case) -> Iterator[Violation]:
    known = not case.unsure("aadProfile.managed")
    if known and case.get("aadProfile.enableAzureRBAC") is True and case.get("aadProfile.managed") is not True:
        yield Violation(
            property="aadProfile.enableAzureRBAC", what="needs managed", do="Set aadProfile.managed to true"
        )
    for where, value in case.each("aadProfile.adminGroupObjectIDs.*"):
        if not re.fullmatch(GUID, str(value)):
            yield Violation(
                property=where, what="is no group of the directory", got=f"'{value}'", do="Write its object id"
            )


@refusal(f"{AKS}, Deploy and configure workload identity: the issuer comes first")
def _workloads_without_issuer(case: Case) -> Iterator[Violation]:
    wanted = case.get("securityProfile.workloadIdentity.enabled") is True
    if wanted and case.get("oidcIssuerProfile.enabled") is not True and not case.unsure("oidcIssuerProfile.enabled"):
        yield Violation(
            property="securityProfile.workloadIdentity",
            what="needs the issuer",
            do="Set oidcIssuerProfile.enabled to true",
        )


@refusal(
    f"{AKS}, Create an OpenID Connect provider: it is not turned off again", phase="plan", watch=("oidcIssuerProfile",)
)
def _issuer_turned_off(case: Case) -> Iterator[Violation]:
    before = ((case.old or {}).get("oidcIssuerProfile") or {}).get("enabled")
    if before is True and case.get("oidcIssuerProfile.enabled") is not True:
        yield Violation(property="oidcIssuerProfile.enabled", what="stays on", do="Leave it true")


@refusal(f"{_KMS}: private key vaults")
def _private_key_without_integration(case: Case) -> Iterator[Violation]:
    if case.get(f"{_KEY}.keyVaultNetworkAccess") != "Private":
        return
    if not case.has(f"{_KEY}.keyVaultResourceId"):
        yield Violation(property=f"{_KEY}.keyVaultResourceId", what="is needed for a private vault", do="Give its id")
    where = f"{_ACCESS}.enableVnetIntegration"
    if case.get(where) is not True and not case.unsure(where):
        yield Violation(
            property=f"{_KEY}.keyVaultNetworkAccess",
            what="a private vault is reached through API Server VNet Integration only",
            do="Set enableVnetIntegration to true",
        )


@refusal(f"{_KMS}: key identifiers carry a version")
def _key_without_version(case: Case) -> Iterator[Violation]:
    value = case.get(f"{_KEY}.keyId")
    if re.fullmatch(r"https://[^/]+/keys/[^/]+/?", str(value)):
        yield Violation(
            property=f"{_KEY}.keyId",
            what="is not the identifier of a version",
            got=f"'{value}'",
            do="Use keyUriWithVersion",
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
            property="nodeResourceGroup",
            what="is too long",
            got=f"'{name}', {len(name)} characters",
            allowed="80",
            do="Name it",
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
    refusal(f"{AKS}, Free, Standard, and Premium pricing tiers")(one_of("sku.tier", ("Free", "Standard", "Premium"))),
    refusal(f"{AKS}, Automatically upgrade a cluster: channels")(
        one_of("autoUpgradeProfile.upgradeChannel", ("none", "patch", "stable", "rapid", "node-image"))
    ),
    refusal(f"{AKS}, Automatically upgrade node images: channels")(
        one_of("autoUpgradeProfile.nodeOSUpgradeChannel", ("None", "Unmanaged", "NodeImage", "SecurityPatch"))
    ),
)
