"""Writes a small fleet as the files that people write, for commands and loaders that read them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from outlast.intent import Intent, load_intent
from outlast.lock import LOCK_FILE, lock_text
from outlast.planner import settled_lock
from tests.builders import facts, make_documents, merged


def write_fleet(root: Path, *regions: str, **changes: Mapping[str, Any]) -> Path:
    """Write the documents of ``make_documents`` with changes merged in; return the folder of fleet ``test``."""
    folder = root / "fleets" / "test"
    folder.mkdir(parents=True)
    for stem, document in merged(make_documents(*regions), changes).items():
        (folder / f"{stem}.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    return folder


def loaded(folder: Path) -> Intent:
    """Return the intent of a fleet's folder."""
    return load_intent(folder.parents[1], folder.name, facts())


def write_lock(folder: Path) -> None:
    """Write the settled lock of a fleet beside its files."""
    (folder / LOCK_FILE).write_text(lock_text(settled_lock(loaded(folder))))
