"""Buckets of weights of all clouds keep their contract."""

from tests.components.contract_weights import WeightsContract


class TestWeights(WeightsContract):
    """On every cloud."""
