"""A region's key in Key Vault."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_azure_native as azure

from components import names
from components.base import Place, PlatformComponent
from components.keys.contract import Keys, KeysArgs
from components.provider.azure import grant, identity, resource_group, resource_id, tags

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


def key_user(
    component: PlatformComponent,
    name: str,
    place: Place,
    group: azure.resources.ResourceGroup,
    role: str,
    key: pulumi.Input[str],
) -> tuple[azure.managedidentity.UserAssignedIdentity, azure.authorization.RoleAssignment]:
    """Declare the identity a store encrypts as and its grant of the region's key, which must exist before the store.

    Args:
        component: who declares the store.
        name: logical name of the store.
        place: the region.
        group: where the identity lives.
        role: what the store is for; names the identity.
        key: the region's key.
    """
    user = identity(component, name, place, group, role)
    granted = grant(
        component,
        f"{name}-key",
        place,
        role="Key Vault Crypto Service Encryption User",
        scope=key_id(place, key),
        principal=user.principal_id,
    )
    return user, granted


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
                kty="RSA-HSM", key_size=3072, key_ops=["encrypt", "decrypt", "wrapKey", "unwrapKey"]
            ),
            tags=tags(place),
            opts=self.child(protect=place.protect),
        )
        self.key = key.key_uri_with_version
        self.register()
