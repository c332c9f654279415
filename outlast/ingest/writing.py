"""Changes files of a fleet: checked together before the first byte is written, then written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import suppress
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


def write_all(texts: Mapping[Path, str]) -> None:
    """Write files, all or none; a link stays a link and its target changes.

    Raises:
        EnvironmentProblem: the machine refuses; the files are as they were.
    """
    drafts: dict[Path, Path] = {}
    before: dict[Path, bytes | None] = {}
    try:
        before |= {path.resolve(): path.read_bytes() if path.is_file() else None for path in texts}
        for path, text in texts.items():
            target = path.resolve()
            draft = target.with_name(f".{target.name}.{os.getpid()}")
            drafts[target] = draft
            draft.write_text(text, encoding="utf-8")
            if before[target] is not None:
                shutil.copymode(target, draft)
        for target, draft in drafts.items():
            draft.replace(target)
    except OSError as error:
        for target, draft in drafts.items():
            draft.unlink(missing_ok=True)
            _restore(target, before[target])
        raise EnvironmentProblem(
            Problem(
                where=str(error.filename), what=f"cannot be written: {error.strerror}", do="Mend that and try again"
            )
        ) from error


def _restore(target: Path, content: bytes | None) -> None:
    with suppress(OSError):
        if content is None:
            target.unlink(missing_ok=True)
        elif target.read_bytes() != content:
            target.write_bytes(content)


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
