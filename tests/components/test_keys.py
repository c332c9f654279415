"""Keys of all clouds keep their contract."""

from tests.components.contract_keys import KeysContract


class TestKeys(KeysContract):
    """On every cloud."""
