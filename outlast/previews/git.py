"""Reads a file as it is at another commit."""

from __future__ import annotations

import subprocess
from pathlib import Path

from outlast.errors import EnvironmentProblem, Problem


def file_at(root: Path, reference: str, path: Path) -> str | None:
    """Return a file's text at a commit, or None if it did not exist there.

    Args:
        root: a folder of the repository.
        reference: branch, tag or commit.
        path: the file, below ``root``.

    Raises:
        EnvironmentProblem: there is no such commit, or no repository.
    """
    known = subprocess.run(
        ["git", "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if known.returncode:
        do = f"Fetch it: git fetch origin {reference}"
        raise EnvironmentProblem(Problem(where=f"--base {reference}", what="no such commit in this repository", do=do))
    relative = path.resolve().relative_to(root.resolve())
    shown = subprocess.run(
        ["git", "show", f"{reference}:./{relative}"], cwd=root, capture_output=True, text=True, check=False
    )
    return shown.stdout if shown.returncode == 0 else None
