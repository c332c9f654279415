"""A fleet as the arrays of `outlast.planner.scale`, and its answers as shares: for bounds, and for large fleets.

Arrays know replicas, not nodes or zones, so their optimum is a bound of the plan: what a cell holds whatever the shares
is taken over, a GPU costs what it costs on the cheapest node pool of its kind, quotas are as many GPUs as they hold.
Hosted routes are unknown to them; with any, their bounds say nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from outlast.intent.models import WHOLE
from outlast.intent.partitions import parts_of_card
from outlast.planner.arrays import Arrays, Cell, CellKey, Floats, Lane, Move
from outlast.planner.money import node_usd_h
from outlast.planner.needs import Shares, counts_alone
from outlast.planner.objective import duty
from outlast.planner.scale import ScaleProblem
from outlast.planner.scale.problem import Bools, Ints
from outlast.planner.variables import drawn_on

_Card: TypeAlias = tuple[str, str, str]
"""(accelerator, partition, reservation or nothing): what GPUs of one price and limit are."""


def to_scale(arrays: Arrays, *, whole: bool = True) -> ScaleProblem:
    """Return a fleet as arrays; axes in file order.

    Args:
        arrays: the fleet's needs.
        whole: count what a cell holds whatever the shares in whole replicas, which tightens bounds.
    """
    classes, regions = list(arrays.demand), list(arrays.intent.regions)
    pools = list(dict.fromkeys(pool for _, pool in arrays.cells))
    lanes = {lane: _cards(arrays, lane) for lane in arrays.lanes.values() if not lane.is_sliced}
    cards = list(dict.fromkeys(card for found in lanes.values() for card in found))
    shape = (len(regions), len(pools), len(cards))
    replica_tok_s, replica_gpus = np.zeros(shape[1:]), np.ones(shape[1:])
    allowed: Bools = np.zeros(shape, dtype=bool)
    gpu_usd_h: Floats = np.full((shape[0], shape[2]), np.inf)
    quota: Floats = np.zeros((shape[0], shape[2]))
    carriers: dict[tuple[str, _Card], dict[str, None]] = {}
    for lane, found in lanes.items():
        for card_key, node_pools in found.items():
            carriers.setdefault((lane.region, card_key), {}).update(dict.fromkeys(node_pools))
        region, pool = regions.index(lane.region), pools.index(lane.pool)
        for card in map(cards.index, found):
            allowed[region, pool, card] = True
            replica_tok_s[pool, card] = lane.goodput * arrays.failure
            replica_gpus[pool, card] = _gpus(lane)
    for (name, card_key), carrying in carriers.items():
        region, card = regions.index(name), cards.index(card_key)
        gpu_usd_h[region, card] = _gpu_usd_h(arrays, name, tuple(carrying))
        quota[region, card] = _granted_gpus(arrays, name, tuple(carrying))
    floor, least = np.zeros(shape[:2]), np.zeros(shape[:2])
    canary = np.zeros(shape[1])
    for (name, pool_name), cell in arrays.cells.items():
        region, pool = regions.index(name), pools.index(pool_name)
        floor[region, pool] = _floor_tok_s(arrays, (name, pool_name), cell, whole=whole)
        least[region, pool] = cell.minimum + cell.canary
        canary[pool] = cell.canary
    return ScaleProblem(
        demand_tok_s=_demand(arrays, classes, regions, pools),
        survivors=_survivors(arrays, classes, regions),
        replica_tok_s=replica_tok_s,
        replica_gpus=replica_gpus,
        allowed=allowed,
        gpu_usd_h=np.where(np.isfinite(gpu_usd_h), gpu_usd_h, 0.0),
        quota_gpus=np.where(np.isfinite(gpu_usd_h), quota, 0.0),
        floor_tok_s=floor,
        least_replicas=least,
        canary_replicas=canary,
        surge=arrays.surge,
        objective=arrays.intent.fleet.objective,
    )


def shares_of(arrays: Arrays, shares_pct: Ints) -> Shares:
    """Return shares of the arrays by name, without zeros. Shape: class, lost, region.

    A class without demand in a lost region does not move in the arrays; a plan sends it somewhere all the same.
    """
    classes, regions = list(arrays.demand), list(arrays.intent.regions)
    found: dict[str, dict[str, dict[str, int]]] = {}
    for move in arrays.moves:
        row = shares_pct[classes.index(move.residency), regions.index(move.lost)]
        named = {name: int(row[regions.index(name)]) for name in move.survivors if row[regions.index(name)]}
        found.setdefault(move.residency, {})[move.lost] = named or {_most_at_home(arrays, move): 100}
    return found


def _most_at_home(arrays: Arrays, move: Move) -> str:
    """Return the survivor with the most of a class's models in use whatever the shares; the first of equals."""
    models = arrays.intent.models_of_class[move.residency]
    return max(move.survivors, key=lambda name: sum(arrays.cells[name, model].is_home for model in models))


def shares_pct(arrays: Arrays, shares: Shares) -> Ints:
    """Return shares as an array. Shape: class, lost, region."""
    classes, regions = list(arrays.demand), list(arrays.intent.regions)
    found: Ints = np.zeros((len(classes), len(regions), len(regions)), dtype=np.int64)
    for residency, losses in shares.items():
        for lost, row in losses.items():
            for survivor, share in row.items():
                found[classes.index(residency), regions.index(lost), regions.index(survivor)] = share
    return found


def _demand(arrays: Arrays, classes: Sequence[str], regions: Sequence[str], pools: Sequence[str]) -> Floats:
    """Return demand of the classes that survive a region. Shape: class, region, pool, hour."""
    hours = len(next(iter(arrays.base(key, "none") for key in arrays.cells)))
    demand: Floats = np.zeros((len(classes), len(regions), len(pools), hours))
    for move in arrays.moves:
        for (region, pool), values in arrays.demand[move.residency].items():
            if region == move.lost:
                demand[classes.index(move.residency), regions.index(region), pools.index(pool)] = values
    return demand


def _survivors(arrays: Arrays, classes: Sequence[str], regions: Sequence[str]) -> Bools:
    survivors: Bools = np.zeros((len(classes), len(regions), len(regions)), dtype=bool)
    for move in arrays.moves:
        for survivor in move.survivors:
            survivors[classes.index(move.residency), regions.index(move.lost), regions.index(survivor)] = True
    return survivors


def _floor_tok_s(arrays: Arrays, key: CellKey, cell: Cell, *, whole: bool) -> float:
    """Return the capacity at the occupancy in failure that a cell holds whatever the shares; 0 where it has no home."""
    if not cell.is_home:
        return 0.0
    if whole and len(cell.lanes) == 1 and not cell.lanes[0].is_sliced:
        [lane] = cell.lanes
        usable = int(np.argmax(counts_alone(arrays, lane))) - cell.canary
        return usable * lane.goodput * arrays.failure
    own = float(arrays.base(key, "none").max()) * arrays.failure / arrays.normal
    if any(lane.is_sliced for lane in cell.lanes):
        return 0.0
    return own


def _gpus(lane: Lane) -> float:
    """Return the GPUs of a replica, a part of one where the card is divided."""
    if lane.partition == WHOLE:
        return float(lane.replica_gpus)
    return lane.replica_devices / parts_of_card(lane.partition)


def _cards(arrays: Arrays, lane: Lane) -> dict[_Card, list[str]]:
    """Return what a lane's node pools are to the arrays: accelerator, partition, reservation -> node pools."""
    place, found = arrays.intent.regions[lane.region], dict[_Card, list[str]]()
    for name in lane.node_pools:
        key = (lane.accelerator, lane.partition, place.node_pools[name].reservation or "")
        found.setdefault(key, []).append(name)
    return found


def _gpu_usd_h(arrays: Arrays, region: str, node_pools: Sequence[str]) -> float:
    """Return the least price of a GPU for an hour over node pools."""
    place = arrays.intent.regions[region]
    prices = []
    for name in node_pools:
        pool = place.node_pools[name]
        machine = arrays.intent.facts.machine_types[place.cloud, pool.machine_type]
        usd_h = node_usd_h(arrays.intent, region, pool.machine_type, pool.capacity)
        prices.append(usd_h * duty(arrays, (region, name, pool.zones[0])) / machine.node_gpus)
    return min(prices)


def _granted_gpus(arrays: Arrays, region: str, node_pools: Sequence[str]) -> float:
    """Return the most GPUs that quotas and reservations let node pools have."""
    place, holdings = arrays.intent.regions[region], arrays.intent.holdings(region)
    units = {quota.quota_code: quota.unit for quota in arrays.intent.facts.quotas if quota.cloud == place.cloud}
    total = 0.0
    for name in node_pools:
        pool = place.node_pools[name]
        machine = arrays.intent.facts.machine_types[place.cloud, pool.machine_type]
        limits = [np.inf]
        for held in drawn_on(arrays, region, name):
            if held in holdings.reservations:
                limits.append(holdings.reservations[held].nodes * machine.node_gpus)
            elif held in holdings.quotas:
                amount = holdings.quotas[held].granted
                limits.append(amount * machine.node_gpus / machine.vcpu if units[held] == "vcpu" else amount)
            else:
                limits.append(0.0)
        total += min(limits)
    return float(total)
