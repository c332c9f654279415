"""The real engine and the real Azure SDK on the stand-in: a small program is made, upgraded, drifts and ends."""

import base64
import json
import shutil
from pathlib import Path

import pytest

from simcloud import life
from simcloud.home import install
from tests.simcloud.test_engine import ROOT, Engine, world

pytestmark = pytest.mark.engine

PROGRAM = Path(__file__).with_name("programs") / "azure"
POOL = "azure-native:containerservice:AgentPool"


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The program deployed once; the tests go on from each other's ends."""
    engine = Engine(tmp_path_factory.mktemp("deployed"))
    shutil.copytree(PROGRAM, engine.folder / "program")
    world(engine.sim)
    install(engine.sim, ROOT, ["azure-native", "kubernetes"])
    engine.do("stack", "init", "test")
    engine.do("preview")
    engine.do("up", "--yes", "--skip-preview")
    return engine


def test_what_was_deployed_has_no_changes_and_no_drift(deployed: Engine) -> None:
    deployed.do("preview", "--expect-no-changes")
    deployed.do("refresh", "--yes", "--expect-no-changes")


def test_the_program_is_told_where_its_cluster_answers(deployed: Engine) -> None:
    told = base64.b64decode(deployed.do("stack", "output", "credentials").strip())
    assert json.loads(told)["clusters"][0]["cluster"]["server"].endswith(".azmk8s.io:443")


def test_a_pool_newer_than_its_cluster_is_refused_and_an_upgrade_in_order_is_not(deployed: Engine) -> None:
    refused = deployed.up(pool="1.37")
    assert "is newer than the control plane" in refused.stdout + refused.stderr
    assert deployed.up(kubernetes="1.37").returncode == 0
    assert deployed.up(kubernetes="1.37", pool="1.37").returncode == 0


def test_an_update_mends_a_count_that_somebody_changed(deployed: Engine) -> None:
    life.drift(deployed.sim, POOL, "h100a", {"count": 1})
    deployed.do("refresh", "--yes")
    assert deployed.up(kubernetes="1.37", pool="1.37").returncode == 0
    assert [item.inputs["count"] for item in life.resources(deployed.sim) if item.type == POOL] == [2]


def test_teardown_leaves_nothing(deployed: Engine) -> None:
    deployed.do("destroy", "--yes")
    assert life.resources(deployed.sim) == []
