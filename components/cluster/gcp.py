"""A region's cluster on GKE.

`fleet.yaml` gives the minor version that the control plane has at least. A release channel upgrades nodes by itself, so
node pools name no version, which would fight it: once the control plane has moved they follow, in the window below.
Minor versions are not excluded from upgrades: that would hold node pools back behind a control plane that we move.
"""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.base import Place
from components.cluster.contract import Cluster, ClusterArgs, kubeconfig
from components.network.gcp import PODS, SERVICES

_ROLES = {"admin": "roles/container.admin", "operator": "roles/container.developer", "viewer": "roles/container.viewer"}
_LOGS = ["SYSTEM_COMPONENTS", "APISERVER", "CONTROLLER_MANAGER", "SCHEDULER"]
"""Not what workloads write: a project's logs lie in no region."""
_METRICS = ["SYSTEM_COMPONENTS", "POD", "DEPLOYMENT", "DCGM"]
_WINDOW = {"start_time": "2026-01-03T01:00:00Z", "end_time": "2026-01-03T07:00:00Z"}
_WINDOW_DAYS = "FREQ=WEEKLY;BYDAY=SA,SU"
"""Weekend nights; GKE wants 48 hours in 32 days."""


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
            datapath_provider="ADVANCED_DATAPATH",
            enable_cilium_clusterwide_network_policy=True,
            ip_allocation_policy=gcp.container.ClusterIpAllocationPolicyArgs(
                cluster_secondary_range_name=PODS, services_secondary_range_name=SERVICES
            ),
            gateway_api_config=gcp.container.ClusterGatewayApiConfigArgs(channel="CHANNEL_STANDARD"),
            workload_identity_config=gcp.container.ClusterWorkloadIdentityConfigArgs(
                workload_pool=f"{place.account}.svc.id.goog"
            ),
            database_encryption=gcp.container.ClusterDatabaseEncryptionArgs(state="ENCRYPTED", key_name=args.key),
            resource_labels=names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction),
            deletion_protection=place.protect,
            # The first node pool lives for minutes; what it was born with is no setting of the cluster.
            opts=self.child(
                depends_on=[args.identity, args.network], protect=place.protect, ignore_changes=["nodeConfig"]
            ),
            **_reach(args),
            **_first_nodes(args),
            **_hardening(),
            **_upkeep(),
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


def _first_nodes(args: ClusterArgs) -> dict[str, object]:
    """Return the node pool that a cluster is born with and loses at once; node pools of ours have all the nodes."""
    return {
        "remove_default_node_pool": True,
        "initial_node_count": 1,
        "skip_node_pool_refresh": True,
        "node_config": gcp.container.ClusterNodeConfigArgs(
            service_account=args.identity.principal,
            oauth_scopes=["https://www.googleapis.com/auth/cloud-platform"],
            shielded_instance_config=gcp.container.ClusterNodeConfigShieldedInstanceConfigArgs(
                enable_secure_boot=True, enable_integrity_monitoring=True
            ),
        ),
        "node_pool_defaults": gcp.container.ClusterNodePoolDefaultsArgs(
            node_config_defaults=gcp.container.ClusterNodePoolDefaultsNodeConfigDefaultsArgs(
                insecure_kubelet_readonly_port_enabled="FALSE"
            )
        ),
    }


def _hardening() -> dict[str, object]:
    """Return what keeps out those who have shown no identity, and identities of the past."""
    return {
        "enable_shielded_nodes": True,
        "enable_legacy_abac": False,
        "master_auth": gcp.container.ClusterMasterAuthArgs(
            client_certificate_config=gcp.container.ClusterMasterAuthClientCertificateConfigArgs(
                issue_client_certificate=False
            )
        ),
        "anonymous_authentication_config": gcp.container.ClusterAnonymousAuthenticationConfigArgs(mode="LIMITED"),
        "rbac_binding_config": gcp.container.ClusterRbacBindingConfigArgs(
            enable_insecure_binding_system_authenticated=False, enable_insecure_binding_system_unauthenticated=False
        ),
        # A project has one policy, which is not ours to write; images are checked inside the cluster.
        "binary_authorization": gcp.container.ClusterBinaryAuthorizationArgs(evaluation_mode="DISABLED"),
    }


def _upkeep() -> dict[str, object]:
    """Return what is logged and measured, and when nodes may be replaced."""
    return {
        "logging_config": gcp.container.ClusterLoggingConfigArgs(enable_components=_LOGS),
        "monitoring_config": gcp.container.ClusterMonitoringConfigArgs(
            enable_components=_METRICS,
            managed_prometheus=gcp.container.ClusterMonitoringConfigManagedPrometheusArgs(enabled=True),
        ),
        "cost_management_config": gcp.container.ClusterCostManagementConfigArgs(enabled=True),
        "maintenance_policy": gcp.container.ClusterMaintenancePolicyArgs(
            recurring_window=gcp.container.ClusterMaintenancePolicyRecurringWindowArgs(
                **_WINDOW, recurrence=_WINDOW_DAYS
            )
        ),
    }


def _access(component: GcpCluster, name: str, args: ClusterArgs) -> None:
    """Grant on the project, which is the least that GKE's roles are granted on, but for this cluster alone.

    Without the condition regions of one project would share a grant, and the first to go would take it from the others.
    Source: IAM documentation, Resource attributes for IAM Conditions: resource name format.
    """
    place = args.place
    own = f"projects/{place.account}/locations/{place.provider_region}/clusters/"
    own += names.cluster(place.fleet, place.region)
    condition = gcp.projects.IAMMemberConditionArgs(
        title="cluster of this region",
        expression=f'resource.name == "{own}" || resource.name.startsWith("{own}/")',
    )
    for rank, principals in args.access.items():
        for principal in principals:
            gcp.projects.IAMMember(
                f"{name}-{rank}-{names.digest(principal)}",
                project=place.account,
                role=_ROLES[rank],
                member=principal,
                condition=condition,
                opts=component.child(),
            )
