"""A small program that the real engine deploys to stand-in clouds, and what holds of every such program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simcloud import environment, life
from simcloud.home import WORLD, install
from simcloud.values import first
from tests.simcloud.conftest import WORLD_DOCUMENT, changed

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).with_name("programs")


@dataclass(frozen=True)
class Engine:
    """One stack of a small program in one sim directory."""

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

    def copy(self, folder: Path) -> Engine:
        """Copy the program, its state and its clouds, so that a test may change them."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Engine(folder)

    def held(self, kind: str) -> list[Mapping[str, Any]]:
        """Inputs of what the clouds hold of a type."""
        return [item.inputs for item in life.resources(self.sim) if item.type == kind]

    def resources(self) -> dict[str, dict[str, Any]]:
        """Resources of the stack's state, by type and name."""
        state = json.loads(self.do("stack", "export"))["deployment"].get("resources", [])
        return {item["urn"].split("::", 2)[2]: item for item in state}


def deploy(folder: Path, program: str, packages: list[str]) -> Engine:
    """Deploy a program to empty clouds that know the small world."""
    engine = Engine(folder)
    shutil.copytree(PROGRAMS / program, engine.folder / "program")
    (engine.sim / "state").mkdir(parents=True)
    (engine.sim / WORLD).write_text(json.dumps(WORLD_DOCUMENT))
    install(engine.sim, ROOT, packages)
    engine.do("stack", "init", "test")
    engine.do("preview")
    assert not life.resources(engine.sim), "a preview makes nothing"
    engine.do("up", "--yes", "--skip-preview")
    return engine


class LifeContract:
    """What holds of every program; `engine` is the fixture of who inherits."""

    DRIFT: tuple[str, str, str, object]
    """Type, name, path and value of a change that somebody makes beside the engine."""

    def test_what_was_deployed_has_no_changes_and_no_drift(self, engine: Engine) -> None:
        engine.do("preview", "--expect-no-changes")
        engine.do("refresh", "--yes", "--expect-no-changes")

    def test_a_refresh_sees_drift_and_the_next_update_mends_it(self, engine: Engine) -> None:
        kind, name, path, value = self.DRIFT
        before = engine.held(kind)
        life.drift(engine.sim, kind, name, changed({}, {path: value}))
        engine.do("refresh", "--yes")
        seen = [item["outputs"] for item in engine.resources().values() if item["type"] == kind]
        assert [first(outputs, path) for outputs in seen] == [value]
        assert engine.up().returncode == 0
        assert engine.held(kind) == before

    def test_teardown_leaves_nothing(self, engine: Engine) -> None:
        engine.do("destroy", "--yes")
        assert life.resources(engine.sim) == []
