"""The real engine on stand-in clouds: a small program lives through changes, drift, faults and its end."""

import json
import shutil
from pathlib import Path

import pytest

from simcloud import life
from tests.simcloud.small_engine import Engine, LifeContract, deploy

pytestmark = pytest.mark.engine

BUCKET, DEPLOYMENT = "aws:s3/bucket:Bucket", "kubernetes:apps/v1:Deployment"


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The program deployed once; tests work on copies."""
    return deploy(tmp_path_factory.mktemp("deployed"), "small", ["aws", "kubernetes"])


@pytest.fixture
def engine(deployed: Engine, tmp_path: Path) -> Engine:
    """A copy of the deployed program, its state and its clouds."""
    return deployed.copy(tmp_path / "copy")


class TestLife(LifeContract):
    """Of a cluster on AWS with a Deployment in it."""

    DRIFT = (DEPLOYMENT, "engine", "spec.replicas", 9)


def test_an_update_preview_keeps_invented_values_known_so_that_nothing_else_changes(engine: Engine) -> None:
    plan = json.loads(engine.run("preview", "--json", SMALL_KNOBS=json.dumps({"owner": "platform"})).stdout)
    changed = {step["urn"].split("::")[-1] for step in plan["steps"] if step["op"] != "same"}
    assert changed == {"network"}


def test_a_create_that_failed_half_way_is_finished_by_the_next_update(engine: Engine) -> None:
    life.set_fault(engine.sim, "fail-half-way", {"type": BUCKET, "name": "weights"})
    failed = engine.up(bucket=True)
    assert failed.returncode != 0
    assert "never became ready" in failed.stdout + failed.stderr
    assert engine.up(bucket=True).returncode == 0
    assert len([item for item in life.resources(engine.sim) if item.type == BUCKET]) == 1


def test_a_plugin_killed_in_a_create_leaves_an_orphan_and_the_next_update_works(engine: Engine) -> None:
    life.set_fault(engine.sim, "kill", {"type": BUCKET, "name": "weights"})
    assert engine.up(bucket=True).returncode != 0
    assert engine.up(bucket=True).returncode == 0
    known = frozenset(f"{item['type']} {item.get('id')}" for item in engine.resources().values())
    (orphan,) = [item for item in life.orphans(engine.sim, known) if item.type == BUCKET]
    life.vanish(engine.sim, BUCKET, orphan.id)
    assert not [item for item in life.orphans(engine.sim, known) if item.type == BUCKET]


def test_a_preview_refuses_a_revoked_quota_in_one_sentence(engine: Engine) -> None:
    engine.do("destroy", "--yes")
    life.set_fault(engine.sim, "revoke-quota", {"cloud": "aws", "region": "*", "code": "P", "granted": "0"})
    refused = engine.run("preview")
    assert refused.returncode != 0
    assert "quota P (P instances) is exceeded in us-east-1 (got 384 vCPU" in refused.stdout + refused.stderr


def test_a_backend_outside_the_sim_is_refused(engine: Engine, tmp_path: Path) -> None:
    shutil.copytree(engine.sim / "state", tmp_path / "real")
    refused = engine.run("up", "--yes", "--skip-preview", PULUMI_BACKEND_URL=f"file://{tmp_path}/real")
    assert refused.returncode != 0
    assert "serves only the state inside its sim directory" in refused.stdout + refused.stderr
