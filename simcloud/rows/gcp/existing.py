"""What an existing network and GKE cluster consist of."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.cloud import Seed
from simcloud.rows.gcp.cluster import CLUSTER
from simcloud.rows.gcp.network import NETWORK, SUBNETWORK
from simcloud.world import Existing

_RANGES = ("pods", "services")
"""Names of the secondary ranges that a cluster takes; regions.yaml asks for subnets that have them."""


def seeds(there: Existing) -> Iterator[Seed]:
    """Yield the network, its subnetworks and the cluster."""
    inputs = {"name": _last(there.network), "autoCreateSubnetworks": False}
    name = _last(there.network)
    yield Seed(type=NETWORK, id=there.network, inputs=inputs, aliases=(name,), is_global=True)
    subnets = tuple(dict.fromkeys(there.subnets.values()))
    for subnet in subnets:
        ranges = [{"rangeName": name} for name in _RANGES]
        found = {"name": _last(subnet), "region": there.region, "network": there.network, "secondaryIpRanges": ranges}
        yield Seed(type=SUBNETWORK, id=subnet, inputs=found, aliases=(_last(subnet),), inside=(there.network,))
    if there.cluster:
        made = {
            "name": _last(there.cluster),
            "location": there.region,
            "network": there.network,
            "subnetwork": subnets[0],
            "minMasterVersion": there.kubernetes,
            "nodeLocations": list(there.subnets),
            "workloadIdentityConfig": {"workloadPool": f"{there.account}.svc.id.goog"},
        }
        aliases = (_last(there.cluster), there.server)
        yield Seed(type=CLUSTER, id=there.cluster, inputs=made, aliases=aliases, inside=subnets)


def _last(path: str) -> str:
    return path.rsplit("/", 1)[-1]
