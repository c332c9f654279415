"""Puts into the clouds what stands there before any program runs: networks and clusters that a fleet says exist.

Each is put there once, so that a test, or a person, may take it away.
"""

from __future__ import annotations

from hashlib import sha1

from simcloud.cloud import Seed, cloud_of, packages
from simcloud.state import Clouds, Link, Links, Stored
from simcloud.world import Existing, World

_URN = "existing "
"""How the URN of what no program declares begins."""


def seed(clouds: Clouds, world: World) -> None:
    """Put what exists into the clouds, but for what was put there before."""
    if not world.existing:
        return
    tables = [cloud_of(package) for package in packages()]
    with clouds.change():
        for there in world.existing:
            for table in tables:
                for item in table.existing(there) if table.name == there.cloud else ():
                    _put(clouds, there, item)


def is_existing(stored: Stored) -> bool:
    """Tell whether a resource stood there before any program."""
    return stored.urn.startswith(_URN)


def _put(clouds: Clouds, there: Existing, item: Seed) -> None:
    urn = f"{_URN}{there.account} {item.type} {item.id}"
    if clouds.births(urn):
        return
    targets = (found for target in item.inside for found in clouds.find(target)[:1])
    new = Stored(
        cloud=there.cloud,
        account=there.account,
        region="" if item.is_global else there.region,
        type=item.type,
        id=item.id,
        urn=urn,
        name=item.id.rsplit("/", 1)[-1],
        checked=item.inputs,
        outputs={},
        hash=sha1(urn.encode(), usedforsecurity=False).hexdigest(),
    )
    references = tuple(Link(property="", target=target, holds=True, cascades=False) for target in targets)
    clouds.add(new, Links(aliases=frozenset((item.id, *item.aliases)), references=references))
