"""Providers as regions.yaml says; one a region, so that neither its place nor its account ever depends on others."""

from __future__ import annotations

import pulumi

from components import provider
from components.base import place_of
from outlast.intent import Intent


def region_provider(intent: Intent, region: str, *, teardown: bool = False) -> pulumi.ProviderResource:
    """Declare the provider of a region's cloud."""
    row = intent.regions[region]
    args = provider.ProviderArgs(
        place=place_of(intent, region, teardown=teardown),
        allowed_account=row.account,
        role=row.role,
        tags=row.tags,
    )
    return provider.declare(region, args)
