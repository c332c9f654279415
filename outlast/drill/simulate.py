"""The region-loss simulation on a lock: any pools, accelerators and floors by hour.

Takes replicas from `outlast.proof.held`, demand and goodput from intent, homes and shares from the lock. As in the
proof, a class that need not survive the loss of a region is left out.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from outlast.drill.assumptions import Assumptions
from outlast.drill.region_loss import FleetLoad, Floats, Outcomes, lose_regions
from outlast.errors import ConfigError
from outlast.intent import HOURS, Intent
from outlast.intent.known import unknown
from outlast.lock import Lock
from outlast.proof import held_of_lock


def simulate(
    lock: Lock, intent: Intent, assumptions: Assumptions | None = None, lost: Collection[str] | None = None
) -> Outcomes:
    """Lose regions at every hour of the week, once every stack has deployed the lock.

    Args:
        lock: the plan.
        intent: demand and goodput.
        assumptions: how a loss unfolds; absent, the defaults.
        lost: regions to lose, one at a time; absent, all.

    Raises:
        ConfigError: the fleet has no such region.
    """
    return lose_regions(load_of(lock, intent, lost), assumptions or Assumptions())


def load_of(lock: Lock, intent: Intent, lost: Collection[str] | None = None) -> FleetLoad:
    """Return what a lock holds and is asked for.

    Raises:
        ConfigError: ``lost`` names a region that the fleet does not have.
    """
    if problems := [
        unknown("lost", "region", name, intent.regions) for name in lost or () if name not in intent.regions
    ]:
        raise ConfigError(problems)
    regions, pools = tuple(intent.regions), tuple(intent.models)
    losing = regions if lost is None else tuple(region for region in regions if region in lost)
    own = np.zeros((HOURS, len(regions), len(pools)))
    moved = np.zeros((len(losing), *own.shape))
    for (pool, residency, home), hours in intent.demand_at(lock.homes).items():
        if "region" not in intent.tenants_file.classes[residency].survive:
            continue
        column = pools.index(pool)
        own[:, regions.index(home), column] += hours
        if home in losing:
            for survivor, share in lock.shares.get(residency, {}).get(home, {}).items():
                if survivor in regions and survivor != home:
                    moved[losing.index(home), :, regions.index(survivor), column] += np.array(hours) * share / 100
    return FleetLoad(regions, pools, losing, _capacity(lock, intent), own, moved)


def _capacity(lock: Lock, intent: Intent) -> Floats:
    """Return (hour, region, pool): goodput of the replicas that count, over all accelerators of a pool."""
    regions, pools = tuple(intent.regions), tuple(intent.models)
    capacity = np.zeros((HOURS, len(regions), len(pools)))
    for region, rows in held_of_lock(lock).items():
        for row in rows.values():
            model = intent.models.get(row.pool)
            how = model.accelerators.get(row.accelerator) if model else None
            if region in regions and how:
                replicas = np.array([row.usable(hour) for hour in range(HOURS)])
                capacity[:, regions.index(region), pools.index(row.pool)] += replicas * how.goodput.value
    return capacity
