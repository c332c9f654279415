"""The AWS provider of a region."""

from __future__ import annotations

import pulumi
import pulumi_aws as aws

from components import names
from components.provider.contract import ProviderArgs


def declare(name: str, args: ProviderArgs) -> pulumi.ProviderResource:
    """Declare the provider; the wrong account ends the deployment before anything is made."""
    place = args.place
    tags = names.user_tags(args.tags) | names.labels(
        fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction
    )
    provider: pulumi.ProviderResource = aws.Provider(
        name,
        region=place.provider_region,
        allowed_account_ids=[args.allowed_account],
        default_tags=aws.ProviderDefaultTagsArgs(tags=tags),
        assume_roles=[aws.ProviderAssumeRoleArgs(role_arn=args.role)] if args.role else None,
    )
    return provider
