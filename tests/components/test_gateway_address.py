"""Addresses of gateways on all clouds keep their contract."""

from tests.components.contract_gateway_address import GatewayAddressContract


class TestGatewayAddress(GatewayAddressContract):
    """On every cloud."""
