"""Azure keys and images: key vaults with their keys, container registries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from simcloud.refusals import Violation
from simcloud.row import Born, Case, Row, WorldwideName, between, one_of, refusal
from simcloud.rows.azure import storage
from simcloud.rows.azure.arm import (
    GUID,
    IDENTITY,
    above,
    allowed,
    arm_id,
    arm_name,
    copied,
    fixed,
    holder,
    principal,
    said,
)
from simcloud.rows.azure.private import REGISTRY, VAULT
from simcloud.state import Stored

KEY = "azure-native:keyvault:Key"

_VAULT_ID = arm_id("Microsoft.KeyVault/vaults", "vaultName")
_KEY_ID = arm_id("Microsoft.KeyVault/vaults/keys", "vaultName", "keyName")
_REGISTRY_ID = arm_id("Microsoft.ContainerRegistry/registries", "registryName")

_NAMES = "Azure Resource Manager documentation, Naming rules and restrictions"
_VAULTS = "Azure Key Vault documentation"
_SOFT = f"{_VAULTS}, Soft-delete overview: the name of a deleted vault or key is taken until it is purged or recovered"
_IMAGES = "Azure Container Registry documentation"
_TIERS = f"{_IMAGES}, Service tiers and limits"

WRAPS = ("Key Vault Crypto Service Encryption User", "Key Vault Crypto User", "Key Vault Crypto Officer")
WRAPS_ALL = (*WRAPS, "Key Vault Administrator")
"""Roles that may wrap and unwrap with a key. Source: Azure Key Vault documentation, Provide access with Azure RBAC."""


@refusal("Azure Key Vault REST API, Vaults - Create Or Update: enablePurgeProtection cannot be false")
def _purge_protection_off(case: Case) -> Iterator[Violation]:
    if case.get("properties.enablePurgeProtection") is False:
        yield Violation(
            property="properties.enablePurgeProtection", what="is never false", do="Set it to true, or leave it out"
        )


@refusal(f"{_VAULTS}, Soft-delete overview: purge protection is irreversible", phase="plan", watch=("properties",))
def _purge_protection_dropped(case: Case) -> Iterator[Violation]:
    before = ((case.old or {}).get("properties") or {}).get("enablePurgeProtection")
    if before is True and not case.has("properties.enablePurgeProtection"):
        yield Violation(property="properties.enablePurgeProtection", what="cannot be taken back", do="Leave it true")


@refusal(f"{_VAULTS}, Soft-delete will be enabled on all key vaults")
def _soft_delete_off(case: Case) -> Iterator[Violation]:
    if case.get("properties.enableSoftDelete") is False:
        yield Violation(
            property="properties.enableSoftDelete", what="cannot be off", do="Set it to true, or leave it out"
        )


@refusal(f"{_VAULTS}, Soft-delete overview: the interval cannot change", phase="plan", watch=("properties",))
def _retention_changed(case: Case) -> Iterator[Violation]:
    before = ((case.old or {}).get("properties") or {}).get("softDeleteRetentionInDays", 90)
    now = case.get("properties.softDeleteRetentionInDays", 90)
    if case.old is not None and before != now:
        yield Violation(
            property="properties.softDeleteRetentionInDays",
            what="is chosen when the vault is made",
            got=f"{before} to {now}",
            do="Leave it",
        )


@refusal("Azure Key Vault REST API, Vaults - Create Or Update: tenantId")
def _tenant_malformed(case: Case) -> Iterator[Violation]:
    tenant = case.get("properties.tenantId")
    if tenant is not None and not re.fullmatch(GUID, str(tenant)):
        yield Violation(property="properties.tenantId", what="is no tenant", got=f"'{tenant}'", do="Write its GUID")


@refusal(f"{_NAMES}: Microsoft.KeyVault")
def _hyphens_in_a_row(case: Case) -> Iterator[Violation]:
    if "--" in str(case.get("vaultName", "")):
        yield Violation(
            property="vaultName", what="has two hyphens in a row", got=str(case.get("vaultName")), do="Use one"
        )


@refusal(f"{_VAULTS}, About keys: key types and protection methods", phase="apply")
def _hsm_in_standard_vault(case: Case) -> Iterator[Violation]:
    vault = holder(case.clouds, above(_path(case, _KEY_ID)))
    sku = ((vault.inputs.get("properties") or {}).get("sku") or {}).get("name") if vault else "premium"
    if str(case.get("properties.kty", "")).endswith("-HSM") and str(sku).lower() != "premium":
        yield Violation(
            property="properties.kty", what="needs a premium vault", got=str(sku), do="Make the vault premium"
        )


def _path(case: Case, template: str) -> str:
    words = {key: str(value) for key, value in case.inputs.items() if isinstance(value, str)}
    return template.format_map({"account": case.place.account, **words})


@refusal(f"{_VAULTS}, About keys: sizes and curves")
def _size_of_another_type(case: Case) -> Iterator[Violation]:
    kind, size, curve = (case.get(f"properties.{key}") for key in ("kty", "keySize", "curveName"))
    if str(kind).startswith("RSA") and (curve is not None or size not in (None, 2048, 3072, 4096)):
        yield Violation(
            property="properties",
            what="is no RSA key",
            got=str(curve or size),
            allowed="2048, 3072, 4096",
            do="Correct it",
        )
    if str(kind).startswith("EC") and (size is not None or curve not in (None, "P-256", "P-256K", "P-384", "P-521")):
        yield Violation(
            property="properties",
            what="is no EC key",
            got=str(size or curve),
            allowed="P-256 to P-521",
            do="Use curveName",
        )


@refusal("Azure Key Vault REST API, Keys - Create If Not Exist: existing keys are not updated", phase="plan")
def _key_fixed(case: Case) -> Iterator[Violation]:
    yield from fixed(case, ("properties",), "a key that exists")


@refusal(f"{_VAULTS}, Configure cryptographic key auto-rotation")
def _rotation_malformed(case: Case) -> Iterator[Violation]:
    where = "properties.rotationPolicy.lifetimeActions.*"
    for path, action in case.each(f"{where}.action.type"):
        after = f"{path.removesuffix('action.type')}trigger.timeAfterCreate"
        if action not in ("rotate", "notify") or (action == "notify" and case.has(after)):
            yield Violation(
                property=path,
                what="is no action that a key takes then",
                got=f"'{action}'",
                allowed="rotate; notify, before expiry",
                do="Correct it",
            )
    for path, after in case.each(f"{where}.trigger.timeAfterCreate"):
        if not re.fullmatch(r"P\d+[DMY]", str(after)):
            yield Violation(property=path, what="is no duration", got=f"'{after}'", do="Write for example P90D")


def _uri(born: Born) -> str:
    return f"https://{born.inputs['vaultName']}.vault.azure.net/keys/{born.inputs['keyName']}"


def _versioned(born: Born) -> str:
    return f"{_uri(born)}/{born.hash[:32]}"


def key_at(case: Case, uri: object) -> Stored | None:
    """The key behind a key identifier, with or without a version."""
    return case.resolve(str(uri), KEY)


def may_wrap(case: Case, identity: object, key: Stored) -> bool:
    """Tell whether an identity may use a key; one that is not simulated may."""
    found = case.resolve(str(identity), IDENTITY)
    return found is None or allowed(case, principal(found), key.id, WRAPS_ALL)


@refusal(_TIERS)
def _needs_premium(case: Case) -> Iterator[Violation]:
    wanted = {
        "publicNetworkAccess": case.get("publicNetworkAccess") == "Disabled",
        "dataEndpointEnabled": case.get("dataEndpointEnabled") is True,
        "encryption": case.get("encryption.status") == "enabled",
        "networkRuleSet": case.get("networkRuleSet.defaultAction") == "Deny",
        "policies.retentionPolicy": case.get("policies.retentionPolicy.status") == "enabled",
        "policies.exportPolicy": case.get("policies.exportPolicy.status") == "disabled",
    }
    for key, asked in wanted.items():
        if asked and case.get("sku.name") in ("Basic", "Standard"):
            yield Violation(
                property=key, what="needs the Premium tier", got=str(case.get("sku.name")), do="Set sku to Premium"
            )


@refusal(f"{_IMAGES}, Disable export of artifacts from a network-restricted registry")
def _export_of_open_registry(case: Case) -> Iterator[Violation]:
    is_open = case.get("publicNetworkAccess") != "Disabled" and not case.unsure("publicNetworkAccess")
    if is_open and case.get("policies.exportPolicy.status") == "disabled":
        yield Violation(
            property="policies.exportPolicy",
            what="is disabled only where public network access is",
            do="Set publicNetworkAccess to Disabled",
        )


@refusal(f"{_IMAGES}, Customer-managed keys: a user-assigned identity")
def _key_without_identity(case: Case) -> Iterator[Violation]:
    unkeyed = not case.has("encryption.keyVaultProperties.keyIdentifier")
    nobody = "UserAssigned" not in str(case.get("identity.type")) and not case.unsure("identity.type")
    if case.get("encryption.status") == "enabled" and (unkeyed or nobody):
        yield Violation(
            property="encryption", what="needs a key, and an identity that may use it", do="Give both, user-assigned"
        )


@refusal(f"{_IMAGES}, Customer-managed keys: chosen when the registry is made", phase="plan", watch=("encryption",))
def _encryption_fixed(case: Case) -> Iterator[Violation]:
    before = ((case.old or {}).get("encryption") or {}).get("status", "disabled")
    if case.old is not None and before != case.get("encryption.status", "disabled"):
        yield Violation(property="encryption.status", what="cannot change", do="Make another registry")


@refusal(f"{_IMAGES}, Enable a customer-managed key: access to the key", phase="birth")
def _key_out_of_reach(case: Case) -> Iterator[Violation]:
    key = key_at(case, case.get("encryption.keyVaultProperties.keyIdentifier"))
    given: Any = case.get("identity.userAssignedIdentities", {})
    for identity in given if key else ():
        if key and not may_wrap(case, identity, key):
            yield Violation(
                property="encryption.keyVaultProperties",
                what=f"the registry's identity may not use key {key.name}",
                got=f"no role assignment for {identity}",
                do=f"Give it {WRAPS[0]} on the key first",
            )


@refusal(f"{_IMAGES}, Enable a customer-managed key: soft delete and purge protection of the vault", phase="birth")
def _vault_can_be_purged(case: Case) -> Iterator[Violation]:
    key = key_at(case, case.get("encryption.keyVaultProperties.keyIdentifier"))
    yield from storage.purgeable(case, key, "encryption.keyVaultProperties")


@refusal(
    "MicrosoftDocs/azure-docs issue 61015: Client address is not authorized and caller is not a trusted service",
    phase="birth",
)
def _key_in_closed_vault(case: Case) -> Iterator[Violation]:
    key = key_at(case, case.get("encryption.keyVaultProperties.keyIdentifier"))
    vault = holder(case.clouds, above(key.id)) if key else None
    said_of_it = (vault.inputs.get("properties") or {}) if vault else {}
    closed = said_of_it.get("publicNetworkAccess") == "Disabled"
    closed = closed or (said_of_it.get("networkAcls") or {}).get("defaultAction") == "Deny"
    if vault and closed and case.has("identity.userAssignedIdentities"):
        yield Violation(
            property="encryption.keyVaultProperties",
            what="a registry's user-assigned identity is no trusted service of a closed vault",
            got=vault.name,
            do="Leave encryption to the cloud's own key, or open the vault while the registry is made",
        )


def _data_hosts(born: Born) -> list[str]:
    return [f"{str(born.inputs['registryName']).lower()}.{born.place.region}.data.azurecr.io"]


ROWS = (
    Row(
        type=VAULT,
        id=_VAULT_ID,
        name=arm_name(
            "vaultName",
            r"[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?",
            24,
            f"{_NAMES}: Microsoft.KeyVault",
            "letters, digits and hyphens, starting with a letter, ending with a letter or digit",
            shortest=3,
        ),
        outputs={
            **said("Microsoft.KeyVault/vaults", "vaultName"),
            "properties": {"vaultUri": lambda born: f"https://{born.inputs['vaultName']}.vault.azure.net/"},
        },
        unique=(WorldwideName("vaultName"),),
        kept=True,
        kept_source=_SOFT,
        refusals=(
            _hyphens_in_a_row,
            _tenant_malformed,
            _purge_protection_off,
            _purge_protection_dropped,
            _soft_delete_off,
            _retention_changed,
            refusal(f"{_VAULTS}, Soft-delete overview: retention")(
                between("properties.softDeleteRetentionInDays", 7, 90, "days")
            ),
            refusal("pulumi-azure-native 3.29.0, keyvault.SkuName")(
                one_of("properties.sku.name", ("standard", "premium"))
            ),
        ),
    ),
    Row(
        type=KEY,
        id=_KEY_ID,
        name=arm_name(
            "keyName",
            r"[A-Za-z0-9-]+",
            127,
            f"{_NAMES}: Microsoft.KeyVault",
            "letters, digits and hyphens",
            made=copied,
        ),
        place="vaultName",
        outputs=said("Microsoft.KeyVault/vaults/keys", "keyName", keyUri=_uri, keyUriWithVersion=_versioned),
        aliases=(lambda outputs: str(outputs["keyUri"]), lambda outputs: str(outputs["keyUriWithVersion"])),
        immutable=frozenset({"vaultName"}),
        unique=(_KEY_ID,),
        kept=True,
        kept_source=_SOFT,
        refusals=(
            _size_of_another_type,
            _hsm_in_standard_vault,
            _key_fixed,
            _rotation_malformed,
            refusal(f"{_VAULTS}, About keys: key types")(one_of("properties.kty", ("RSA", "RSA-HSM", "EC", "EC-HSM"))),
            refusal(f"{_VAULTS}, About keys: key operations")(
                one_of(
                    "properties.keyOps.*",
                    ("encrypt", "decrypt", "sign", "verify", "wrapKey", "unwrapKey", "import", "release"),
                )
            ),
        ),
    ),
    Row(
        type=REGISTRY,
        id=_REGISTRY_ID,
        name=arm_name(
            "registryName",
            r"[A-Za-z0-9]+",
            50,
            f"{_NAMES}: Microsoft.ContainerRegistry",
            "letters and digits",
            shortest=5,
        ),
        outputs=said(
            "Microsoft.ContainerRegistry/registries",
            "registryName",
            provisioningState="Succeeded",
            loginServer=lambda born: f"{str(born.inputs['registryName']).lower()}.azurecr.io",
            dataEndpointHostNames=_data_hosts,
        ),
        unique=(WorldwideName("registryName"),),
        refusals=(
            _needs_premium,
            _export_of_open_registry,
            _key_without_identity,
            _encryption_fixed,
            _key_out_of_reach,
            _vault_can_be_purged,
            _key_in_closed_vault,
            refusal("pulumi-azure-native 3.29.0, containerregistry.SkuName")(
                one_of("sku.name", ("Basic", "Standard", "Premium"))
            ),
            refusal(f"{_IMAGES}, Registries - Create: networkRuleBypassOptions")(
                one_of("networkRuleBypassOptions", ("AzureServices", "None"))
            ),
            refusal(f"{_IMAGES}, Registries - Create: publicNetworkAccess")(
                one_of("publicNetworkAccess", ("Enabled", "Disabled"))
            ),
        ),
    ),
    *storage.ROWS,
)
