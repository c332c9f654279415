"""The service account of a region's nodes on Google Cloud."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.identity.contract import Identity, IdentityArgs

_NODE_ROLE = "roles/container.defaultNodeServiceAccount"
"""Writes logs and metrics, and no more."""
_READER = "roles/artifactregistry.reader"


class GcpIdentity(Identity):
    """A service account that may do what any node of GKE has to, and pull the images of its own region."""

    token: ClassVar[str] = "outlast:identity:GcpIdentity"

    def __init__(self, name: str, args: IdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        account = gcp.serviceaccount.Account(
            name,
            account_id=names.service_account(place.fleet, place.region, "nodes"),
            project=place.account,
            display_name=f"Nodes of {place.fleet} {place.region}",
            opts=self.child(),
        )
        gcp.projects.IAMMember(
            f"{name}-node",
            project=place.account,
            role=_NODE_ROLE,
            member=account.member,
            opts=self.child(),
        )
        gcp.artifactregistry.RepositoryIamMember(
            f"{name}-images",
            project=place.account,
            location=place.provider_region,
            repository=names.registry(place.fleet, place.region),
            role=_READER,
            member=account.member,
            opts=self.child(),
        )
        self.principal = account.email
        self.ids = {}
        self.register()
