"""What cells have to serve when a region is lost, by plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from outlast.planner.scale.problem import Floats, Ints, ScaleProblem


@dataclass(frozen=True)
class Loads:
    """The worst hour of every cell in every loss."""

    peak_tok_s: Floats
    """Shape: lost, region, pool."""
    hour: Ints
    """Where the peak is. Shape: lost, region, pool."""


def to_loads(problem: ScaleProblem, shares: Floats) -> Loads:
    """Return the loads under shares, as fractions. Shape of shares: class, lost, region.

    Where nothing moves in, the load is the own peak.
    """
    base = problem.base_tok_s
    peak = np.repeat(base.max(axis=2)[None], base.shape[0], axis=0)
    hour = np.repeat(base.argmax(axis=2)[None], base.shape[0], axis=0)
    for lost in range(base.shape[0]):
        regions = np.flatnonzero((shares[:, lost] > 0).any(axis=0))
        if len(regions):
            hourly = hourly_load(problem, shares[:, lost], lost, regions)
            hour[lost, regions] = hourly.argmax(axis=2)
            peak[lost, regions] = hourly.max(axis=2)
    return Loads(peak, hour)


def hourly_load(problem: ScaleProblem, shares: Floats, lost: int, regions: Ints) -> Floats:
    """Return the load of some regions when one is lost. Shapes: class, region -> region, pool, hour."""
    load = problem.base_tok_s[regions]
    for moved, share in zip(problem.moved_tok_s[:, lost], shares[:, regions], strict=True):
        if share.any():
            load += share[:, None, None] * moved
    return load


def to_needs(problem: ScaleProblem, loads: Loads) -> Floats:
    """Return what each cell needs, without canaries. Shape: region, pool."""
    return np.asarray(np.maximum(problem.alone_tok_s, loads.peak_tok_s.max(axis=0, initial=0.0)))
