"""Reads a stage's report of inference-perf: ``stage_N_lifecycle_metrics.json``.

Schema as in the project's published runs of November 2025 and its native report v1: ``load_summary``, ``successes``
with ``latency`` (seconds; mean, min, max, median and percentiles as ``p95``, which v1 keeps under ``percentiles``),
``throughput``, ``prompt_len``, ``output_len``; ``failures``. The report names neither the model nor the day.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from outlast.errors import ConfigError, Problem
from outlast.ingest.goodput.run import Run, number, positive

NAME = "inference-perf"
ADVICE = "Run it again with report.request_lifecycle_metrics.percentiles: [95, 99]"
"""How to get the percentile that is missing."""


def recognises(document: object) -> bool:
    """Whether a document is this tool's."""
    return isinstance(document, Mapping) and {"load_summary", "successes", "failures"} <= set(document)


def run_of(document: Mapping[str, Any], where: str) -> Run:
    """Return the run of one stage.

    Raises:
        ConfigError: it sums up several stages, or a number is missing or wrong.
    """
    load = document["load_summary"]
    if not isinstance(load, Mapping) or not {"requested_rate", "concurrency"} & set(load):
        do = "Name the report of one stage, stage_N_lifecycle_metrics.json"
        what = "sums up stages of different load, so it says nothing of one load"
        raise ConfigError(Problem(where=where, what=what, do=do))
    done = document["successes"] if isinstance(document["successes"], Mapping) else {}
    if "latency" not in done:
        do = "Name the report of requests; the server's own metrics hold no latency of a request"
        raise ConfigError(Problem(where=where, what="holds no latencies of requests", do=do))
    failures = document["failures"] if isinstance(document["failures"], Mapping) else {}
    return Run(
        tool=NAME,
        kind="measured",
        model=None,
        date=None,
        output_tok_s=positive(done, "throughput.output_tokens_per_sec", where),
        input_tok_s=number(done, "throughput.input_tokens_per_sec", where),
        requests_s=positive(done, "throughput.requests_per_sec", where),
        ttft_s=_percentiles(done, "time_to_first_token", where),
        itl_s=_percentiles(done, "inter_token_latency", where),
        completed=int(positive(done, "count", where)),
        failed=int(number(failures, "count", where)) if "count" in failures else 0,
        prompt_tokens=number(done, "prompt_len.mean", where),
        output_tokens=number(done, "output_len.mean", where),
        notes=("the report does not name its model",),
    )


def _percentiles(done: Mapping[str, Any], metric: str, where: str) -> Mapping[float, float]:
    latency = done["latency"] if isinstance(done["latency"], Mapping) else {}
    stats = latency.get(metric)
    if not isinstance(stats, Mapping):
        do = "Stream the answers (api.streaming: true), so that it is measured"
        raise ConfigError(Problem(where=where, what=f"holds no {metric}", do=do))
    own = stats.get("percentiles")
    values = {**stats, **(own if isinstance(own, Mapping) else {})}
    found = {key: re.fullmatch(r"p([\d.]+)", key) for key in values}
    return {float(match[1]): number({key[1:]: values[key]}, key[1:], where) for key, match in found.items() if match}
