"""JSON schemas of the files people write, generated from the models for editors."""

from __future__ import annotations

import json
from pathlib import Path

from outlast.intent.loader import FILES


def schemas() -> dict[str, str]:
    """Return file name -> JSON schema text, byte-stable."""
    return {
        f"{stem}.json": json.dumps(model.model_json_schema(), indent=2, sort_keys=True) + "\n"
        for stem, model in FILES.items()
    }


def write_schemas(folder: Path) -> None:
    """Write all schemas into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in schemas().items():
        (folder / name).write_text(text, encoding="utf-8")
