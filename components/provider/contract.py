"""What a provider needs to be told; everything is literal, so that a policy can decide in a preview."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import pulumi

from components.base import Place, module_of


@dataclass(frozen=True, kw_only=True)
class ProviderArgs:
    """One account in one provider region."""

    place: Place
    allowed_account: str
    """The only account that a deployment may meet."""
    role: str | None
    """Role or service account to assume; absent: ambient credentials as they are."""
    tags: Mapping[str, str]
    """People's own tags."""


def declare(name: str, args: ProviderArgs) -> pulumi.ProviderResource:
    """Declare the provider of a region's cloud."""
    return cast("pulumi.ProviderResource", module_of("provider", args.place.cloud).declare(name, args))
