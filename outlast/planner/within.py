"""The deployable plan beside the target plan: what fits the holdings, and what it then does not survive.

The target plan ignores quotas and the size of reservations. The deployable plan keeps them, every legal rule, normal
demand and the losses of zones and replicas; where that leaves no plan, it gives up surviving the loss of a region for
few (class, lost region) pairs. Nothing is given up silently: each pair is named with what would lift it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from outlast.errors import InfeasiblePlan, PlanError, Problem
from outlast.intent import Intent
from outlast.lock import LOCK_FILE, AppliedFile, Lock
from outlast.planner.bounds import Bounds, within
from outlast.planner.plan import UNLIMITED, Planned, plan, settle
from outlast.planner.solve import Limits

Pair = tuple[str, str]
"""(class, lost region)."""


@dataclass(frozen=True)
class Lack:
    """A class whose loss of a region the plan does not survive."""

    residency: str
    lost: str
    pool: str
    """The pool that needs the most GPUs elsewhere."""
    hour: int
    """Hour of the week in which it needs most."""
    need_tok_s: float
    """What that pool needs elsewhere in that hour, caches cold."""
    gpus: float
    """About what all pools need elsewhere in their worst hours, a part of a card counted as a whole one."""
    lift: tuple[Problem, ...] = ()
    """What stops this pair alone, each with what would lift it."""

    @property
    def pair(self) -> Pair:
        """What is given up."""
        return (self.residency, self.lost)


@dataclass(frozen=True)
class Deployable:
    """What can be deployed, beside what should be."""

    target: Lock
    """Settled plan if every quota and reservation were as large as needed."""
    planned: Planned
    """The plan within the holdings."""
    lacks: tuple[Lack, ...]
    """What it does not survive, in the order of files; empty if it is a whole plan."""


def deployable(
    intent: Intent, in_force: Lock | None, bounds: Bounds = "granted", limits: Limits = UNLIMITED
) -> Deployable:
    """Return the best plan within the holdings, what it gives up, and the target plan.

    Raises:
        PlanError: something is not planned yet or has no price.
        InfeasiblePlan: normal demand and the losses of zones and replicas alone do not fit.
    """
    target = plan(within(intent, "unlimited"), None, limits).target
    search = _Search(intent, within(intent, bounds), in_force, limits)
    whole = search.attempt(frozenset())
    if isinstance(whole, Planned):
        return Deployable(target, whole, ())
    lacks = tuple(_lacks(intent))
    pairs = tuple(lack.pair for lack in sorted(lacks, key=lambda lack: (lack.gpus, lack.pair)))
    least = search.attempt(frozenset(pairs)) if pairs else whole
    if isinstance(least, InfeasiblePlan):
        raise InfeasiblePlan([search.why_none(frozenset(pairs)), *least.problems]) from least
    dropped, planned = search.fewest(pairs, least)
    return Deployable(target, planned, tuple(search.with_lift(lack, dropped) for lack in lacks if lack.pair in dropped))


def settle_within(
    intent: Intent, in_force: Lock, applied: AppliedFile | None, limits: Limits = UNLIMITED
) -> Deployable:
    """Return the lock that follows a raise within what is granted, giving up what the raise gave up.

    Raises:
        StaleLock: inputs changed since the raise.
        PlanError: the lock in force is not that raise, or lowers counts that are not known to be deployed.
        InfeasiblePlan: as `deployable`.
    """
    found = deployable(intent, in_force, "granted", limits)
    if not found.lacks:
        return replace(found, planned=settle(intent, in_force, applied, limits))
    if found.planned.changed:
        what = "the lock is no raise to the plan within what is granted"
        do = f"Run 'outlast plan {intent.name} --within granted' and deploy it first"
        raise PlanError(Problem(where=f"{intent.name}/{LOCK_FILE}", what=what, do=do))
    fleet = replace(intent, given_up=frozenset(lack.pair for lack in found.lacks))
    return replace(found, planned=settle(fleet, in_force, applied, limits))


def pairs_of(intent: Intent) -> tuple[Pair, ...]:
    """Return every class and home whose loss it must survive, in file order."""
    if not intent.guardrails.losses.region:
        return ()
    return tuple(
        (residency, region)
        for residency, detail in intent.tenants_file.classes.items()
        if "region" in detail.survive
        for region in intent.regions
        if any(shares.get(region) for shares in intent.homes[residency].values())
    )


@dataclass(frozen=True)
class _Search:
    """Plans of one fleet that give up some pairs."""

    intent: Intent
    """As the files say; its digests stand in the lock."""
    held: Intent
    in_force: Lock | None
    limits: Limits

    def attempt(self, dropped: frozenset[Pair]) -> Planned | InfeasiblePlan:
        """Return the plan that gives up these pairs, or why there is none."""
        try:
            return plan(replace(self.held, given_up=dropped), self.in_force, self.limits)
        except InfeasiblePlan as error:
            return error

    def fewest(self, pairs: tuple[Pair, ...], least: Planned) -> tuple[frozenset[Pair], Planned]:
        """Return the pairs to give up and their plan: the smallest one that suffices alone, else few.

        Args:
            pairs: all pairs, smallest need first; small ones are kept first, because that keeps the most.
            least: the plan that gives up all of them.
        """
        for pair in pairs:
            alone = self.attempt(frozenset({pair}))
            if isinstance(alone, Planned):
                return frozenset({pair}), alone
        dropped, best = frozenset(pairs), least
        for pair in pairs:
            kept = self.attempt(dropped - {pair})
            if isinstance(kept, Planned):
                dropped, best = dropped - {pair}, kept
        return dropped, best

    def with_lift(self, lack: Lack, dropped: frozenset[Pair]) -> Lack:
        """Return a lack with what stops the plan that gives up all the others but not this one."""
        found = self.attempt(dropped - {lack.pair})
        return replace(lack, lift=found.problems if isinstance(found, InfeasiblePlan) else ())

    def why_none(self, dropped: frozenset[Pair]) -> Problem:
        """Return the problem of a fleet that has no plan even without these pairs."""
        what = "no plan fits, even one that survives the loss of no region: normal demand, zones and replicas need more"
        if self.in_force and isinstance(replace(self, in_force=None).attempt(dropped), Planned):
            what = "what runs now and what would arrive do not fit side by side, whatever is given up"
        return Problem(where=f"{self.intent.name}/capacity.yaml", what=what, do="Ask for more, or lower the demand")


def _lacks(intent: Intent) -> Iterator[Lack]:
    """Yield every pair with its need; GPUs as if the lost region's accelerators served it elsewhere."""
    occupancy, surge = intent.guardrails.occupancy.failure, intent.guardrails.prefill_surge.value
    for residency, lost in pairs_of(intent):
        worst: list[tuple[float, int, float, str]] = []
        for pool in intent.models:
            hours = intent.home_demand.get((pool, residency, lost), ())
            how = next(iter(intent.accelerators_for(pool, lost).values()), None)
            if any(hours) and how:
                need = surge * max(hours)
                gpus = need / (how.goodput.value * occupancy) * how.gpus_per_replica
                worst.append((gpus, hours.index(max(hours)), need, pool))
        if worst:
            _, hour, need, pool = max(worst)
            yield Lack(residency, lost, pool, hour, need, sum(gpus for gpus, *_ in worst))
