"""A simulation of the demo fleet in a folder of the test's own, with a configuration that may be edited."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from simcloud.life import prepare

REPO = Path(__file__).parents[2]
FLEET = "demo"
STACKS = ("global", "us-east", "eu-west", "eu-north", "routing")


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

    @property
    def sim(self) -> Path:
        return self.folder / "sim"

    @property
    def config(self) -> Path:
        return self.folder / "config"

    @property
    def fleet(self) -> Path:
        return self.config / "fleets" / FLEET

    @staticmethod
    def new(folder: Path) -> Simulation:
        """Start from the repository's configuration and empty clouds."""
        shutil.copytree(REPO / "config", folder / "config")
        made = Simulation(folder)
        prepare(made.sim, REPO, FLEET, made.config)
        return made

    def copy(self, folder: Path) -> Simulation:
        """Copy everything, so that a test may break it."""
        shutil.copytree(self.folder, folder, symlinks=True)
        copied = Simulation(folder)
        prepare(copied.sim, REPO, FLEET, copied.config)
        return copied

    def environment(self, **extra: str) -> dict[str, str]:
        variables = prepare(self.sim, REPO, FLEET, self.config)
        return {**os.environ, **variables, "OUTLAST_CONFIG": str(self.sim / "config"), **extra}

    def outlast(self, *arguments: str, **extra: str) -> Ran:
        command = [sys.executable, "-c", "from outlast.cli import main; main()", *arguments]
        return _run(command, REPO, self.environment(**extra))

    def pulumi(self, *arguments: str, project: Path = REPO, variables: dict[str, str] | None = None) -> Ran:
        command = ["pulumi", *arguments, "--non-interactive", "--color", "never"]
        return _run(command, project, {**self.environment(), **(variables or {})})

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
