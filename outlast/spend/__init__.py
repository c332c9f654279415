"""What a fleet and a change of it cost: rates, node lines, differences.

May hold: prices applied to nodes. Not: rendering (report), previews, or any decision of the plan.
"""

from outlast.spend.change import Change, LineChange, compare, per_month
from outlast.spend.lines import NodeLine, Range, lines_of_lock, lines_of_view
from outlast.spend.rates import Rate, rate

__all__ = [
    "Change",
    "LineChange",
    "NodeLine",
    "Range",
    "Rate",
    "compare",
    "lines_of_lock",
    "lines_of_view",
    "per_month",
    "rate",
]
