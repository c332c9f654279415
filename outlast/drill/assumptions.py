"""What the region-loss simulation assumes of detection, retries and cold caches.

A curve of cold caches says how much more prefill the same requests cost than with a warm cache, by minute after the
cache is lost. Both are measured on traces of Mooncake, its conversations and its synthetic multi-turn sessions (Qin et
al., FAST 2025, Apache-2.0), with a prefix cache of 512-token blocks without a size limit that is emptied half way:
prompt tokens that the cache does not serve, over the same without the loss, as the mean of two minutes. The sums per
minute lie in ``benchmarks/traces``; a test derives the curves from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from outlast.errors import ConfigError, Problem

CHAT = (1.591, 1.423, 1.226, 1.195, 1.168, 1.115, 1.092, 1.067, 1.091, 1.115, 1.060, 1.057, 1.049, 1.029)
"""Conversations, 40 % of prompt tokens cached when warm; the last value is the mean of minutes 14 to 29."""
MULTI_TURN = (2.056, 2.229, 2.300, 2.113, 2.064, 1.753, 1.660, 1.596, 1.139)
"""Long multi-turn sessions, 86 % cached when warm; the trace ends after the ninth minute."""
COLD_CACHES: Mapping[str, tuple[float, ...]] = MappingProxyType({"chat": CHAT, "multi-turn": MULTI_TURN})
DEFAULT_PREFILL_RATIO = 0.4
"""Part of a replica's time spent on prefill when warm, where nobody measured it; an assumption."""
MINUTE_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """How a loss unfolds; the same for every region, hour and pool.

    Raises:
        ConfigError: a value is impossible; every such value is named.
    """

    detection_s: float = 60.0
    """From the loss until traffic moves, all at once. What is asked of the lost region until then fails."""
    returning_ratio: float = 0.5
    """Part of what failed in the last minute before traffic moves that is asked again in the minute after."""
    prefill_ratio: float = DEFAULT_PREFILL_RATIO
    """Part of a replica's time spent on prefill when caches are warm."""
    cold_cache: tuple[float, ...] = CHAT
    """Prefill of moved traffic against a warm cache, by minute after it moved; the last value holds from then on."""

    def __post_init__(self) -> None:
        """Check every value."""
        if problems := list(self._problems()):
            raise ConfigError(problems)

    def moved_factor(self, minute: int) -> float:
        """Return the load that moved demand makes, in parts of itself, in a whole minute after it moved."""
        cold = self.cold_cache[min(minute, len(self.cold_cache) - 1)]
        again = self.returning_ratio * min(self.detection_s / MINUTE_S, 1.0) if minute == 0 else 0.0
        return (1 + again) * (1 + self.prefill_ratio * (cold - 1))

    def _problems(self) -> Iterator[Problem]:
        where = "region-loss simulation"
        if not (math.isfinite(self.detection_s) and self.detection_s >= 0):
            yield Problem(
                where=where, what="an impossible detection time", got=f"{self.detection_s:g} s", allowed="0 s or more"
            )
        ratios = {
            "part of failed requests that return": self.returning_ratio,
            "part of a replica's time spent on prefill (q)": self.prefill_ratio,
        }
        for what, value in ratios.items():
            if not 0 <= value <= 1:
                yield Problem(where=where, what=f"an impossible {what}", got=f"{value:g}", allowed="0 to 1")
        if not self.cold_cache or not all(math.isfinite(value) and value >= 1 for value in self.cold_cache):
            yield Problem(
                where=where,
                what="an impossible curve of cold caches",
                got=", ".join(f"{value:g}" for value in self.cold_cache) or "no minute",
                allowed="1 or more in every minute, for at least one minute",
            )
