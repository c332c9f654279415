"""The identity of a region's nodes on Azure."""

from __future__ import annotations

from typing import ClassVar

import pulumi

from components.identity.contract import Identity, IdentityArgs
from components.images.azure import registry_id
from components.provider.azure import grant, identity, resource_group


class AzureIdentity(Identity):
    """The kubelet's identity, which may pull the region's images."""

    token: ClassVar[str] = "outlast:identity:AzureIdentity"

    def __init__(self, name: str, args: IdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        nodes = identity(self, name, place, resource_group(self, name, place, "identity"), "identity")
        grant(self, f"{name}-AcrPull", place, role="AcrPull", scope=registry_id(place), principal=nodes.principal_id)
        self.principal = nodes.id
        self.ids = {"client": nodes.client_id, "object": nodes.principal_id}
        self.register()
