"""What a plan must satisfy, as arrays: cells, lanes, demand by class, home, pool and hour, and where a class may move.

A cell is a pool in a region where it may have replicas; a lane is a cell on one accelerator. Units are those of the
model, per second; hours run over the week from Monday 00:00 UTC.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from outlast.errors import InfeasiblePlan, PlanError, Problem
from outlast.intent import HOURS, Intent
from outlast.intent.guardrails import Losses
from outlast.intent.intent import Hosted
from outlast.intent.models import COLD, WHOLE
from outlast.intent.partitions import is_sliced, parts_of_card
from outlast.planner.plannable import check_plannable, usable_node_pools, used_models

Floats: TypeAlias = NDArray[np.float64]
CellKey: TypeAlias = tuple[str, str]
"""(region, pool); in file order, it is the fixed order of a plan."""
LaneKey: TypeAlias = tuple[str, str, str]
"""(region, pool, accelerator)."""
MOST_REPLICAS = 20_000
"""Of a pool on one accelerator in a region; more is a slip of a unit."""
Loss: TypeAlias = Literal["none", "replica", "zone", "region"]
MINIMUM = 2
"""Usable replicas of a pool in a region in use, so that one can be lost; none where it scales to zero."""


@dataclass(frozen=True, eq=False)
class Lane:
    """A pool on one accelerator in a region: one Deployment."""

    region: str
    pool: str
    accelerator: str
    short: str
    """Short name of the accelerator."""
    replica_gpus: int
    replica_devices: int
    """GPUs of a replica, or parts of a divided card."""
    partition: str
    node_pools: tuple[str, ...]
    zones: tuple[str, ...]
    """In the order in which extra replicas are placed."""
    zone_pools: Mapping[str, tuple[str, ...]]
    """Zone -> node pools there."""
    node_replicas: int
    """Most replicas that one node holds."""
    goodput: float
    """Of a replica, net of the overhead of adapters."""

    @property
    def key(self) -> LaneKey:
        """Return the lane's key."""
        return (self.region, self.pool, self.accelerator)

    @property
    def is_sliced(self) -> bool:
        """Whether it runs on time-slices, which never carry what moves."""
        return is_sliced(self.partition)

    def places(self, replicas: int) -> dict[str, int]:
        """Return zone -> replicas: equal within one, extra ones first in the lane's order of zones."""
        each, extra = divmod(replicas, len(self.zones))
        return {zone: each + (position < extra) for position, zone in enumerate(self.zones)}


@dataclass(frozen=True)
class Cell:
    """A pool in a region where it may have replicas."""

    region: str
    pool: str
    tier: str
    lanes: tuple[Lane, ...]
    """In the model's order of preference."""
    is_home: bool
    """Demand is at home here, so the pool is in use whatever the shares."""
    canary: int
    """Replicas of each lane in use that do not count."""
    hosted: Hosted | None
    """Hosted route for demand that moves in."""

    @property
    def zones(self) -> tuple[str, ...]:
        """Zones of all lanes."""
        return tuple(dict.fromkeys(zone for lane in self.lanes for zone in lane.zones))

    @property
    def minimum(self) -> int:
        """Usable replicas wherever the pool is in use."""
        return 0 if self.tier == COLD else MINIMUM

    @property
    def loses_nodes(self) -> bool:
        """Whether a node takes several replicas with it."""
        return self.tier == "packed"


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
    surge: float
    normal: float
    """Occupancy in normal times."""
    failure: float
    """Occupancy in failure."""

    @property
    def losses(self) -> Losses:
        """Losses that the fleet survives."""
        return self.intent.guardrails.losses

    @cached_property
    def lanes(self) -> Mapping[LaneKey, Lane]:
        """All lanes in the fixed order."""
        return {lane.key: lane for cell in self.cells.values() for lane in cell.lanes}

    def base(self, key: CellKey, loss: Loss) -> Floats:
        """Return demand at home in a cell, of the classes that survive the kind of loss. Shape: hour."""
        return self._base[loss].get(key, _NOTHING)

    @cached_property
    def _base(self) -> Mapping[Loss, Mapping[CellKey, Floats]]:
        losses: tuple[Loss, ...] = ("none", "replica", "zone", "region")
        found: dict[Loss, dict[CellKey, Floats]] = {loss: {} for loss in losses}
        for residency, homes in self.demand.items():
            for loss in losses:
                if loss == "none" or self.intent.must_survive(residency, loss):
                    for key, hours in homes.items():
                        found[loss][key] = found[loss].get(key, _NOTHING) + hours
        return found

    def moved(self, key: CellKey, lost: str) -> Mapping[str, Floats]:
        """Return class -> demand that may move into a cell when ``lost`` is lost; nothing where there is none."""
        region, pool = key
        found = {}
        for move in self._moves_of.get(lost, ()):
            hours = self.demand[move.residency].get((lost, pool))
            if region in move.survivors and hours is not None and hours.any():
                found[move.residency] = hours
        return found

    @cached_property
    def _moves_of(self) -> Mapping[str, tuple[Move, ...]]:
        return {lost: tuple(move for move in self.moves if move.lost == lost) for lost in self.lost_regions}

    @cached_property
    def lost_regions(self) -> tuple[str, ...]:
        """Regions whose loss moves something, in file order."""
        return tuple(region for region in self.intent.regions if any(move.lost == region for move in self.moves))

    def is_survived(self, key: CellKey, loss: Loss) -> bool:
        """Whether a cell must hold its own demand against a kind of loss."""
        asked = {"replica": self.losses.replica, "zone": self.losses.zone, "region": self.losses.region}
        return bool(asked.get(loss, True)) and (loss in ("none", "region") or self.cells[key].tier != COLD)


_NOTHING: Floats = np.zeros(HOURS)


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
        surge=intent.guardrails.prefill_surge.value,
        normal=intent.guardrails.occupancy.normal,
        failure=intent.guardrails.occupancy.failure,
    )
    if problems := _impossible(arrays):
        raise InfeasiblePlan(problems)
    return arrays


def _moves(intent: Intent, demand: Mapping[str, Mapping[CellKey, Floats]]) -> list[Move]:
    """A class that does not survive the loss of a region, or is given up, does not move: nothing would hold it."""
    if not intent.guardrails.losses.region:
        return []
    return [
        Move(residency, region, intent.survivors(residency, region))
        for residency, detail in intent.tenants_file.classes.items()
        if "region" in detail.survive
        for region in intent.regions
        if any(home == region for home, _ in demand[residency]) and (residency, region) not in intent.given_up
    ]


def _cells(intent: Intent, demand: Mapping[str, Mapping[CellKey, Floats]], moves: tuple[Move, ...]) -> Iterator[Cell]:
    homes = {key for keys in demand.values() for key in keys}
    reached = {
        (survivor, pool)
        for move in moves
        for survivor in move.survivors
        for pool in intent.models_of_class[move.residency]
    }
    order = list(intent.models)
    for region in intent.regions:
        for pool in used_models(intent):
            if (region, pool) in homes | reached:
                model = intent.models[pool]
                yield Cell(
                    region=region,
                    pool=pool,
                    tier=model.tier,
                    lanes=tuple(_lanes(intent, region, pool, order.index(pool))),
                    is_home=(region, pool) in homes,
                    canary=0 if model.tier == COLD else intent.guardrails.canary_replicas,
                    hosted=intent.hosted(region, pool),
                )


def _lanes(intent: Intent, region: str, pool: str, index: int) -> Iterator[Lane]:
    """Yield the lanes of a cell; where extra replicas go first turns with the pool's place in the file."""
    model, cloud = intent.models[pool], intent.regions[region].cloud
    for accelerator, how in intent.accelerators_for(pool, region).items():
        rows = usable_node_pools(intent, region, pool, accelerator)
        if not rows:
            continue
        zones = tuple(dict.fromkeys(zone for row in rows.values() for zone in row.zones))
        first = index % len(zones)
        machines = [intent.facts.machine_types[cloud, row.machine_type] for row in rows.values()]
        parts = 1 if how.partition == WHOLE else parts_of_card(how.partition)
        devices = how.gpus_per_replica if how.partition == WHOLE else 1
        yield Lane(
            region=region,
            pool=pool,
            accelerator=accelerator,
            short=intent.facts.accelerators[accelerator].short,
            replica_gpus=how.gpus_per_replica,
            replica_devices=devices,
            partition=how.partition,
            node_pools=tuple(rows),
            zones=zones[first:] + zones[:first],
            zone_pools={zone: tuple(name for name, row in rows.items() if zone in row.zones) for zone in zones},
            node_replicas=max(int(machine.node_gpus) * parts // devices for machine in machines),
            goodput=how.goodput.value * (1 - model.overhead),
        )


def _absurd(arrays: Arrays) -> Iterator[Problem]:
    """Yield pools of more replicas than anybody runs."""
    file = f"{arrays.intent.name}/models.yaml"
    for key, cell in arrays.cells.items():
        moved = [sum(hours.max() for hours in arrays.moved(key, lost).values()) for lost in arrays.lost_regions]
        most_tok_s = float(arrays.base(key, "none").max()) + arrays.surge * max(moved, default=0.0)
        for lane in cell.lanes:
            replicas = most_tok_s / (lane.goodput * arrays.normal)
            if replicas > MOST_REPLICAS:
                yield Problem(
                    where=f"{file}, models.{cell.pool}.accelerators.{lane.accelerator}.goodput",
                    what=f"'{cell.pool}' in {cell.region} would need {replicas:,.0f} replicas",
                    got=f"{lane.goodput:g} tok/s a replica for {most_tok_s:,.0f} tok/s",
                    allowed=f"up to {MOST_REPLICAS:,} replicas",
                    do="Correct the goodput or the demand, and their units",
                )


def _impossible(arrays: Arrays) -> list[Problem]:
    """Return what no count can mend."""
    intent = arrays.intent
    problems = list(_absurd(arrays))
    problems += [
        Problem(
            where=f"{intent.name}/tenants.yaml, classes.{move.residency}",
            what=f"losing '{move.lost}' leaves no region that the class may go to",
            do="Add a region, admit the class in one, or give the class a dated gap",
        )
        for move in arrays.moves
        if not move.survivors
    ]
    for key, cell in arrays.cells.items():
        if not arrays.is_survived(key, "zone") or not arrays.base(key, "zone").any():
            continue
        where = f"{intent.name}/regions.yaml, regions.{cell.region}.node_pools.{cell.lanes[0].node_pools[0]}"
        if len(cell.zones) == 1:
            zones = intent.regions[cell.region].zones
            problems.append(
                Problem(
                    where=f"{where}.zones",
                    what=f"'{cell.pool}' cannot survive the loss of its only zone",
                    got=cell.zones[0],
                    allowed=f"two or more zones ({', '.join(zones)} are declared)",
                    do="Add a zone that offers the machine type, or set zone_excess: spills in guardrails.yaml",
                )
            )
        elif all(lane.is_sliced for lane in cell.lanes) and arrays.surge > 1:
            problems.append(
                Problem(
                    where=f"{where}.partition",
                    what=f"'{cell.pool}' cannot survive a loss on time-slices alone: they are no headroom",
                    got=cell.lanes[0].partition,
                    allowed="whole cards or MIG instances beside them",
                    do="Add an accelerator that is whole or has MIG, or let the model scale to zero",
                )
            )
    return problems
