"""A region's network on AWS: private nodes a zone, one regional NAT gateway, image layers and weights past it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.network.contract import Network, NetworkArgs, cut

ANYWHERE = "0.0.0.0/0"


class AwsNetwork(Network):
    """A VPC with a public and a private subnet in each zone."""

    token: ClassVar[str] = "outlast:network:AwsNetwork"

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        ranges = cut(args.cidr, args.place.zones)
        self._args, self._name = args, name
        vpc = aws.ec2.Vpc(
            name,
            region=args.place.provider_region,
            cidr_block=args.cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=self._tags("network"),
            opts=self.child(),
        )
        gateway = aws.ec2.InternetGateway(
            name,
            region=args.place.provider_region,
            vpc_id=vpc.id,
            tags=self._tags("internet"),
            opts=self.child(),
        )
        nat = aws.ec2.NatGateway(
            name,
            region=args.place.provider_region,
            vpc_id=vpc.id,
            availability_mode="regional",
            connectivity_type="public",
            tags=self._tags("nat"),
            opts=self.child(depends_on=[gateway]),
        )
        entry = self._subnets(vpc, "entry", ranges.entry, {"kubernetes.io/role/elb": "1"})
        nodes = self._subnets(vpc, "nodes", ranges.nodes, {"kubernetes.io/role/internal-elb": "1"})
        public = self._routes(vpc, "entry", entry, gateway_id=gateway.id)
        private = self._routes(vpc, "nodes", nodes, nat_gateway_id=nat.id)
        aws.ec2.VpcEndpoint(
            f"{name}-s3",
            region=args.place.provider_region,
            vpc_id=vpc.id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{args.place.provider_region}.s3",
            route_table_ids=[public.id, private.id],
            tags=self._tags("s3"),
            opts=self.child(),
        )
        self.network_id = vpc.id
        self.node_subnets = {zone: subnet.id for zone, subnet in nodes.items()}
        self.api_subnets = list(self.node_subnets.values())
        self.register()

    def _tags(self, purpose: str) -> dict[str, str]:
        return {"Name": names.resource(self._args.place.fleet, self._args.place.region, purpose)}

    def _subnets(
        self, vpc: aws.ec2.Vpc, tier: str, ranges: Mapping[str, str], discovery: Mapping[str, str]
    ) -> dict[str, aws.ec2.Subnet]:
        return {
            zone: aws.ec2.Subnet(
                f"{self._name}-{tier}-{zone}",
                region=self._args.place.provider_region,
                vpc_id=vpc.id,
                cidr_block=block,
                availability_zone_id=zone,
                map_public_ip_on_launch=False,
                tags=self._tags(f"{tier}-{zone}") | dict(discovery),
                opts=self.child(),
            )
            for zone, block in ranges.items()
        }

    def _routes(
        self,
        vpc: aws.ec2.Vpc,
        tier: str,
        subnets: Mapping[str, aws.ec2.Subnet],
        *,
        gateway_id: pulumi.Input[str] | None = None,
        nat_gateway_id: pulumi.Input[str] | None = None,
    ) -> aws.ec2.RouteTable:
        region = self._args.place.provider_region
        table = aws.ec2.RouteTable(
            f"{self._name}-{tier}", region=region, vpc_id=vpc.id, tags=self._tags(tier), opts=self.child()
        )
        aws.ec2.Route(
            f"{self._name}-{tier}-out",
            region=region,
            route_table_id=table.id,
            destination_cidr_block=ANYWHERE,
            gateway_id=gateway_id,
            nat_gateway_id=nat_gateway_id,
            opts=self.child(),
        )
        for zone, subnet in subnets.items():
            aws.ec2.RouteTableAssociation(
                f"{self._name}-{tier}-{zone}",
                region=region,
                route_table_id=table.id,
                subnet_id=subnet.id,
                opts=self.child(),
            )
        return table
