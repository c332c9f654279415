"""What the identity of a service account promises: it reads one bucket, and no credential lies in the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi

from components.base import Place, PlatformComponent, class_of
from components.cluster.contract import Cluster


@dataclass(frozen=True, kw_only=True)
class WorkloadIdentityArgs:
    """A service account that may read one bucket and use the key that locks it."""

    place: Place
    cluster: Cluster
    namespace: str
    service_account: str
    weights: str
    """Name of the region's bucket of weights."""
    key: pulumi.Input[str]
    """Id of the region's key, from the global stack."""
    permissions_boundary: str | None = None


class WorkloadIdentity(PlatformComponent):
    """Who a service account is to the cloud."""

    annotations: Mapping[str, pulumi.Output[str]]
    """What the service account has to say; none where the cloud needs nothing said."""


def declare(name: str, args: WorkloadIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> WorkloadIdentity:
    """Declare the identity on the region's cloud."""
    return class_of(WorkloadIdentity, args.place.cloud)(name, args, opts)
