"""Providers of all clouds keep their contract."""

import pytest

from tests.components.clouds import clouds
from tests.components.contract_provider import ProviderContract


@pytest.fixture(params=clouds("provider"))
def cloud(request):
    return request.param


class TestProvider(ProviderContract):
    """On every cloud."""
