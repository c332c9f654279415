"""``compare.yaml``: figures published elsewhere for this fleet and its variants, to be found again."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from outlast.intent.base import Name, Strict
from outlast.intent.models import Precision
from outlast.units import Rate, Tokens

Count = Annotated[int, Field(ge=0)]


class PublishedDemand(Strict):
    """What all origins ask for together."""

    sum_of_peaks: Rate
    peak_of_sum: Rate
    utc_hour: Annotated[int, Field(ge=0, le=23)]


class PublishedPlan(Strict):
    """Counts of a plan."""

    says: str
    """The plan in the words of the publication."""
    variant: Name | None = None
    """Variant of the fleet that it is; absent: the fleet as it is."""
    replicas: Count
    gpus: Count
    by_region: tuple[Count, ...] = ()
    """Replicas of each region, in file order; absent: not published, or not unique."""


class PublishedOptimum(Strict):
    """The fewest replicas under the best shares of each kind."""

    says: str
    variant: Name | None = None
    static: Count | None = None
    """One set of shares."""
    static_bound: float | None = None
    """The same with fractions of a replica."""
    hourly: Count | None = None
    """Shares that differ by hour."""
    hourly_bound: float | None = None


class PublishedMemory(Strict):
    """Memory of one replica for keys and values, in nominal sizes; held to the digits that are published."""

    says: str
    model: Name
    accelerator: str
    gpus: Annotated[int, Field(ge=1)]
    kv_precision: Precision
    context: Tokens
    bytes_per_token: Count | None = None
    budget_gb: Count | None = None
    tokens: Tokens | None = None
    """Tokens whose keys and values fit."""
    sequences: Count | None = None


class ComparisonFile(Strict):
    """Figures by kind."""

    source: str = ""
    """The publication."""
    demand: PublishedDemand | None = None
    plans: tuple[PublishedPlan, ...] = ()
    optima: tuple[PublishedOptimum, ...] = ()
    memory: tuple[PublishedMemory, ...] = ()
