"""Identities of workloads on all clouds keep their contract."""

from tests.components.contract_identity import WorkloadIdentityContract


class TestWorkloadIdentity(WorkloadIdentityContract):
    """On every cloud."""
