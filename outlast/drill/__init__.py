"""What the first minutes after a loss look like: estimates beside the proof, by simulation.

May hold: the region-loss simulation, its assumptions with their sources, and the discrete-event check of queue waits.
Not: survival (`outlast.proof` decides), planning, or wording of the terminal.
"""

from outlast.drill.assumptions import COLD_CACHES, DEFAULT_PREFILL_RATIO, Assumptions
from outlast.drill.queue_check import QueuedPool, Waits, simulate_waits
from outlast.drill.region_loss import FleetLoad, Outcome, Outcomes, lose_regions, worst, worst_of_survivors
from outlast.drill.simulate import load_of, simulate

__all__ = [
    "COLD_CACHES",
    "DEFAULT_PREFILL_RATIO",
    "Assumptions",
    "FleetLoad",
    "Outcome",
    "Outcomes",
    "QueuedPool",
    "Waits",
    "load_of",
    "lose_regions",
    "simulate",
    "simulate_waits",
    "worst",
    "worst_of_survivors",
]
