"""Builds small problems in arrays that are valid but for what a test says."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from outlast.planner.scale import ScaleProblem

NORMAL = 1750.0
"""Goodput of a replica at the occupancy of normal times, in the seed's figures."""
SEED: dict[str, tuple[float, float]] = {"us-east": (90_000, 18), "eu-west": (60_000, 12), "ap-south": (40_000, 7)}
"""Region -> peak and the hour when it is reached."""


def make_problem(demand: Any, survivors: Any = None, **changes: Any) -> ScaleProblem:
    """A problem of one accelerator with 1,000 tok/s a replica at 1 a GPU, no quota, no floor, no surge.

    Shape of demand: class, region, pool, hour. Every class may go to every other region unless told otherwise.
    """
    demand = np.asarray(demand, dtype=float)
    classes, regions, pools, _ = demand.shape
    everywhere = np.repeat(~np.eye(regions, dtype=bool)[None], classes, axis=0)
    start: dict[str, Any] = {"replica_tok_s": np.full((pools, 1), 1000.0), "surge": 1.0} | changes
    accelerators = np.asarray(start["replica_tok_s"]).shape[1]
    problem = ScaleProblem(
        demand_tok_s=demand,
        survivors=everywhere if survivors is None else np.asarray(survivors, dtype=bool),
        replica_tok_s=np.zeros(1),
        replica_gpus=np.ones((pools, accelerators)),
        allowed=np.ones((regions, pools, accelerators), dtype=bool),
        gpu_usd_h=np.ones((regions, accelerators)),
        quota_gpus=np.full((regions, accelerators), np.inf),
        floor_tok_s=np.zeros((regions, pools)),
        least_replicas=np.zeros((regions, pools)),
        canary_replicas=np.zeros(pools),
        surge=1.0,
    )
    return replace(problem, **{name: as_array(value) for name, value in start.items()})


def as_array(value: Any) -> Any:
    """Lists as arrays, the rest as it is."""
    return np.asarray(value) if isinstance(value, list) else value


def seed_curve(peak: float, peak_hour: float) -> np.ndarray:
    """The seed's curve of a day: a quarter at night, a cosine to the peak."""
    return peak * (0.25 + 0.75 * (1 + np.cos(2 * np.pi * (np.arange(24) - peak_hour) / 24)) / 2)


def one_class(places: Mapping[str, tuple[float, float]], **changes: Any) -> ScaleProblem:
    """The seed's fleet: one pool at places of peak and hour, one class that may go anywhere, replicas to be few."""
    demand = np.array([[[seed_curve(peak, hour)] for peak, hour in places.values()]])
    return with_seed_replicas(demand, **changes)


def eu_resident(*, others_may_enter: bool, **changes: Any) -> ScaleProblem:
    """Four regions (us-east, eu-west, eu-central, ap-south); EU demand is split evenly and stays in the EU."""
    eu = seed_curve(30_000, 12)
    open_demand = [seed_curve(90_000, 18), 0 * eu, 0 * eu, seed_curve(40_000, 7)]
    eu_demand = [0 * eu, eu, eu, 0 * eu]
    demand = np.array([open_demand, eu_demand])[:, :, None, :]
    in_eu = np.array([False, True, True, False])
    apart = ~np.eye(4, dtype=bool)
    survivors = np.stack([apart if others_may_enter else apart & ~in_eu, apart & in_eu & in_eu[:, None]])
    return with_seed_replicas(demand, survivors=survivors, **changes)


def with_seed_replicas(demand: np.ndarray, occupancy_in_failure: float = 0.7, **changes: Any) -> ScaleProblem:
    """Replicas of 2,500 tok/s at 70 % in normal times, counted, not paid."""
    failure = 2500 * occupancy_in_failure
    floor = demand.sum(axis=0).max(axis=2) * failure / NORMAL
    return make_problem(demand, replica_tok_s=[[failure]], floor_tok_s=floor, objective="replicas", **changes)
