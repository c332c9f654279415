"""What an existing VPC and EKS cluster consist of."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.cloud import Seed
from simcloud.rows.aws.cluster import CLUSTER
from simcloud.rows.aws.network import SUBNET, VPC
from simcloud.world import Existing


def seeds(there: Existing) -> Iterator[Seed]:
    """Yield the VPC, its subnets and the cluster."""
    yield Seed(type=VPC, id=there.network, inputs={"region": there.region, "cidrBlock": there.cidr})
    zones = tuple(there.subnets)
    control = {subnet: zones[number % len(zones)] for number, subnet in enumerate(there.api_subnets)}
    for subnet, zone in (control | {subnet: zone for zone, subnet in there.subnets.items()}).items():
        inputs = {"region": there.region, "vpcId": there.network, "availabilityZoneId": zone}
        yield Seed(type=SUBNET, id=subnet, inputs=inputs, inside=(there.network,))
    if there.cluster:
        name = there.cluster.rsplit("/", 1)[-1]
        subnets = tuple(there.subnets.values())
        arn = f"arn:aws:eks:{there.region}:{there.account}:cluster/{name}"
        made = {
            "region": there.region,
            "name": name,
            "version": there.kubernetes,
            "vpcConfig": {"subnetIds": list(subnets)},
            "accessConfig": {"authenticationMode": "API"},
        }
        yield Seed(type=CLUSTER, id=name, inputs=made, aliases=(arn, there.server), inside=subnets)
