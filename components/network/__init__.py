"""A region's network: private node subnets a zone, a way out, none in."""

from components.network.contract import Network, NetworkArgs, declare

__all__ = ["Network", "NetworkArgs", "declare"]
