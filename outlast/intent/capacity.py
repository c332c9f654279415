"""``capacity.yaml``: what we hold: quotas, reservations, discounts, hosted routes."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from outlast.facts.models import Capacity
from outlast.intent.base import Name, Strict, planner_input
from outlast.units import QuotaAmount, Ratio, TokensPerMinute


class Quota(Strict):
    """A permission granted by a cloud in a region; absent means 0."""

    granted: QuotaAmount = planner_input()
    requested: QuotaAmount | None = None
    ticket: str | None = None
    as_of: date


class Reservation(Strict):
    """Machines held in one zone."""

    machine_type: str = planner_input()
    zone: str = planner_input()
    nodes: Annotated[int, Field(ge=1)] = planner_input()
    starts: date | None = None
    """First day on which it holds its machines; absent: it holds them already."""
    ends: date | None = None
    """Last day on which it holds its machines."""
    block: bool = planner_input(False)
    """Whether it is a block bought for a fixed time, which the cloud uses in another way and takes back at its end."""


class HostedRoute(Strict):
    """A model served by a cloud itself, with its quota."""

    model: Name = planner_input()
    classes: tuple[Name, ...] = planner_input(min_length=1)
    """Classes whose rules allow the route's place."""
    quota: TokensPerMinute = planner_input()
    """Tokens of the model's unit that the route serves a minute; they carry moved demand only."""


class Holdings(Strict):
    """What we hold in one region."""

    quotas: dict[str, Quota] = planner_input({})
    """Quota code of facts -> grant."""
    reservations: dict[str, Reservation] = planner_input({})
    hosted_routes: dict[Name, HostedRoute] = planner_input({})


class Discount(Strict):
    """A price below the list."""

    cloud: str
    basis: Capacity
    off: Ratio
    reference: str
    """Contract or order that grants it."""
    ends: date | None = None


class CapacityFile(Strict):
    """Holdings by region, and discounts."""

    regions: dict[Name, Holdings] = planner_input({})
    discounts: tuple[Discount, ...] = planner_input(())
