"""``tenants.yaml``: residency classes, which classes a jurisdiction admits, and tenants."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from outlast.intent.base import Name, Strict, planner_input
from outlast.units import Seconds, TokensPerMinute

Jurisdiction = Annotated[str, StringConstraints(pattern=r"^([A-Z]{2,3}(-[A-Z]+)?|\*)$")]
"""Capitals as in facts, or ``*`` for any."""


class Gap(Strict):
    """A survival a class knowingly lacks for now."""

    loss: Literal["region", "zone", "replica"]
    owner: str
    reason: str
    expires: date


class ResidencyClass(Strict):
    """What a tenant's data permits."""

    serve_in: tuple[Jurisdiction, ...] = planner_input(min_length=1)
    fail_over_to: tuple[Jurisdiction, ...] = planner_input(min_length=1)
    legal_basis: str = Field(min_length=3)
    survive: tuple[Literal["region", "zone", "replica"], ...] = planner_input(("region", "zone", "replica"))
    """Losses the class survives; dropping one needs a ``gap``."""
    gap: Gap | None = None
    allowed_outage: Seconds
    """Longest time a tenant of the class may wait for a cold start."""
    sessions: Literal["rebuildable", "managed", "external"] = "rebuildable"
    prompt_logging: Literal["forbidden", "permitted"] = "forbidden"


class Limits(Strict):
    """Token limits of a tenant at the gateway."""

    tokens: TokensPerMinute


class Tenant(Strict):
    """Who the data belongs to."""

    residency: Name = planner_input()
    """Residency class."""
    from_: date | None = Field(None, alias="from")
    """Day the class applies from, for a legal change."""
    was: Name | None = None
    """Class before the change."""
    delete_by: date | None = None
    """Day by which data outside the new class must be gone."""
    host: str | None = None
    """Host name of the tenant's own; absent: the class host."""
    models: tuple[Name, ...] = planner_input(min_length=1)
    limits: Limits | None = None
    priority: Literal["interactive", "batch"] = "interactive"
    prompt_logging: bool = False
    """The tenant opts in; the class must permit it."""


class TenantsFile(Strict):
    """Residency classes, admissions and tenants."""

    classes: dict[Name, ResidencyClass] = planner_input(min_length=1)
    admits: dict[Jurisdiction, tuple[Name, ...]] = planner_input(min_length=1)
    """Jurisdiction -> classes that may enter it."""
    tenants: dict[Name, Tenant] = planner_input(min_length=1)
