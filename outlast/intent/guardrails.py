"""``guardrails.yaml``: margins, losses survived, budgets and age limits."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, model_validator

from outlast.intent.base import Strict, planner_input
from outlast.units import Gpus, Percent, Ratio, Seconds, UsdPerMonth


class Occupancy(Strict):
    """Ceiling on a replica's goodput."""

    normal: Ratio = planner_input()
    failure: Ratio = planner_input()
    """In the hour of a loss."""

    @model_validator(mode="after")
    def _ordered(self) -> Occupancy:
        if not 0 < self.normal <= self.failure <= 1:
            got = f"normal {self.normal:.0%}, failure {self.failure:.0%}"
            message = f"failure must be at least normal, both above 0 % (got {got})"
            raise ValueError(message)
        return self


class NoSurge(Strict):
    """Why moved traffic is planned as if caches moved with it."""

    reason: str = Field(min_length=3)
    owner: str = Field(min_length=1)
    date: date


class PrefillSurge(Strict):
    """How much dearer moved traffic is while caches are cold: a factor, or what it is computed from."""

    factor: Annotated[float, Field(ge=1, le=10)] | None = planner_input(None)
    q: Ratio | None = planner_input(None)
    """Part of a replica's time spent on prefill when warm."""
    c: Ratio | None = planner_input(None)
    """Cached part of prompt tokens."""
    c_f: Ratio | None = planner_input(None)
    """Cached part right after the move."""
    none_because: NoSurge | None = None
    """Needed for a factor of exactly 1."""

    @model_validator(mode="after")
    def _given(self) -> PrefillSurge:
        inputs = (self.q, self.c, self.c_f)
        given = sum(x is not None for x in inputs)
        message = ""
        if given not in (0, 3) or (self.factor is None) == (given == 0):
            message = "give either factor, or all of q, c and c_f"
        elif self.c is not None and self.c >= 1:
            message = f"c must be below 100 % (got {self.c:.0%})"
        elif self.value < 1:
            message = f"c_f must be at most c: no cache is warmer after a move (got c {self.c:.0%}, c_f {self.c_f:.0%})"
        elif self.value == 1 and self.none_because is None:
            message = (
                "a surge of exactly 1 says that caches survive a failover; say why under none_because, with reason, "
                "owner and date"
            )
        if message:
            raise ValueError(message)
        return self

    @property
    def value(self) -> float:
        """The factor: 1 + q (c - c_f) / (1 - c)."""
        if self.factor is not None:
            return float(self.factor)
        if self.q is None or self.c is None or self.c_f is None:
            raise AssertionError(self)  # validation requires all three
        return float(1 + self.q * (self.c - self.c_f) / (1 - self.c))


class Losses(Strict):
    """How many of each may be lost at once; the planner supports 0 and 1."""

    region: Annotated[int, Field(ge=0, le=1)] = planner_input(1)
    zone: Annotated[int, Field(ge=0, le=1)] = planner_input(1)
    replica: Annotated[int, Field(ge=0, le=1)] = planner_input(1)


class Budgets(Strict):
    """Limits that a pull request is held against."""

    total: UsdPerMonth | None = None
    increase: Percent | None = None
    """Largest rise of one pull request against its base."""
    gpus: Gpus | None = None


class AgeLimits(Strict):
    """How old facts and measurements may be when planning and merging."""

    prices: Seconds = 400 * 86400.0
    goodput: Seconds = 200 * 86400.0
    quotas: Seconds = 100 * 86400.0


class GuardrailsFile(Strict):
    """Margins and limits."""

    occupancy: Occupancy = planner_input()
    prefill_surge: PrefillSurge = planner_input()
    burst_margin: Percent = planner_input(0.0)
    """Extra on top of demand and headroom for surprises."""
    canary_replicas: Annotated[int, Field(ge=0)] = planner_input(0)
    """Replicas a pool gives to a canary and a warm previous version; they do not count as headroom."""
    losses: Losses = planner_input(Losses())
    zone_excess: Literal["stays", "spills"] = planner_input("stays")
    """What a region cannot carry when it loses a zone: held in its other zones, or sent on by the failover shares."""
    budgets: Budgets = Budgets()
    ages: AgeLimits = AgeLimits()
