"""Identities of nodes on all clouds keep their contract."""

from tests.components.contract_identity import IdentityContract


class TestIdentity(IdentityContract):
    """On every cloud."""
