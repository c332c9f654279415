"""A region stack's preview, against a bare program: same resources, inputs, dependencies and SDK classes."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

from benchmarks.timing import median_s

REPO = Path(__file__).parents[1]
FLEET = "demo"
_LOAD = """
import importlib, sys, time
from pathlib import Path
began = time.perf_counter()
for path in sorted(Path("components").glob(f"*/{sys.argv[1]}.py")):
    importlib.import_module(f"components.{path.parent.name}.{path.stem}")
import pulumi_kubernetes.apps.v1, pulumi_kubernetes.core.v1, pulumi_kubernetes.policy.v1
print(time.perf_counter() - began)
"""
"""Loads what a region stack on a cloud loads."""


def run() -> None:
    """Deploy what the largest region needs, then print the ratio of the two previews; the budget is 1.25."""
    from simcloud.life import prepare

    stack = _largest()
    _print_imports()
    with tempfile.TemporaryDirectory(prefix="outlast-bench-") as folder:
        sim = Path(folder) / "sim"
        environment = {**os.environ, **prepare(sim, REPO, FLEET)}
        _pulumi(REPO, environment, "stack", "init", "demo.global")
        _pulumi(REPO, environment, "up", "--yes", "--skip-preview", "--stack", "demo.global")
        _pulumi(REPO, environment, "stack", "init", stack)
        document = _pulumi(REPO, environment, "preview", "--json", "--show-sames", "--stack", stack)
        bare = _bare_project(Path(folder) / "bare", json.loads(document[document.index("{") :]))
        environment_bare = {**environment, "BARE_RESOURCES": str(bare / "resources.json")}
        _pulumi(bare, environment_bare, "stack", "init", "bare")
        ours = median_s(lambda: _pulumi(REPO, environment, "preview", "--stack", stack), times=3)
        theirs = median_s(lambda: _pulumi(bare, environment_bare, "preview", "--stack", "bare"), times=3)
        count = len(json.loads((bare / "resources.json").read_text()))
    ratio = f"{ours / theirs:.2f} × a bare program ({theirs:.2f} s)"
    print(f"preview of {stack}, {count} resources: {ours:.2f} s = {ratio}; budget 1.25")


def _largest() -> str:
    """Return the stack of the region with the most node pools and pools in the lock."""
    from outlast.lock import read_lock

    regions = read_lock(REPO / "config" / "fleets" / FLEET).regions
    sizes = {name: len(block.node_pools) + len(block.pools) for name, block in regions.items()}
    return f"{FLEET}.{max(sizes, key=lambda name: sizes[name])}"


def _print_imports() -> None:
    """Print what loading components and SDKs costs a region stack on each cloud, in an interpreter of its own."""
    for cloud in sorted(path.stem for path in (REPO / "components" / "cluster").glob("*.py")):
        if cloud in ("__init__", "contract"):
            continue
        seconds = [float(_python(_LOAD, cloud)) for _ in range(3)]
        print(f"imports of a region on {cloud}: {sorted(seconds)[1]:.2f} s")


def _python(program: str, *arguments: str) -> str:
    command = [str(REPO / ".venv" / "bin" / "python"), "-W", "ignore", "-c", program, *arguments]
    done = subprocess.run(
        command, cwd=REPO, env={**os.environ, "PYTHONPATH": str(REPO)}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout


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
