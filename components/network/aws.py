"""A region's network on AWS: private nodes in each zone, and doors to AWS's own services that pass no NAT gateway.

Tiers of subnets: entry (public, load balancers and NAT gateways), nodes, endpoints (no way out at all), and api, where
the control plane's own interfaces lie. Everything that passes is written to a bucket of the region.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.network.contract import Network, NetworkArgs
from components.provider import aws as provider
from outlast.intent.ranges import cut

ANYWHERE = "0.0.0.0/0"
SERVICES = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "kms", "logs", "sts")
"""Services that nodes, the add-ons and the control plane's helpers call; each has an endpoint in every zone."""
_LOG_DAYS = 90
_LOG_SECONDS = 60
_HTTPS = 443
_INTERNAL = {"kubernetes.io/role/internal-elb": "1"}
_PUBLIC = {"kubernetes.io/role/elb": "1"}
"""Tags by which a load balancer finds its subnets."""


class AwsNetwork(Network):
    """A VPC with four subnets in each zone."""

    token: ClassVar[str] = "outlast:network:AwsNetwork"

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place, ranges = args.place, cut(args.cidr, args.place.zones)
        self._args, self._name, self._region = args, name, place.provider_region
        self._labels = provider.labels(place)
        vpc = aws.ec2.Vpc(
            name,
            region=self._region,
            cidr_block=args.cidr,
            enable_dns_hostnames=True,
            enable_dns_support=True,
            tags=self._tags("network"),
            opts=self.child(),
        )
        # The group that things fall into when nobody names another: nothing passes it.
        aws.ec2.DefaultSecurityGroup(
            name, region=self._region, vpc_id=vpc.id, tags=self._tags("closed"), opts=self.child()
        )
        entry = self._subnets(vpc, "entry", ranges.entry, _PUBLIC)
        nodes = self._subnets(vpc, "nodes", ranges.nodes, _INTERNAL)
        api = self._subnets(vpc, "api", ranges.api)
        endpoints = self._subnets(vpc, "endpoints", ranges.endpoints)
        private = {zone: {f"nodes-{zone}": nodes[zone], f"api-{zone}": api[zone]} for zone in place.zones}
        tables = self._ways_out(vpc, entry, private)
        self._bucket_endpoint(vpc, tables)
        self._service_endpoints(vpc, list(endpoints.values()))
        self._flow_logs(vpc)
        self.network_id = vpc.id
        self.node_subnets = {zone: subnet.id for zone, subnet in nodes.items()}
        self.api_subnets = [subnet.id for subnet in api.values()]
        self.register()

    def _tags(self, purpose: str) -> dict[str, str]:
        return self._labels | {"Name": names.resource(self._args.place.fleet, self._args.place.region, purpose)}

    def _subnets(
        self, vpc: aws.ec2.Vpc, tier: str, ranges: Mapping[str, str], discovery: Mapping[str, str] | None = None
    ) -> dict[str, aws.ec2.Subnet]:
        return {
            zone: aws.ec2.Subnet(
                f"{self._name}-{tier}-{zone}",
                region=self._region,
                vpc_id=vpc.id,
                cidr_block=block,
                availability_zone_id=zone,
                map_public_ip_on_launch=False,
                tags=self._tags(f"{tier}-{zone}") | dict(discovery or {}),
                opts=self.child(),
            )
            for zone, block in ranges.items()
        }

    def _ways_out(
        self,
        vpc: aws.ec2.Vpc,
        entry: Mapping[str, aws.ec2.Subnet],
        private: Mapping[str, Mapping[str, aws.ec2.Subnet]],
    ) -> list[aws.ec2.RouteTable]:
        """Route the entry tier to the internet and the private tiers to NAT gateways; return the route tables."""
        gateway = aws.ec2.InternetGateway(
            self._name, region=self._region, vpc_id=vpc.id, tags=self._tags("internet"), opts=self.child()
        )
        public = self._routes(
            vpc, "entry", {f"entry-{zone}": subnet for zone, subnet in entry.items()}, gateway_id=gateway.id
        )
        if self._args.nat == "regional":
            nat = self._nat("nat", gateway, vpc_id=vpc.id, availability_mode="regional")
            subnets = {name: subnet for of_zone in private.values() for name, subnet in of_zone.items()}
            return [public, self._routes(vpc, "nodes", subnets, nat_gateway_id=nat.id)]
        tables = [public]
        for zone, of_zone in private.items():
            address = aws.ec2.Eip(
                f"{self._name}-nat-{zone}",
                region=self._region,
                domain="vpc",
                tags=self._tags(f"nat-{zone}"),
                opts=self.child(depends_on=[gateway]),
            )
            nat = self._nat(
                f"nat-{zone}",
                gateway,
                subnet_id=entry[zone].id,
                allocation_id=address.allocation_id,
                availability_mode="zonal",
            )
            tables.append(self._routes(vpc, f"nodes-{zone}", of_zone, nat_gateway_id=nat.id))
        return tables

    def _nat(self, purpose: str, gateway: aws.ec2.InternetGateway, **where: pulumi.Input[str]) -> aws.ec2.NatGateway:
        return aws.ec2.NatGateway(
            f"{self._name}-{purpose}",
            region=self._region,
            connectivity_type="public",
            tags=self._tags(purpose),
            opts=self.child(depends_on=[gateway]),
            **where,
        )

    def _routes(
        self, vpc: aws.ec2.Vpc, tier: str, subnets: Mapping[str, aws.ec2.Subnet], **target: pulumi.Input[str]
    ) -> aws.ec2.RouteTable:
        table = aws.ec2.RouteTable(
            f"{self._name}-{tier}", region=self._region, vpc_id=vpc.id, tags=self._tags(tier), opts=self.child()
        )
        aws.ec2.Route(
            f"{self._name}-{tier}-out",
            region=self._region,
            route_table_id=table.id,
            destination_cidr_block=ANYWHERE,
            opts=self.child(),
            **target,
        )
        for name, subnet in subnets.items():
            aws.ec2.RouteTableAssociation(
                f"{self._name}-{name}",
                region=self._region,
                route_table_id=table.id,
                subnet_id=subnet.id,
                opts=self.child(),
            )
        return table

    def _bucket_endpoint(self, vpc: aws.ec2.Vpc, tables: Sequence[aws.ec2.RouteTable]) -> None:
        """Lead to S3 from everywhere: image layers and weights come from there, and by this way they cost nothing."""
        aws.ec2.VpcEndpoint(
            f"{self._name}-s3",
            region=self._region,
            vpc_id=vpc.id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{self._region}.s3",
            route_table_ids=[table.id for table in tables],
            policy=bucket_policy(self._region, self._args.place.account, self._args.buckets),
            tags=self._tags("s3"),
            opts=self.child(),
        )

    def _service_endpoints(self, vpc: aws.ec2.Vpc, subnets: Sequence[aws.ec2.Subnet]) -> None:
        group = aws.ec2.SecurityGroup(
            f"{self._name}-endpoints",
            region=self._region,
            name=names.resource(self._args.place.fleet, self._args.place.region, "endpoints"),
            description="Doors to the services of AWS",
            vpc_id=vpc.id,
            tags=self._tags("endpoints"),
            opts=self.child(),
        )
        # No rule for what leaves: an endpoint only answers.
        aws.vpc.SecurityGroupIngressRule(
            f"{self._name}-endpoints",
            region=self._region,
            security_group_id=group.id,
            description="From inside the network",
            ip_protocol="tcp",
            from_port=_HTTPS,
            to_port=_HTTPS,
            cidr_ipv4=self._args.cidr,
            tags=self._tags("endpoints"),
            opts=self.child(),
        )
        for service in SERVICES:
            aws.ec2.VpcEndpoint(
                f"{self._name}-{service}",
                region=self._region,
                vpc_id=vpc.id,
                vpc_endpoint_type="Interface",
                service_name=f"com.amazonaws.{self._region}.{service}",
                private_dns_enabled=True,
                subnet_ids=[subnet.id for subnet in subnets],
                security_group_ids=[group.id],
                tags=self._tags(service.replace(".", "-")),
                opts=self.child(),
            )

    def _flow_logs(self, vpc: aws.ec2.Vpc) -> None:
        """Write down what passes, in a form that can be queried."""
        bucket, settings = self._log_bucket()
        aws.ec2.FlowLog(
            self._name,
            region=self._region,
            vpc_id=vpc.id,
            traffic_type="ALL",
            log_destination_type="s3",
            log_destination=bucket.arn,
            destination_options=aws.ec2.FlowLogDestinationOptionsArgs(
                file_format="parquet", hive_compatible_partitions=True, per_hour_partition=True
            ),
            max_aggregation_interval=_LOG_SECONDS,
            tags=self._tags("flow-logs"),
            opts=self.child(depends_on=settings),
        )

    def _log_bucket(self) -> tuple[aws.s3.Bucket, list[pulumi.Resource]]:
        """Declare the bucket of logs and its settings; a teardown takes the logs with it."""
        place, name, region = self._args.place, f"{self._name}-flow-logs", self._region
        physical = names.bucket(place.fleet, place.region, "flow-logs", place.account)
        bucket = aws.s3.Bucket(
            name,
            region=region,
            bucket=physical,
            force_destroy=not place.protect,
            tags=self._labels,
            opts=self.child(protect=place.protect),
        )
        closed = provider.closed(self, name, place, bucket)
        policy = aws.s3.BucketPolicy(
            name,
            region=region,
            bucket=bucket.id,
            policy=delivery_policy(physical, region, place.account),
            # Both at once are refused: settings of one bucket are changed one after the other.
            opts=self.child(depends_on=[closed]),
        )
        encryption = provider.encrypted(self, name, place, bucket, self._args.key)
        aws.s3.BucketLifecycleConfiguration(
            name, region=region, bucket=bucket.id, rules=[_ends_after(_LOG_DAYS)], opts=self.child()
        )
        return bucket, [policy, encryption]


def _ends_after(days: int) -> aws.s3.BucketLifecycleConfigurationRuleArgs:
    return aws.s3.BucketLifecycleConfigurationRuleArgs(
        id=f"{days}-days",
        status="Enabled",
        filter=aws.s3.BucketLifecycleConfigurationRuleFilterArgs(prefix=""),
        expiration=aws.s3.BucketLifecycleConfigurationRuleExpirationArgs(days=days),
    )


def bucket_policy(region: str, account: str, buckets: Sequence[str]) -> str:
    """Return what may pass to S3: the region's own buckets, and those from which registries hand out image layers.

    Source: Amazon ECR User Guide, Interface VPC endpoints: minimum permissions for the S3 gateway; registry.k8s.io,
    which sends who pulls from AWS to a bucket of its own.
    """
    layers = (f"prod-{region}-starport-layer-bucket", f"prod-registry-k8s-io-{region}")
    own = [f"arn:aws:s3:::{bucket}{end}" for bucket in buckets for end in ("", "/*")]
    statements = [
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": ["s3:GetObject", "s3:ListBucket"],
            "Resource": own,
            "Condition": {"StringEquals": {"aws:PrincipalAccount": account}},
        },
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": "s3:GetObject",
            "Resource": [f"arn:aws:s3:::{bucket}/*" for bucket in layers],
        },
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)


def delivery_policy(bucket: str, region: str, account: str) -> str:
    """Return who may touch the bucket of flow logs: the service that delivers them, and nobody without TLS.

    Source: Amazon VPC User Guide, Publish flow logs to Amazon S3: bucket permissions.
    """
    arn = f"arn:aws:s3:::{bucket}"
    ours = {
        "StringEquals": {"aws:SourceAccount": account},
        "ArnLike": {"aws:SourceArn": f"arn:aws:logs:{region}:{account}:*"},
    }
    full = {"StringEquals": {"s3:x-amz-acl": "bucket-owner-full-control"} | ours["StringEquals"]}
    delivery = {"Effect": "Allow", "Principal": {"Service": "delivery.logs.amazonaws.com"}}
    statements = [
        delivery
        | {"Sid": "AWSLogDeliveryWrite", "Action": "s3:PutObject", "Resource": f"{arn}/*", "Condition": ours | full},
        delivery | {"Sid": "AWSLogDeliveryAclCheck", "Action": "s3:GetBucketAcl", "Resource": arn, "Condition": ours},
        {
            "Sid": "OnlyTls",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:*",
            "Resource": [arn, f"{arn}/*"],
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        },
    ]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, sort_keys=True)
