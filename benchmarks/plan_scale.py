"""Bounds and a deployable plan from arrays, from a few regions to sixty; a process each, so that its peak counts."""

from __future__ import annotations

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from benchmarks.fleets import Fleet, make_problem
from outlast.planner.scale import check, hourly_bound, static_plan

BUDGET_S, BUDGET_MIB = 10, 512
"""For 60 regions, 50 pools, 168 hours and 3 accelerators."""
CLOSE_PCT, FAR_PCT = 2, 4
"""Gap to the static bound: with 10 replicas a cell and at most 40 % of cells absent, and otherwise."""
FLEETS = (
    Fleet(3, 4),
    Fleet(5, 12),
    Fleet(10, 50),
    Fleet(30, 50),
    Fleet(60, 50),
    Fleet(60, 50, seed=2),
    Fleet(60, 50, seed=3),
    Fleet(60, 50, absent_ratio=0.4),
    Fleet(60, 50, absent_ratio=0.4, least_replicas=3, canary_replicas=1),
    Fleet(60, 50, absent_ratio=0.7),
    Fleet(60, 50, mean_tok_s=3000),
)


@dataclass(frozen=True)
class Measured:
    """One fleet, from arrays to a checked plan."""

    fleet: Fleet
    wall_s: float
    cpu_s: float
    peak_mib: float
    replicas_a_cell: float
    static_gap_pct: float | None
    hourly_gap_pct: float
    overflow_gpus: float
    breaches: int

    @property
    def line(self) -> str:
        """One line for a person."""
        fleet = self.fleet
        canaries = f", {fleet.canary_replicas} canary" if fleet.canary_replicas else ""
        gap = "no gap beyond quota" if self.static_gap_pct is None else f"{self.static_gap_pct:.2f} % over static bound"
        close = self.replicas_a_cell >= 10 and fleet.absent_ratio <= 0.4
        problems = f", {self.breaches} BREACHES" if self.breaches else ""
        return (
            f"scale {fleet.regions} × {fleet.pools} × {fleet.hours} h, seed {fleet.seed}, "
            f"{fleet.absent_ratio:.0%} absent{canaries}, {self.replicas_a_cell:.0f} replicas a cell: "
            f"{self.wall_s:.1f} s ({self.cpu_s:.1f} s CPU), {self.peak_mib:.0f} MiB, "
            f"{gap} (budget {CLOSE_PCT if close else FAR_PCT} %), {self.hourly_gap_pct:.2f} % over hourly{problems}"
        )


def run() -> None:
    """Print a line a fleet, then the budget."""
    for fleet in FLEETS:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
            print(processes.submit(measure, fleet).result().line, flush=True)
    print(f"scale budget for 60 × 50 × 168 h: {BUDGET_S} s, {BUDGET_MIB} MiB")


def measure(fleet: Fleet) -> Measured:
    """Plan a fleet and check the plan; the fleet's making does not count."""
    problem = make_problem(fleet)
    wall, cpu = time.perf_counter(), time.process_time()
    hourly = hourly_bound(problem)
    plan = static_plan(problem)
    breaches = check(problem, plan.shares_pct, plan.replicas)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    cells = int((plan.replicas.sum(axis=2) > 0).sum())
    return Measured(
        fleet=fleet,
        wall_s=wall,
        cpu_s=cpu,
        peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        replicas_a_cell=plan.replicas.sum() / max(cells, 1),
        static_gap_pct=plan.gap_pct,
        hourly_gap_pct=(plan.total / hourly.total - 1) * 100,
        overflow_gpus=float(plan.overflow_gpus.sum()),
        breaches=len(breaches),
    )
