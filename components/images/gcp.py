"""A region's images on Artifact Registry."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.base import Place
from components.images.contract import Images, ImagesArgs


def address(place: Place, image: str) -> str:
    """Return where the region's nodes pull an image."""
    registry = names.registry(place.fleet, place.region)
    return f"{place.provider_region}-docker.pkg.dev/{place.account}/{registry}/{image}"


class GcpImages(Images):
    """One repository for all images: tags cannot move, encrypted with the region's key."""

    token: ClassVar[str] = "outlast:images:GcpImages"

    def __init__(self, name: str, args: ImagesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        repository = gcp.artifactregistry.Repository(
            name,
            project=place.account,
            location=place.provider_region,
            repository_id=names.registry(place.fleet, place.region),
            format="DOCKER",
            mode="STANDARD_REPOSITORY",
            docker_config=gcp.artifactregistry.RepositoryDockerConfigArgs(immutable_tags=True),
            kms_key_name=args.key,
            deletion_policy="PREVENT" if place.protect else "DELETE",
            labels=names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction),
            opts=self.child(protect=place.protect),
        )
        self.repositories = dict.fromkeys(args.images, repository.id)
        self.register()
