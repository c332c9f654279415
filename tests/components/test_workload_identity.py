"""Identities of workloads on all clouds keep their contract."""

import pytest

from tests.components.clouds import clouds
from tests.components.contract_identity import WorkloadIdentityContract


@pytest.fixture(params=clouds("workload_identity"))
def cloud(request):
    return request.param


class TestWorkloadIdentity(WorkloadIdentityContract):
    """On every cloud."""
