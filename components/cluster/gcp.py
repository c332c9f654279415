"""A region's cluster on GKE."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.base import Place
from components.cluster.contract import Cluster, ClusterArgs, kubeconfig

PODS, SERVICES = "pods", "services"
"""Secondary ranges of the region's subnetwork."""
_ROLES = {"admin": "roles/container.admin", "operator": "roles/container.developer", "viewer": "roles/container.viewer"}


def token_command(place: Place, cluster: str) -> list[str]:  # noqa: ARG001  (one signature for all clouds)
    """Return the command that prints a token for a cluster's API server."""
    return ["gke-gcloud-auth-plugin"]


def group_of(place: Place, cluster_id: str) -> str:
    """Return the project that holds a cluster: ``projects/PROJECT/...``, or the region's own."""
    return cluster_id.split("/")[1] if cluster_id.startswith("projects/") else place.account


class GcpCluster(Cluster):
    """A regional GKE cluster with private nodes; its API server is reached by a DNS name that checks identities."""

    token: ClassVar[str] = "outlast:cluster:GcpCluster"

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        physical = names.cluster(place.fleet, place.region)
        cluster = gcp.container.Cluster(
            name,
            name=physical,
            project=place.account,
            location=place.provider_region,
            node_locations=list(place.zones),
            network=args.network.network_id,
            subnetwork=args.network.node_subnets[place.zones[0]],
            min_master_version=args.kubernetes,
            release_channel=gcp.container.ClusterReleaseChannelArgs(channel="REGULAR"),
            remove_default_node_pool=True,
            initial_node_count=1,
            datapath_provider="ADVANCED_DATAPATH",
            ip_allocation_policy=gcp.container.ClusterIpAllocationPolicyArgs(
                cluster_secondary_range_name=PODS, services_secondary_range_name=SERVICES
            ),
            workload_identity_config=gcp.container.ClusterWorkloadIdentityConfigArgs(
                workload_pool=f"{place.account}.svc.id.goog"
            ),
            database_encryption=gcp.container.ClusterDatabaseEncryptionArgs(state="ENCRYPTED", key_name=args.key),
            resource_labels=names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction),
            deletion_protection=place.protect,
            opts=self.child(protect=place.protect),
            **_reach(args),
        )
        _access(self, name, args)
        self._resource, self._group = cluster, place.account
        self.cluster_name = cluster.name
        self.kubeconfig = cluster.control_plane_endpoints_config.apply(
            lambda config: kubeconfig(
                physical, f"https://{config.dns_endpoint_config.endpoint}", None, token_command(place, physical)
            )
        )
        self.register()


def _reach(args: ClusterArgs) -> dict[str, object]:
    """Return what decides who reaches the API server over the network."""
    endpoints = gcp.container.ClusterControlPlaneEndpointsConfigArgs(
        dns_endpoint_config=gcp.container.ClusterControlPlaneEndpointsConfigDnsEndpointConfigArgs(
            allow_external_traffic=True
        ),
        ip_endpoints_config=gcp.container.ClusterControlPlaneEndpointsConfigIpEndpointsConfigArgs(
            enabled=not args.private
        ),
    )
    reach: dict[str, object] = {
        "private_cluster_config": gcp.container.ClusterPrivateClusterConfigArgs(
            enable_private_nodes=True, enable_private_endpoint=args.private
        ),
        "control_plane_endpoints_config": endpoints,
    }
    if not args.private:
        blocks = gcp.container.ClusterMasterAuthorizedNetworksConfigCidrBlockArgs
        reach["master_authorized_networks_config"] = gcp.container.ClusterMasterAuthorizedNetworksConfigArgs(
            cidr_blocks=[blocks(cidr_block=cidr) for cidr in args.allow]
        )
    return reach


def _access(component: GcpCluster, name: str, args: ClusterArgs) -> None:
    for rank, principals in args.access.items():
        for principal in principals:
            gcp.projects.IAMMember(
                f"{name}-{rank}-{names.digest(principal)}",
                project=args.place.account,
                role=_ROLES[rank],
                member=principal,
                opts=component.child(),
            )
