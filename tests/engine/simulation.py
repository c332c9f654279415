"""A simulation of the demo fleet in a folder of the test's own, with a configuration that may be edited."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from outlast.intent import stack_order
from simcloud.life import prepare
from tests.builders import demo_intent

REPO = Path(__file__).parents[2]
FLEET = "demo"
STACKS = tuple(stack.partition(".")[2] for stack in stack_order(demo_intent()))
REGIONS = tuple(demo_intent().regions)


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    output: str

    @property
    def refusal(self) -> str:
        """The output with line breaks and indents folded, so that a message can be searched."""
        return " ".join(self.output.split())


@dataclass(frozen=True)
class Simulation:
    """Simulated clouds, engine state and a copy of the configuration."""

    folder: Path
    name: str = FLEET
    """The fleet."""
    project: Path = REPO
    """Where Pulumi.yaml lies, and what a run of the engine writes beside it."""

    @property
    def sim(self) -> Path:
        return self.folder / "sim"

    @property
    def config(self) -> Path:
        return self.folder / "config"

    @property
    def fleet(self) -> Path:
        return self.config / "fleets" / self.name

    @staticmethod
    def new(folder: Path) -> Simulation:
        """Start from the repository's configuration and empty clouds."""
        shutil.copytree(REPO / "config", folder / "config")
        made = Simulation(folder)
        prepare(made.sim, REPO, FLEET, made.config)
        return made

    @staticmethod
    def of_fleet(folder: Path, documents: Mapping[str, Any]) -> Simulation:
        """Start from a fleet of the test's own, in a project folder, because stack files lie beside Pulumi.yaml."""
        shutil.copytree(REPO / "config" / "facts", folder / "config" / "facts")
        (folder / "config" / "stacks").mkdir()
        for name in ("__main__.py", "Pulumi.yaml"):
            shutil.copy2(REPO / name, folder / name)
        for name in ("components", "outlast", "policies", "simcloud", "stacks", ".venv"):
            (folder / name).symlink_to(REPO / name)
        made = Simulation(folder, "test", folder)
        made.fleet.mkdir(parents=True)
        for stem, document in documents.items():
            (made.fleet / f"{stem}.yaml").write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        prepare(made.sim, folder, made.name, made.config)
        return made

    def copy(self, folder: Path) -> Simulation:
        """Copy everything, so that a test may break it."""
        shutil.copytree(self.folder, folder, symlinks=True)
        copied = replace(self, folder=folder, project=REPO if self.project == REPO else folder)
        prepare(copied.sim, self.project, self.name, copied.config)
        return copied

    def environment(self, **extra: str) -> dict[str, str]:
        variables = prepare(self.sim, self.project, self.name, self.config)
        return {**os.environ, **variables, "OUTLAST_CONFIG": str(self.sim / "config"), **extra}

    def outlast(self, *arguments: str, **extra: str) -> Ran:
        command = [sys.executable, "-c", "from outlast.cli import main; main()", *arguments]
        return _run(command, self.project, self.environment(**extra))

    def pulumi(self, *arguments: str, project: Path | None = None, variables: dict[str, str] | None = None) -> Ran:
        command = ["pulumi", *arguments, "--non-interactive", "--color", "never"]
        return _run(command, project or self.project, {**self.environment(), **(variables or {})})

    def edit(self, file: str, change: Callable[[str], str]) -> None:
        """Change a file of the fleet; a change that changes nothing is a mistake of the test."""
        path = self.fleet / file
        before = path.read_text(encoding="utf-8")
        after = change(before)
        assert after != before, f"nothing to change in {file}"
        path.write_text(after, encoding="utf-8")


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> Ran:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=400,
    )
    return Ran(done.returncode, done.stdout)
