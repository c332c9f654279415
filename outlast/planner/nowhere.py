"""Plans that give up surviving some losses, by sending what is given up to a region that does not exist.

That region is the lost one once more, with room for anything. Nothing else goes there, so its needs are fixed and the
rest of the plan is the best one without them; what a class needs at home stays protected in every other loss. No
constraint of the planner knows of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from outlast.intent import Intent, region_stack, routing_stack
from outlast.lock import Applied, AppliedFile, Lock, counts_of, input_digests, lock_digest
from outlast.planner.bounds import unlimited
from outlast.planner.explain import explain
from outlast.planner.plan import Planned

Pair = tuple[str, str]
"""(class, lost region)."""
NOWHERE = "~"
"""Behind a lost region's name: the one that does not exist. No region of ours may be spelled so."""


@dataclass(frozen=True)
class Parted(Intent):
    """A fleet that sends some classes, when they lose a home, nowhere."""

    dropped: frozenset[Pair] = frozenset()

    def survivors(self, residency: str, lost: str) -> tuple[str, ...]:
        """Return where a class goes; only what is given up goes nowhere."""
        if (residency, lost) in self.dropped:
            return (lost + NOWHERE,)
        return tuple(region for region in super().survivors(residency, lost) if not is_nowhere(region))


def is_nowhere(region: str) -> bool:
    """Whether a region does not exist."""
    return region.endswith(NOWHERE)


def parted(held: Intent, dropped: frozenset[Pair]) -> Parted:
    """Return the fleet that gives up these pairs."""
    lost = [region for region in held.regions if region in {region for _, region in dropped}]
    regions = {name + NOWHERE: held.regions[name] for name in lost}
    holdings = {name + NOWHERE: unlimited(held, name) for name in lost}
    file, capacity = held.regions_file, held.capacity
    kept = {field.name: getattr(held, field.name) for field in fields(held)}
    kept["regions_file"] = file.model_copy(update={"regions": {**file.regions, **regions}})
    kept["capacity"] = capacity.model_copy(update={"regions": {**capacity.regions, **holdings}})
    return Parted(**kept, dropped=dropped)


def existing(fleet: Parted, intent: Intent, planned: Planned, in_force: Lock | None) -> Planned:
    """Return a plan of a parted fleet as one of the files: without what does not exist, at the price of the rest.

    Args:
        fleet: what was planned.
        intent: the fleet as the files say.
        planned: its plan.
        in_force: the lock it was planned from.
    """
    target = existing_lock(fleet, intent, planned.target, in_force)
    lock = existing_lock(fleet, intent, planned.lock, in_force)
    if in_force is not None and _says_the_same(lock, in_force):
        return Planned(in_force, changed=False, target=target)
    return Planned(lock, changed=True, target=target)


def deployed(raised: Lock, in_force: Lock, applied: AppliedFile) -> AppliedFile:
    """Return what is applied as a parted fleet would say it: what does not exist counts as deployed.

    Args:
        raised: the lock in force with the regions that do not exist.
        in_force: the same without them.
        applied: what stacks have deployed.
    """
    found = dict(applied)
    for region, block in raised.regions.items():
        if is_nowhere(region):
            stack = region_stack(raised.fleet, region)
            found[stack] = Applied(lock_digest=lock_digest(in_force), counts=counts_of(block))
    routing = found.get(routing_stack(raised.fleet))
    if routing and routing.counts.shares == in_force.shares:
        counts = routing.counts.model_copy(update={"shares": raised.shares})
        found[routing_stack(raised.fleet)] = routing.model_copy(update={"counts": counts})
    return found


def existing_lock(fleet: Parted, intent: Intent, lock: Lock, in_force: Lock | None) -> Lock:
    """Return one lock of a parted fleet as `existing` does."""
    lines = explain(fleet, Planned(lock, changed=True, target=lock)).pools
    nowhere_usd_h = sum(line.usd_h for line in lines if is_nowhere(line.region))
    usd_h, bound_usd_h = (max(0.0, x - nowhere_usd_h) for x in (lock.solver.usd_h, lock.solver.bound_usd_h))
    money = {"usd_h": round(usd_h, 2), "bound_usd_h": min(round(bound_usd_h, 2), round(usd_h, 2))}
    changes = {
        "inputs": input_digests(intent),
        "against": lock_digest(in_force) if in_force else None,
        "regions": {name: block for name, block in lock.regions.items() if not is_nowhere(name)},
        "shares": _somewhere(lock.shares),
        "solver": lock.solver.model_copy(update=money),
    }
    return lock.model_copy(update=changes)


def _somewhere(shares: Mapping[str, Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, dict[str, int]]]:
    """Return shares without the rows that lead nowhere."""
    kept = {
        residency: {lost: dict(row) for lost, row in rows.items() if not any(map(is_nowhere, row))}
        for residency, rows in shares.items()
    }
    return {residency: rows for residency, rows in kept.items() if rows}


def _says_the_same(lock: Lock, in_force: Lock) -> bool:
    """Whether two locks ask for the same, however they were found."""
    parts = ("fleet", "inputs", "regions", "homes", "shares")
    return all(getattr(lock, part) == getattr(in_force, part) for part in parts)
