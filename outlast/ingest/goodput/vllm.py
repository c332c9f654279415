"""Reads what ``vllm bench serve --save-result`` writes: one JSON object.

Keys as in vLLM 0.11 to 0.27: ``model_id``, ``date``, ``completed``, ``failed`` (not in all of them), ``duration``,
``total_input_tokens``, ``total_output_tokens``, ``request_throughput``, ``output_throughput``, and ``p<N>_ttft_ms`` and
``p<N>_itl_ms`` for every percentile that ``--metric-percentiles`` named (99 when it was left out).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from outlast.errors import ConfigError, Problem
from outlast.ingest.goodput.run import Run, number, positive

NAME = "vllm bench serve"
ADVICE = "Run it again with --metric-percentiles 95,99"
"""How to get the percentile that is missing."""
_KEYS = frozenset({"model_id", "output_throughput", "total_input_tokens", "request_throughput"})
_VERSIONS = ("vllm_version", "version")
"""Keys that ``--metadata KEY=VALUE`` may have added."""


def recognises(document: object) -> bool:
    """Whether a document is this tool's."""
    return isinstance(document, Mapping) and set(document) >= _KEYS


def run_of(document: Mapping[str, Any], where: str) -> Run:
    """Return the run.

    Raises:
        ConfigError: a number is missing or wrong.
    """
    completed = positive(document, "completed", where)
    version = next((str(document[key]) for key in _VERSIONS if document.get(key)), None)
    duration_s = positive(document, "duration", where)
    input_tokens = number(document, "total_input_tokens", where)
    return Run(
        tool=f"{NAME} {version}" if version else NAME,
        kind="measured",
        model=str(document["model_id"]),
        date=_day(document.get("date"), where),
        output_tok_s=positive(document, "output_throughput", where),
        input_tok_s=input_tokens / duration_s,
        requests_s=positive(document, "request_throughput", where),
        ttft_s=_percentiles(document, "ttft", where),
        itl_s=_percentiles(document, "itl", where),
        completed=int(completed),
        failed=int(number(document, "failed", where)) if "failed" in document else 0,
        prompt_tokens=input_tokens / completed,
        output_tokens=number(document, "total_output_tokens", where) / completed,
    )


def _percentiles(document: Mapping[str, Any], metric: str, where: str) -> Mapping[float, float]:
    found = {key: re.fullmatch(rf"p([\d.]+)_{metric}_ms", key) for key in document}
    return {float(match[1]): number(document, key, where) / 1000 for key, match in found.items() if match}


def _day(text: object, where: str) -> Any:
    if text is None:
        return None
    try:
        return datetime.strptime(str(text), "%Y%m%d-%H%M%S").replace(tzinfo=UTC).date()
    except ValueError as error:
        do = "Name the file as the tool wrote it"
        raise ConfigError(Problem(where=where, what="'date' is no date", got=repr(text)[:40], do=do)) from error
