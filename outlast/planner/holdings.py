"""Quotas and reservations of a fleet as amounts: what is held, what a plan needs, and the fleet with other amounts.

A cap over all regions of an account is one quota, named by the first region that states it; one that none states is
named by the first region of the account.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from outlast.errors import InfeasiblePlan, Problem
from outlast.intent import Intent
from outlast.intent.capacity import Holdings, Quota
from outlast.lock import Lock, cap_needs
from outlast.planner.trials import Trials
from outlast.planner.variables import HoldingKey

BOUNDLESS = 10_000_000
"""An amount no plan reaches, small enough for the solver's tolerances."""
_ROUNDS = 5
"""How often a plan may name another shortage after the last one is lifted."""
_NEEDED = re.compile(r"^([\d,]+) (?:vCPU|GPUs|nodes) or more$")


@dataclass(frozen=True)
class Holding:
    """A quota or a reservation."""

    region: str
    name: str
    kind: Literal["quotas", "reservations"]
    unit: str
    """``vCPU``, ``GPUs`` or ``nodes``."""
    held: float
    raise_with: str
    """How an operator asks for more; empty for a reservation."""
    shared_by: tuple[str, ...] = ()
    """Regions of the account, if one grant holds for all of them."""

    @property
    def key(self) -> HoldingKey:
        """Return what names it in a fleet."""
        return self.region, self.name

    @property
    def path(self) -> str:
        """Return its key in capacity.yaml."""
        return f"regions.{self.region}.{self.kind}.{self.name}"


@dataclass(frozen=True)
class Ask:
    """A holding that a plan exceeds."""

    holding: Holding
    needed: float

    def __str__(self) -> str:
        """Return the request in words."""
        held = self.holding
        verb = "raise" if held.kind == "quotas" else "enlarge"
        with_ = f" ({held.raise_with})" if held.raise_with else ""
        place = f"the account of {held.region}" if held.shared_by else held.region
        return f"{verb} {held.name} in {place} from {held.held:,.0f} to {self.needed:,.0f} {held.unit}{with_}"


def holdings_of(intent: Intent) -> dict[HoldingKey, Holding]:
    """Return every quota that some declared node pool counts against, granted or not, and every reservation."""
    found: dict[HoldingKey, Holding] = {}
    for region, row in intent.regions.items():
        held = intent.holdings(region)
        for pool in row.node_pools.values():
            for quota in intent.facts.quotas_for(row.cloud, pool.machine_type, pool.capacity):
                code = quota.quota_code
                granted = held.quotas[code].granted if code in held.quotas else 0.0
                unit, raise_with = quota.written_unit, quota.raise_with
                found[region, code] = Holding(region, code, "quotas", unit, granted, raise_with)
        for name, reservation in held.reservations.items():
            found[region, name] = Holding(region, name, "reservations", "nodes", reservation.nodes, "")
    return found | {cap.key: cap for cap in _caps(intent)}


def _caps(intent: Intent) -> Iterator[Holding]:
    """Yield every cap over all regions of an account that some declared node pool counts against, granted or not."""
    for region, row in intent.regions.items():
        for pool in row.node_pools.values():
            for cap in intent.facts.caps_for(row.cloud, pool.machine_type, pool.capacity):
                yield Holding(
                    region=intent.cap_holder(region, cap.quota_code),
                    name=cap.quota_code,
                    kind="quotas",
                    unit=cap.written_unit,
                    held=intent.cap_granted(region, cap.quota_code),
                    raise_with=cap.raise_with,
                    shared_by=intent.regions_of_account(region),
                )


def with_amounts(intent: Intent, amounts: Mapping[HoldingKey, float]) -> Intent:
    """Return the fleet as if it held other amounts of some quotas and reservations."""
    known, regions = holdings_of(intent), dict(intent.capacity.regions)
    for key, amount in amounts.items():
        region, name = key
        held = regions.get(region, Holdings())
        if known[key].kind == "reservations":
            enlarged = held.reservations[name].model_copy(update={"nodes": round(amount)})
            regions[region] = held.model_copy(update={"reservations": {**held.reservations, name: enlarged}})
        else:
            grant = Quota.model_validate({"granted": f"{amount:.0f} {known[key].unit}", "as_of": "2000-01-01"})
            stating = [other for other in known[key].shared_by if name in regions.get(other, Holdings()).quotas]
            for place in {region, *stating}:
                there = regions.get(place, Holdings())
                regions[place] = there.model_copy(update={"quotas": {**there.quotas, name: grant}})
    return replace(intent, capacity=intent.capacity.model_copy(update={"regions": regions}))


def boundless(intent: Intent, keys: Iterable[HoldingKey] | None = None) -> Intent:
    """Return the fleet as if some quotas and reservations, or all of them, never ended."""
    return with_amounts(intent, dict.fromkeys(holdings_of(intent) if keys is None else keys, float(BOUNDLESS)))


def needed(lock: Lock, intent: Intent) -> dict[HoldingKey, float]:
    """Return what a lock of the fleet needs of every quota and reservation."""
    found: dict[HoldingKey, float] = dict(cap_needs(lock.regions, intent))
    for region, block in lock.regions.items():
        for code, quota in block.quotas.items():
            found[region, code] = quota.peak
        for row in block.node_pools.values():
            if row.reservation is not None:
                key = region, row.reservation
                found[key] = found.get(key, 0.0) + row.nodes.max
    return found


def short_in(intent: Intent, problems: Iterable[Problem]) -> dict[HoldingKey, float]:
    """Return the holdings that problems of planning name, and how much of each would do."""
    known = {
        f"{intent.name}/capacity.yaml, {replace(holding, region=region).path}": holding
        for holding in holdings_of(intent).values()
        for region in (holding.shared_by or (holding.region,))
    }
    found: dict[HoldingKey, float] = {}
    for problem in problems:
        holding, match = known.get(problem.where), _NEEDED.match(problem.allowed)
        if holding and match and (amount := float(match[1].replace(",", ""))) > holding.held:
            found[holding.key] = amount
    return found


def smallest_asks(intent: Intent, trials: Trials) -> tuple[tuple[Ask, ...], Lock]:
    """Return the quotas and reservations to enlarge until there is a plan, by the fewest GPUs, and that plan.

    Raises:
        PlanError: no quota or reservation lifts what is in the way.
    """
    amounts: dict[HoldingKey, float] = {}
    for _ in range(_ROUNDS):
        trial = trials(with_amounts(intent, amounts))
        if trial.lock is not None:
            break
        short = short_in(intent, trial.problems)
        if not short or not isinstance(trial.error, InfeasiblePlan):
            break
        amounts |= short
    known = holdings_of(intent)
    return tuple(Ask(known[key], amounts[key]) for key in known if key in amounts), trial.must()
