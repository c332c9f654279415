"""One row of the lock: machines of one type in one zone."""

from components.node_pool.contract import NodePool, NodePoolArgs, declare

__all__ = ["NodePool", "NodePoolArgs", "declare"]
