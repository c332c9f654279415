"""Finds the counts: a mixed-integer programme over replicas, nodes and shares, and the lock it becomes.

May hold: arrays of needs, variables, constraints, objective, the search, lock building, and what a plan has to say for
itself. Not: proof of survival (`outlast.proof` derives it anew), spend, or wording of the terminal. The only package
that imports a solver.
"""

from outlast.planner.attribution import Paid, attribution
from outlast.planner.comparison import Figure, compare_published
from outlast.planner.conflict import Way, explained, ways
from outlast.planner.explain import Explanation, PoolLine, QuotaLine, ShareLine, explain
from outlast.planner.holdings import Ask, Holding
from outlast.planner.marginal import MarginalPart, marginal_prices
from outlast.planner.plan import Planned, plan, settle, settled_lock
from outlast.planner.premiums import Price, has_premiums_of_other_inputs, premiums, to_lock, with_premiums
from outlast.planner.quote import Quote, Wanted, quote, to_wanted
from outlast.planner.runway import Runway, check_months, parse_growth, runway
from outlast.planner.solve import Limits
from outlast.planner.trials import Size, Trial, Trials
from outlast.planner.whatif import ROUTERS, Choice, compare, with_router

__all__ = [
    "ROUTERS",
    "Ask",
    "Choice",
    "Explanation",
    "Figure",
    "Holding",
    "Limits",
    "MarginalPart",
    "Paid",
    "Planned",
    "PoolLine",
    "Price",
    "QuotaLine",
    "Quote",
    "Runway",
    "ShareLine",
    "Size",
    "Trial",
    "Trials",
    "Wanted",
    "Way",
    "attribution",
    "check_months",
    "compare",
    "compare_published",
    "explain",
    "explained",
    "has_premiums_of_other_inputs",
    "marginal_prices",
    "parse_growth",
    "plan",
    "premiums",
    "quote",
    "runway",
    "settle",
    "settled_lock",
    "to_lock",
    "to_wanted",
    "ways",
    "with_premiums",
    "with_router",
]
