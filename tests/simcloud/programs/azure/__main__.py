"""A group with a network, a cluster with a pool of two H100 machines, and a namespace in it."""

import json
import os

import pulumi
import pulumi_azure_native as azure
import pulumi_kubernetes as k8s

knobs = json.loads(os.environ.get("SMALL_KNOBS", "{}"))
subscription = "0a1b2c3d-0000-4000-8000-000000000001"
provider = azure.Provider("azure", subscription_id=subscription, location="swedencentral")
cloud = pulumi.ResourceOptions(provider=provider)
group = azure.resources.ResourceGroup("group", resource_group_name="eu-north", opts=cloud)
network = azure.network.VirtualNetwork(
    "network",
    resource_group_name=group.name,
    address_space=azure.network.AddressSpaceArgs(address_prefixes=["10.0.0.0/16"]),
    tags={"owner": knobs.get("owner", "nobody")},
    opts=cloud,
)
aks = azure.containerservice
system = aks.ManagedClusterAgentPoolProfileArgs(name="system", mode="System", vm_size="Standard_D4ds_v5", count=1)
cluster = aks.ManagedCluster(
    "cluster",
    resource_group_name=group.name,
    resource_name_="eu-north",
    dns_prefix="eu-north",
    kubernetes_version=knobs.get("kubernetes", "1.36"),
    identity=aks.ManagedClusterIdentityArgs(type=aks.ResourceIdentityType.SYSTEM_ASSIGNED),
    oidc_issuer_profile=aks.ManagedClusterOIDCIssuerProfileArgs(enabled=True),
    agent_pool_profiles=[system],
    opts=cloud,
)
aks.AgentPool(
    "pool",
    resource_group_name=group.name,
    resource_name_=cluster.name,
    agent_pool_name="h100a",
    vm_size="Standard_ND96isr_H100_v5",
    count=knobs.get("count", 2),
    availability_zones=["1"],
    orchestrator_version=knobs.get("pool", "1.36"),
    gpu_profile=aks.GPUProfileArgs(driver="Install"),
    opts=cloud,
)
credentials = aks.list_managed_cluster_user_credentials_output(
    resource_group_name=group.name, resource_name=cluster.name, opts=pulumi.InvokeOutputOptions(provider=provider)
)
kubeconfig = pulumi.Output.json_dumps(
    {
        "current-context": "eu-north",
        "contexts": [{"name": "eu-north", "context": {"cluster": "eu-north"}}],
        "clusters": [{"name": "eu-north", "cluster": {"server": pulumi.Output.concat("https://", cluster.fqdn)}}],
    }
)
inside = pulumi.ResourceOptions(provider=k8s.Provider("k8s", kubeconfig=kubeconfig, cluster_identifier="eu-north"))
k8s.core.v1.Namespace("serving", metadata={"name": "serving"}, opts=inside)
pulumi.export("credentials", credentials.kubeconfigs[0].value)
pulumi.export("issuer", cluster.oidc_issuer_profile.issuer_url)
