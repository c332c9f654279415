"""What the identity of a region's nodes promises."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.base import Place, PlatformComponent, class_of


@dataclass(frozen=True, kw_only=True)
class IdentityArgs:
    """The nodes of one region, and the one bucket, registry and key they may read."""

    place: Place
    weights: str
    """Name of the region's bucket of weights."""
    key: pulumi.Input[str]
    """Id of the region's key, from the global stack."""
    permissions_boundary: str | None = None


class Identity(PlatformComponent):
    """Who the nodes of a region are."""

    principal: pulumi.Output[str]
    """Role or service account, as node pools of the cloud want it."""


def declare(name: str, args: IdentityArgs, opts: pulumi.ResourceOptions | None = None) -> Identity:
    """Declare the identity on the region's cloud."""
    return class_of(Identity, args.place.cloud)(name, args, opts)
