"""A fleet of the user's own: scaffolded, planned and brought up on simulated clouds with the real engine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engine.simulation import REPO

pytestmark = pytest.mark.engine


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project with a configuration of its own, because the fleet's stack files lie beside Pulumi.yaml."""
    folder = tmp_path / "project"
    shutil.copytree(REPO / "config", folder / "config")
    for name in ("__main__.py", "Pulumi.yaml"):
        shutil.copy2(REPO / name, folder / name)
    for name in ("components", "outlast", "policies", "simcloud", "stacks", ".venv"):
        (folder / name).symlink_to(REPO / name)
    return folder


def outlast(project: Path, *arguments: str) -> str:
    """Run the command line in a project, and return what it printed; it must go well."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("OUTLAST_", "PULUMI_"))}
    done = subprocess.run(
        [sys.executable, "-c", "from outlast.cli import main; main()", *arguments],
        cwd=project,
        env=clean | {"OUTLAST_SIM": str(project.parent / "sim")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_scaffolded_fleet_comes_up_as_it_is(project: Path) -> None:
    outlast(project, "init", "mine", "--regions", "us-east,eu-west")
    stacks = {path: path.read_bytes() for path in (project / "config/stacks").glob("Pulumi.mine.*")}
    outlast(project, "plan", "mine", "--brief")
    assert "4 stacks are up" in outlast(project, "sim", "up", "mine")
    assert {path: path.read_bytes() for path in (project / "config/stacks").glob("Pulumi.mine.*")} == stacks
