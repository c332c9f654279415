"""``fleet.yaml``: the environment as a whole."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import StringConstraints

from outlast.intent.base import Name, Strict, planner_input

Version = Annotated[str, StringConstraints(pattern=r"^v?\d+(\.\d+)+([-.][A-Za-z0-9.]+)?$")]


class Dns(Strict):
    """Where the fleet's host names live."""

    cloud: str
    """Cloud whose DNS service answers."""
    zone: Annotated[str, StringConstraints(pattern=r"^([a-z0-9-]+\.)+[a-z]{2,}$")]
    """DNS zone, for example ``api.example.com``."""
    region: Name
    """Our region whose account and provider region hold the zone."""
    existing_zone_id: str | None = None
    """Id of a zone that exists already; absent: the global stack creates it."""


class FleetFile(Strict):
    """The fleet: clouds, DNS, objective, router, versions."""

    clouds: Literal["simulated", "real"]
    """``simulated`` can only meet the stand-in clouds, ``real`` only the real ones."""
    dns: Dns
    objective: Literal["money", "replicas"] = planner_input("money")
    """What the plan minimises: money of nodes, or replicas."""
    router: Literal["static", "even"] = planner_input("static")
    """How a lost region's demand is shared: best fixed shares, or evenly."""
    kubernetes: Version
    """Kubernetes version of every cluster."""
    add_ons: dict[str, Version] = {}
    """Add-on -> version, instead of the one that facts pin for the Kubernetes version."""
    token_issuer: str | None = None
    """URL of the issuer whose tokens the gateway accepts."""
    today: date | None = None
    """Fixed date of a demonstration fleet; absent: the real date."""
