"""Changes files of a fleet: checked together before the first byte is written; makes a fleet's folder in one step."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from outlast.errors import ConfigError, EnvironmentProblem, Problem
from outlast.facts import Facts
from outlast.intent import Intent, load_intent


def checked(config_root: Path, fleet: str, facts: Facts, texts: Mapping[str, str]) -> Intent:
    """Load a fleet as it would be with some files changed; nothing is written below ``config_root``.

    Args:
        config_root: root of configuration; without the fleet's folder, ``texts`` are all its files.
        fleet: the fleet.
        facts: facts of the same root.
        texts: file name -> what it would hold.

    Raises:
        ConfigError: the fleet would be wrong.
    """
    with tempfile.TemporaryDirectory(prefix="outlast-") as scratch:
        folder = Path(scratch) / "fleets" / fleet
        present = config_root / "fleets" / fleet
        if present.is_dir():
            shutil.copytree(present, folder)
        else:
            folder.mkdir(parents=True)
        for name, text in texts.items():
            (folder / name).unlink(missing_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return load_intent(Path(scratch), fleet, facts)


def create_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Create a folder with its files in one step.

    Raises:
        ConfigError: it exists.
        EnvironmentProblem: the machine refuses; there is no folder then.
    """
    draft = folder.with_name(f".{folder.name}.{os.getpid()}")
    try:
        draft.mkdir(parents=True)
        for name, text in texts.items():
            (draft / name).write_text(text, encoding="utf-8")
        if os.path.lexists(folder):
            raise ConfigError(exists(folder))
        draft.rename(folder)
    except OSError as error:
        raise EnvironmentProblem(
            Problem(where=str(folder), what=f"cannot be made: {error.strerror}", do="Mend that and try again")
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def exists(path: Path) -> Problem:
    """Return the problem that something is there already."""
    return Problem(where=str(path), what="exists already and is never overwritten", do="Choose another name")
