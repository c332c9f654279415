"""Plans a fleet with something changed, to compare: each intent once, whatever asks for it.

Trials plan from nothing, so that a difference is that of two optima and not of what happens to run; only where what
runs does not fit beside what is wanted they plan from the lock in force. Their locks are never written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from outlast.errors import PlanError, Problem
from outlast.intent import Intent
from outlast.lock import Lock, input_digests
from outlast.planner.plan import plan


@dataclass(frozen=True)
class Size:
    """What a plan holds, or the difference of two."""

    replicas: int
    nodes: int
    gpus: float
    usd_h: float

    def __sub__(self, other: Size) -> Size:
        """Return the difference."""
        return Size(
            self.replicas - other.replicas,
            self.nodes - other.nodes,
            self.gpus - other.gpus,
            round(self.usd_h - other.usd_h, 2),
        )


@dataclass(frozen=True)
class Trial:
    """A plan, or why there is none."""

    lock: Lock | None
    """The optimum, settled."""
    error: PlanError | None = None

    @property
    def size(self) -> Size | None:
        """What the plan holds."""
        return size_of(self.lock) if self.lock else None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is in the way of a plan."""
        return self.error.problems if self.error else ()

    def must(self) -> Lock:
        """Return the plan.

        Raises:
            PlanError: there is none.
        """
        if self.lock is None:
            raise self.error or AssertionError(self)
        return self.lock


class Trials:
    """Plans intents and remembers the answers by the digests of their planner inputs."""

    def __init__(self, in_force: Lock | None = None, began: Callable[[int], None] = lambda _: None) -> None:
        """Plan from ``in_force``; before each new plan call ``began`` with how many there were."""
        self._in_force, self._began = in_force, began
        self._known: dict[tuple[tuple[str, str], ...], Trial] = {}

    def __call__(self, intent: Intent) -> Trial:
        """Return the plan of an intent, or why there is none."""
        key = tuple(sorted(input_digests(intent).items()))
        if key not in self._known:
            self._began(len(self._known))
            try:
                self._known[key] = Trial(plan(intent, self._in_force).target)
            except PlanError as error:
                self._known[key] = Trial(None, error)
        return self._known[key]

    def planning_from(self, in_force: Lock | None) -> Trials:
        """Return trials that plan from another lock and are reported alike."""
        return Trials(in_force, self._began)

    @property
    def planned(self) -> int:
        """How many plans were made."""
        return len(self._known)


def unproven_usd_h(*locks: Lock | None) -> float:
    """Return how far a difference of locks may be off, because searches ended before their gaps were closed."""
    return round(sum(lock.solver.usd_h * lock.solver.gap_pct / 100 for lock in locks if lock), 2)


def size_of(lock: Lock) -> Size:
    """Return what a lock holds; nodes at their maximum."""
    rows = [row for block in lock.regions.values() for row in block.node_pools.values()]
    pools = [pool for block in lock.regions.values() for pool in block.pools.values()]
    return Size(
        replicas=sum(pool.replicas.planned for pool in pools),
        nodes=sum(row.nodes.max for row in rows),
        gpus=sum(row.nodes.max * row.node_gpus for row in rows),
        usd_h=lock.solver.usd_h,
    )
