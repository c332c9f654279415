"""A region's network on Google Cloud.

A Google Cloud network is global, so each region has its own: one for all would silently join jurisdictions.
Nothing is written down of its traffic: a project's logs lie in no region. A log bucket in the region would take its key
only through an account whose name nobody can know before, and its own name would stay taken for a week after it.
Ranges, priorities and addresses of Google's own are from the VPC and load balancing documentation.
"""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.network.contract import Network, NetworkArgs
from outlast.intent.ranges import Ranges, cut

PODS, SERVICES = "pods", "services"
"""Secondary ranges of the region's subnetwork; of an existing one too."""
ANYWHERE = "0.0.0.0/0"

_MTU_BYTES = 8896
"""The largest; staging weights and exchanging caches move more with fewer packets."""
_NAT_ADDRESSES = 2
"""One serves 64,512 connections to one destination; a second lets people retire one that others list."""
_NAT_PORTS = (64, 4096)
"""Fewest and most connections of a node to one destination; powers of two."""
_LAST = 65534
"""Priority just before the network's own silent refusal."""
_HEALTH_CHECKS = ("35.191.0.0/16", "130.211.0.0/22")
_API_DOMAINS = ("googleapis.com", "gcr.io", "pkg.dev")
_API_ADDRESSES = ("199.36.153.4", "199.36.153.5", "199.36.153.6", "199.36.153.7")
"""restricted.googleapis.com: only services that a perimeter can guard answer there, whose address no one else has."""
_TTL_S = 300


class GcpNetwork(Network):
    """A network with one regional subnetwork for nodes and one for the proxies of regional load balancers."""

    token: ClassVar[str] = "outlast:network:GcpNetwork"

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        ranges = cut(args.cidr, (place.provider_region,))
        self._args, self._name = args, name
        self._labels = names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction)
        # Its default route stays: it leads to NAT, and to the addresses of Google's APIs.
        network = gcp.compute.Network(
            name,
            name=self._called("network"),
            project=place.account,
            auto_create_subnetworks=False,
            routing_mode="REGIONAL",
            mtu=_MTU_BYTES,
            opts=self.child(),
        )
        subnetwork = self._subnetworks(network, ranges)
        self._way_out(network)
        self._firewall(network, ranges)
        for domain in _API_DOMAINS:
            self._private_apis(network, domain)
        self.network_id = network.id
        self.node_subnets = dict.fromkeys(place.zones, subnetwork.id)
        self.api_subnets = []
        self.register()

    def _called(self, purpose: str) -> str:
        return names.resource(self._args.place.fleet, self._args.place.region, purpose)

    def _subnetworks(self, network: gcp.compute.Network, ranges: Ranges) -> gcp.compute.Subnetwork:
        """Declare the two subnetworks and return that of the nodes."""
        place = self._args.place
        secondary = gcp.compute.SubnetworkSecondaryIpRangeArgs
        gcp.compute.Subnetwork(
            f"{self._name}-proxies",
            name=self._called("proxies"),
            project=place.account,
            region=place.provider_region,
            network=network.id,
            ip_cidr_range=ranges.entry[place.provider_region],
            purpose="REGIONAL_MANAGED_PROXY",
            role="ACTIVE",
            opts=self.child(),
        )
        return gcp.compute.Subnetwork(
            self._name,
            name=self._called("nodes"),
            project=place.account,
            region=place.provider_region,
            network=network.id,
            ip_cidr_range=ranges.nodes[place.provider_region],
            secondary_ip_ranges=[
                secondary(range_name=PODS, ip_cidr_range=ranges.pods),
                secondary(range_name=SERVICES, ip_cidr_range=ranges.services),
            ],
            private_ip_google_access=True,
            opts=self.child(),
        )

    def _way_out(self, network: gcp.compute.Network) -> None:
        """Declare NAT on addresses that stay, so that others can list them."""
        place = self._args.place
        addresses = [
            gcp.compute.Address(
                f"{self._name}-nat-{number}",
                name=self._called(f"nat-{number}"),
                project=place.account,
                region=place.provider_region,
                address_type="EXTERNAL",
                network_tier="PREMIUM",
                labels=self._labels,
                opts=self.child(),
            )
            for number in range(1, _NAT_ADDRESSES + 1)
        ]
        router = gcp.compute.Router(
            self._name,
            name=self._called("router"),
            project=place.account,
            region=place.provider_region,
            network=network.id,
            opts=self.child(),
        )
        gcp.compute.RouterNat(
            self._name,
            name=self._called("nat"),
            project=place.account,
            region=place.provider_region,
            router=router.name,
            nat_ip_allocate_option="MANUAL_ONLY",
            nat_ips=[address.self_link for address in addresses],
            source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
            enable_dynamic_port_allocation=True,
            enable_endpoint_independent_mapping=False,
            min_ports_per_vm=_NAT_PORTS[0],
            max_ports_per_vm=_NAT_PORTS[1],
            opts=self.child(),
        )

    def _firewall(self, network: gcp.compute.Network, ranges: Ranges) -> None:
        """Refuse what nobody asked for; let load balancers reach nodes. GKE adds what a cluster needs."""
        place = self._args.place
        gcp.compute.Firewall(
            f"{self._name}-refuse",
            name=self._called("refuse"),
            project=place.account,
            network=network.id,
            direction="INGRESS",
            priority=_LAST,
            denies=[gcp.compute.FirewallDenyArgs(protocol="all")],
            source_ranges=[ANYWHERE],
            opts=self.child(),
        )
        gcp.compute.Firewall(
            f"{self._name}-entry",
            name=self._called("entry"),
            project=place.account,
            network=network.id,
            direction="INGRESS",
            allows=[gcp.compute.FirewallAllowArgs(protocol="tcp")],
            source_ranges=[*_HEALTH_CHECKS, ranges.entry[place.provider_region]],
            target_service_accounts=[
                names.service_account_email(place.fleet, place.region, "nodes", project=place.account)
            ],
            opts=self.child(),
        )

    def _private_apis(self, network: gcp.compute.Network, domain: str) -> None:
        """Answer for a domain of Google's inside the network, so that no call leaves through NAT."""
        stable = f"{self._name}-{domain.replace('.', '-')}"
        answered = f"restricted.{domain}." if domain == "googleapis.com" else f"{domain}."
        visible = gcp.dns.ManagedZonePrivateVisibilityConfigNetworkArgs
        zone = gcp.dns.ManagedZone(
            stable,
            name=self._called(domain.replace(".", "-")),
            project=self._args.place.account,
            dns_name=f"{domain}.",
            description=f"Private way of {self._args.place.region} to {domain}",
            visibility="private",
            private_visibility_config=gcp.dns.ManagedZonePrivateVisibilityConfigArgs(
                networks=[visible(network_url=network.id)]
            ),
            labels=self._labels,
            opts=self.child(),
        )
        for kind, host, data in (("A", answered, list(_API_ADDRESSES)), ("CNAME", f"*.{domain}.", [answered])):
            gcp.dns.RecordSet(
                f"{stable}-{kind.lower()}",
                project=self._args.place.account,
                managed_zone=zone.name,
                name=host,
                type=kind,
                ttl=_TTL_S,
                rrdatas=data,
                opts=self.child(),
            )
