"""The simulated fleet's configuration: a mirror of `config/` by links, so that an edit is seen at once.

Only `fleet.yaml` is a copy, and only when it says that the clouds are real: the mirror says `simulated` instead. The
lock is linked before there is one, so that the first plan through the mirror is written where people keep it.
"""

from __future__ import annotations

import re
from pathlib import Path

from outlast.errors import EnvironmentProblem, Problem, listed

_LOCK = "plan.lock.yaml"
"""What planning writes into a fleet's folder."""
_CLOUDS = re.compile(r"^clouds:\s*real\b", re.MULTILINE)


def mirror(config: Path, sim: Path, fleet: str) -> Path:
    """Mirror the config root into `<sim>/config` and return the mirror; what the root no longer has is removed.

    Raises:
        EnvironmentProblem: there is no such fleet.
    """
    source, target = config.resolve(), (sim / "config").absolute()
    if not (source / "fleets" / fleet / "fleet.yaml").is_file():
        fleets = sorted(path.parent.name for path in source.glob("fleets/*/fleet.yaml"))
        raise EnvironmentProblem(
            Problem(
                where=f"fleet '{fleet}'", what="has no fleet.yaml", allowed=listed(fleets), do="Use one of these fleets"
            )
        )
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    wanted |= {path.with_name(_LOCK) for path in wanted if path.match("fleets/*/fleet.yaml")}
    for path in sorted(target.rglob("*"), reverse=True) if target.is_dir() else ():
        if path.is_dir() and not path.is_symlink():
            _remove_if_empty(path)
        elif path.relative_to(target) not in wanted:
            path.unlink()
    for relative in sorted(wanted):
        _place(source / relative, target / relative, rewritten=relative == Path("fleets") / fleet / "fleet.yaml")
    return target


def _place(source: Path, target: Path, *, rewritten: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    text = source.read_text(encoding="utf-8") if rewritten else ""
    if rewritten and _CLOUDS.search(text):
        target.unlink(missing_ok=True)
        target.write_text(_CLOUDS.sub("clouds: simulated", text), encoding="utf-8")
    elif not (target.is_symlink() and target.readlink() == source):
        target.unlink(missing_ok=True)
        target.symlink_to(source)


def _remove_if_empty(path: Path) -> None:
    if not any(path.iterdir()):
        path.rmdir()
