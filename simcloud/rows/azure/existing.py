"""What an existing network and AKS cluster consist of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_network

from simcloud.cloud import Seed
from simcloud.rows.azure.arm import above
from simcloud.rows.azure.cluster import CLUSTER
from simcloud.rows.azure.network import SUBNET, VNET
from simcloud.world import Existing


def seeds(there: Existing) -> Iterator[Seed]:
    """Yield the network, its subnets and the cluster; all are known by their ids as regions.yaml spells them."""
    named = {**_filed(there.network), "virtualNetworkName": _last(there.network)}
    space = {"addressSpace": {"addressPrefixes": [there.cidr]}}
    yield Seed(type=VNET, id=there.network, inputs={**named, "location": there.region, **space})
    for subnet, block in _blocks(there).items():
        found = {**named, "subnetName": _last(subnet), "addressPrefix": block}
        yield Seed(type=SUBNET, id=subnet, inputs=found, inside=(there.network,))
    if there.cluster:
        subnets = tuple(dict.fromkeys(there.subnets.values()))
        made = {
            **_filed(there.cluster),
            "resourceName": _last(there.cluster),
            "location": there.region,
            "kubernetesVersion": there.kubernetes,
            # Whoever made the cluster gave this identity what it needs.
            "identity": {"type": "UserAssigned"},
            "agentPoolProfiles": [{"name": "system", "mode": "System", "vnetSubnetID": subnets[0]}],
        }
        aliases = (there.server, there.server.removesuffix(":443"), f"{there.server.removesuffix(':443')}:443")
        yield Seed(type=CLUSTER, id=there.cluster, inputs=made, aliases=aliases, inside=subnets)


def _blocks(there: Existing) -> Mapping[str, str]:
    """Share the network's range among its subnets."""
    subnets = list(dict.fromkeys((*there.subnets.values(), *there.api_subnets)))
    shares = ip_network(there.cidr).subnets(prefixlen_diff=(len(subnets) - 1).bit_length())
    return {subnet: str(block) for subnet, block in zip(subnets, shares, strict=False)}


def _filed(identity: str) -> dict[str, str]:
    """The group that an id lies in."""
    return {"resourceGroupName": _last(above(identity))}


def _last(identity: str) -> str:
    return identity.rsplit("/", 1)[-1]
