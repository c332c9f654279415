"""The service account of a region's nodes on Google Cloud."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.identity.contract import Identity, IdentityArgs

_ROLES = ("roles/logging.logWriter", "roles/monitoring.metricWriter", "roles/artifactregistry.reader")


class GcpIdentity(Identity):
    """A service account that may pull images, and write logs and metrics."""

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
        for role in _ROLES:
            gcp.projects.IAMMember(
                f"{name}-{role.rpartition('/')[2]}",
                project=place.account,
                role=role,
                member=account.member,
                opts=self.child(),
            )
        self.principal = account.email
        self.ids = {}
        self.register()
