"""A region's Kubernetes cluster, without nodes."""

from components.cluster.contract import Cluster, ClusterArgs, declare

__all__ = ["Cluster", "ClusterArgs", "declare"]
