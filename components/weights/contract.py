"""What a region's bucket of weights promises."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components import names
from components.base import Place, PlatformComponent, class_of


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
    return names.bucket(place.fleet, place.region, "weights", place.account)


def declare(name: str, args: WeightsArgs, opts: pulumi.ResourceOptions | None = None) -> Weights:
    """Declare the bucket on the region's cloud."""
    return class_of(Weights, args.place.cloud)(name, args, opts)
