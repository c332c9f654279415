"""Records of a region's stack as a reader would give them: what a lock says, without components."""

from typing import Any

from outlast.intent import Intent
from outlast.lock import Lock, LockNodePool, LockPool
from outlast.view import UNKNOWN, Resource
from tests.builders import make_resource


def make_stack(intent: Intent, lock: Lock, region: str) -> dict[str, Resource]:
    """The resources of a region's stack, by logical name: what the lock says, on the region's cloud, and a store.

    ``provider``, ``cluster``, ``kubernetes``, ``store``, and the keys of the lock's node pools and pools.
    """
    row, block, stack = intent.regions[region], lock.regions[region], f"{intent.name}.{region}"
    law = intent.jurisdiction(region).lower()
    is_aws = row.cloud == "aws"
    make = _aws_node_pool if is_aws else _gcp_node_pool
    served = {"provider_inputs": {"region": row.provider_region}}
    where = {} if is_aws else {"location": row.provider_region}
    cluster = {"name": f"{intent.name}-{region}"} | where
    cluster_type = "aws:eks/cluster:Cluster" if is_aws else "gcp:container/cluster:Cluster"
    store, tags = ("aws:s3/bucket:Bucket", "tags") if is_aws else ("gcp:storage/bucket:Bucket", "labels")
    control = make_resource(cluster_type, "cluster", stack, inputs=cluster, **served)
    kubernetes = make_resource(
        "pulumi:providers:kubernetes",
        "kubernetes",
        stack,
        inputs={"clusterIdentifier": cluster["name"], "kubeconfig": UNKNOWN},
        property_dependencies={"kubeconfig": (control.urn,)},
    )
    found = [
        make_resource(f"pulumi:providers:{row.cloud}", "provider", stack, inputs={"region": row.provider_region}),
        control,
        kubernetes,
        make_resource(store, "store", stack, inputs={tags: {"outlast-jurisdiction": law}} | where, **served),
    ]
    for key, node_pool in block.node_pools.items():
        found += make(key, node_pool, stack, served)
    found += [_workload(key, pool, stack, kubernetes) for key, pool in block.pools.items()]
    return {resource.name: resource for resource in found}


def _aws_node_pool(key: str, row: LockNodePool, stack: str, served: dict[str, Any]) -> list[Resource]:
    subnet = make_resource(
        "aws:ec2/subnet:Subnet", f"{key}-subnet", stack, inputs={"availabilityZoneId": row.zone}, **served
    )
    inputs = {
        "labels": {"outlast-node-pool": key},
        "instanceTypes": (row.machine_type,),
        "capacityType": "SPOT" if row.capacity == "spot" else "ON_DEMAND",
        "scalingConfig": {"minSize": row.nodes.min, "desiredSize": row.nodes.min, "maxSize": row.nodes.max},
        "subnetIds": (UNKNOWN,),
    }
    group = make_resource(
        "aws:eks/nodeGroup:NodeGroup",
        key,
        stack,
        inputs=inputs,
        property_dependencies={"subnetIds": (subnet.urn,)},
        ignore_changes=("scalingConfig.desiredSize",) if row.scaling == "elastic" else (),
        **served,
    )
    return [subnet, group]


def _gcp_node_pool(key: str, row: LockNodePool, stack: str, served: dict[str, Any]) -> list[Resource]:
    inputs = {
        "location": served["provider_inputs"]["region"],
        "nodeLocations": (row.zone,),
        "nodeCount": row.nodes.min,
        "nodeConfig": {"labels": {"outlast-node-pool": key}, "machineType": row.machine_type},
    }
    return [make_resource("gcp:container/nodePool:NodePool", key, stack, inputs=inputs, **served)]


def _workload(key: str, pool: LockPool, stack: str, provider: Resource) -> Resource:
    expression = {"key": "outlast-node-pool", "operator": "In", "values": tuple(pool.places)}
    terms = {"nodeSelectorTerms": ({"matchExpressions": (expression,)},)}
    spec = {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}},
        "containers": ({"name": "engine", "resources": {"limits": {"nvidia.com/gpu": str(pool.replica_gpus)}}},),
    }
    inputs = {
        "metadata": {"labels": {"outlast-pool": key}},
        "spec": {"replicas": pool.replicas.floor, "template": {"spec": spec}},
    }
    return make_resource(
        "kubernetes:apps/v1:Deployment",
        key,
        stack,
        inputs=inputs,
        provider=provider.urn,
        provider_inputs=provider.inputs,
    )
