"""The environment in which the engine meets simulated clouds, and the one place that says where a sim lives."""

from __future__ import annotations

import os
import shlex
import sysconfig
from collections.abc import Mapping
from pathlib import Path

PASSPHRASE = "outlast-sim"
"""Public on purpose: nothing in a simulated state is secret."""


def sim_directory(repo: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """Where the sim lives: `OUTLAST_SIM`, else `.sim` in the repository; absolute."""
    return Path(environment.get("OUTLAST_SIM") or repo / ".sim").absolute()


def environment(sim: Path, repo: Path, fleet: str, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that make the engine use the simulated clouds of `sim`, and no others; all paths absolute.

    Args:
        sim: the sim directory.
        repo: the repository; `.build/engine-bin` there names the folder of an engine built from source.
        fleet: the fleet whose configuration is mirrored.
        base: environment whose PATH is extended: by that folder, and by the one of this Python's commands.
    """
    sim = sim.absolute()
    return {
        "PULUMI_HOME": str(sim / "home"),
        "PULUMI_BACKEND_URL": f"file://{sim / 'state'}",
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "OUTLAST_FLEET": fleet,
        "OUTLAST_SIM": str(sim),
        "OUTLAST_CONFIG": str(sim / "config"),
        "OUTLAST_APPLIED": str(sim / "applied.json"),
        "PATH": _path(repo, base.get("PATH", "")),
    }


def _path(repo: Path, path: str) -> str:
    """Put the engine's folder and this Python's commands in front, each once however often it is asked."""
    built = repo / ".build" / "engine-bin"
    engine = [built.read_text(encoding="utf-8").strip()] if built.is_file() else []
    first = [*engine, sysconfig.get_path("scripts")]
    return os.pathsep.join([*first, *(folder for folder in path.split(os.pathsep) if folder and folder not in first)])


def shell_exports(variables: Mapping[str, str]) -> str:
    """Return lines for `eval` in a POSIX shell."""
    return "".join(f"export {key}={shlex.quote(value)}\n" for key, value in variables.items())
