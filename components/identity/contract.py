"""What the identity of a region's nodes promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from components.base import Place, PlatformComponent, class_of


@dataclass(frozen=True, kw_only=True)
class IdentityArgs:
    """The nodes of one region: they join its cluster and pull its images, and read nothing else."""

    place: Place
    permissions_boundary: str | None = None


class Identity(PlatformComponent):
    """Who the nodes of a region are."""

    principal: pulumi.Output[str]
    """Role, service account or identity, as node pools of the cloud want it."""
    ids: Mapping[str, pulumi.Output[str]]
    """Further ids of the same identity, by the cloud's own word, for what wants another than ``principal``."""


def declare(name: str, args: IdentityArgs, opts: pulumi.ResourceOptions | None = None) -> Identity:
    """Declare the identity on the region's cloud."""
    return class_of(Identity, args.place.cloud)(name, args, opts)
