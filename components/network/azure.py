"""A region's network on Azure: private nodes, ways out by zone, stores reached inside the network.

Subnets are resources of their own: inline ones and these would delete each other. Writes on one network serialise, so
each waits for the one before. A Standard NAT gateway lies in one zone, also where it serves the whole region: if that
zone is lost, nodes of the others reach nothing outside until it is back, so one serves all only where it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network
from typing import ClassVar

import pulumi
import pulumi_azure_native as azure

from components import names
from components.images.azure import registry_id
from components.keys.azure import closed_account, vault_id
from components.network.contract import Network, NetworkArgs
from components.provider.azure import grant, lock, public_address, resource_group, tags, zone_number
from components.weights.azure import account_id
from outlast.intent.ranges import cut

_API, _ENDPOINTS = "api", "endpoints"
_API_PREFIX = 28
"""The smallest subnet that the API server takes. Source: AKS documentation, API Server VNet Integration."""
_DOMAINS = {
    "vault": "privatelink.vaultcore.azure.net",
    "registry": "privatelink.azurecr.io",
    "blob": "privatelink.blob.core.windows.net",
}
"""Service -> private zone of its names. Source: Azure Private Link documentation, Private DNS zone values."""
_LOG_DAYS = 90


class AzureNetwork(Network):
    """A virtual network with subnets for nodes, for the API server and for private endpoints."""

    token: ClassVar[str] = "outlast:network:AzureNetwork"

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        self._args, self._name = args, name
        self._group = resource_group(self, name, place, "network")
        ways_out = place.zones if args.nat == "zonal" else (place.provider_region,)
        nodes = cut(args.cidr, ways_out).nodes
        inner = cut(args.cidr, (_API, _ENDPOINTS)).entry
        network = azure.network.VirtualNetwork(
            name,
            resource_group_name=self._group.name,
            virtual_network_name=self._called("network"),
            location=place.provider_region,
            # Without the ranges of pods and services: AKS refuses a network that holds them.
            address_space=azure.network.AddressSpaceArgs(address_prefixes=[*nodes.values(), *inner.values()]),
            tags=tags(place),
            opts=self.child(),
        )
        made = self._subnets(network, nodes, inner)
        self._endpoints(network, made[_ENDPOINTS])
        self._flow_log(network)
        self.network_id = network.id
        self.node_subnets = {zone: (made.get(zone) or made[place.provider_region]).id for zone in place.zones}
        self.api_subnets = [made[_API].id]
        self.register()

    def _called(self, purpose: str) -> str:
        return names.resource(self._args.place.fleet, self._args.place.region, purpose)

    def _subnets(
        self, network: azure.network.VirtualNetwork, nodes: Mapping[str, str], inner: Mapping[str, str]
    ) -> dict[str, azure.network.Subnet]:
        """Return the subnets: of nodes by their way out, a zone or the region; of the API server; of endpoints."""
        firewall = azure.network.NetworkSecurityGroupArgs(id=self._security_group().id)
        delegation = azure.network.DelegationArgs(name="aks", service_name="Microsoft.ContainerService/managedClusters")
        api = next(IPv4Network(inner[_API]).subnets(new_prefix=_API_PREFIX))
        wanted: dict[str, dict[str, object]] = {
            way: {"address_prefix": block, "nat_gateway": self._nat(way)} for way, block in nodes.items()
        }
        wanted[_API] = {"address_prefix": str(api), "delegations": [delegation]}
        wanted[_ENDPOINTS] = {
            "address_prefix": inner[_ENDPOINTS],
            "private_endpoint_network_policies": "Enabled",
        }
        made: dict[str, azure.network.Subnet] = {}
        for purpose, more in wanted.items():
            made[purpose] = azure.network.Subnet(
                f"{self._name}-{purpose}",
                resource_group_name=self._group.name,
                virtual_network_name=network.name,
                subnet_name=purpose,
                default_outbound_access=False,
                network_security_group=firewall,
                opts=self.child(depends_on=list(made.values())[-1:]),
                **more,
            )
        return made

    def _security_group(self) -> azure.network.NetworkSecurityGroup:
        """Let the world reach the gateway; what else comes from outside the default rules refuse."""
        rule = azure.network.SecurityRuleArgs(
            name="gateway",
            priority=100,
            direction="Inbound",
            access="Allow",
            protocol="Tcp",
            source_address_prefix="Internet",
            source_port_range="*",
            destination_address_prefix="*",
            destination_port_range="443",
        )
        return azure.network.NetworkSecurityGroup(
            self._name,
            resource_group_name=self._group.name,
            network_security_group_name=self._called("firewall"),
            location=self._args.place.provider_region,
            security_rules=[rule],
            tags=tags(self._args.place),
            opts=self.child(),
        )

    def _nat(self, way: str) -> azure.network.SubResourceArgs:
        place = self._args.place
        zone = way if way in place.zones else place.zones[0]
        address = public_address(self, f"{self._name}-nat-{way}", place, self._group, (zone,), purpose=f"nat-{way}")
        nat = azure.network.NatGateway(
            f"{self._name}-{way}",
            resource_group_name=self._group.name,
            nat_gateway_name=self._called(f"nat-{way}"),
            location=place.provider_region,
            sku=azure.network.NatGatewaySkuArgs(name="Standard"),
            zones=[zone_number(zone)],
            public_ip_addresses=[azure.network.SubResourceArgs(id=address.id)],
            tags=tags(place),
            opts=self.child(),
        )
        return azure.network.SubResourceArgs(id=nat.id)

    def _endpoints(self, network: azure.network.VirtualNetwork, subnet: azure.network.Subnet) -> None:
        """Reach vault, registry and weights by addresses of the network, under their usual names; lock all three."""
        place = self._args.place
        targets = {"vault": vault_id(place), "registry": registry_id(place), "blob": account_id(place)}
        before: list[pulumi.Resource] = []
        for service, target in targets.items():
            name, filed = f"{self._name}-{service}", {"resource_group_name": self._group.name}
            zone = azure.privatedns.PrivateZone(
                name,
                private_zone_name=_DOMAINS[service],
                location="global",
                tags=tags(place),
                opts=self.child(),
                **filed,
            )
            azure.privatedns.VirtualNetworkLink(
                name,
                private_zone_name=zone.name,
                virtual_network_link_name=self._called("network"),
                location="global",
                registration_enabled=False,
                virtual_network=azure.privatedns.SubResourceArgs(id=network.id),
                tags=tags(place),
                opts=self.child(),
                **filed,
            )
            connection = azure.network.PrivateLinkServiceConnectionArgs(
                name=service, private_link_service_id=target, group_ids=[service]
            )
            endpoint = azure.network.PrivateEndpoint(
                name,
                private_endpoint_name=self._called(service),
                location=place.provider_region,
                subnet=azure.network.SubnetArgs(id=subnet.id),
                private_link_service_connections=[connection],
                tags=tags(place),
                opts=self.child(depends_on=before),
                **filed,
            )
            before = [endpoint]
            azure.network.PrivateDnsZoneGroup(
                name,
                private_endpoint_name=endpoint.name,
                private_dns_zone_group_name="default",
                private_dns_zone_configs=[
                    azure.network.PrivateDnsZoneConfigArgs(name=service, private_dns_zone_id=zone.id)
                ],
                opts=self.child(),
                **filed,
            )
            lock(self, name, place, target, depends_on=[endpoint])

    def _flow_log(self, network: azure.network.VirtualNetwork) -> None:
        """Keep who talked to whom, in the region; the watcher is the one that Azure makes in every region itself.

        The days to keep it become the account's only rules of lifecycle, over any others, so we declare none.
        Source: hashicorp/terraform-provider-azurerm pull request 18369.
        """
        place = self._args.place
        name = f"{self._name}-log"
        physical = names.storage_account(place.fleet, place.region, "flow-log", place.account)
        account, writer = closed_account(self, name, place, self._group, "network", physical, self._args.key)
        role = "Storage Blob Data Contributor"
        granted = grant(self, name, place, role=role, scope=account.id, principal=writer.principal_id)
        azure.network.FlowLog(
            name,
            resource_group_name="NetworkWatcherRG",
            network_watcher_name=f"NetworkWatcher_{place.provider_region}",
            flow_log_name=self._called("network"),
            location=place.provider_region,
            target_resource_id=network.id,
            storage_id=account.id,
            enabled=True,
            format=azure.network.FlowLogFormatParametersArgs(type="JSON", version=2),
            retention_policy=azure.network.RetentionPolicyParametersArgs(enabled=True, days=_LOG_DAYS),
            identity=azure.network.ManagedServiceIdentityArgs(
                type=azure.network.ResourceIdentityType.USER_ASSIGNED, user_assigned_identities=[writer.id]
            ),
            tags=tags(place),
            opts=self.child(depends_on=[granted]),
        )
