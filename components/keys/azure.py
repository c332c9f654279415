"""A region's key in Key Vault, and accounts that are encrypted with it."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_azure_native as azure

from components import names
from components.base import Place, PlatformComponent
from components.keys.contract import Keys, KeysArgs
from components.provider.azure import grant, identity, resource_group, resource_id, tags

_ROTATION = "P90D"
_RETENTION_DAYS = 90
"""The longest that a vault waits before what was deleted is gone; it can never be changed."""


def vault_id(place: Place) -> str:
    """Return the resource id of a region's vault."""
    return resource_id(
        place, "keys", "Microsoft.KeyVault/vaults", names.vault(place.fleet, place.region, place.account)
    )


def vault_uri(place: Place) -> str:
    """Return the address of a region's vault."""
    return f"https://{names.vault(place.fleet, place.region, place.account)}.vault.azure.net"


def key_id(place: Place, key: pulumi.Input[str]) -> pulumi.Output[str]:
    """Return the resource id of a region's key, once the key is known: who is granted its use waits for it."""
    plain = f"{vault_id(place)}/keys/{names.key()}"
    return pulumi.Output.from_input(key).apply(lambda _: plain)


def closed_account(
    component: PlatformComponent,
    name: str,
    place: Place,
    group: azure.resources.ResourceGroup,
    role: str,
    physical: str,
    key: pulumi.Input[str],
    **more: object,
) -> tuple[azure.storage.StorageAccount, azure.managedidentity.UserAssignedIdentity]:
    """Declare an account in the zones of one region, open to nobody but the cloud's own services, and who it acts as.

    It is encrypted with the region's key, whatever its version, so that it follows its rotation; a key of its own opens
    nothing. Public access is not off where services write logs: that would keep them out too.
    https://github.com/DFE-Digital/terraform-azurerm-container-apps-hosting/pull/388

    Args:
        component: who declares it.
        name: its logical name.
        place: the region.
        group: where it lives.
        role: what it is for; names the identity it encrypts as.
        physical: its name.
        key: the region's key, whose use must be granted before the account is born.
        more: further properties.
    """
    storage = azure.storage
    user = identity(component, name, place, group, role)
    granted = grant(
        component,
        f"{name}-key",
        place,
        role="Key Vault Crypto Service Encryption User",
        scope=key_id(place, key),
        principal=user.principal_id,
    )
    account = storage.StorageAccount(
        name,
        resource_group_name=group.name,
        account_name=physical,
        location=place.provider_region,
        kind="StorageV2",
        sku=storage.SkuArgs(name="Standard_ZRS"),
        allow_blob_public_access=False,
        allow_shared_key_access=False,
        allow_cross_tenant_replication=False,
        enable_https_traffic_only=True,
        minimum_tls_version="TLS1_2",
        network_rule_set=storage.NetworkRuleSetArgs(default_action=storage.DefaultAction.DENY, bypass="AzureServices"),
        identity=storage.IdentityArgs(type="UserAssigned", user_assigned_identities=[user.id]),
        encryption=_encryption(place, user.id),
        tags=tags(place),
        opts=component.child(depends_on=[granted], protect=place.protect),
        **more,
    )
    return account, user


def _encryption(place: Place, user: pulumi.Input[str]) -> azure.storage.EncryptionArgs:
    storage = azure.storage
    service = storage.EncryptionServiceArgs(enabled=True, key_type="Account")
    return storage.EncryptionArgs(
        key_source="Microsoft.Keyvault",
        key_vault_properties=storage.KeyVaultPropertiesArgs(key_name=names.key(), key_vault_uri=vault_uri(place)),
        encryption_identity=storage.EncryptionIdentityArgs(encryption_user_assigned_identity=user),
        services=storage.EncryptionServicesArgs(blob=service, file=service),
    )


class AzureKeys(Keys):
    """A vault with one key in hardware; only private endpoints and Azure's own services reach it.

    The vault's keys are also kept in the paired region of the same geography, as Azure does for every vault.
    """

    token: ClassVar[str] = "outlast:keys:AzureKeys"

    def __init__(self, name: str, args: KeysArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        group = resource_group(self, name, place, "keys")
        # A vault must name its directory, which no setting of ours does; every identity knows its own.
        directory = identity(self, name, place, group, "keys").tenant_id
        vault = azure.keyvault.Vault(
            name,
            resource_group_name=group.name,
            vault_name=names.vault(place.fleet, place.region, place.account),
            location=place.provider_region,
            properties=azure.keyvault.VaultPropertiesArgs(
                tenant_id=directory,
                sku=azure.keyvault.SkuArgs(family="A", name=azure.keyvault.SkuName.PREMIUM),
                enable_rbac_authorization=True,
                enable_soft_delete=True,
                enable_purge_protection=True,
                soft_delete_retention_in_days=_RETENTION_DAYS,
                public_network_access="Disabled",
                network_acls=azure.keyvault.NetworkRuleSetArgs(bypass="AzureServices", default_action="Deny"),
            ),
            tags=tags(place),
            opts=self.child(protect=place.protect),
        )
        key = azure.keyvault.Key(
            name,
            resource_group_name=group.name,
            vault_name=vault.name,
            key_name=names.key(),
            properties=azure.keyvault.KeyPropertiesArgs(
                kty="RSA-HSM",
                key_size=3072,
                key_ops=["encrypt", "decrypt", "wrapKey", "unwrapKey"],
                rotation_policy=_rotation(),
            ),
            tags=tags(place),
            opts=self.child(protect=place.protect),
        )
        self.key = key.key_uri_with_version
        self.register()


def _rotation() -> azure.keyvault.RotationPolicyArgs:
    """Make a new version from time to time; old ones never end, since what they locked is not locked anew."""
    action = azure.keyvault.LifetimeActionArgs(
        action=azure.keyvault.ActionArgs(type=azure.keyvault.KeyRotationPolicyActionType.ROTATE),
        trigger=azure.keyvault.TriggerArgs(time_after_create=_ROTATION),
    )
    return azure.keyvault.RotationPolicyArgs(lifetime_actions=[action])
