"""The real engine on stand-in clouds: a small program lives through changes, drift, faults and its end."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from simcloud import environment, life
from simcloud.home import WORLD, install
from tests.simcloud.conftest import WORLD_DOCUMENT

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("programs") / "small"
BUCKET, DEPLOYMENT = "aws:s3/bucket:Bucket", "kubernetes:apps/v1:Deployment"


@dataclass(frozen=True)
class Engine:
    """One stack of the small program in one sim directory."""

    folder: Path

    @property
    def sim(self) -> Path:
        return self.folder / "sim"

    def run(self, *command: str, **change: str) -> subprocess.CompletedProcess[str]:
        base = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
        variables = {**base, **environment(self.sim, ROOT, "small", base), "PULUMI_STACK": "test", **change}
        return subprocess.run(
            ["pulumi", "--non-interactive", "--cwd", str(self.folder / "program"), *command],
            env=variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def do(self, *command: str) -> str:
        done = self.run(*command)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def up(self, **knobs: object) -> subprocess.CompletedProcess[str]:
        return self.run("up", "--yes", "--skip-preview", SMALL_KNOBS=json.dumps(knobs))

    def resources(self) -> dict[str, dict[str, Any]]:
        """Resources of the stack's state, by type and name."""
        state = json.loads(self.do("stack", "export"))["deployment"].get("resources", [])
        return {item["urn"].split("::", 2)[2]: item for item in state}


def world(sim: Path) -> None:
    """Prepare a sim directory that knows the small world."""
    (sim / "state").mkdir(parents=True)
    (sim / WORLD).write_text(json.dumps(WORLD_DOCUMENT))


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The program deployed once; tests work on copies."""
    engine = Engine(tmp_path_factory.mktemp("deployed"))
    shutil.copytree(PROGRAM, engine.folder / "program")
    world(engine.sim)
    install(engine.sim, ROOT, ["aws", "kubernetes"])
    engine.do("stack", "init", "test")
    engine.do("preview")
    assert not life.resources(engine.sim), "a preview makes nothing"
    engine.do("up", "--yes", "--skip-preview")
    return engine


@pytest.fixture
def engine(deployed: Engine, tmp_path: Path) -> Engine:
    """A copy of the deployed program, its state and its clouds."""
    shutil.copytree(deployed.folder, tmp_path / "copy", symlinks=True)
    return Engine(tmp_path / "copy")


def test_what_was_deployed_has_no_changes_and_no_drift(engine: Engine) -> None:
    engine.do("preview", "--expect-no-changes")
    engine.do("refresh", "--yes", "--expect-no-changes")


def test_an_update_preview_keeps_invented_values_known_so_that_nothing_else_changes(engine: Engine) -> None:
    plan = json.loads(engine.run("preview", "--json", SMALL_KNOBS=json.dumps({"owner": "platform"})).stdout)
    changed = {step["urn"].split("::")[-1] for step in plan["steps"] if step["op"] != "same"}
    assert changed == {"network"}


def test_a_refresh_sees_drift_and_the_next_update_mends_it(engine: Engine) -> None:
    life.drift(engine.sim, DEPLOYMENT, "engine", {"spec": {"replicas": 9}})
    engine.do("refresh", "--yes")
    seen = [item["outputs"]["spec"]["replicas"] for item in engine.resources().values() if item["type"] == DEPLOYMENT]
    assert seen == [9]
    engine.up()
    assert {item.inputs["spec"]["replicas"] for item in life.resources(engine.sim) if item.type == DEPLOYMENT} == {2}


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


def test_teardown_leaves_nothing(engine: Engine) -> None:
    engine.do("destroy", "--yes")
    assert life.resources(engine.sim) == []


def test_a_backend_outside_the_sim_is_refused(engine: Engine, tmp_path: Path) -> None:
    shutil.copytree(engine.sim / "state", tmp_path / "real")
    refused = engine.run("up", "--yes", "--skip-preview", PULUMI_BACKEND_URL=f"file://{tmp_path}/real")
    assert refused.returncode != 0
    assert "serves only the state inside its sim directory" in refused.stdout + refused.stderr
