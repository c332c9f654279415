"""Whether homes and failover shares of a lock keep every class where it may be; law, not capacity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from outlast.intent import Intent
from outlast.lock import Lock


@dataclass(frozen=True)
class Misplaced:
    """A part of a class's demand that the lock sends where the class may not be."""

    path: str
    """Key of the lock."""
    residency: str
    region: str
    share: int
    """Per cent."""
    allowed: tuple[str, ...]
    """Regions where the class may be."""


@dataclass(frozen=True)
class Unserved:
    """A home whose demand no region that serves would take."""

    residency: str
    origin: str
    region: str
    """The home; it does not serve."""
    survivors: tuple[str, ...]
    """Where its shares go; none of them serves either."""


def unserved(lock: Lock, intent: Intent) -> Iterator[Unserved]:
    """Yield every home that does not serve and whose shares lead to no region that does; its class would vanish."""
    serving = {region for region, state in intent.operations.regions.items() if state == "serving"}
    for residency, origins in lock.homes.items():
        for origin, homes in origins.items():
            for region in (name for name, share in homes.items() if share and name not in serving):
                shares = lock.shares.get(residency, {}).get(region, {})
                survivors = tuple(name for name, share in shares.items() if share)
                if not serving.intersection(survivors):
                    yield Unserved(residency, origin, region, survivors)


def misplaced(lock: Lock, intent: Intent) -> Iterator[Misplaced]:
    """Yield every home and share that breaks residency; zero shares send nothing and are skipped."""
    for residency, origins in lock.homes.items():
        may = tuple(
            region for region in intent.regions if _known(residency, intent) and intent.may_serve(residency, region)
        )
        for origin, homes in origins.items():
            yield from _outside(f"homes.{residency}.{origin}", residency, homes, may)
    for residency, losses in lock.shares.items():
        for lost, shares in losses.items():
            survivors = intent.survivors(residency, lost) if _known(residency, intent) else ()
            yield from _outside(f"shares.{residency}.{lost}", residency, shares, survivors)


def _known(residency: str, intent: Intent) -> bool:
    return residency in intent.tenants_file.classes


def _outside(path: str, residency: str, shares: dict[str, int], may: tuple[str, ...]) -> Iterator[Misplaced]:
    for region, share in shares.items():
        if share and region not in may:
            yield Misplaced(f"{path}.{region}", residency, region, share, may)
