"""Networks of all clouds keep their contract."""

import pytest

from tests.components.clouds import clouds
from tests.components.contract_network import NetworkContract


@pytest.fixture(params=clouds("network"))
def cloud(request):
    return request.param


class TestNetwork(NetworkContract):
    """On every cloud."""
