"""The lock: the committed result of planning, as ``config/fleets/<fleet>/plan.lock.yaml`` holds it.

Not here, on purpose: demand, goodput, prices and artifact digests. Proof and spend read them from intent and facts, so
that a slip of the planner cannot hide in its own output.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from outlast.facts.models import Capacity
from outlast.intent.models import COLD, WHOLE, Tier
from outlast.intent.partitions import parts_of_card

Days = Literal["mon-fri", "sat-sun", "mon-sun"]
_DAYS: dict[str, range] = {"mon-fri": range(5), "sat-sun": range(5, 7), "mon-sun": range(7)}
Count = Annotated[int, Field(ge=0)]
Share = Annotated[int, Field(ge=0, le=100)]


class Part(BaseModel):
    """Frozen, refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Nodes(Part):
    """Nodes of a node pool. Spend shows all three; headroom counts ``min`` only."""

    min: Count
    expected: Annotated[float, Field(ge=0)]
    max: Count


class LockNodePool(Part):
    """One cloud node pool in one zone; its key is the logical name and the label."""

    id: str
    """Node pool in regions.yaml."""
    zone: str
    generation: Annotated[str, Field(pattern=r"^[a-z]$")]
    """Changes when a field changes that no cloud can change in place."""
    state: Literal["arriving", "serving", "leaving"]
    machine_type: str
    accelerator: str
    node_gpus: Annotated[float, Field(gt=0)]
    partition: str = WHOLE
    capacity: Capacity
    reservation: str | None = None
    block: bool = False
    """Whether the reservation is a block bought for a fixed time."""
    interconnect: bool = False
    """Whether its machines have network cards for each other."""
    scaling: Literal["fixed", "elastic"]
    nodes: Nodes
    stage: tuple[str, ...]
    """Artifacts on the node's NVMe cache."""
    stage_gib: Annotated[float, Field(ge=0)]
    disk_gib: Count

    @property
    def node_devices(self) -> int:
        """Devices of a node that Kubernetes counts: GPUs, or parts of them."""
        return int(self.node_gpus) * parts_of_card(self.partition)


class Window(Part):
    """Hours of the week, UTC; ``to_h`` is exclusive and may not wrap."""

    days: Days
    from_h: Annotated[int, Field(ge=0, le=23)]
    to_h: Annotated[int, Field(ge=1, le=24)]
    replicas: Count

    def holds(self, hour: int) -> bool:
        """Whether hour of week ``hour`` (0 = Monday 00:00 UTC) lies inside."""
        return hour // 24 in _DAYS[self.days] and self.from_h <= hour % 24 < self.to_h


class Replicas(Part):
    """Replicas of a pool. ``planned`` includes canary and warm previous; the autoscaler keeps floor to max."""

    floor: Count
    planned: Count
    max: Count
    canary: Count = 0


def floor_at(replicas: Replicas, floors: Iterable[Window], hour: int) -> int:
    """Return the floor in force at an hour of the week."""
    return max([replicas.floor, *(window.replicas for window in floors if window.holds(hour))])


class Slices(Part):
    """Parts of a divided card that a replica takes."""

    profile: str
    """MIG profile, or ``slice``."""
    n: Annotated[int, Field(ge=1)] = 1


class Binding(Part):
    """The case that sets the count."""

    lost: str
    """``none``, ``replica``, ``node``, ``zone``, or the region lost."""
    hour: Annotated[int, Field(ge=0, le=167)]
    need_tok_s: Annotated[float, Field(ge=0)]


class LockPool(Part):
    """A model's replicas on one accelerator in a region: one Deployment."""

    pool: str
    model: str
    """Artifact that the replicas load."""
    tier: Tier
    accelerator: str
    replica_gpus: Annotated[int, Field(ge=1)]
    """GPUs that a replica takes, or lies on where it takes a part of one."""
    replica_slices: Slices | None = None
    """What it takes of a divided card."""
    places: dict[str, Count]
    """Node pool key -> replicas there; sums to ``planned``."""
    replicas: Replicas
    floors: tuple[Window, ...] = ()
    """Hours in which the floor is higher."""
    binding: Binding
    rollout: tuple[Window, ...] = ()
    """Hours in which so many replicas are spare for a rollout."""

    @property
    def replica_devices(self) -> int:
        """Devices that Kubernetes counts for a replica."""
        return self.replica_slices.n if self.replica_slices else self.replica_gpus

    def gpus_on(self, row: LockNodePool) -> float:
        """Return the GPUs that a replica takes of a node, a part of one where the card is divided."""
        return self.replica_devices * row.node_gpus / row.node_devices

    @property
    def born(self) -> int:
        """Replicas that the Deployment is declared with; from then on the autoscaler keeps floor to max."""
        return 0 if self.tier == COLD else self.replicas.planned


class LockQuota(Part):
    """What a region needs of a quota."""

    unit: Literal["vcpu", "gpus"]
    granted: Annotated[float, Field(ge=0)]
    min: Annotated[float, Field(ge=0)]
    peak: Annotated[float, Field(ge=0)]
    """Maximum of all nodes, overlapping generations included."""


class LockRegion(Part):
    """All that one region stack declares; a stack reads only its own block."""

    node_pools: dict[str, LockNodePool]
    pools: dict[str, LockPool]
    quotas: dict[str, LockQuota] = {}
    stranded_gpus: Annotated[float, Field(ge=0)] = 0
    """GPUs of whole nodes that no replica uses."""


class Solver(Part):
    """How the plan was found and how good it is."""

    name: str
    version: str
    router: Literal["static", "even"]
    usd_h: Annotated[float, Field(ge=0)]
    """Nodes per hour at list price less discounts."""
    bound_usd_h: Annotated[float, Field(ge=0)]
    """No plan under these rules costs less."""
    gap_pct: Annotated[float, Field(ge=0)]
    stopped: Literal["optimal", "limit", "time", "running"] = "optimal"
    """Why no better plan was sought: ``running``, because a better one does not fit beside what runs."""


class PremiumSize(Part):
    """What a rule costs."""

    gpus: float
    usd_h: float


class Premium(Part):
    """Price of one rule: as the only one, and on top of all others."""

    rule: str
    first_in: PremiumSize
    last_in: PremiumSize


class Lock(Part):
    """The whole plan of a fleet."""

    lock: Literal["outlast/1"]
    fleet: str
    inputs: dict[str, str]
    """File stem (or ``facts``, ``prices``) -> digest of the planner inputs in it."""
    against: str | None = None
    """Digest of the lock this one was planned from."""
    step: Literal["raise", "settle"]
    solver: Solver
    regions: dict[str, LockRegion]
    homes: dict[str, dict[str, dict[str, Share]]]
    """Class -> origin -> region -> per cent; copied from intent."""
    shares: dict[str, dict[str, dict[str, Share]]]
    """Class -> lost region -> survivor -> per cent."""
    premiums: tuple[Premium, ...] = ()
