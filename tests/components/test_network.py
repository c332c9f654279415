"""Networks of all clouds keep their contract."""

from tests.components.contract_network import NetworkContract


class TestNetwork(NetworkContract):
    """On every cloud."""
