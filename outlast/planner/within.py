"""The deployable plan beside the target plan: what fits the holdings, and what it then does not survive.

The target plan ignores quotas and the size of reservations. The deployable plan keeps them, every legal rule, normal
demand and the losses of zones and replicas; where that leaves no plan, it gives up surviving the loss of a region for
the fewest (class, lost region) pairs. Nothing is given up silently: each pair is named with what would lift it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Literal, get_args

from outlast.errors import ConfigError, InfeasiblePlan, Problem
from outlast.intent import Intent
from outlast.intent.capacity import Holdings, Quota
from outlast.intent.known import unknown
from outlast.lock import Lock, input_digests
from outlast.planner.explain import explain
from outlast.planner.plan import UNLIMITED, Planned, plan
from outlast.planner.solve import Limits

Bounds = Literal["granted", "requested", "unlimited"]
Pair = tuple[str, str]
"""(class, lost region)."""
_ANY_AMOUNT = 1e9
"""Of a quota, in its unit; more than any fleet needs."""
_ANY_NODES = 1_000_000
"""Of a reservation; more than any fleet needs."""
_NOWHERE = "~"
"""Behind a lost region's name: the region that does not exist and takes what is given up. No region of ours may have
such a name."""


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
    """About what all pools need elsewhere in their worst hours."""
    lift: tuple[Problem, ...] = ()
    """What stops this pair alone, each with what would lift it."""


@dataclass(frozen=True)
class Deployable:
    """What can be deployed, beside what should be."""

    target: Lock
    """Settled plan if every quota and reservation were as large as needed."""
    planned: Planned
    """The plan within the holdings."""
    lacks: tuple[Lack, ...]
    """What it does not survive, in the order of files; empty if it is a whole plan."""


def bounds_of(word: str) -> Bounds:
    """Return the bounds that a person named.

    Raises:
        ConfigError: there are no such bounds.
    """
    for known in get_args(Bounds):
        if word == known:
            return word  # type: ignore[return-value]  # one of the literals, as just seen
    raise ConfigError(unknown("--within", "bounds", word, get_args(Bounds)))


def within(intent: Intent, bounds: Bounds) -> Intent:
    """Return the intent with its holdings taken as granted, as granted or requested, or as large as anybody needs."""
    if bounds == "granted":
        return intent
    widen = _requested if bounds == "requested" else _unlimited
    regions = {region: widen(intent, region, intent.holdings(region)) for region in intent.regions}
    return replace(intent, capacity=intent.capacity.model_copy(update={"regions": regions}))


def deployable(
    intent: Intent, in_force: Lock | None, bounds: Bounds = "granted", limits: Limits = UNLIMITED
) -> Deployable:
    """Return the best plan within the holdings, what it gives up, and the target plan.

    Raises:
        PlanError: something is not planned yet or has no price.
        InfeasiblePlan: normal demand and the losses of zones and replicas alone do not fit.
    """
    target = plan(within(intent, "unlimited"), None, limits).target
    held = within(intent, bounds)
    try:
        return Deployable(target, plan(held, in_force, limits), ())
    except InfeasiblePlan as error:
        whole = error
    search = _Search(intent, held, in_force, limits)
    lacks = sorted(_lacks(intent), key=lambda lack: (lack.gpus, lack.residency, lack.lost))
    pairs = tuple((lack.residency, lack.lost) for lack in lacks)
    least = search.attempt(frozenset(pairs)) if pairs else whole
    if isinstance(least, InfeasiblePlan):
        raise InfeasiblePlan([search.why_none(frozenset(pairs)), *least.problems]) from least
    dropped, planned = search.fewest(pairs, least)
    order = pairs_of(intent)
    named = sorted(
        (lack for lack in lacks if (lack.residency, lack.lost) in dropped),
        key=lambda lack: order.index((lack.residency, lack.lost)),
    )
    return Deployable(target, planned, tuple(search.with_lift(lack, dropped) for lack in named))


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
        parted = _parted(self.held, dropped)
        try:
            planned = plan(parted, self.in_force, self.limits)
        except InfeasiblePlan as error:
            return error
        target = self._existing(parted, Planned(planned.target, changed=True, target=planned.target))
        lock = self._existing(parted, planned)
        if self.in_force is not None and _says_the_same(lock, self.in_force):
            return Planned(self.in_force, changed=False, target=target)
        return Planned(lock, changed=True, target=target)

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
        found = self.attempt(dropped - {(lack.residency, lack.lost)})
        return replace(lack, lift=found.problems if isinstance(found, InfeasiblePlan) else ())

    def why_none(self, dropped: frozenset[Pair]) -> Problem:
        """Return the problem of a fleet that has no plan even without these pairs."""
        what = "no plan fits, even one that survives the loss of no region: normal demand, zones and replicas need more"
        if self.in_force and isinstance(replace(self, in_force=None).attempt(dropped), Planned):
            what = "what runs now and what would arrive do not fit side by side, whatever is given up"
        return Problem(where=f"{self.intent.name}/capacity.yaml", what=what, do="Ask for more, or lower the demand")

    def _existing(self, parted: Intent, planned: Planned) -> Lock:
        """Return a lock without the regions that do not exist, as a plan of the files."""
        lock = planned.lock
        nowhere_usd_h = sum(line.usd_h for line in explain(parted, planned).pools if line.region.endswith(_NOWHERE))
        solver = lock.solver
        usd_h, bound_usd_h = (max(0.0, round(value - nowhere_usd_h, 2)) for value in (solver.usd_h, solver.bound_usd_h))
        shares = {
            residency: {lost: row for lost, row in rows.items() if not any(name.endswith(_NOWHERE) for name in row)}
            for residency, rows in lock.shares.items()
        }
        changes = {
            "inputs": input_digests(self.intent),
            "regions": {name: block for name, block in lock.regions.items() if not name.endswith(_NOWHERE)},
            "shares": {residency: rows for residency, rows in shares.items() if rows},
            "solver": solver.model_copy(update={"usd_h": usd_h, "bound_usd_h": min(bound_usd_h, usd_h)}),
        }
        return lock.model_copy(update=changes)


@dataclass(frozen=True)
class _Parted(Intent):
    """A fleet that sends some classes, when they lose a home, to a region that does not exist."""

    dropped: frozenset[Pair] = frozenset()

    def survivors(self, residency: str, lost: str) -> tuple[str, ...]:
        """Return where a class goes; nothing else ever goes to a region that does not exist."""
        if (residency, lost) in self.dropped:
            return (lost + _NOWHERE,)
        return tuple(name for name in super().survivors(residency, lost) if not name.endswith(_NOWHERE))


def _parted(held: Intent, dropped: frozenset[Pair]) -> Intent:
    """Return a fleet in which a region that does not exist takes what is given up.

    It is the lost region once more, with room for anything. Its needs are fixed, because nothing else goes there, so
    the rest of the plan is the best one without these pairs; what a class needs at home stays protected in every case.
    """
    lost = dict.fromkeys(region for _, region in sorted(dropped))
    regions = {name + _NOWHERE: held.regions[name] for name in lost}
    holdings = {name + _NOWHERE: _unlimited(held, name, held.holdings(name)) for name in lost}
    file, capacity = held.regions_file, held.capacity
    changed = {
        "regions_file": file.model_copy(update={"regions": {**file.regions, **regions}}),
        "capacity": capacity.model_copy(update={"regions": {**capacity.regions, **holdings}}),
    }
    return _Parted(**{field.name: getattr(held, field.name) for field in fields(held)} | changed, dropped=dropped)


def _lacks(intent: Intent) -> Iterable[Lack]:
    """Yield every pair with its need; GPUs as if the lost region's accelerators served it elsewhere."""
    occupancy, surge = intent.guardrails.occupancy.failure, intent.guardrails.prefill_surge.value
    for residency, lost in pairs_of(intent):
        worst: list[tuple[float, int, float, str]] = []
        for pool in intent.models:
            hours = intent.home_demand.get((pool, residency, lost), ())
            found = intent.accelerator_for(pool, lost)
            if any(hours) and found:
                need = surge * max(hours)
                gpus = need / (found[1].goodput.value * occupancy) * (found[1].gpus_per_replica or 1)
                worst.append((gpus, hours.index(max(hours)), need, pool))
        if worst:
            _, hour, need, pool = max(worst)
            yield Lack(residency, lost, pool, hour, need, sum(gpus for gpus, *_ in worst))


def _requested(_intent: Intent, _region: str, holdings: Holdings) -> Holdings:
    quotas = {
        code: quota.model_copy(update={"granted": max(quota.granted, quota.requested or 0.0)})
        for code, quota in holdings.quotas.items()
    }
    return holdings.model_copy(update={"quotas": quotas})


def _unlimited(intent: Intent, region: str, holdings: Holdings) -> Holdings:
    codes = [quota.quota_code for quota in intent.facts.quotas if quota.cloud == intent.regions[region].cloud]
    quota = Quota.model_construct(granted=_ANY_AMOUNT, as_of=date.max)
    reservations = {name: row.model_copy(update={"nodes": _ANY_NODES}) for name, row in holdings.reservations.items()}
    return holdings.model_copy(update={"quotas": dict.fromkeys(codes, quota), "reservations": reservations})


def _says_the_same(lock: Lock, in_force: Lock) -> bool:
    """Whether two locks ask for the same, however they were found."""
    parts = ("fleet", "inputs", "regions", "homes", "shares")
    return all(getattr(lock, part) == getattr(in_force, part) for part in parts)
