"""Clusters of all clouds keep their contract."""

import pytest

from tests.components.clouds import clouds
from tests.components.contract_cluster import ClusterContract


@pytest.fixture(params=clouds("cluster"))
def cloud(request):
    return request.param


class TestCluster(ClusterContract):
    """On every cloud."""
