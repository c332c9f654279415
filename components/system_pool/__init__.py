"""A few nodes without accelerators for what the cluster itself needs."""

from components.system_pool.contract import SystemPool, SystemPoolArgs, declare

__all__ = ["SystemPool", "SystemPoolArgs", "declare"]
