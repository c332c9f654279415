"""A region of AWS as its components declare it, without a fleet around it."""

from functools import cache
from typing import Any

from components import cluster, identity, keys, network, node_pool, system_pool, workload_identity
from components.base import Place
from components.node_pool import NodePoolArgs
from tests.builders import demo_intent
from tests.recording import record

ZONES = ("use1-az1", "use1-az2", "use1-az4")
PLACE = Place(
    fleet="demo",
    region="us-east",
    jurisdiction="US",
    cloud="aws",
    provider_region="us-east-1",
    zones=ZONES,
    account="111122223333",
    protect=True,
)
KEY = "arn:aws:kms:us-east-1:111122223333:key/a"
BOUNDARY = "arn:aws:iam::111122223333:policy/bounds"
ADMIN = "arn:aws:iam::111122223333:role/admin"
ACCESS = {"admin": (ADMIN,), "viewer": (ADMIN, f"{ADMIN}-b")}
SUBNET, TABLE, NAT = "aws:ec2/subnet:Subnet", "aws:ec2/routeTable:RouteTable", "aws:ec2/natGateway:NatGateway"
ENDPOINT, ROUTE = "aws:ec2/vpcEndpoint:VpcEndpoint", "aws:ec2/route:Route"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
TEMPLATE, GROUP = "aws:ec2/launchTemplate:LaunchTemplate", "aws:eks/nodeGroup:NodeGroup"
ROLE, ADD_ON, CLUSTER = "aws:iam/role:Role", "aws:eks/addon:Addon", "aws:eks/cluster:Cluster"


def pool_args(**changes):
    values = {
        "place": PLACE,
        "key": "gh100-1-a",
        "zone": ZONES[0],
        "machine_type": "p5.48xlarge",
        "accelerator": "h100-sxm-80",
        "node_gpus": 8,
        "gpu_resource": "nvidia.com/gpu",
        "partition": "whole",
        "fills_card": True,
        "device": "nvidia.com/gpu",
        "node_devices": 8,
        "nvme_disks": 8,
        "interconnect_cards": 0,
        "disk_gib": 28300,
        "capacity": "on_demand",
        "reservation": None,
        "block": False,
        "scaling": "fixed",
        "nodes_min": 2,
        "nodes_max": 2,
        "kubernetes": "1.36",
    }
    return values | changes


@cache
def region(nat="regional", **changes):
    """A region's own resources: network, cluster, system pool, one node pool, one identity of a workload, its key."""

    def program():
        bound: dict[str, Any] = {"place": PLACE, "permissions_boundary": BOUNDARY}
        pins: dict[str, Any] = {"kubernetes": "1.36", "add_ons": demo_intent().add_ons("us-east")}
        net = network.declare(
            "net", network.NetworkArgs(place=PLACE, cidr="10.16.0.0/16", nat=nat, key=KEY, buckets=("w",))
        )
        who = identity.declare("who", identity.IdentityArgs(**bound))
        api: dict[str, Any] = {"private": True, "allow": (), "access": ACCESS, "system_zone_nodes": 1, "key": KEY}
        own = cluster.declare("api", cluster.ClusterArgs(network=net, identity=who, **api, **pins, **bound))
        base: dict[str, Any] = {"network": net, "identity": who, "cluster": own}
        system_pool.declare("system", system_pool.SystemPoolArgs(zone_nodes=1, **base, **pins, **bound))
        node_pool.declare("pool", NodePoolArgs(**base, **pool_args(**changes)))
        pods: dict[str, Any] = {"namespace": "serving", "service_account": "stager", "weights": "w", "key": KEY}
        workload_identity.declare("stager", workload_identity.WorkloadIdentityArgs(cluster=own, **pods, **bound))
        keys.declare("keys", keys.KeysArgs(place=PLACE))

    return record(program, preview=False)


def named(recording, type_, name):
    (found,) = [resource for resource in recording.of(type_) if resource.name == name]
    return found


def sources(resource, prop):
    """Logical names of what an input was made from."""
    return {urn.rsplit("::", 1)[-1] for urn in resource.property_dependencies[prop]}
