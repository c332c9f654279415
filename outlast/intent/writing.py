"""Writes files that others read, whole or not at all: first beside them, then in their place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from outlast.errors import EnvironmentProblem, Problem


def write_all(texts: Mapping[Path, str]) -> None:
    """Write files, all or none, also when interrupted; a link stays a link and its target changes.

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
    except BaseException as error:
        for target, draft in drafts.items():
            _restore(target, draft, before[target])
        if not isinstance(error, OSError):
            raise
        raise EnvironmentProblem(
            Problem(
                where=str(error.filename), what=f"cannot be written: {error.strerror}", do="Mend that and try again"
            )
        ) from error


def _restore(target: Path, draft: Path, content: bytes | None) -> None:
    with suppress(OSError):
        draft.unlink(missing_ok=True)
        if content is None:
            target.unlink(missing_ok=True)
        elif target.read_bytes() != content:
            target.write_bytes(content)
