"""System pools of all clouds keep their contract."""

from tests.components.contract_system_pool import SystemPoolContract


class TestSystemPool(SystemPoolContract):
    """On every cloud."""
