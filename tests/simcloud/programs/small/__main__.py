"""A network, a cluster with two H100 nodes, and a Deployment behind a gateway."""

import json
import os

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s

knobs = json.loads(os.environ.get("SMALL_KNOBS", "{}"))
provider = aws.Provider("aws", region="us-east-1", allowed_account_ids=["111122223333"])
cloud = pulumi.ResourceOptions(provider=provider)

tags = {"owner": knobs.get("owner", "nobody")}
vpc = aws.ec2.Vpc("network", cidr_block="10.0.0.0/16", tags=tags, opts=cloud)
subnets = [
    aws.ec2.Subnet(
        f"nodes-{n}", vpc_id=vpc.id, cidr_block=f"10.0.{n}.0/24", availability_zone_id=f"use1-az{n}", opts=cloud
    )
    for n in (1, 2)
]
services = {"Service": ["eks.amazonaws.com", "ec2.amazonaws.com"]}
statement = {"Effect": "Allow", "Principal": services, "Action": "sts:AssumeRole"}
trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
role = aws.iam.Role("cluster", assume_role_policy=trust, opts=cloud)
cluster = aws.eks.Cluster(
    "cluster",
    name="small",
    role_arn=role.arn,
    vpc_config=aws.eks.ClusterVpcConfigArgs(subnet_ids=[subnet.id for subnet in subnets]),
    opts=cloud,
)
size = aws.eks.NodeGroupScalingConfigArgs(min_size=2, desired_size=2, max_size=2)
aws.eks.NodeGroup(
    "gpus",
    cluster_name=cluster.name,
    node_role_arn=role.arn,
    subnet_ids=[subnets[0].id],
    instance_types=["p5.48xlarge"],
    scaling_config=size,
    opts=cloud,
)
if knobs.get("bucket"):
    aws.s3.Bucket("weights", opts=cloud)

kubeconfig = pulumi.Output.json_dumps(
    {
        "current-context": "small",
        "contexts": [{"name": "small", "context": {"cluster": "small"}}],
        "clusters": [{"name": "small", "cluster": {"server": cluster.endpoint}}],
    }
)
inside = pulumi.ResourceOptions(provider=k8s.Provider("k8s", kubeconfig=kubeconfig, cluster_identifier="small"))
namespace = k8s.core.v1.Namespace("serving", metadata={"name": "serving"}, opts=inside)
labels = {"app": "engine"}
k8s.apps.v1.Deployment(
    "engine",
    metadata={"name": "engine", "namespace": namespace.metadata.name},
    spec={
        "replicas": knobs.get("replicas", 2),
        "selector": {"match_labels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "engine", "image": "engine"}]}},
    },
    opts=inside,
)
gateway = k8s.core.v1.Service(
    "gateway",
    metadata={"name": "gateway", "namespace": namespace.metadata.name},
    spec={"type": "LoadBalancer", "selector": labels, "ports": [{"port": 443}]},
    opts=inside,
)
pulumi.export("endpoint", cluster.endpoint)
pulumi.export("address", gateway.status.load_balancer.ingress[0].ip)
