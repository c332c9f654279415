"""The only caller of the ``pulumi`` command; everything above it works with records."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from outlast.errors import EnvironmentProblem, Problem
from outlast.previews.process import started
from outlast.previews.said import causes, told

Progress = Callable[[str], None]
"""Receives each line the engine prints, as it comes."""
STACK_FILES = Path("config/stacks")
"""Where Pulumi.yaml says the stacks' own files lie."""
_BASE = ("--non-interactive", "--color", "never")


@dataclass(frozen=True)
class Finished:
    """How a call of the engine ended."""

    command: str
    code: int
    output: str
    """Standard output and error, in the order in which they came."""
    violations: tuple[str, ...] = ()
    """Messages of mandatory policies."""

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.code == 0

    @property
    def last_words(self) -> str:
        """The last error it printed, or the last line."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        errors = causes(line for line in lines if line.startswith("error:"))
        last = (errors or lines or ["it failed and said nothing"])[-1]
        return last.removeprefix("error:").strip().removesuffix(".")

    @property
    def diagnostics(self) -> str:
        """What the engine complains of, resource by resource, without what only follows from another error."""
        lines = self.output.splitlines()
        starts = [index for index, line in enumerate(lines) if line.startswith("Diagnostics:")]
        if not starts:
            return self.last_words
        start = starts[-1]  # an update prints its preview's first
        end = next(
            (index for index in range(start, len(lines)) if lines[index].startswith(("Outputs:", "Resources:"))),
            len(lines),
        )
        return told(lines[start + 1 : end]) or self.last_words


@dataclass(frozen=True)
class Engine:
    """Runs the engine for one project."""

    project: Path
    """Folder that holds Pulumi.yaml."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to this process's environment."""

    def stacks(self) -> tuple[str, ...]:
        """Return the names of all stacks of the project in the backend, sorted."""
        return tuple(sorted(self.resource_counts()))

    def resource_counts(self) -> Mapping[str, int]:
        """Return all stacks of the project in the backend with the number of resources each holds."""
        document = self._json("stack", "ls", "--json")
        return {str(entry["name"]).rsplit("/", 1)[-1]: int(entry.get("resourceCount") or 0) for entry in document}

    def ensure_stack(self, stack: str) -> None:
        """Create a stack unless it exists."""
        if stack not in self.stacks():
            self._must(self.run("stack", "init", "--stack", stack, "--no-select"))

    def outputs(self, stack: str) -> Mapping[str, Any]:
        """Return the plain outputs of a stack."""
        return self._json("stack", "output", "--json", "--stack", stack)  # type: ignore[no-any-return]

    def export(self, stack: str) -> Mapping[str, Any]:
        """Return the state of a stack."""
        return self._json("stack", "export", "--stack", stack)  # type: ignore[no-any-return]

    def preview(
        self, stack: str, pack: Path | None, progress: Progress | None = None
    ) -> tuple[Finished, Mapping[str, Any]]:
        """Preview a stack with every step shown.

        Returns:
            How it ended, and the preview's document (empty if there is none).
        """
        with _scratch() as folder:
            document = folder / "preview.json"
            done = self._with_policies(
                ("preview", "--json", "--show-sames", "--stack", stack), pack, folder, progress, stdout=document
            )
            text = document.read_text(encoding="utf-8")
            start = text.find("{")
            with suppress(ValueError):
                return done, json.JSONDecoder().raw_decode(text[start:])[0] if start >= 0 else {}
            return done, {}

    def up(self, stack: str, pack: Path | None, progress: Progress | None = None) -> Finished:
        """Deploy a stack, previewed first under the same policies."""
        with _scratch() as folder:
            return self._with_policies(("up", "--yes", "--stack", stack), pack, folder, progress)

    def _with_knobs(self, stack: str, config: Mapping[str, str], folder: Path) -> Path:
        own = self.project / STACK_FILES / f"Pulumi.{stack}.yaml"
        document = yaml.safe_load(own.read_text(encoding="utf-8")) if own.is_file() else None
        document = document or {}
        document["config"] = {**(document.get("config") or {}), **config}
        path = folder / own.name
        path.write_text(yaml.safe_dump(document), encoding="utf-8")
        return path

    def release(self, stack: str, progress: Progress | None = None) -> Finished:
        """Lift the protection of what a stack holds, so that it can be destroyed; its own file stays as it is.

        Only what its state holds is a target, so what failed to be made is not tried again. What lies inside a
        cluster goes here already: the engine makes its provider whatever the targets are, and there may be no cluster.
        """
        held = (self.export(stack).get("deployment") or {}).get("resources") or ()
        targets = dict.fromkeys(f"--target={item['urn']}" for item in held)
        with _scratch() as folder:
            knobs = self._with_knobs(stack, {"outlast:teardown": "true", "outlast:inside": "false"}, folder)
            arguments = ("up", "--yes", "--skip-preview", "--stack", stack, "--config-file", str(knobs), *targets)
            return self.run(*arguments, progress=progress)

    def destroy(self, stack: str, progress: Progress | None = None) -> Finished:
        """Delete all resources of a stack."""
        return self.run("destroy", "--yes", "--skip-preview", "--stack", stack, progress=progress)

    def refresh(self, stack: str, progress: Progress | None = None) -> Finished:
        """Compare a stack's state with the clouds and take over what they say."""
        return self.run("refresh", "--yes", "--stack", stack, progress=progress)

    def cancel(self, stack: str) -> Finished:
        """Release the lock that a killed run left behind."""
        return self.run("cancel", "--yes", "--stack", stack)

    def run(
        self,
        *arguments: str,
        progress: Progress | None = None,
        extra: Mapping[str, str] | None = None,
        stdout: Path | None = None,
    ) -> Finished:
        """Run ``pulumi`` with ``arguments`` and wait; an interrupt is passed on and waited for.

        Args:
            arguments: subcommand and flags.
            progress: called with each line as it comes.
            extra: more environment.
            stdout: file that takes standard output instead.
        """
        command = ("pulumi", *arguments, *_BASE)
        environment = with_engine({**os.environ, **self.environment, **(extra or {})}, self.project)
        lines: list[str] = []
        with _sink(stdout) as sink, started(command, self.project, environment, sink) as process:
            for line in process.stderr if stdout else process.stdout or ():  # type: ignore[union-attr]
                lines.append(line)
                if progress:
                    progress(line.rstrip())
            code = process.wait()
        return Finished(" ".join(command[: 1 + len(arguments)]), code, "".join(lines))

    def _with_policies(
        self,
        arguments: Sequence[str],
        pack: Path | None,
        folder: Path,
        progress: Progress | None,
        stdout: Path | None = None,
    ) -> Finished:
        log = folder / "events.log"
        flags = ("--policy-pack", str(pack)) if pack else ()
        done = self.run(
            *arguments,
            *flags,
            "--event-log",
            str(log),
            progress=progress,
            extra={"PULUMI_DEBUG_COMMANDS": "1"},
            stdout=stdout,
        )
        return Finished(done.command, done.code, done.output, tuple(_violations(log)))

    def _json(self, *arguments: str) -> Any:
        with _scratch() as folder:
            out = folder / "out.json"
            done = self.run(*arguments, stdout=out)
            text = out.read_text(encoding="utf-8")
        self._must(done)
        return json.loads(text)

    def _must(self, done: Finished) -> None:
        if not done.ok:
            raise EnvironmentProblem(Problem(where=done.command, what=done.last_words, do=_advice(done.output)))


def with_engine(environment: Mapping[str, str], project: Path) -> dict[str, str]:
    """Return an environment in which the engine that ``make setup`` found or built goes before any other."""
    built = project / ".build" / "engine-bin"
    if not built.is_file():
        return dict(environment)
    folders = [built.read_text(encoding="utf-8").strip(), environment.get("PATH", "")]
    return {**environment, "PATH": os.pathsep.join(filter(None, folders))}


def _violations(log: Path) -> Iterator[str]:
    """Yield messages of mandatory policies, in order, each once."""
    seen: set[str] = set()
    for line in log.read_text(encoding="utf-8").splitlines() if log.is_file() else ():
        event = json.loads(line).get("policyEvent")
        if event and event.get("enforcementLevel") == "mandatory":
            message = str(event["message"]).split("\n", 1)[-1].strip()
            if message not in seen:
                seen.add(message)
                yield message


def _advice(output: str) -> str:
    text = output.lower()
    if "passphrase" in text:
        return (
            "Set PULUMI_CONFIG_PASSPHRASE to the one the stack was made with; "
            'for simulated clouds run eval "$(outlast sim env FLEET)"'
        )
    if "no such file or directory" in text and "state" in text:
        return 'Run eval "$(outlast sim env FLEET)" first'
    if "access_token" in text or "login" in text:
        return "Run 'pulumi login', or for simulated clouds eval \"$(outlast sim env FLEET)\""
    return "Mend that and run the same command again"


@contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="outlast-") as folder:
        yield Path(folder)


@contextmanager
def _sink(path: Path | None) -> Iterator[Any]:
    if path is None:
        yield subprocess.PIPE
    else:
        with path.open("w", encoding="utf-8") as stream:
            yield stream
