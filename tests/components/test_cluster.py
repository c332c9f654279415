"""Clusters of all clouds keep their contract."""

from tests.components.contract_cluster import ClusterContract


class TestCluster(ClusterContract):
    """On every cloud."""
