"""Identities of nodes on all clouds keep their contract."""

import pytest

from tests.components.clouds import clouds
from tests.components.contract_identity import IdentityContract


@pytest.fixture(params=clouds("identity"))
def cloud(request):
    return request.param


class TestIdentity(IdentityContract):
    """On every cloud."""
