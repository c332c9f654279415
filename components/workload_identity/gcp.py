"""Workload Identity of GKE: a Google service account that one Kubernetes service account may act as."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_gcp as gcp

from components import names
from components.workload_identity.contract import WorkloadIdentity, WorkloadIdentityArgs


class GcpWorkloadIdentity(WorkloadIdentity):
    """A service account that may read the weights of its own region, lent to the cluster's service account."""

    token: ClassVar[str] = "outlast:workload_identity:GcpWorkloadIdentity"

    def __init__(self, name: str, args: WorkloadIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        place = args.place
        account = gcp.serviceaccount.Account(
            name,
            account_id=names.service_account(place.fleet, place.region, args.service_account),
            project=place.account,
            display_name=f"{args.service_account} of {place.fleet} {place.region}",
            opts=self.child(),
        )
        gcp.projects.IAMMember(
            f"{name}-weights",
            project=place.account,
            role="roles/storage.objectViewer",
            member=account.member,
            condition=gcp.projects.IAMMemberConditionArgs(
                title="weights of this region",
                expression=f'resource.name.startsWith("projects/_/buckets/{args.weights}")',
            ),
            opts=self.child(),
        )
        gcp.serviceaccount.IAMMember(
            f"{name}-lent",
            service_account_id=account.name,
            role="roles/iam.workloadIdentityUser",
            member=f"serviceAccount:{args.cluster.group}.svc.id.goog[{args.namespace}/{args.service_account}]",
            # The pool of the project's identities exists once its first cluster with one does.
            opts=self.child(depends_on=[args.cluster]),
        )
        self.annotations = {"iam.gke.io/gcp-service-account": account.email}
        self.register()
