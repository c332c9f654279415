"""Workload Identity of AKS: an identity that trusts the cluster's tokens of one service account."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_azure_native as azure

from components.provider.azure import grant, identity, resource_group
from components.weights.azure import CONTAINER, account_id
from components.workload_identity.contract import WorkloadIdentity, WorkloadIdentityArgs


class AzureWorkloadIdentity(WorkloadIdentity):
    """An identity that may read the weights of its own region, lent to the cluster's service account."""

    token: ClassVar[str] = "outlast:workload_identity:AzureWorkloadIdentity"

    def __init__(self, name: str, args: WorkloadIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        group = resource_group(self, name, place, args.service_account)
        who = identity(self, name, place, group, args.service_account)
        grant(
            self,
            f"{name}-weights",
            place,
            role="Storage Blob Data Reader",
            scope=f"{account_id(place)}/blobServices/default/containers/{CONTAINER}",
            principal=who.principal_id,
        )
        azure.managedidentity.FederatedIdentityCredential(
            name,
            resource_group_name=group.name,
            resource_name_=who.name,
            federated_identity_credential_resource_name=args.service_account,
            issuer=args.cluster.ids["issuer"],
            subject=f"system:serviceaccount:{args.namespace}:{args.service_account}",
            audiences=["api://AzureADTokenExchange"],
            opts=self.child(),
        )
        self.annotations = {"azure.workload.identity/client-id": who.client_id}
        self.register()
