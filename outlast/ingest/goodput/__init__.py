"""Goodput from the result files of load generators and predictors, one reader a tool.

May hold: readers, and the judgement whether a run met the model's latency targets. Not: runs of the tools.
"""

from outlast.ingest.goodput.record import Asked, GoodputImport, changed_file, read_goodput
from outlast.ingest.goodput.run import Run

__all__ = ["Asked", "GoodputImport", "Run", "changed_file", "read_goodput"]
