"""What a plan must satisfy, as arrays: cells, demand by class, home, pool and hour, and where a class may move.

A cell is a pool in a region where it may have replicas. Units are those of the model, per second; hours run over the
week from Monday 00:00 UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from outlast.errors import InfeasiblePlan, PlanError, Problem
from outlast.intent import HOURS, Intent
from outlast.intent.guardrails import Losses
from outlast.planner.plannable import check_plannable, headroom_pools, used_models

Floats: TypeAlias = NDArray[np.float64]
CellKey: TypeAlias = tuple[str, str]
"""(region, pool); sorted as in the files, it is the fixed order of a plan."""
Loss: TypeAlias = Literal["none", "replica", "zone", "region"]
MINIMUM = 2
"""Usable replicas of a dedicated pool in a region in use."""


@dataclass(frozen=True)
class Cell:
    """A pool in a region where it may have replicas."""

    region: str
    pool: str
    accelerator: str
    short: str
    """Short name of the accelerator."""
    replica_gpus: int
    node_pool: str
    zones: tuple[str, ...]
    """In the order in which extra replicas are placed."""
    normal_tok_s: float
    """Goodput of a replica times the normal occupancy."""
    failure_tok_s: float
    """Goodput of a replica times the occupancy in failure."""
    is_home: bool
    """Demand is at home here, so the pool is in use whatever the shares."""

    def places(self, replicas: int) -> dict[str, int]:
        """Return zone -> replicas: equal within one, extra ones first in the cell's order of zones."""
        each, extra = divmod(replicas, len(self.zones))
        return {zone: each + (position < extra) for position, zone in enumerate(self.zones)}


@dataclass(frozen=True)
class Move:
    """A class that leaves a lost region, where it has a home."""

    residency: str
    lost: str
    survivors: tuple[str, ...]


@dataclass(frozen=True)
class Arrays:
    """The needs of a fleet."""

    intent: Intent
    cells: Mapping[CellKey, Cell]
    """In the fixed order: regions, then pools, as in the files."""
    moves: tuple[Move, ...]
    """By class, then lost region, as in the files."""
    demand: Mapping[str, Mapping[CellKey, Floats]]
    """Class -> (home region, pool) -> demand. Shape: hour."""
    canary: int
    surge: float

    @property
    def losses(self) -> Losses:
        """Losses that the fleet survives."""
        return self.intent.guardrails.losses

    def base(self, key: CellKey, loss: Loss) -> Floats:
        """Return demand at home in a cell, of the classes that survive the kind of loss. Shape: hour."""
        classes = self.intent.tenants_file.classes
        total = np.zeros(HOURS)
        for residency, homes in self.demand.items():
            if key in homes and (loss == "none" or loss in classes[residency].survive):
                total = total + homes[key]
        return total

    def moved(self, key: CellKey, lost: str) -> dict[str, Floats]:
        """Return class -> demand that may move into a cell when ``lost`` is lost; nothing where there is none."""
        region, pool = key
        found = {}
        for move in self.moves:
            hours = self.demand[move.residency].get((lost, pool))
            if move.lost == lost and region in move.survivors and hours is not None and hours.any():
                found[move.residency] = hours
        return found

    @cached_property
    def lost_regions(self) -> tuple[str, ...]:
        """Regions whose loss moves something, in file order."""
        return tuple(region for region in self.intent.regions if any(move.lost == region for move in self.moves))


def to_arrays(intent: Intent) -> Arrays:
    """Translate intent into arrays.

    Raises:
        PlanError: something declared is not planned yet, or cannot carry headroom.
        InfeasiblePlan: a class has nowhere to go, or a pool has only one zone to lose.
    """
    if problems := list(check_plannable(intent)):
        raise PlanError(problems)
    demand: dict[str, dict[CellKey, Floats]] = {residency: {} for residency in intent.tenants_file.classes}
    for (pool, residency, region), hours in intent.home_demand.items():
        demand[residency][region, pool] = np.asarray(hours, dtype=np.float64)
    moves = tuple(_moves(intent, demand))
    arrays = Arrays(
        intent=intent,
        cells={(cell.region, cell.pool): cell for cell in _cells(intent, demand, moves)},
        moves=moves,
        demand=demand,
        canary=intent.guardrails.canary_replicas,
        surge=intent.guardrails.prefill_surge.value,
    )
    if problems := _impossible(arrays):
        raise InfeasiblePlan(problems)
    return arrays


def _moves(intent: Intent, demand: Mapping[str, Mapping[CellKey, Floats]]) -> list[Move]:
    """A class that does not survive the loss of a region does not move: nothing would hold its demand."""
    if not intent.guardrails.losses.region:
        return []
    return [
        Move(residency, region, intent.survivors(residency, region))
        for residency, detail in intent.tenants_file.classes.items()
        if "region" in detail.survive
        for region in intent.regions
        if any(home == region for home, _ in demand[residency])
    ]


def _cells(intent: Intent, demand: Mapping[str, Mapping[CellKey, Floats]], moves: tuple[Move, ...]) -> list[Cell]:
    homes = {key for keys in demand.values() for key in keys}
    reached = {
        (survivor, pool)
        for move in moves
        for survivor in move.survivors
        for pool in intent.models_of_class[move.residency]
    }
    order = list(intent.models)
    return [
        _cell(intent, region, pool, order.index(pool), is_home=(region, pool) in homes)
        for region in intent.regions
        for pool in used_models(intent)
        if (region, pool) in homes | reached
    ]


def _cell(intent: Intent, region: str, pool: str, index: int, *, is_home: bool) -> Cell:
    found = next(iter(intent.accelerators_for(pool, region).items()), None)
    if found is None:
        raise PlanError(
            Problem(where=f"{intent.name}/regions.yaml, regions.{region}", what=f"no accelerator for '{pool}'")
        )
    accelerator, how = found
    [(node_pool, row)] = headroom_pools(intent, region, accelerator).items()
    first = index % len(row.zones)
    occupancy = intent.guardrails.occupancy
    return Cell(
        region=region,
        pool=pool,
        accelerator=accelerator,
        short=intent.facts.accelerators[accelerator].short,
        replica_gpus=how.gpus_per_replica,
        node_pool=node_pool,
        zones=row.zones[first:] + row.zones[:first],
        normal_tok_s=how.goodput.value * occupancy.normal,
        failure_tok_s=how.goodput.value * occupancy.failure,
        is_home=is_home,
    )


def _impossible(arrays: Arrays) -> list[Problem]:
    """Return what no count can mend."""
    intent = arrays.intent
    problems = [
        Problem(
            where=f"{intent.name}/tenants.yaml, classes.{move.residency}",
            what=f"losing '{move.lost}' leaves no region that the class may go to",
            do="Add a region, admit the class in one, or give the class a dated gap",
        )
        for move in arrays.moves
        if not move.survivors
    ]
    for key, cell in arrays.cells.items():
        if arrays.losses.zone and len(cell.zones) == 1 and arrays.base(key, "zone").any():
            zones = intent.regions[cell.region].zones
            problems.append(
                Problem(
                    where=f"{intent.name}/regions.yaml, regions.{cell.region}.node_pools.{cell.node_pool}.zones",
                    what=f"'{cell.pool}' cannot survive the loss of its only zone",
                    got=cell.zones[0],
                    allowed=f"two or more zones ({', '.join(zones)} are declared)",
                    do="Add a zone that offers the machine type, or set losses.zone to 0 in guardrails.yaml",
                )
            )
    return problems
