"""Static IPv4 addresses of a region's gateway."""

from components.gateway_address.contract import GatewayAddress, GatewayAddressArgs, declare, slots

__all__ = ["GatewayAddress", "GatewayAddressArgs", "declare", "slots"]
