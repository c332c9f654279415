"""The real engine and the real Azure SDK on the stand-in: a small program is made, upgraded, drifts and ends."""

import base64
import json
from pathlib import Path

import pytest

from tests.simcloud.small_engine import Engine, LifeContract, deploy

pytestmark = pytest.mark.engine

POOL = "azure-native:containerservice:AgentPool"


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The program deployed once; tests work on copies."""
    return deploy(tmp_path_factory.mktemp("deployed"), "azure", ["azure-native", "kubernetes"])


@pytest.fixture
def engine(deployed: Engine, tmp_path: Path) -> Engine:
    """A copy of the deployed program, its state and its clouds."""
    return deployed.copy(tmp_path / "copy")


class TestLife(LifeContract):
    """Of a cluster on Azure with a pool of GPUs."""

    DRIFT = (POOL, "h100a", "count", 1)


def test_the_program_is_told_where_its_cluster_answers(engine: Engine) -> None:
    told = base64.b64decode(engine.do("stack", "output", "credentials").strip())
    assert json.loads(told)["clusters"][0]["cluster"]["server"].endswith(".azmk8s.io:443")


def test_a_pool_newer_than_its_cluster_is_refused_and_an_upgrade_in_order_is_not(engine: Engine) -> None:
    refused = engine.up(pool="1.37")
    assert "is newer than the control plane" in refused.stdout + refused.stderr
    assert engine.up(kubernetes="1.37").returncode == 0
    assert engine.up(kubernetes="1.37", pool="1.37").returncode == 0
