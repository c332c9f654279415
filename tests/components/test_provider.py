"""Providers of all clouds keep their contract."""

from tests.components.contract_provider import ProviderContract


class TestProvider(ProviderContract):
    """On every cloud."""
