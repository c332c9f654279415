"""What the arguments of a fault may name: a word that names nothing would make a fault that never strikes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from outlast.errors import Problem, did_you_mean, listed
from simcloud.world import World

ANY = "*"


def unknown(world: World, where: str, arguments: Mapping[str, Any]) -> Iterator[Problem]:
    """List the arguments that name nothing the simulated clouds know, with what they may name."""
    chosen = str(arguments.get("cloud", ANY))
    clouds = world.clouds() if chosen == ANY else [chosen]
    if chosen not in (ANY, *world.clouds()):
        yield _unknown(where, "cloud", chosen, world.clouds())
        return
    known = {
        "region": {region for cloud in clouds for region in world.regions(cloud)},
        "zone": {zone for cloud in clouds for region in world.regions(cloud) for zone in world.zones(cloud, region)},
        "machine_type": _behind(clouds, world.machines),
        "code": _behind(clouds, world.quotas),
    }
    for key, words in known.items():
        value = str(arguments.get(key, ANY))
        if value != ANY and value not in words:
            yield _unknown(where, key, value, words, world.named_by_cloud(value) if key == "region" else "")
    if "type" in arguments and arguments["type"] != ANY:
        yield from _unknown_type(where, str(arguments["type"]))
    if "granted" in arguments:
        yield from _no_amount(where, arguments["granted"])


def _behind(clouds: Iterable[str], rows: Iterable[str]) -> set[str]:
    """Return what stands behind `cloud/` in the keys of some rows."""
    wanted = set(clouds)
    return {rest for cloud, _, rest in (key.partition("/") for key in rows) if cloud in wanted}


def _unknown(where: str, key: str, value: str, known: Iterable[str], meant: str = "") -> Problem:
    words = list(known)
    do = f"The cloud calls it '{meant}'" if meant in words else did_you_mean(value, words) or "Use one of these, or *"
    return Problem(where=where, what=f"unknown {key.replace('_', ' ')}", got=f"'{value}'", allowed=listed(words), do=do)


def _unknown_type(where: str, kind: str) -> Iterator[Problem]:
    from simcloud.cloud import cloud_of, packages

    found = [cloud_of(package) for package in packages()]
    if any(kind in cloud.rows or cloud.any_row(kind) for cloud in found if kind.startswith(f"{cloud.package}:")):
        return
    rows = [row for cloud in found for row in cloud.rows]
    same = [row for row in rows if row.rsplit(":", 1)[-1] == kind.rsplit(":", 1)[-1]]
    yield Problem(
        where=where,
        what="no resource type of the simulated clouds",
        got=f"'{kind}'",
        allowed=listed(same or rows),
        do=did_you_mean(kind, same or rows) or "Use one of these, or *",
    )


def _no_amount(where: str, value: object) -> Iterator[Problem]:
    try:
        right = float(str(value)) >= 0
    except ValueError:
        right = False
    if not right:
        yield Problem(where=where, what="granted is not an amount", got=f"'{value}'", do="Use a number from 0 on")
