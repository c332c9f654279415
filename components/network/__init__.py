"""A region's network: private node subnets a zone, a way out, none in."""

from components.network.contract import ExistingNetwork, ExistingNetworkArgs, Network, NetworkArgs, declare

__all__ = ["ExistingNetwork", "ExistingNetworkArgs", "Network", "NetworkArgs", "declare"]
