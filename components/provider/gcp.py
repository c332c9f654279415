"""The Google Cloud provider of a region."""

from __future__ import annotations

import pulumi
import pulumi_gcp as gcp

from components import names
from components.provider.contract import ProviderArgs


def declare(name: str, args: ProviderArgs) -> pulumi.ProviderResource:
    """Declare the provider; the project is literal, which is what an allowed account is here."""
    place = args.place
    labels = names.user_tags(args.tags) | names.labels(
        fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction
    )
    provider: pulumi.ProviderResource = gcp.Provider(
        name,
        project=args.allowed_account,
        region=place.provider_region,
        default_labels=labels,
        impersonate_service_account=args.role,
    )
    return provider
