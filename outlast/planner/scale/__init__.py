"""Plans any number of regions and pools from arrays: bounds, whole shares and whole replicas.

May hold: the arrays of a problem, its bounds, the search for a plan, and a check of plans. Not: files, names, clouds,
nodes, or the lock; the caller translates both ways.
"""

from outlast.planner.scale.check import Breach, check
from outlast.planner.scale.cuts import Cuts
from outlast.planner.scale.hourly import HourlyBound, Progress, hourly_bound, silent
from outlast.planner.scale.plan import StaticPlan, static_plan
from outlast.planner.scale.problem import ScaleProblem
from outlast.planner.scale.static import BindingLoads, StaticBound, static_bound

__all__ = [
    "BindingLoads",
    "Breach",
    "Cuts",
    "HourlyBound",
    "Progress",
    "ScaleProblem",
    "StaticBound",
    "StaticPlan",
    "check",
    "hourly_bound",
    "silent",
    "static_bound",
    "static_plan",
]
