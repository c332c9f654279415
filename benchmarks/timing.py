"""Medians of a few runs."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def median_s(run: Callable[[], object], times: int = 5) -> float:
    """Return the median seconds of several runs, after one that is not counted."""
    run()
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)
