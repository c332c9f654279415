"""The arrays of one capacity problem, checked, and what follows from them alone.

Axes, always in this order and left out where they do not apply: class, lost region, region, pool, accelerator, hour.
Demand and capacities are in the units of the caller's model per second, counts in replicas, quotas in GPUs. Knows
nothing of files, names or clouds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]
TOLERANCE = 1e-9
"""Relative distance of capacity and need that is rounding."""
POINTS = 100
"""Points that the shares of a class that leaves a region sum to."""
OVERFLOW_FACTOR = 50.0
"""Price of a GPU beyond quota, in the dearest price of a GPU: never worth it, unless nothing else serves."""


@dataclass(frozen=True)
class ScaleProblem:
    """Who needs what where, what a replica serves, costs and takes of the quota.

    For every lost region l, survivor r, pool p and hour h, with one integer per cent w[c,l,r] for all pools::

        capacity[r,p]  >=  sum_c demand[c,r,p,h] + surge × sum_c demand[c,l,p,h] w[c,l,r] / 100
        capacity[r,p]  =   sum_g replica[p,g] × replicas[r,p,g], canaries left out
    """

    demand_tok_s: Floats
    """Demand of the classes that survive a region, at their homes, burst margin included.

    Shape: class, region, pool, hour. A class that does not survive a region is left out: nothing is held for it.
    """
    survivors: Bools
    """Whether a class may go from a lost region to another one. Shape: class, lost, region."""
    replica_tok_s: Floats
    """Capacity of a replica at the occupancy in failure; 0 where the pool cannot run. Shape: pool, accelerator."""
    replica_gpus: Floats
    """GPUs of a replica, or the part of one that it takes. Shape: pool, accelerator."""
    allowed: Bools
    """Whether a pool may use an accelerator in a region. Shape: region, pool, accelerator."""
    gpu_usd_h: Floats
    """Price of a GPU for an hour. Shape: region, accelerator."""
    quota_gpus: Floats
    """GPUs granted, infinite where nothing limits them. Shape: region, accelerator."""
    floor_tok_s: Floats
    """Capacity at the occupancy in failure that a cell holds whatever the shares. Shape: region, pool."""
    least_replicas: Floats
    """Fewest replicas, canaries included, of a pool in use in a region. Shape: region, pool."""
    canary_replicas: Floats
    """Replicas of a pool in use that do not count; they run on the accelerator of the cheapest replica. Shape: pool."""
    surge: float
    """Factor on demand that moves."""
    objective: Literal["money", "replicas"] = "money"
    unmoved: Bools | None = None
    """Classes that need nothing when their home is lost, by an agreed gap. Shape: class, lost."""

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """Numbers of classes, regions, pools, accelerators and hours."""
        classes, regions, pools, hours = self.demand_tok_s.shape
        return classes, regions, pools, self.replica_tok_s.shape[1], hours

    @cached_property
    def base_tok_s(self) -> Floats:
        """Demand at home. Shape: region, pool, hour."""
        return np.asarray(self.demand_tok_s.sum(axis=0))

    @cached_property
    def moves(self) -> Bools:
        """Whether a class has demand that moves when a region is lost. Shape: class, lost."""
        has_demand = self.demand_tok_s.max(axis=(2, 3), initial=0.0) > 0
        return np.asarray(has_demand if self.unmoved is None else has_demand & ~self.unmoved)

    @cached_property
    def moved_tok_s(self) -> Floats:
        """Demand that moves, surge included. Shape: class, lost, pool, hour."""
        return np.asarray(self.demand_tok_s * (self.surge * self.moves[:, :, None, None]))

    @cached_property
    def targets(self) -> Bools:
        """Where a class may go that has something to move. Shape: class, lost, region."""
        return np.asarray(self.survivors & self.moves[:, :, None])

    @cached_property
    def moved_pools(self) -> Bools:
        """Whether a class moves demand of a pool. Shape: class, lost, pool."""
        return np.asarray(self.moved_tok_s.max(axis=3, initial=0.0) > 0)

    @cached_property
    def usable(self) -> Bools:
        """Whether a cell may hold replicas of an accelerator; none whose quota is less than one, if another will do.

        Shape: region, pool, accelerator.
        """
        able = self.allowed & (self.replica_tok_s > 0)
        granted = able & (self.quota_gpus[:, None, :] >= self.replica_gpus)
        return np.asarray(np.where(granted.any(axis=2, keepdims=True), granted, able))

    @cached_property
    def own_tok_s(self) -> Floats:
        """Capacity a cell needs for its floor and its own peak. Shape: region, pool."""
        return np.asarray(np.maximum(self.floor_tok_s, self.base_tok_s.max(axis=2, initial=0.0)))

    @cached_property
    def held(self) -> Bools:
        """Whether a cell is in use whatever the shares. Shape: region, pool."""
        return self.own_tok_s > 0

    @cached_property
    def least_usable(self) -> Floats:
        """Fewest replicas of a cell in use, without canaries. Shape: region, pool."""
        return np.maximum(self.least_replicas - self.canary_replicas, 0.0)

    @cached_property
    def alone_tok_s(self) -> Floats:
        """Capacity a cell has without any loss: what it needs, or its fewest replicas. Shape: region, pool."""
        smallest = np.where(self.usable, self.replica_tok_s, np.inf).min(axis=2, initial=np.inf)
        fewest = np.where(self.held & np.isfinite(smallest), self.least_usable * np.nan_to_num(smallest), 0.0)
        return np.maximum(self.own_tok_s, fewest)

    @cached_property
    def cost(self) -> Floats:
        """Price of a replica in units of the objective. Shape: region, pool, accelerator."""
        if self.objective == "replicas":
            return np.ones(self.usable.shape)
        return self.gpu_usd_h[:, None, :] * self.replica_gpus

    @cached_property
    def overflow_cost(self) -> float:
        """Price of a GPU beyond quota in units of the objective."""
        gpus = np.where(self.replica_gpus > 0, self.replica_gpus, 1.0)
        return OVERFLOW_FACTOR * float((self.cost / gpus)[self.usable].max(initial=1.0))

    @cached_property
    def canaries(self) -> Floats:
        """Canaries of a cell if it is in use. Shape: region, pool, accelerator."""
        cheapest = np.where(self.usable, self.cost, np.inf).argmin(axis=2)
        chosen = np.arange(self.usable.shape[2]) == cheapest[:, :, None]
        return np.where(chosen & self.usable, self.canary_replicas[:, None], 0.0)

    @cached_property
    def held_canaries(self) -> Floats:
        """Canaries of the cells in use whatever the shares. Shape: region, pool, accelerator."""
        return self.canaries * self.held[:, :, None]

    @cached_property
    def granted_gpus(self) -> Floats:
        """Quota left by those canaries, below 0 if they alone exceed it. Shape: region, accelerator."""
        return np.asarray(self.quota_gpus - (self.held_canaries * self.replica_gpus).sum(axis=1))

    @cached_property
    def scale_tok_s(self) -> Floats:
        """Size of a cell, by which its rows are divided before they go to the solver. Shape: region, pool."""
        sizes = self.alone_tok_s[self.held]
        return np.maximum(self.alone_tok_s, max(0.02 * float(sizes.mean()), TOLERANCE) if len(sizes) else 1.0)

    def total(self, replicas: Floats | Ints) -> float:
        """Return what counts cost in units of the objective. Shape: region, pool, accelerator."""
        return float((replicas * self.cost).sum())

    def overflow_gpus(self, replicas: Floats | Ints) -> Floats:
        """Return GPUs beyond quota. Shape: region, accelerator."""
        return np.asarray(np.maximum((replicas * self.replica_gpus).sum(axis=1) - self.quota_gpus, 0.0))
