"""A region's Kubernetes cluster, without nodes."""

from components.cluster.contract import Cluster, ClusterArgs, ExistingCluster, ExistingClusterArgs, declare

__all__ = ["Cluster", "ClusterArgs", "ExistingCluster", "ExistingClusterArgs", "declare"]
