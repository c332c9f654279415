"""A changed copy of the project, as a pull request would be checked out."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from demo.stage import ActFailed, Stage

_COPIED = ("components", "stacks", "outlast", "__main__.py", "Pulumi.yaml")
_LINKED = (".venv",)


@contextmanager
def changed_project(stage: Stage, file: str, old: str, new: str) -> Iterator[Path]:
    """Copy the program, change one text in one file, and show the change.

    Raises:
        ActFailed: the text is not there.
    """
    folder = stage.sim / "pull-request"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in _COPIED:
        source = stage.root / name
        copy = shutil.copytree if source.is_dir() else shutil.copy2
        copy(source, folder / name)
    shutil.copytree(stage.root / "config" / "stacks", folder / "config" / "stacks")
    for name in _LINKED:
        (folder / name).symlink_to(stage.root / name)
    path = folder / file
    text = path.read_text(encoding="utf-8")
    if old not in text:
        msg = f"{file} does not hold '{old}'"
        raise ActFailed(msg)
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    stage.say(f"(changed {file}: '{old}' -> '{new}')")
    yield folder
    shutil.rmtree(folder)
