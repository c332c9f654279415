"""What a region's registry of images promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import pulumi

from components.base import Place, PlatformComponent, class_of, module_of


@dataclass(frozen=True, kw_only=True)
class ImagesArgs:
    """The registry that a region's nodes pull from, so that no pull leaves the region."""

    place: Place
    images: tuple[str, ...]
    """Names of the released images."""
    key: pulumi.Input[str]
    """Id of the region's key, for registries that can use it from their birth on; it can never be changed later."""


class Images(PlatformComponent):
    """A region's registry."""

    repositories: Mapping[str, pulumi.Output[str]]
    """Image -> id of the repository that holds it."""


def address(place: Place, image: str) -> str:
    """Return where a region's nodes pull an image, without tag or digest; known before the registry exists."""
    return cast("str", module_of("images", place.cloud).address(place, image))


def declare(name: str, args: ImagesArgs, opts: pulumi.ResourceOptions | None = None) -> Images:
    """Declare the registry on the region's cloud."""
    return class_of(Images, args.place.cloud)(name, args, opts)
