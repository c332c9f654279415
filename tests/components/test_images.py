"""Registries of all clouds keep their contract."""

from tests.components.contract_images import ImagesContract


class TestImages(ImagesContract):
    """On every cloud."""
