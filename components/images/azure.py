"""A region's images on Azure Container Registry."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_azure_native as azure

from components import names
from components.base import Place
from components.images.contract import Images, ImagesArgs
from components.provider.azure import resource_group, resource_id, tags


def address(place: Place, image: str) -> str:
    """Return where the region's nodes pull an image."""
    return f"{names.container_registry(place.fleet, place.region, place.account)}.azurecr.io/{image}"


def registry_id(place: Place) -> str:
    """Return the resource id of a region's registry."""
    name = names.container_registry(place.fleet, place.region, place.account)
    return resource_id(place, "images", "Microsoft.ContainerRegistry/registries", name)


class AzureImages(Images):
    """One registry for all images: in one region, encrypted with the cloud's key, reached by private endpoints only.

    An identity that a registry is given at birth is no trusted service of a closed vault.
    https://github.com/MicrosoftDocs/azure-docs/issues/61015

    Geo-replication would copy everything to every replica, so a registry has none. Tags can move here; images are
    pulled by digest.
    """

    token: ClassVar[str] = "outlast:images:AzureImages"

    def __init__(self, name: str, args: ImagesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        group = resource_group(self, name, place, "images")
        registry = azure.containerregistry.Registry(
            name,
            resource_group_name=group.name,
            registry_name=names.container_registry(place.fleet, place.region, place.account),
            location=place.provider_region,
            sku=azure.containerregistry.SkuArgs(name="Premium"),
            zone_redundancy="Enabled",
            admin_user_enabled=False,
            anonymous_pull_enabled=False,
            data_endpoint_enabled=True,
            public_network_access="Disabled",
            network_rule_bypass_options="None",
            policies=azure.containerregistry.PoliciesArgs(
                export_policy=azure.containerregistry.ExportPolicyArgs(status="disabled")
            ),
            tags=tags(place),
            opts=self.child(protect=place.protect),
        )
        self.repositories = dict.fromkeys(args.images, registry.id)
        self.register()
