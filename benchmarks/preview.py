"""A region stack's preview, against a bare program: same resources, inputs, dependencies and SDK classes."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

from benchmarks.timing import median_s

REPO = Path(__file__).parents[1]
FLEET, STACK = "demo", "demo.us-east"


def run() -> None:
    """Deploy what a region needs, then print the ratio of the two previews; the budget is 1.25."""
    from simcloud.life import prepare

    with tempfile.TemporaryDirectory(prefix="outlast-bench-") as folder:
        sim = Path(folder) / "sim"
        environment = {**os.environ, **prepare(sim, REPO, FLEET)}
        _pulumi(REPO, environment, "stack", "init", "demo.global")
        _pulumi(REPO, environment, "up", "--yes", "--skip-preview", "--stack", "demo.global")
        _pulumi(REPO, environment, "stack", "init", STACK)
        document = _pulumi(REPO, environment, "preview", "--json", "--show-sames", "--stack", STACK)
        bare = _bare_project(Path(folder) / "bare", json.loads(document[document.index("{") :]))
        environment_bare = {**environment, "BARE_RESOURCES": str(bare / "resources.json")}
        _pulumi(bare, environment_bare, "stack", "init", "bare")
        ours = median_s(lambda: _pulumi(REPO, environment, "preview", "--stack", STACK), times=3)
        theirs = median_s(lambda: _pulumi(bare, environment_bare, "preview", "--stack", "bare"), times=3)
        count = len(json.loads((bare / "resources.json").read_text()))
    ratio = f"{ours / theirs:.2f} × a bare program ({theirs:.2f} s)"
    print(f"preview of {STACK}, {count} resources: {ours:.2f} s = {ratio}; budget 1.25")


def _bare_project(folder: Path, document: dict) -> Path:  # type: ignore[type-arg]
    folder.mkdir()
    states = [step["newState"] for step in document["steps"] if step["op"] in ("create", "same")]
    wanted = [
        {
            "urn": state["urn"],
            "type": state["type"],
            "name": state["urn"].rsplit("::", 1)[-1],
            "inputs": state.get("inputs", {}),
            "after": state.get("dependencies", []),
            "provider": state.get("provider", "").rsplit("::", 1)[0],
        }
        for state in states
        if not state["type"].startswith(("pulumi:pulumi:", "outlast:"))
    ]
    (folder / "resources.json").write_text(json.dumps(wanted), encoding="utf-8")
    (folder / "Pulumi.yaml").write_text(
        "name: bare\nruntime: {name: python, options: {virtualenv: .venv}}\n", encoding="utf-8"
    )
    (folder / ".venv").symlink_to(REPO / ".venv")
    (folder / "__main__.py").write_text((Path(__file__).parent / "bare_program.py").read_text(), encoding="utf-8")
    return folder


def _pulumi(folder: Path, environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        ["pulumi", *arguments, "--non-interactive", "--color", "never"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout
