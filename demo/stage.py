"""Where acts run: a copy of the configuration that may be edited, a private simulation, a shell that shows itself."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from outlast.previews import started

FLEET = "demo"


class ActFailed(Exception):
    """A command did not end as the act says it must."""


@dataclass
class Stage:
    """State that acts share."""

    root: Path
    """The project."""
    keep: bool = False
    """Leave the stacks up at the end."""
    summary: list[str] = field(default_factory=list)
    """What each act showed, one sentence each."""

    @property
    def sim(self) -> Path:
        """Folder of the simulation."""
        return self.root / ".sim"

    @property
    def config(self) -> Path:
        """Copy of ``config`` that acts edit."""
        return self.sim / "demo-config"

    @property
    def fleet_folder(self) -> Path:
        """Files of the fleet, in the copy."""
        return self.config / "fleets" / FLEET

    def prepare(self) -> None:
        """Start from nothing: a fresh copy of the configuration, empty clouds with their plugins at hand."""
        self.restore()
        self.outlast("sim", "reset", quiet=True)
        self.outlast("sim", "env", FLEET, quiet=True)

    def restore(self) -> None:
        """Copy the project's configuration anew."""
        shutil.rmtree(self.config, ignore_errors=True)
        shutil.copytree(self.root / "config", self.config)

    def keep_lock(self) -> str:
        """Keep the lock as the base of a change; return its path as a user would type it."""
        base = self.sim / "base.lock.yaml"
        shutil.copyfile(self.fleet_folder / "plan.lock.yaml", base)
        return str(base.relative_to(self.root))

    def say(self, text: str) -> None:
        """Print a sentence of the story."""
        print(text, flush=True)

    def outlast(
        self,
        *arguments: str,
        expect: int = 0,
        quiet: bool = False,
        first: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run a command of ours as a user would, and show all of what it says or its first lines."""
        return self.shell(
            [str(Path(sys.executable).parent / "outlast"), *arguments],
            shown=f"outlast {' '.join(arguments)}",
            expect=expect,
            quiet=quiet,
            first=first,
            environment=environment,
        )

    def pulumi(self, *arguments: str, folder: Path | None = None, expect: int = 0) -> str:
        """Run the engine as a user would, pointed at the simulation; returns and prints what it says."""
        return self.shell(
            ["pulumi", *arguments, "--non-interactive", "--color", "never"],
            shown=f"pulumi {' '.join(arguments)}",
            expect=expect,
            folder=folder,
            quiet_output=True,
        )

    def show_refusal(self, output: str, *words: str) -> None:
        """Print what the engine and the policies said, without the list of resources.

        Raises:
            ActFailed: it was refused for another reason than the act is about.
        """
        missing = [word for word in words if word not in output]
        if missing:
            msg = f"refused, but not for the reason shown ({', '.join(missing)} not said):\n{output[-3000:]}"
            raise ActFailed(msg)
        lines = output.splitlines()
        start = next((i for i, line in enumerate(lines) if line.startswith(("Policies:", "Diagnostics:"))), 0)
        end = next((i for i, line in enumerate(lines) if line.startswith(("Outputs:", "Resources:"))), len(lines))
        print("\n".join(line for line in lines[start:end] if line.strip()), flush=True)

    def shell(
        self,
        command: list[str],
        *,
        shown: str,
        expect: int = 0,
        quiet: bool = False,
        quiet_output: bool = False,
        first: int | None = None,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run a command, show it and what it prints as it comes, and insist on its exit code.

        Raises:
            ActFailed: it ended otherwise.
        """
        if not quiet:
            self.say(f"\n$ {shown}")
        lines: list[str] = []
        # The command may itself be waiting a minute for the engine, so it is given longer.
        variables = {**self.variables(), **(environment or {})}
        with started(command, folder or self.root, variables, patience=90) as process:
            for line in process.stdout or ():
                lines.append(line)
                if not (quiet or quiet_output) and (first is None or len(lines) <= first):
                    print(line, end="", flush=True)
            code = process.wait()
        if first is not None and len(lines) > first:
            self.say(f"… and {len(lines) - first} more lines; all of them: {shown}")
        output = "".join(lines)
        if (code == 0) != (expect == 0):
            wanted = "succeed" if expect == 0 else "be refused"
            msg = f"'{shown}' should {wanted}, but ended with {code}:\n{output[-3000:]}"
            raise ActFailed(msg)
        return output

    def variables(self) -> dict[str, str]:
        """Return the environment of the simulation on the copied configuration."""
        from simcloud import environment

        return {**os.environ, **environment(self.sim, self.root, FLEET), "OUTLAST_CONFIG": str(self.config)}


@contextmanager
def timed() -> Iterator[list[float]]:
    """Measure the seconds of a block; the list holds them once it ends."""
    seconds: list[float] = []
    started = time.monotonic()
    yield seconds
    seconds.append(time.monotonic() - started)
