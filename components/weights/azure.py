"""A region's bucket of weights on Blob Storage: a storage account with one container."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_azure_native as azure

from components import names
from components.base import Place
from components.keys.azure import key_user, vault_uri
from components.provider.azure import resource_group, resource_id, tags
from components.weights.contract import Weights, WeightsArgs

CONTAINER = "weights"
_RETENTION_DAYS = 7


def bucket_name(place: Place) -> str:
    """Return the name of a region's storage account; its container has the same name everywhere."""
    return names.storage_account(place.fleet, place.region, "weights", place.account)


def account_id(place: Place) -> str:
    """Return the resource id of a region's storage account."""
    return resource_id(place, "weights", "Microsoft.Storage/storageAccounts", bucket_name(place))


class AzureWeights(Weights):
    """A versioned account over the zones of one region, encrypted with the region's key, closed to the public.

    Redundancy ends at the region: the paired region of a geo-redundant account may lie under another law.
    """

    token: ClassVar[str] = "outlast:weights:AzureWeights"

    def __init__(self, name: str, args: WeightsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        group = resource_group(self, name, place, "weights")
        reader, granted = key_user(self, name, place, group, "weights", args.key)
        account = closed_account(
            name,
            place,
            group,
            bucket_name(place),
            public_network_access="Disabled",
            identity=azure.storage.IdentityArgs(type="UserAssigned", user_assigned_identities=[reader.id]),
            encryption=_encryption(place, reader.id),
            opts=self.child(depends_on=[granted], protect=place.protect),
        )
        azure.storage.BlobServiceProperties(
            name,
            resource_group_name=group.name,
            account_name=account.name,
            blob_services_name="default",
            is_versioning_enabled=True,
            delete_retention_policy=azure.storage.DeleteRetentionPolicyArgs(enabled=True, days=_RETENTION_DAYS),
            container_delete_retention_policy=azure.storage.DeleteRetentionPolicyArgs(
                enabled=True, days=_RETENTION_DAYS
            ),
            opts=self.child(protect=place.protect),
        )
        azure.storage.BlobContainer(
            name,
            resource_group_name=group.name,
            account_name=account.name,
            container_name=CONTAINER,
            public_access=azure.storage.PublicAccess.NONE,
            opts=self.child(protect=place.protect),
        )
        self.bucket = account.name
        self.register()


def closed_account(
    name: str, place: Place, group: azure.resources.ResourceGroup, physical: str, **more: object
) -> azure.storage.StorageAccount:
    """Declare an account in the zones of one region, opened by no key and to nobody but the cloud's own services."""
    return azure.storage.StorageAccount(
        name,
        resource_group_name=group.name,
        account_name=physical,
        location=place.provider_region,
        kind="StorageV2",
        sku=azure.storage.SkuArgs(name="Standard_ZRS"),
        allow_blob_public_access=False,
        allow_shared_key_access=False,
        allow_cross_tenant_replication=False,
        enable_https_traffic_only=True,
        minimum_tls_version="TLS1_2",
        network_rule_set=azure.storage.NetworkRuleSetArgs(
            default_action=azure.storage.DefaultAction.DENY, bypass="AzureServices"
        ),
        tags=tags(place),
        **more,
    )


def _encryption(place: Place, reader: pulumi.Input[str]) -> azure.storage.EncryptionArgs:
    """Encrypt with the region's key, whatever its version, so that the account follows its rotation."""
    return azure.storage.EncryptionArgs(
        key_source="Microsoft.Keyvault",
        key_vault_properties=azure.storage.KeyVaultPropertiesArgs(key_name=names.key(), key_vault_uri=vault_uri(place)),
        encryption_identity=azure.storage.EncryptionIdentityArgs(encryption_user_assigned_identity=reader),
        services=azure.storage.EncryptionServicesArgs(
            blob=azure.storage.EncryptionServiceArgs(enabled=True, key_type="Account"),
            file=azure.storage.EncryptionServiceArgs(enabled=True, key_type="Account"),
        ),
    )
