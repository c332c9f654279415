"""Proves that a fleet survives, by plain arithmetic over every loss, hour and pool; no solver, no planner.

For pool p in region r at hour h, with base demand D, goodput mu, occupancy rho (normal) and rho_f (failure) and
prefill surge sigma:

    nothing lost     n rho mu                 >=  D
    replica lost     (n - 1) rho mu           >=  D
    node lost        (n - n_m) rho mu         >=  D
    zone z lost      (n - n_z) rho_f mu       >=  D (1 + (sigma - 1) n_z / n)
    region l lost    n rho_f mu               >=  D + sigma (sum over classes of D_l share(class, l, r) - hosted)

n counts the replicas that serve at h, canary excluded (`PoolHeld`), n_z those of zone z, n_m the most on one node;
packed pools lose a node, others a replica. mu is net of the overhead of adapters. ``hosted`` is what hosted routes of
the region take of the moved demand of their classes, up to their quota. Time-sliced replicas count at most for the
demand that stays, never for what moves. Pools that scale to zero have no replica or zone to lose. A class that does not
survive a kind of loss is left out of its line. Demand of a lost region l that no share sends anywhere is case
(pool, l, l).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from outlast.intent import HOURS, Intent
from outlast.intent.models import COLD
from outlast.lock import Lock
from outlast.proof.held import Held, PoolHeld, held_of_lock

TOLERANCE = 1e-9
"""Relative slack in comparisons, for the rounding of floating-point sums only."""
NOTHING, REPLICA, NODE = "none", "replica", "node"
Table = Mapping[str, Mapping[str, Mapping[str, int]]]
"""Class -> origin or lost region -> region -> per cent."""


@dataclass(frozen=True)
class Routes:
    """Where demand goes: homes in normal times, shares after a loss."""

    homes: Table
    shares: Table


@dataclass(frozen=True, order=True)
class Case:
    """What is asked of one pool in one region."""

    pool: str
    region: str
    lost: str
    """``none``, ``replica``, ``node``, ``zone <zone>``, or a region; its own region where nothing takes its demand."""


@dataclass(frozen=True)
class Margin:
    """A case at the hour with the least slack, with its slack at every hour."""

    case: Case
    hour: int
    need_tok_s: float
    available_tok_s: float
    replicas: int
    """Replicas that count at that hour before the loss, canary excluded."""
    replicas_needed: int
    """Replicas that would have to count, before the loss as well."""
    unit: str
    """``tok/s``, or ``requests/s`` where the pool is planned in requests."""
    slack_by_hour: tuple[float, ...]
    """Available less need, 168 hours."""

    @property
    def slack_tok_s(self) -> float:
        """Available less need; negative when the case is not survived."""
        return self.available_tok_s - self.need_tok_s

    @property
    def holds(self) -> bool:
        """Whether the case is survived at every hour."""
        return self.slack_tok_s >= -self._rounding

    def is_lower_than(self, base: Margin | None) -> bool:
        """Whether any hour that is not survived has less slack than under ``base``."""
        if base is None:
            return True
        pairs = zip(self.slack_by_hour, base.slack_by_hour, strict=True)
        return any(after < -self._rounding and after < before - self._rounding for after, before in pairs)

    @property
    def _rounding(self) -> float:
        return TOLERANCE * max(1.0, self.need_tok_s)


@dataclass(frozen=True)
class Proof:
    """All cases of a fleet."""

    margins: Mapping[Case, Margin]

    @cached_property
    def failures(self) -> tuple[Margin, ...]:
        """Cases that are not survived, worst first."""
        return tuple(sorted((m for m in self.margins.values() if not m.holds), key=lambda m: (m.slack_tok_s, m.case)))

    def lowered_against(self, base: Proof) -> tuple[Margin, ...]:
        """Return failures with an hour that is worse than under ``base``; these are refused, the others reported."""
        return tuple(margin for margin in self.failures if margin.is_lower_than(base.margins.get(margin.case)))

    def binding(self) -> tuple[Margin, ...]:
        """Return, per pool and region, the case with the least slack in parts of its need."""
        tightest: dict[tuple[str, str], Margin] = {}
        for margin in self.margins.values():
            key = (margin.case.pool, margin.case.region)
            if key not in tightest or _tightness(margin) < _tightness(tightest[key]):
                tightest[key] = margin
        return tuple(tightest[key] for key in sorted(tightest))


def _tightness(margin: Margin) -> tuple[float, Case]:
    return (margin.slack_tok_s / max(margin.need_tok_s, 1.0), margin.case)


def prove(lock: Lock, intent: Intent, held: Held | None = None, routes: Routes | None = None) -> Proof:
    """Work out the margin of every case.

    Args:
        lock: the plan; its homes and shares say where demand goes.
        intent: demand, goodput and guardrails.
        held: replicas that serve; absent, what the lock holds once deployed.
        routes: homes and shares in force; absent, those of the lock.
    """
    in_force = routes or Routes(lock.homes, lock.shares)
    demand: dict[tuple[str, str], dict[str, tuple[float, ...]]] = {}
    for (pool, residency, home), hours in intent.demand_at(in_force.homes).items():
        demand.setdefault((pool, home), {})[residency] = hours
    fleet = _Fleet(intent, held if held is not None else held_of_lock(lock), in_force.shares, demand)
    margins = {
        margin.case: margin
        for pool in intent.models
        for region in intent.regions
        for margin in fleet.margins(pool, region)
    }
    return Proof(margins)


@dataclass(frozen=True)
class _Fleet:
    """One fleet under proof."""

    intent: Intent
    held: Held
    shares: Table
    demand: Mapping[tuple[str, str], Mapping[str, tuple[float, ...]]]
    """(pool, home region) -> class -> demand by hour."""

    def margins(self, pool: str, region: str) -> Iterator[Margin]:
        losses, tier = self.intent.guardrails.losses, self.intent.models[pool].tier
        rows = [row for row in self.held.get(region, {}).values() if row.pool == pool]
        yield from self._normal(pool, region, rows, NOTHING)
        if losses.replica and tier != COLD:
            yield from self._normal(pool, region, rows, NODE if tier == "packed" else REPLICA)
        if losses.zone and tier != COLD:
            yield from self._zones(pool, region, rows)
        if losses.region:
            yield from self._regions(pool, region, rows)
            yield from self._unassigned(pool, region)

    def _demand(self, pool: str, home: str, survive: str | None = None) -> dict[str, tuple[float, ...]]:
        """Return class -> demand at home in a region; only classes that survive the given kind of loss."""
        found = self.demand.get((pool, home), {})
        return {
            name: hours for name, hours in found.items() if survive is None or self.intent.must_survive(name, survive)
        }

    def _normal(self, pool: str, region: str, rows: list[PoolHeld], lost: str) -> Iterator[Margin]:
        base = _sum(self._demand(pool, region, None if lost == NOTHING else REPLICA))
        if not any(base):
            return
        rho = self.intent.guardrails.occupancy.normal
        have = self._capacity(rows, rho)
        gone = 0.0
        if lost != NOTHING:
            gone = rho * max(
                ((row.node_replicas if lost == NODE else 1) * self._goodput(row) for row in rows), default=0.0
            )
            have = [max(0.0, value - gone) for value in have]
        yield self._worst(Case(pool, region, lost), base, have, rows, rho, gone)

    def _zones(self, pool: str, region: str, rows: list[PoolHeld]) -> Iterator[Margin]:
        base = _sum(self._demand(pool, region, "zone"))
        if not any(base):
            return
        rho, sigma = self.intent.guardrails.occupancy.failure, self.intent.guardrails.prefill_surge.value
        planned = sum(max(row.serving) * self._goodput(row) for row in rows)
        held_in = {zone for row in rows for zone in row.zone_parts}
        for zone in sorted({*self.intent.regions[region].zones, *held_in}):
            there = sum(float(row.zone_parts.get(zone, 0)) * max(row.serving) * self._goodput(row) for row in rows)
            moved = there / planned if planned else 1.0
            need = [value * (1 + (sigma - 1) * moved) for value in base]
            have = self._capacity(rows, rho, without=zone, stays=[value * (1 - moved) for value in base])
            yield self._worst(Case(pool, region, f"zone {zone}"), need, have, rows, rho, zone=zone)

    def _unassigned(self, pool: str, lost: str) -> Iterator[Margin]:
        """Yield the part of a lost region's demand that the shares send to no other region of the fleet."""
        sigma = self.intent.guardrails.prefill_surge.value
        left: dict[str, tuple[float, ...]] = {}
        for residency, hours in self._demand(pool, lost, "region").items():
            shares = self.shares.get(residency, {}).get(lost, {})
            sent = sum(share for region, share in shares.items() if region in self.intent.regions and region != lost)
            left[residency] = tuple(sigma * value * max(0, 100 - sent) / 100 for value in hours)
        need = _sum(left)
        if any(need):
            rho = self.intent.guardrails.occupancy.failure
            yield self._worst(Case(pool, lost, lost), need, [0.0] * HOURS, [], rho)

    def _regions(self, pool: str, region: str, rows: list[PoolHeld]) -> Iterator[Margin]:
        rho, sigma = self.intent.guardrails.occupancy.failure, self.intent.guardrails.prefill_surge.value
        base = _sum(self._demand(pool, region, "region"))
        have = self._capacity(rows, rho, stays=base)
        hosted = self.intent.hosted(region, pool)
        for lost in self.intent.regions:
            moved = {
                residency: tuple(value * share / 100 for value in hours)
                for residency, hours in self._demand(pool, lost, "region").items()
                if (share := self.shares.get(residency, {}).get(lost, {}).get(region, 0))
            }
            arriving = _sum(moved)
            if lost == region or not any(arriving):
                continue
            routed = _sum({name: hours for name, hours in moved.items() if hosted and name in hosted.classes})
            taken = [min(value, hosted.tok_s) if hosted else 0.0 for value in routed]
            parts = zip(base, arriving, taken, strict=True)
            need = [own + sigma * (more - elsewhere) for own, more, elsewhere in parts]
            yield self._worst(Case(pool, region, lost), need, have, rows, rho)

    def _goodput(self, row: PoolHeld) -> float:
        model = self.intent.models[row.pool]
        how = model.accelerators.get(row.accelerator)
        # None: deployed once, on what the model no longer runs on.
        return float(how.goodput.value) * (1 - model.overhead) if how else 0.0

    def _capacity(
        self, rows: list[PoolHeld], rho: float, without: str | None = None, stays: list[float] | None = None
    ) -> list[float]:
        """Return what the rows carry at each hour; time-sliced ones at most the demand that ``stays``."""

        def carried(row: PoolHeld, hour: int) -> float:
            usable = row.usable_without(without, hour) if without else row.usable(hour)
            return usable * rho * self._goodput(row)

        whole = [row for row in rows if stays is None or not row.is_sliced]
        sliced = [row for row in rows if row not in whole]
        total = [sum(carried(row, hour) for row in whole) for hour in range(HOURS)]
        if stays is None or not sliced:
            return total
        return [total[hour] + min(stays[hour], sum(carried(row, hour) for row in sliced)) for hour in range(HOURS)]

    def _worst(
        self,
        case: Case,
        need: list[float],
        have: list[float],
        rows: list[PoolHeld],
        rho: float,
        gone_tok_s: float = 0.0,
        zone: str | None = None,
    ) -> Margin:
        """Return the hour with the least slack; the loss takes ``gone_tok_s``, or what ``zone`` holds at that hour."""
        slack = tuple(available - wanted for available, wanted in zip(have, need, strict=True))
        hour = min(range(HOURS), key=lambda h: (slack[h], h))
        model = self.intent.models[case.pool]
        possible = self.intent.accelerators_for(case.pool, case.region).values()
        best = max((float(how.goodput.value) * (1 - model.overhead) for how in possible), default=math.inf)
        mu = max((self._goodput(row) for row in rows), default=0.0) or best
        if zone:
            taken = ((row.usable(hour) - row.usable_without(zone, hour)) * self._goodput(row) for row in rows)
            gone_tok_s = rho * sum(taken)
        return Margin(
            case=case,
            hour=hour,
            need_tok_s=need[hour],
            available_tok_s=have[hour],
            replicas=sum(row.usable(hour) for row in rows),
            replicas_needed=math.ceil((need[hour] + gone_tok_s) * (1 - TOLERANCE) / (rho * mu)),
            unit="requests/s" if model.unit == "requests/s" else "tok/s",
            slack_by_hour=slack,
        )


def _sum(parts: Mapping[str, tuple[float, ...]]) -> list[float]:
    return [sum(values) for values in zip(*parts.values(), strict=True)] if parts else [0.0] * HOURS
