"""``artifacts.yaml``, ``operations.yaml``, ``waivers.yaml``, ``variants.yaml``: no planner inputs."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, Field

from outlast.intent.base import Digest, Name, Strict
from outlast.units import Gib, Ratio, Seconds


class Artifact(Strict):
    """Released bytes, addressed by content."""

    digest: Digest
    size: Gib
    residency: Annotated[str, Field(pattern=r"^(public-base|jurisdiction:[A-Z]{2,3}(-[A-Z]+)?|tenant:[a-z0-9-]+)$")]
    """Where copies may go: anywhere, one jurisdiction, or where one tenant's class allows."""
    signer: str
    """Identity whose signature is required."""
    state: Literal["stable", "canary", "previous"] = "stable"


class ArtifactsFile(Strict):
    """Released models, adapters and engine images."""

    models: dict[Name, Artifact] = Field(min_length=1)
    adapters: dict[Name, Artifact] = {}
    images: dict[Name, Artifact] = Field(min_length=1)
    """``engine`` for NVIDIA cards, ``engine-amd`` for AMD cards, ``disks`` where a cloud leaves local disks raw."""


class Drill(Strict):
    """A real share of a region's traffic moved on purpose."""

    region: Name
    residency: Name
    share: Ratio
    expires: AwareDatetime


class Incident(Strict):
    """A region declared lost."""

    lost: Name
    since: AwareDatetime
    by: str
    ticket: str
    expires: AwareDatetime


class Rollout(Strict):
    """How a new revision goes through the fleet."""

    waves: tuple[tuple[Name, ...], ...] = ()
    canary: Ratio = 0.05
    bake: Seconds = 24 * 3600.0


class OperationsFile(Strict):
    """What is going on right now."""

    regions: dict[Name, Literal["serving", "drained"]] = {}
    """Regions that routing sends traffic to; absent: not yet."""
    drills: tuple[Drill, ...] = ()
    rollout: Rollout = Rollout()
    incident: Incident | None = None


class Waiver(Strict):
    """A dated exception: one rule, one resource."""

    rule: str
    urn: str
    reason: str
    owner: str
    approver: str
    created: date
    expires: date


class WaiversFile(Strict):
    """Exceptions in force."""

    waivers: dict[Name, Waiver] = {}


class VariantsFile(Strict):
    """Named patches of intent: file stem -> keys to replace."""

    variants: dict[Name, dict[str, Any]] = {}
