"""What a region's encryption key promises."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi

from components.base import Place, PlatformComponent, class_of


@dataclass(frozen=True, kw_only=True)
class KeysArgs:
    """One key that encrypts what a region stores, in its own place: what it locks cannot be read elsewhere."""

    place: Place
    account_number: str | None = None
    """The cloud's number of the account, where services that use the key are named by it."""


class Keys(PlatformComponent):
    """A region's key."""

    key: pulumi.Output[str]
    """Id by which stores of the cloud refer to it."""


def declare(name: str, args: KeysArgs, opts: pulumi.ResourceOptions | None = None) -> Keys:
    """Declare the key on the region's cloud."""
    return class_of(Keys, args.place.cloud)(name, args, opts)
