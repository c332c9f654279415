"""Previews, deployments and outputs of all stacks of a fleet, in an order in which each finds what it reads."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from outlast.errors import EnvironmentProblem, Problem, listed
from outlast.intent.reading import validate
from outlast.intent.stacks import parse
from outlast.lock import Applied, AppliedFile, Lock, counts_of, lock_digest, write_applied
from outlast.lock.applied import APPLIED_VARIABLE
from outlast.previews.engine import Engine, Finished, Progress
from outlast.previews.said import causes
from outlast.view import Resource, after_preview, before_preview, normalise
from outlast.view.resource import unknown_paths


@dataclass(frozen=True)
class StackPreview:
    """What a preview of one stack said."""

    stack: str
    ok: bool
    violations: tuple[str, ...]
    """Messages of mandatory policies."""
    problem: str
    """Why it failed, if it did and no policy says so."""
    document: Mapping[str, Any]

    @property
    def before(self) -> tuple[Resource, ...]:
        """Resources as they are."""
        return before_preview(self.document)

    @property
    def after(self) -> tuple[Resource, ...]:
        """Resources as they would be."""
        return after_preview(self.document)


def ensure_stacks(engine: Engine, stacks: Iterable[str], *, create: bool) -> None:
    """Create the stacks that do not exist.

    Raises:
        EnvironmentProblem: some do not exist and ``create`` is false; a reference to a missing stack would otherwise
            end the engine's run without saying what to do.
    """
    known = set(engine.stacks())
    missing = [stack for stack in stacks if stack not in known]
    if missing and not create:
        do = "Create them with --init, or run: " + "; ".join(f"pulumi stack init {stack}" for stack in missing)
        raise EnvironmentProblem(Problem(where="stacks", what=f"do not exist: {listed(missing)}", do=do))
    for stack in missing:
        engine.ensure_stack(stack)


class Shown(Protocol):
    """What shows a running preview to a person."""

    failed: bool

    def follow(self, text: str) -> None:
        """Take a line that the engine prints."""


def preview_in_order(
    engine: Engine,
    stacks: Iterable[str],
    pack: Path | None,
    lock: Lock,
    deployed: AppliedFile,
    show: Callable[[str], AbstractContextManager[Shown]],
) -> Iterator[StackPreview]:
    """Preview stacks one after the other, each as if those before it had been deployed; a failure stops none.

    Routing is judged by what the regions hold when it is deployed, and in one change they are deployed before it.
    """
    applied = dict(deployed)
    with tempfile.TemporaryDirectory(prefix="outlast-") as folder:
        path = Path(folder) / "applied.json"
        for stack in stacks:
            write_applied(path, applied)
            with show(f"preview {stack}") as shown:
                as_if = replace(engine, environment={**engine.environment, APPLIED_VARIABLE: str(path)})
                preview = preview_stack(as_if, stack, pack, shown.follow)
                shown.failed = not preview.ok
            region = parse(stack).region
            if preview.ok and region in lock.regions:
                applied[stack] = Applied(lock_digest=lock_digest(lock), counts=counts_of(lock.regions[region]))
            yield preview


def preview_stack(engine: Engine, stack: str, pack: Path | None, progress: Progress | None = None) -> StackPreview:
    """Preview one stack under a policy pack."""
    done, document = engine.preview(stack, pack, progress)
    problem = "" if done.ok or done.violations else _reason(done, document)
    return StackPreview(stack, done.ok, done.violations, problem, document)


def save_preview(folder: Path, preview: StackPreview) -> None:
    """Keep a preview as a file for the commands that read it."""
    folder.mkdir(parents=True, exist_ok=True)
    entry = {
        "stack": preview.stack,
        "ok": preview.ok,
        "violations": list(preview.violations),
        "problem": preview.problem,
        "document": preview.document,
    }
    (folder / f"{preview.stack}.json").write_text(json.dumps(entry), encoding="utf-8")


def load_previews(folder: Path, fleet: str) -> tuple[StackPreview, ...]:
    """Read the previews of a fleet.

    Raises:
        EnvironmentProblem: there are none.
    """
    found = []
    for path in sorted(folder.glob(f"{fleet}.*.json")):
        entry = json.loads(path.read_text(encoding="utf-8"))
        found.append(
            StackPreview(entry["stack"], entry["ok"], tuple(entry["violations"]), entry["problem"], entry["document"])
        )
    if not found:
        raise EnvironmentProblem(
            Problem(
                where=str(folder), what=f"holds no previews of '{fleet}'", do=f"Run 'outlast previews {fleet}' first"
            )
        )
    return tuple(found)


def check_previews(previews: Iterable[StackPreview]) -> None:
    """Refuse to judge by previews that did not pass: what they would deploy is not known in full.

    Raises:
        EnvironmentProblem: names each stack and what its preview said first.
    """
    problems = [
        Problem(
            where=f"preview of {preview.stack}",
            what=f"did not pass: {next(iter((preview.violations or (preview.problem,))[0].splitlines()), 'no reason')}",
            do="Mend it and preview again",
        )
        for preview in previews
        if not preview.ok
    ]
    if problems:
        raise EnvironmentProblem(problems)


def applied_of(
    engine: Engine,
    stacks: Iterable[str],
    known: Iterable[str] | None = None,
    incomplete: Callable[[str], None] = lambda _: None,
) -> AppliedFile:
    """Return what stacks say they have deployed; one that does not exist, or was torn down, has deployed nothing.

    Args:
        engine: where the stacks are.
        stacks: which ones.
        known: stacks that exist; absent, the engine is asked.
        incomplete: told of each stack whose output is not whole, as an interrupted run leaves it; it counts as one
            that has deployed nothing.
    """
    known = set(engine.stacks() if known is None else known)
    applied = {}
    for stack in stacks:
        output = engine.outputs(stack).get("applied") if stack in known else None
        if not output:
            continue
        unknown = next(unknown_paths(normalise(output)), None)
        whole = validate(output, stack, Applied, []) if unknown is None else None
        if whole:
            applied[stack] = whole
        else:
            incomplete(stack)
    return applied


def _reason(done: Finished, document: Mapping[str, Any]) -> str:
    errors = causes(
        str(entry["message"]).strip() for entry in document.get("diagnostics", ()) if entry.get("severity") == "error"
    )
    lines = [line.strip() for line in done.output.splitlines() if line.strip()]
    return "\n".join(errors) or (lines[-1] if lines else "the engine said nothing")
