"""A region's bucket of weights on Blob Storage: a storage account with one container."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_azure_native as azure

from components import names
from components.base import Place
from components.keys.azure import closed_account
from components.provider.azure import resource_group, resource_id
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
        account, _ = closed_account(
            self, name, place, group, "weights", bucket_name(place), args.key, public_network_access="Disabled"
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
