"""Fleets made up for benchmarks: business-day curves over the time zones, jurisdictions, absent cells, quotas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from outlast.planner.scale import ScaleProblem

REPLICA_TOK_S = np.array([2500.0, 6200.0, 900.0])
REPLICA_GPUS = np.array([4.0, 8.0, 2.0])
GPU_USD_H = np.array([3.0, 2.2, 1.9])
NORMAL, FAILURE = 0.7, 0.9
"""Occupancy planned for in normal times and in failure."""
SURGE = 1.6


@dataclass(frozen=True)
class Fleet:
    """What a made-up fleet is like."""

    regions: int
    pools: int
    hours: int = 168
    seed: int = 1
    mean_tok_s: float = 20_000.0
    """Median peak of a pool in a region."""
    absent_ratio: float = 0.0
    """Cells where a pool has no demand."""
    jurisdiction_regions: int = 5
    least_replicas: int = 0
    canary_replicas: int = 0


def make_problem(fleet: Fleet) -> ScaleProblem:
    """Return arrays like those of a fleet: a class that may go anywhere and one bound to each jurisdiction."""
    random = np.random.default_rng(fleet.seed)
    jurisdictions = max(1, round(fleet.regions / fleet.jurisdiction_regions)) if fleet.regions >= 4 else 1
    jurisdiction = np.sort(np.arange(fleet.regions) % jurisdictions)
    demand = _demand(fleet, jurisdiction, random)
    replica = REPLICA_TOK_S * FAILURE * np.exp(random.normal(0, 0.15, (fleet.pools, 3)))
    replica[:, 1:][random.uniform(size=(fleet.pools, 2)) < 0.12] = 0
    gpus = np.tile(REPLICA_GPUS, (fleet.pools, 1))
    price = GPU_USD_H * np.exp(random.normal(0, 0.08, (fleet.regions, 3)))
    floor = demand.sum(axis=0).max(axis=2) * FAILURE / NORMAL
    anywhere = ~np.eye(fleet.regions, dtype=bool)
    bound = [anywhere & (jurisdiction == index) & (jurisdiction[:, None] == index) for index in range(jurisdictions)]
    return ScaleProblem(
        demand_tok_s=demand,
        survivors=np.stack([anywhere, *bound]),
        replica_tok_s=replica,
        replica_gpus=gpus,
        allowed=np.ones((fleet.regions, fleet.pools, 3), dtype=bool),
        gpu_usd_h=price,
        quota_gpus=_quota(fleet, floor, replica, gpus, price, random),
        floor_tok_s=floor,
        least_replicas=np.full((fleet.regions, fleet.pools), float(fleet.least_replicas)),
        canary_replicas=np.full(fleet.pools, float(fleet.canary_replicas)),
        surge=SURGE,
    )


def _demand(fleet: Fleet, jurisdiction: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Demand by class, region, pool and hour: a working day's curve at the local time, weaker at the weekend, noisy."""
    regions, pools, hours = fleet.regions, fleet.pools, fleet.hours
    jurisdictions = int(jurisdiction.max()) + 1
    peak = fleet.mean_tok_s * np.exp(random.normal(0, 1, pools) + random.normal(0, 0.6, (regions, pools)))
    peak *= _present(fleet, jurisdiction, random)
    longitude_hours = (jurisdiction + random.uniform(-0.3, 0.3, regions)) / jurisdictions * 24
    local = np.arange(hours) - longitude_hours[:, None, None] - 1.5 * random.normal(size=(regions, pools, 1))
    day = 0.15 + 0.85 * ((1 + np.cos(2 * np.pi * local / 24)) / 2) ** 1.2
    weekend = np.where(np.arange(hours) // 24 % 7 >= 5, 0.55, 1.0) if hours > 24 else np.ones(hours)
    total = peak[:, :, None] * day * weekend * (1 + 0.03 * random.normal(size=(regions, pools, hours)))
    swing = 0.1 * np.sin(2 * np.pi * (np.arange(hours) / 24 + random.uniform(size=(regions, pools, 1))))
    open_ratio = np.clip(random.beta(6, 8, regions)[:, None, None] * (1 + swing), 0, 1)
    demand = np.zeros((1 + jurisdictions, regions, pools, hours))
    demand[0] = total * open_ratio
    for index in range(jurisdictions):
        at = jurisdiction == index
        demand[1 + index, at] = (total * (1 - open_ratio))[at]
    return demand


def _present(fleet: Fleet, jurisdiction: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Where pools have demand: a pool in a jurisdiction has it in two regions at least."""
    present = random.uniform(size=(fleet.regions, fleet.pools)) >= fleet.absent_ratio
    for index in range(int(jurisdiction.max()) + 1):
        members = np.flatnonzero(jurisdiction == index)
        for pool in np.flatnonzero(present[members].sum(axis=0) == 1):
            present[random.choice(members, min(2, len(members)), replace=False), pool] = True
    return present


def _quota(
    fleet: Fleet,
    floor: np.ndarray,
    replica: np.ndarray,
    gpus: np.ndarray,
    price: np.ndarray,
    random: np.random.Generator,
) -> np.ndarray:
    """Quotas that bind: ample of the first accelerator, 60 % of what each region would like of the others."""
    rate = np.where(replica > 0, gpus * price[:, None, :] / np.where(replica > 0, replica, 1), np.inf)
    liked = (np.arange(3) == rate.argmin(axis=2)[:, :, None]) & (replica > 0)
    wanted = np.where(liked, floor[:, :, None] / np.where(replica > 0, replica, 1) * gpus, 0).sum(axis=1)
    quota = np.ceil(np.maximum(0.6 * wanted, 8 * fleet.pools))
    quota[:, 0] = np.ceil(2.5 * floor.sum(axis=1) / REPLICA_TOK_S[0] * REPLICA_GPUS[0] + 8 * fleet.pools)
    refused = random.uniform(size=(fleet.regions, 2)) < 0.12
    quota[:, 1:][refused] = 0
    return quota
