"""What every stack last deployed, as its ``applied`` output says; the base that a deployment is compared with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import ConfigDict

from outlast.errors import EnvironmentProblem, Problem
from outlast.intent.models import Tier
from outlast.intent.reading import validate
from outlast.intent.writing import write_all
from outlast.lock.digest import lock_digest
from outlast.lock.models import Lock, LockNodePool, LockPool, LockRegion, Part, Replicas, Share, Window

APPLIED_VARIABLE = "OUTLAST_APPLIED"
"""Names the file of what every stack has deployed."""


class AppliedPool(Part):
    """Replicas a region runs for a pool."""

    pool: str
    accelerator: str
    tier: Tier
    replica_devices: int
    places: dict[str, int]
    replicas: Replicas
    floors: tuple[Window, ...] = ()


class AppliedNodePool(Part):
    """Nodes a region keeps."""

    zone: str
    partition: str
    node_devices: int
    nodes_min: int
    """Nodes that count as headroom; spot nodes never do."""
    nodes_max: int
    """Nodes that a cold start may grow to."""


class Counts(Part):
    """What one stack's deployment holds; a stack without counts has empty tables."""

    node_pools: dict[str, AppliedNodePool] = {}
    pools: dict[str, AppliedPool] = {}
    homes: dict[str, dict[str, dict[str, Share]]] = {}
    shares: dict[str, dict[str, dict[str, Share]]] = {}


class Applied(Part):
    """A stack's ``applied`` output."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lock_digest: str
    counts: Counts
    zones: tuple[str, ...] = ()
    """Zones that a region's stack was deployed with, in order; empty if it did not say, and for the other stacks."""


AppliedFile = Mapping[str, Applied]
"""Stack name -> what it deployed; a stack that is missing has deployed nothing."""


def counts_of(block: LockRegion) -> Counts:
    """Return what a region stack deploys from its block of the lock."""
    return Counts(
        node_pools={
            key: AppliedNodePool(
                zone=row.zone,
                partition=row.partition,
                node_devices=row.node_devices,
                nodes_min=kept_nodes(row),
                nodes_max=row.nodes.max,
            )
            for key, row in block.node_pools.items()
        },
        pools={key: applied_pool(pool) for key, pool in block.pools.items()},
    )


def kept_nodes(row: LockNodePool) -> int:
    """Return the nodes that are there in the hour of a loss: none of those that the cloud may take back."""
    return 0 if row.capacity == "spot" else row.nodes.min


def applied_pool(pool: LockPool) -> AppliedPool:
    """Return the part of a pool that decides its capacity."""
    return AppliedPool(
        pool=pool.pool,
        accelerator=pool.accelerator,
        tier=pool.tier,
        replica_devices=pool.replica_devices,
        places=pool.places,
        replicas=pool.replicas,
        floors=pool.floors,
    )


def applied_output(
    lock: Lock, region: str | None, *, zones: tuple[str, ...] = (), routing: bool = False
) -> dict[str, object]:
    """Return the plain value a stack exports as ``applied``; ``zones`` are those of its region."""
    counts = counts_of(lock.regions[region]) if region else Counts()
    if routing:
        counts = Counts(homes=lock.homes, shares=lock.shares)
    return Applied(lock_digest=lock_digest(lock), counts=counts, zones=zones).model_dump(mode="json")


def applied_path(environment: Mapping[str, str], project: Path) -> Path:
    """Return the file of what is applied: ``OUTLAST_APPLIED``, or ``applied.json`` of the project.

    Raises:
        EnvironmentProblem: the variable holds a relative path, which the policy pack would read from another folder.
    """
    named = environment.get(APPLIED_VARIABLE)
    if named and not Path(named).is_absolute():
        do = "Write the whole path"
        raise EnvironmentProblem(Problem(where=APPLIED_VARIABLE, what="must be an absolute path", got=named, do=do))
    return Path(named) if named else project / "applied.json"


def applied_in(environment: Mapping[str, str], project: Path) -> AppliedFile | None:
    """Return what is applied; None if the project has no file and the environment names none.

    Raises:
        EnvironmentProblem: the environment names a file that does not exist or cannot be read.
    """
    path = applied_path(environment, project)
    return read_applied(path) if path.is_file() or environment.get(APPLIED_VARIABLE) else None


def read_applied(path: Path) -> AppliedFile:
    """Read the file that ``outlast applied`` writes.

    Raises:
        EnvironmentProblem: the file is missing or malformed.
    """
    do = "Run 'outlast applied FLEET' to write it again"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise EnvironmentProblem(
            Problem(where=path.name, what="cannot be read", got=str(error.strerror), do=do)
        ) from error
    except ValueError as error:
        raise EnvironmentProblem(Problem(where=path.name, what="is not JSON", got=str(error), do=do)) from error
    if not isinstance(document, dict):
        raise EnvironmentProblem(Problem(where=path.name, what="must hold one entry a stack", do=do))
    problems: list[Problem] = []
    found = {stack: validate(entry, f"{path.name}, {stack}", Applied, problems) for stack, entry in document.items()}
    if problems:
        raise EnvironmentProblem(replace(problem, do=do) for problem in problems)
    return {stack: entry for stack, entry in found.items() if entry is not None}


def write_applied(path: Path, applied: AppliedFile) -> None:
    """Write the file that ``OUTLAST_APPLIED`` names, whole or not at all."""
    document = {stack: entry.model_dump(mode="json") for stack, entry in sorted(applied.items())}
    path.parent.mkdir(parents=True, exist_ok=True)
    write_all({path: json.dumps(document, indent=1, sort_keys=True) + "\n"})
