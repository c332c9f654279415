"""Azure stores: storage accounts, their blob services, containers."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.refusals import Violation
from simcloud.row import Born, Case, Reference, Row, between, one_of, refusal
from simcloud.rows.azure.arm import IDENTITY, above, allowed, arm_id, arm_name, holder, principal, said
from simcloud.rows.azure.private import ACCOUNT
from simcloud.state import Stored

SERVICE = "azure-native:storage:BlobServiceProperties"
CONTAINER = "azure-native:storage:BlobContainer"

_ACCOUNT_ID = arm_id("Microsoft.Storage/storageAccounts", "accountName")
_SERVICE_KIND = "Microsoft.Storage/storageAccounts/blobServices"
_CONTAINER_ID = f"{_ACCOUNT_ID}/blobServices/default/containers/{{containerName}}"

_NAMES = "Azure Resource Manager documentation, Naming rules and restrictions: Microsoft.Storage"
_DOCS = "Azure Storage documentation"
_REDUNDANCY = f"{_DOCS}, Azure Storage redundancy"

_UNPAIRED = frozenset(
    {
        "austriaeast",
        "belgiumcentral",
        "chilecentral",
        "denmarkeast",
        "indonesiacentral",
        "israelcentral",
        "italynorth",
        "malaysiawest",
        "mexicocentral",
        "newzealandnorth",
        "polandcentral",
        "qatarcentral",
        "spaincentral",
    }
)
"""Source: Azure reliability documentation, Azure region pairs and nonpaired regions."""

_ENCRYPTS = (
    "Key Vault Crypto Service Encryption User",
    "Key Vault Crypto User",
    "Key Vault Crypto Officer",
    "Key Vault Administrator",
)
_SKUS = (
    "Standard_LRS",
    "Standard_ZRS",
    "Standard_GRS",
    "Standard_RAGRS",
    "Standard_GZRS",
    "Standard_RAGZRS",
    "Premium_LRS",
    "Premium_ZRS",
)


@refusal(f"{_REDUNDANCY}: regions without a pair")
def _copies_without_pair(case: Case) -> Iterator[Violation]:
    if "G" in str(case.get("sku.name", "")).partition("_")[2] and case.place.region in _UNPAIRED:
        yield Violation(
            property="sku.name",
            what=f"{case.place.region} has no region to copy to",
            got=str(case.get("sku.name")),
            do="Use Standard_ZRS",
        )


@refusal(f"{_REDUNDANCY}: regions with availability zones", phase="plan", watch=("sku",))
def _zones_without_zones(case: Case) -> Iterator[Violation]:
    if "ZRS" in str(case.get("sku.name", "")) and not case.world.zones("azure", case.place.region):
        yield Violation(
            property="sku.name",
            what=f"{case.place.region} has no zones",
            got=str(case.get("sku.name")),
            do="Use Standard_LRS",
        )


@refusal(f"{_DOCS}, Storage account overview: kinds and redundancy")
def _kind_and_sku(case: Case) -> Iterator[Violation]:
    kind, sku = str(case.get("kind", "")), str(case.get("sku.name", ""))
    fits = kind not in ("BlockBlobStorage", "FileStorage") or sku.startswith("Premium")
    if kind and sku and (not fits or (kind == "StorageV2" and sku == "Premium_ZRS")):
        yield Violation(property="sku.name", what=f"does not go with kind {kind}", got=sku, do="Use a Standard sku")


@refusal(f"{_DOCS}, Customer-managed keys for encryption")
def _key_without_source(case: Case) -> Iterator[Violation]:
    managed = case.get("encryption.keySource") == "Microsoft.Keyvault"
    known = case.has("encryption") and not case.unsure("encryption.keySource", "encryption.keyVaultProperties")
    if known and managed != case.has("encryption.keyVaultProperties"):
        yield Violation(
            property="encryption", what="keySource and keyVaultProperties go together", do="Set both, or neither"
        )


def _key(case: Case) -> Stored | None:
    uri, name = (case.get(f"encryption.keyVaultProperties.{key}") for key in ("keyVaultUri", "keyName"))
    return case.resolve(f"{str(uri).rstrip('/')}/keys/{name}", "azure-native:keyvault:Key") if uri and name else None


@refusal(f"{_DOCS}, Customer-managed keys for encryption: the key exists", phase="birth")
def _key_missing(case: Case) -> Iterator[Violation]:
    if case.has("encryption.keyVaultProperties.keyName") and _key(case) is None:
        yield Violation(property="encryption.keyVaultProperties", what="there is no such key", do="Create it first")


@refusal(f"{_DOCS}, Customer-managed keys for encryption: permissions of the identity", phase="birth")
def _key_out_of_reach(case: Case) -> Iterator[Violation]:
    where, key = "encryption.encryptionIdentity.encryptionUserAssignedIdentity", _key(case)
    found = case.target(where, IDENTITY)
    if key and found and not allowed(case, principal(found), key.id, _ENCRYPTS):
        yield Violation(
            property=where,
            what=f"identity {found.name} may not use key {key.name}",
            got="no role assignment",
            do=f"Give it {_ENCRYPTS[0]} on the key first",
        )


def purgeable(case: Case, key: Stored | None, where: str) -> Iterator[Violation]:
    """Refuse a key whose vault can lose it for good."""
    vault = holder(case.clouds, above(key.id)) if key else None
    if vault and (vault.inputs.get("properties") or {}).get("enablePurgeProtection") is not True:
        do = "Set enablePurgeProtection on it first"
        yield Violation(property=where, what="the key's vault can be purged", got=vault.name, do=do)


@refusal(f"{_DOCS}, Customer-managed keys for encryption: purge protection of the vault", phase="birth")
def _vault_can_be_purged(case: Case) -> Iterator[Violation]:
    yield from purgeable(case, _key(case), "encryption.keyVaultProperties")


@refusal(f"{_DOCS}, Point-in-time restore for block blobs: prerequisites")
def _restore_without_history(case: Case) -> Iterator[Violation]:
    needed = ("isVersioningEnabled", "changeFeed.enabled", "deleteRetentionPolicy.enabled")
    missing = [key for key in needed if case.get(key) is not True]
    if case.get("restorePolicy.enabled") is True and missing:
        yield Violation(
            property="restorePolicy", what="needs more than is on", got=", ".join(missing), do="Turn them on"
        )


@refusal(f"{_DOCS}, Soft delete for blobs: retention")
def _retention_without_days(case: Case) -> Iterator[Violation]:
    for key in ("deleteRetentionPolicy", "containerDeleteRetentionPolicy"):
        days = case.get(f"{key}.days")
        known = not case.unsure(f"{key}.days")
        if known and case.get(f"{key}.enabled") is True and not (isinstance(days, int) and 1 <= days <= 365):
            yield Violation(
                property=f"{key}.days", what="is out of range", got=str(days), allowed="1 to 365", do="Correct it"
            )


@refusal(f"{_DOCS}, Naming containers, blobs, and metadata")
def _hyphens_in_a_row(case: Case) -> Iterator[Violation]:
    name = str(case.get("containerName", ""))
    if "--" in name:
        yield Violation(property="containerName", what="has two hyphens in a row", got=name, do="Use one")


@refusal(f"{_DOCS}, Prevent anonymous read access: PublicAccessNotPermitted", phase="apply", watch=("publicAccess",))
def _public_in_private_account(case: Case) -> Iterator[Violation]:
    owner = (case.get("resourceGroupName"), case.get("accountName"))
    for item in case.clouds.every("azure", ACCOUNT, case.place.account):
        same = (item.inputs.get("resourceGroupName"), item.inputs.get("accountName")) == owner
        if same and case.get("publicAccess", "None") != "None" and item.inputs.get("allowBlobPublicAccess") is not True:
            yield Violation(
                property="publicAccess", what=f"account {item.name} does not permit it", do="Set publicAccess to None"
            )


def _endpoints(born: Born) -> dict[str, str]:
    name = born.inputs["accountName"]
    return {kind: f"https://{name}.{kind}.core.windows.net/" for kind in ("blob", "dfs", "file", "queue", "table")}


ROWS = (
    Row(
        type=ACCOUNT,
        id=_ACCOUNT_ID,
        name=arm_name("accountName", r"[a-z0-9]+", 24, _NAMES, "lower-case letters and digits", shortest=3),
        outputs=said(
            "Microsoft.Storage/storageAccounts",
            "accountName",
            provisioningState="Succeeded",
            primaryEndpoints=_endpoints,
            primaryLocation="{region}",
        ),
        immutable=frozenset({"isHnsEnabled"}),
        references=(
            Reference(path="identity.userAssignedIdentities.*", types=(IDENTITY,), anywhere=True),
            Reference(
                path="encryption.encryptionIdentity.encryptionUserAssignedIdentity", types=(IDENTITY,), anywhere=True
            ),
        ),
        unique=("{accountName}",),
        refusals=(
            _copies_without_pair,
            _zones_without_zones,
            _kind_and_sku,
            _key_without_source,
            _key_missing,
            _key_out_of_reach,
            _vault_can_be_purged,
            refusal(f"{_REDUNDANCY}: SKU names")(one_of("sku.name", _SKUS)),
            refusal(f"{_DOCS}, Storage account overview: kinds")(
                one_of("kind", ("StorageV2", "Storage", "BlobStorage", "BlockBlobStorage", "FileStorage"))
            ),
            refusal(f"{_DOCS}, Enforce a minimum required version of TLS: 1.0 and 1.1 are retired")(
                one_of("minimumTlsVersion", ("TLS1_2", "TLS1_3"))
            ),
            refusal(f"{_DOCS}, Set the default public network access rule")(
                one_of("publicNetworkAccess", ("Enabled", "Disabled", "SecuredByPerimeter"))
            ),
        ),
    ),
    Row(
        type=SERVICE,
        id=arm_id(_SERVICE_KIND, "accountName", "blobServicesName"),
        place="accountName",
        outputs={"name": "default", "type": _SERVICE_KIND},
        defaults={"blobServicesName": "default"},
        immutable=frozenset({"accountName", "blobServicesName"}),
        unique=(arm_id(_SERVICE_KIND, "accountName", "blobServicesName"),),
        refusals=(
            _restore_without_history,
            _retention_without_days,
            refusal("Azure Storage REST API, Blob Services - Set Service Properties: the name is default")(
                one_of("blobServicesName", ("default",))
            ),
            refusal(f"{_DOCS}, Change feed: retention")(between("changeFeed.retentionInDays", 1, 146000, "days")),
        ),
    ),
    Row(
        type=CONTAINER,
        id=_CONTAINER_ID,
        name=arm_name(
            "containerName",
            r"[a-z0-9]([a-z0-9-]*[a-z0-9])?|\$root|\$web",
            63,
            f"{_DOCS}, Naming containers, blobs, and metadata",
            "lower-case letters, digits and hyphens",
            shortest=3,
        ),
        place="accountName",
        outputs=said(f"{_SERVICE_KIND}/containers", "containerName"),
        immutable=frozenset({"accountName"}),
        unique=(_CONTAINER_ID,),
        refusals=(
            _hyphens_in_a_row,
            _public_in_private_account,
            refusal("Azure Storage REST API, Blob Containers - Create: publicAccess")(
                one_of("publicAccess", ("None", "Blob", "Container"))
            ),
        ),
    ),
)
