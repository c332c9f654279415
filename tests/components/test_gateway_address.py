"""Addresses of gateways on all clouds keep their contract."""

import pytest

from tests.components.clouds import clouds
from tests.components.contract_gateway_address import GatewayAddressContract


@pytest.fixture(params=clouds("gateway_address"))
def cloud(request):
    return request.param


class TestGatewayAddress(GatewayAddressContract):
    """On every cloud."""
