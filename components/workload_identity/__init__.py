"""Who a service account of a region's cluster is to the cloud, and what it may read."""

from components.workload_identity.contract import WorkloadIdentity, WorkloadIdentityArgs, declare

__all__ = ["WorkloadIdentity", "WorkloadIdentityArgs", "declare"]
