"""A region's cluster on AKS."""

from __future__ import annotations

import base64
from ipaddress import IPv4Network
from typing import ClassVar

import pulumi
import pulumi_azure_native as azure
import yaml

from components import names
from components.base import Place
from components.cluster.contract import Cluster, ClusterArgs, kubeconfig
from components.keys.azure import closed_account, key_id, vault_id
from components.network.contract import Network
from components.provider.azure import grant, group_name, identity, resource_group, tags
from components.system_pool.azure import system_profile

_DNS = 10
"""Number of the address of the cluster's DNS in the range of services."""
_SERVER = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""Application that tokens for an API server are made for. Source: AKS documentation, kubelogin."""
_MAINTAINED = ("aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")
_LOGGED = (
    "cloud-controller-manager",
    "guard",
    "kube-apiserver",
    "kube-audit-admin",
    "kube-controller-manager",
    "kube-scheduler",
)
"""Logs of the control plane; of calls, those that change something. Source: AKS monitoring data reference."""
_LOG_DAYS = 90
_PEOPLE = "Group"
"""What an object id in ``access`` is: people come and go, their group stays."""
_ROLES = {
    "admin": "Azure Kubernetes Service RBAC Cluster Admin",
    "operator": "Azure Kubernetes Service RBAC Writer",
    "viewer": "Azure Kubernetes Service RBAC Reader",
}


def token_command(place: Place, cluster: str) -> list[str]:  # noqa: ARG001  (one signature for all clouds)
    """Return the command that prints a token for a cluster's API server, as who the Azure command line is signed in."""
    return ["kubelogin", "get-token", "--login", "azurecli", "--server-id", _SERVER]


def group_of(place: Place, cluster_id: str) -> str:
    """Return the resource group that holds a cluster: that of its id, or the region's own."""
    parts = cluster_id.split("/")
    return parts[4] if cluster_id.startswith("/subscriptions/") and len(parts) > 4 else group_name(place, "cluster")


class AzureCluster(Cluster):
    """An AKS cluster whose API server lies in the region's network, with one system pool.

    A pool has one subnet: where ways out are zonal, that of the system pool is the first zone's. AKS has no protection
    against deletion, and a lock would keep node pools from being dropped, so the cluster has ours alone.
    """

    token: ClassVar[str] = "outlast:cluster:AzureCluster"

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        self._args, self._name = args, name
        group = resource_group(self, name, place, "cluster")
        who = identity(self, name, place, group, "cluster")
        physical = names.cluster(place.fleet, place.region)
        cluster = self._cluster(physical, group, who)
        self._maintenance(group, cluster)
        self._logs(group, cluster)
        self._resource, self._group = cluster, group_name(place, "cluster")
        issuer = cluster.oidc_issuer_profile.apply(lambda profile: profile.issuer_url if profile else "")
        self._ids = {"issuer": issuer, "principal": who.principal_id}
        self.cluster_name = cluster.name
        credentials = azure.containerservice.list_managed_cluster_user_credentials_output(
            resource_group_name=group.name,
            resource_name=cluster.name,
            opts=pulumi.InvokeOutputOptions(parent=self),
        )
        token = token_command(place, physical)
        self.kubeconfig = pulumi.Output.all(cluster.id, credentials.kubeconfigs).apply(
            lambda parts: kubeconfig(physical, *_reached_at(parts[1][0]["value"]), token)
        )
        self.register()

    def _cluster(
        self,
        physical: str,
        group: azure.resources.ResourceGroup,
        who: azure.managedidentity.UserAssignedIdentity,
    ) -> azure.containerservice.ManagedCluster:
        args, place, aks = self._args, self._args.place, azure.containerservice
        kubelet = aks.UserAssignedIdentityArgs(
            resource_id=args.identity.principal,
            client_id=args.identity.ids["client"],
            object_id=args.identity.ids["object"],
        )
        return aks.ManagedCluster(
            self._name,
            resource_group_name=group.name,
            resource_name_=physical,
            location=place.provider_region,
            kubernetes_version=args.kubernetes,
            dns_prefix=physical,
            sku=aks.ManagedClusterSKUArgs(name="Base", tier="Standard"),
            support_plan="KubernetesOfficial",
            identity=aks.ManagedClusterIdentityArgs(
                type=aks.ResourceIdentityType.USER_ASSIGNED, user_assigned_identities=[who.id]
            ),
            identity_profile={"kubeletidentity": kubelet},
            disable_local_accounts=True,
            enable_rbac=True,
            aad_profile=aks.ManagedClusterAADProfileArgs(managed=True, enable_azure_rbac=True),
            oidc_issuer_profile=aks.ManagedClusterOIDCIssuerProfileArgs(enabled=True),
            security_profile=_security(args),
            api_server_access_profile=_reach(args),
            network_profile=_network_profile(args),
            auto_upgrade_profile=aks.ManagedClusterAutoUpgradeProfileArgs(
                upgrade_channel="patch", node_os_upgrade_channel="SecurityPatch"
            ),
            node_resource_group=group_name(place, "nodes"),
            node_resource_group_profile=aks.ManagedClusterNodeResourceGroupProfileArgs(restriction_level="ReadOnly"),
            agent_pool_profiles=[system_profile(place, args.network, args.system_zone_nodes)],
            tags=tags(place),
            # Grants take minutes to be heard of: the rest of the network is the wait for these.
            opts=self.child(depends_on=[*self._grants(who), *self._access(group), args.network], protect=place.protect),
        )

    def _grants(self, who: azure.managedidentity.UserAssignedIdentity) -> list[pulumi.Resource]:
        """Grant what the control plane must hold before it is born: subnets, its nodes' identity, key, reservations."""
        args, place = self._args, self._args.place
        wanted: dict[str, tuple[str, pulumi.Input[str]]] = {
            **{word: ("Network Contributor", subnet) for word, subnet in joined_subnets(args.network).items()},
            "kubelet": ("Managed Identity Operator", args.identity.principal),
            "key": ("Key Vault Crypto User", key_id(place, args.key)),
            # It reaches the vault by a private endpoint that it makes itself.
            "vault": ("Key Vault Contributor", vault_id(place)),
            # Source: AKS documentation, Assign capacity reservation groups to node pools.
            **{f"reservation-{names.digest(held)}": ("Contributor", held) for held in args.reservations},
        }
        return [
            grant(self, f"{self._name}-{word}", place, role=role, scope=scope, principal=who.principal_id)
            for word, (role, scope) in wanted.items()
        ]

    def _access(self, group: azure.resources.ResourceGroup) -> list[pulumi.Resource]:
        """Let people in before the cluster is there, so that its birth is the wait until the grants are heard of."""
        return [
            grant(
                self,
                f"{self._name}-{rank}-{names.digest(principal)}",
                self._args.place,
                role=_ROLES[rank],
                scope=group.id,
                principal=principal,
                principal_type=_PEOPLE,
            )
            for rank, principals in self._args.access.items()
            for principal in principals
        ]

    def _maintenance(
        self, group: azure.resources.ResourceGroup, cluster: azure.containerservice.ManagedCluster
    ) -> None:
        """Keep upgrades to the small hours of Sunday; the service knows its three schedules by these names only."""
        aks = azure.containerservice
        window = aks.MaintenanceWindowArgs(
            schedule=aks.ScheduleArgs(weekly=aks.WeeklyScheduleArgs(day_of_week="Sunday", interval_weeks=1)),
            start_time="00:00",
            duration_hours=8,
            utc_offset="+00:00",
        )
        hours = aks.TimeInWeekArgs(day="Sunday", hour_slots=list(range(8)))
        schedules: dict[str, dict[str, object]] = {"default": {"time_in_week": [hours]}}
        schedules |= {name: {"maintenance_window": window} for name in _MAINTAINED}
        for name, when in schedules.items():
            aks.MaintenanceConfiguration(
                f"{self._name}-{name}",
                resource_group_name=group.name,
                resource_name_=cluster.name,
                config_name=name,
                opts=self.child(),
                **when,
            )

    def _logs(self, group: azure.resources.ResourceGroup, cluster: azure.containerservice.ManagedCluster) -> None:
        """Keep what the control plane says, in the region; a setting itself no longer decides how long."""
        place, name = self._args.place, f"{self._name}-log"
        physical = names.storage_account(place.fleet, place.region, "cluster-log", place.account)
        account, _ = closed_account(self, name, place, group, "cluster-log", physical, self._args.key)
        azure.storage.ManagementPolicy(
            name,
            resource_group_name=group.name,
            account_name=account.name,
            management_policy_name="default",
            policy=azure.storage.ManagementPolicySchemaArgs(rules=[_deletion(_LOG_DAYS)]),
            opts=self.child(),
        )
        azure.monitor.DiagnosticSetting(
            name,
            name="control-plane",
            resource_uri=cluster.id,
            storage_account_id=account.id,
            logs=[azure.monitor.DiagnosticsLogSettingsArgs(category=word, enabled=True) for word in _LOGGED],
            opts=self.child(),
        )


def _deletion(days: int) -> azure.storage.ManagementPolicyRuleArgs:
    """Return the rule that deletes logs, which services append to, after some days."""
    storage = azure.storage
    age = storage.DateAfterModificationArgs(days_after_modification_greater_than=days)
    return storage.ManagementPolicyRuleArgs(
        name="old-logs",
        type="Lifecycle",
        enabled=True,
        definition=storage.ManagementPolicyDefinitionArgs(
            actions=storage.ManagementPolicyActionArgs(base_blob=storage.ManagementPolicyBaseBlobArgs(delete=age)),
            filters=storage.ManagementPolicyFilterArgs(blob_types=["appendBlob"]),
        ),
    )


def joined_subnets(network: Network) -> dict[str, pulumi.Output[str]]:
    """Return the subnets that a cluster joins, each once, by a word that stays when a zone goes."""
    nodes = {subnet: zone for zone, subnet in reversed(list(network.node_subnets.items()))}
    words = (
        {f"nodes-{zone}": subnet for subnet, zone in nodes.items()} if len(nodes) > 1 else {"nodes": next(iter(nodes))}
    )
    return words | {f"api-{number}": subnet for number, subnet in enumerate(network.api_subnets, 1)}


def _security(args: ClusterArgs) -> azure.containerservice.ManagedClusterSecurityProfileArgs:
    aks = azure.containerservice
    return aks.ManagedClusterSecurityProfileArgs(
        workload_identity=aks.ManagedClusterSecurityProfileWorkloadIdentityArgs(enabled=True),
        azure_key_vault_kms=aks.AzureKeyVaultKmsArgs(
            enabled=True,
            key_id=args.key,
            key_vault_network_access="Private",
            key_vault_resource_id=vault_id(args.place),
        ),
    )


def _reach(args: ClusterArgs) -> azure.containerservice.ManagedClusterAPIServerAccessProfileArgs:
    """Return what decides who reaches the API server over the network."""
    return azure.containerservice.ManagedClusterAPIServerAccessProfileArgs(
        enable_private_cluster=args.private,
        enable_private_cluster_public_fqdn=False if args.private else None,
        authorized_ip_ranges=None if args.private else list(args.allow),
        enable_vnet_integration=True,
        subnet_id=args.network.api_subnets[0],
        disable_run_command=True,
    )


def _network_profile(args: ClusterArgs) -> azure.containerservice.ContainerServiceNetworkProfileArgs:
    return azure.containerservice.ContainerServiceNetworkProfileArgs(
        network_plugin="azure",
        network_plugin_mode="overlay",
        network_dataplane="cilium",
        network_policy="cilium",
        outbound_type="userAssignedNATGateway",
        load_balancer_sku="standard",
        pod_cidr=args.pod_range,
        service_cidr=args.service_range,
        dns_service_ip=str(IPv4Network(args.service_range)[_DNS]) if args.service_range else None,
    )


def _reached_at(credential: str) -> tuple[str, str]:
    """Return the address of the API server and its certificate authority from the service's own kubeconfig, base64."""
    (entry,) = yaml.safe_load(base64.b64decode(credential))["clusters"]
    return entry["cluster"]["server"], entry["cluster"]["certificate-authority-data"]
