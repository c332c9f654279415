"""A region's images on ECR."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.base import Place
from components.images.contract import Images, ImagesArgs


def address(place: Place, image: str) -> str:
    """Return where the region's nodes pull an image."""
    path = names.repository(place.fleet, place.region, image)
    return f"{place.account}.dkr.ecr.{place.provider_region}.amazonaws.com/{path}"


class AwsImages(Images):
    """One repository an image: tags cannot move, encrypted with the region's key."""

    token: ClassVar[str] = "outlast:images:AwsImages"

    def __init__(self, name: str, args: ImagesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        repositories = {
            image: aws.ecr.Repository(
                f"{name}-{image}",
                region=place.provider_region,
                name=names.repository(place.fleet, place.region, image),
                image_tag_mutability="IMMUTABLE",
                encryption_configurations=[
                    aws.ecr.RepositoryEncryptionConfigurationArgs(encryption_type="KMS", kms_key=args.key)
                ],
                image_scanning_configuration=aws.ecr.RepositoryImageScanningConfigurationArgs(scan_on_push=True),
                force_delete=not place.protect,
                tags=names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction),
                opts=self.child(protect=place.protect),
            )
            for image in args.images
        }
        self.repositories = {image: repository.arn for image, repository in repositories.items()}
        self.register()
