"""The private plugin home of a sim: one executable script a package, where the engine looks first and warns of nothing.

Also owns what the plugins read at their start: the SDK's shapes and the compiled world, each made again only when what
it was made from has changed.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from simcloud import shapes
from simcloud.cloud import cloud_of, packages

WORLD = "world.json"


def shapes_file(sim: Path, package: str) -> Path:
    """File of a package's shapes; the name says what it was made from."""
    return sim / "shapes" / f"{package}.json"


def install(sim: Path, repo: Path, wanted: Iterable[str] | None = None) -> None:
    """Install the stand-in plugins into the sim's `PULUMI_HOME`; what is there and right is left alone.

    Args:
        sim: the sim directory.
        repo: folder that holds the `simcloud` package.
        wanted: packages to install; None: all that have a table.
    """
    for package in wanted or packages():
        _write_shapes(sim, package)
        version = shapes.sdk_version(package)
        folder = sim / "home" / "plugins" / f"resource-{package}-v{version}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder.parent / f"{folder.name}.lock").touch()
        _write(folder / f"pulumi-resource-{package}", _script(package, repo), mode=0o755)


def compile_config(sim: Path, config: Path, fleet: str) -> None:
    """Compile facts and a fleet's files into what the plugins read, if any of them has changed.

    Raises:
        OutlastError: a file people write is wrong.
    """
    digest = _digest(config, fleet)
    path = sim / WORLD
    if path.exists() and json.loads(path.read_text(encoding="utf-8")).get("digest") == digest:
        return
    from outlast.facts import load_facts
    from outlast.intent import load_intent
    from simcloud.world import compile_world

    document = compile_world(load_intent(config, fleet, load_facts(config)))
    _write(path, json.dumps({"digest": digest, **document}))


def _digest(config: Path, fleet: str) -> str:
    made_from = [Path(__file__).parent / "world.py", *sorted((config / "facts").glob("*.csv"))]
    made_from += sorted(path for path in (config / "fleets" / fleet).glob("*.yaml") if path.is_file())
    total = sha256()
    for path in made_from:
        total.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def _write_shapes(sim: Path, package: str) -> None:
    tokens = [row.type for row in cloud_of(package).rows.values()]
    made_from = shapes.key(package, tokens)
    path = shapes_file(sim, package)
    if path.exists() and json.loads(path.read_text(encoding="utf-8")).get("key") == made_from:
        return
    _write(path, json.dumps({"key": made_from, **shapes.generate(package, tokens)}))


def _script(package: str, repo: Path) -> str:
    """A shell script, because a first line that names the interpreter is cut off at 127 characters by some kernels."""
    python, root = shlex.quote(sys.executable), shlex.quote(str(repo))
    return f'#!/bin/sh\nPYTHONPATH={root}\nexport PYTHONPATH\nexec {python} -P -m simcloud.provider {package} "$@"\n'


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    """Replace a file in one step, so that no process ever reads half of it."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(text, encoding="utf-8")
    draft.chmod(mode)
    draft.replace(path)
