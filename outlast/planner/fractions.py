"""The fewest replicas under one set of shares of any fraction: what whole per cents cost, and a figure to compare."""

from __future__ import annotations

from dataclasses import replace

from outlast.errors import InfeasiblePlan, Problem
from outlast.intent import Intent
from outlast.planner.arrays import to_arrays
from outlast.planner.counts import define_model
from outlast.planner.solve import Limits, minimise


def fewest_with_fractions(intent: Intent) -> int:
    """Return the fewest replicas of a small fleet if shares need not be whole per cents.

    Raises:
        InfeasiblePlan: there is no plan.
    """
    model = define_model(to_arrays(intent), tuple(intent.regions), None, {})
    for column in model.variables.share.values():
        model.program.columns[column] = replace(model.program.columns[column], is_integer=False)
    found = minimise(model.program, dict.fromkeys(model.variables.replicas.values(), 1.0), Limits())
    if found is None:
        raise InfeasiblePlan(
            Problem(where=intent.name, what="there is no plan", do=f"Run 'outlast plan {intent.name}'")
        )
    return round(found.total)
