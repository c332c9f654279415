"""One run of a load generator, or one prediction, in units of ours; every reader of a tool's file returns it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

from outlast.errors import ConfigError, Problem


@dataclass(frozen=True, kw_only=True)
class Run:
    """What a file says of a model under load."""

    tool: str
    """The tool, with its version where the file says it."""
    kind: Literal["measured", "predicted"]
    model: str | None
    """The model as the tool called it."""
    date: date | None
    """Day of the run, where the file says it."""
    output_tok_s: float
    input_tok_s: float
    requests_s: float
    ttft_s: Mapping[float, float]
    """Percentile -> time to first token; 50 holds for a prediction without spread."""
    itl_s: Mapping[float, float]
    """Percentile -> inter-token latency."""
    completed: int
    failed: int
    prompt_tokens: float
    """Mean of a request."""
    output_tokens: float
    cached_ratio: float | None = None
    """Part of prompt tokens found in the prefix cache, where the file says it."""
    gpus: float | None = None
    """GPUs that served it, where the file says it."""
    accelerator: str | None = None
    """The accelerator as the tool called it."""
    notes: tuple[str, ...] = field(default=())


def number(document: Mapping[str, Any], key: str, where: str) -> float:
    """Return a number of 0 or more under ``key``, or where its dots lead.

    Raises:
        ConfigError: there is none.
    """
    value: Any = document
    for part in [key] if key in document else key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    try:
        found = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found) or found < 0:
        what = f"'{key}' is no number of 0 or more"
        raise ConfigError(
            Problem(where=where, what=what, got=repr(value)[:40], do="Name the file as the tool wrote it")
        )
    return found


def positive(document: Mapping[str, Any], key: str, where: str) -> float:
    """Return a number above 0 under ``key``.

    Raises:
        ConfigError: there is none.
    """
    value = number(document, key, where)
    if value == 0:
        raise ConfigError(Problem(where=where, what=f"'{key}' is 0: nothing was served", do="Run it again"))
    return value
