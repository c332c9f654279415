"""What a region's bucket of weights promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pulumi

from components.base import Place, PlatformComponent, class_of, module_of


@dataclass(frozen=True, kw_only=True)
class WeightsArgs:
    """The bucket that a region's nodes stage their models from."""

    place: Place
    key: pulumi.Input[str]
    """Id of the region's key."""


class Weights(PlatformComponent):
    """A region's bucket."""

    bucket: pulumi.Output[str]


def bucket_name(place: Place) -> str:
    """Return the name of the bucket, which other stacks know without asking."""
    return cast("str", module_of("weights", place.cloud).bucket_name(place))


def declare(name: str, args: WeightsArgs, opts: pulumi.ResourceOptions | None = None) -> Weights:
    """Declare the bucket on the region's cloud."""
    return class_of(Weights, args.place.cloud)(name, args, opts)
