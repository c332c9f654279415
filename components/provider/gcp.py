"""The Google Cloud provider of a region."""

from __future__ import annotations

import pulumi
import pulumi_gcp as gcp

from components import names
from components.base import Place
from components.provider.contract import ProviderArgs


def declare(name: str, args: ProviderArgs) -> pulumi.ProviderResource:
    """Declare the provider; the project is literal, which is what an allowed account is here."""
    place = args.place
    provider: pulumi.ProviderResource = gcp.Provider(
        name,
        project=args.allowed_account,
        region=place.provider_region,
        default_labels=labels(place),
        impersonate_service_account=args.role,
    )
    return provider


def labels(place: Place) -> dict[str, str]:
    """Return the labels of everything that bears cost: people's own, and ours over them.

    The provider adds them to a resource, but not to what is made from one, such as the machines of a node pool.
    """
    return names.user_tags(place.tags) | names.labels(
        fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction
    )
