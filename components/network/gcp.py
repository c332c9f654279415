"""A region's network on Google Cloud.

A Google Cloud network is global, so each region has its own: one for all would silently join jurisdictions.
"""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.network.contract import Network, NetworkArgs, cut

PODS = "pods"
SERVICES = "services"


class GcpNetwork(Network):
    """A network with one regional subnetwork."""

    token: ClassVar[str] = "outlast:network:GcpNetwork"

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        ranges = cut(args.cidr, (place.provider_region,))
        network = gcp.compute.Network(
            name,
            name=names.resource(place.fleet, place.region, "network"),
            auto_create_subnetworks=False,
            routing_mode="REGIONAL",
            opts=self.child(),
        )
        subnetwork = gcp.compute.Subnetwork(
            name,
            name=names.resource(place.fleet, place.region, "nodes"),
            region=place.provider_region,
            network=network.id,
            ip_cidr_range=ranges.nodes[place.provider_region],
            secondary_ip_ranges=[
                gcp.compute.SubnetworkSecondaryIpRangeArgs(range_name=PODS, ip_cidr_range=ranges.pods),
                gcp.compute.SubnetworkSecondaryIpRangeArgs(range_name=SERVICES, ip_cidr_range=ranges.services),
            ],
            private_ip_google_access=True,
            opts=self.child(),
        )
        router = gcp.compute.Router(
            name,
            name=names.resource(place.fleet, place.region, "router"),
            region=place.provider_region,
            network=network.id,
            opts=self.child(),
        )
        gcp.compute.RouterNat(
            name,
            name=names.resource(place.fleet, place.region, "nat"),
            region=place.provider_region,
            router=router.name,
            nat_ip_allocate_option="AUTO_ONLY",
            source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
            opts=self.child(),
        )
        self.network_id = network.id
        self.node_subnets = dict.fromkeys(place.zones, subnetwork.id)
        self.api_subnets = []
        self.register()
