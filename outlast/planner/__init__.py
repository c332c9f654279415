"""Finds the counts: a mixed-integer programme over replicas, nodes and shares, and the lock it becomes.

May hold: arrays of needs, variables, constraints, objective, the search, lock building, and what a plan has to say for
itself. Not: proof of survival (`outlast.proof` derives it anew), spend, or wording of the terminal. The only package
that imports a solver.
"""

from outlast.planner.explain import Explanation, PoolLine, QuotaLine, ShareLine, explain
from outlast.planner.plan import Planned, plan, settle, settled_lock
from outlast.planner.solve import Limits

__all__ = [
    "Explanation",
    "Limits",
    "Planned",
    "PoolLine",
    "QuotaLine",
    "ShareLine",
    "explain",
    "plan",
    "settle",
    "settled_lock",
]
