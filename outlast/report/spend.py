"""The spend of a change as a reviewer reads it: one answer in the first line, then why, where, and what is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from outlast.intent import Intent
from outlast.lock import Lock, quota_needs
from outlast.rules import Violation
from outlast.spend import Change, LineChange, per_month


@dataclass(frozen=True)
class QuotaUse:
    """A quota after the change."""

    region: str
    code: str
    unit: str
    granted: float
    peak: float

    @property
    def is_enough(self) -> bool:
        """Whether the grant covers the peak."""
        return self.peak <= self.granted


@dataclass(frozen=True)
class SpendReport:
    """Everything the spend comment says."""

    fleet: str
    step: str
    """``raise``, ``settle``, or empty for a change that is no lock step."""
    change: Change
    violations: tuple[Violation, ...]
    intent: Intent
    lock: Lock
    stale: tuple[str, ...] = ()
    """Inputs that changed since the lock was made; its counts answer another question."""
    failed_previews: tuple[str, ...] = ()
    """Stacks whose previews did not pass; what they would deploy is not known in full."""
    missing_previews: tuple[str, ...] = ()
    """Stacks without a preview; nothing of theirs is in a sum."""
    is_total: bool = False
    """Whether there is no base: the whole fleet is shown, and nothing is a change."""

    @property
    def residency_violations(self) -> int:
        """Broken legal rules."""
        return sum(1 for violation in self.violations if violation.refused and violation.rule.startswith("R-"))

    @property
    def survival_violations(self) -> int:
        """Broken headroom rules."""
        return sum(1 for violation in self.violations if violation.refused and violation.rule.startswith("H-"))

    @property
    def crashes(self) -> int:
        """Rules that could not run; nothing is known of what they judge."""
        return sum(1 for violation in self.violations if violation.rule.startswith("X-"))

    @property
    def not_yet_proven(self) -> int:
        """Cases that are not survived and that the change does not make worse."""
        return sum(1 for violation in self.violations if not violation.refused)

    @cached_property
    def quotas(self) -> tuple[QuotaUse, ...]:
        """All quotas that the lock's node pools count against."""
        units = {quota.quota_code: quota.written_unit for quota in self.intent.facts.quotas}
        return tuple(
            QuotaUse(region, code, units[code], _granted(self.intent, region, code), need)
            for region, block in self.lock.regions.items()
            if region in self.intent.regions
            for code, need in quota_needs(block.node_pools.values(), self.intent, region).items()
        )

    @property
    def short_quotas(self) -> tuple[QuotaUse, ...]:
        """Quotas that do not cover the lock."""
        return tuple(quota for quota in self.quotas if not quota.is_enough)

    @property
    def over_budget(self) -> tuple[str, ...]:
        """Budgets that the change crosses, in words."""
        budgets = self.intent.guardrails.budgets
        after, before = (per_month(side.max or 0.0) for side in (self.change.after_usd_h, self.change.before_usd_h))
        found = []
        if budgets.total is not None and after > budgets.total:
            is_new = before <= budgets.total and not self.is_total
            found.append(f"{'crosses' if is_new else 'is over'} the budget of {usd(budgets.total)}/month")
        if budgets.increase is not None and before and after > before * (1 + budgets.increase):
            found.append(f"rises by {after / before - 1:.0%}, more than {budgets.increase:.0%}")
        if budgets.gpus is not None and self.change.gpus_after > budgets.gpus:
            found.append(f"needs {self.change.gpus_after:,.0f} GPUs, more than {budgets.gpus:,.0f}")
        return tuple(found)

    def headline(self) -> str:
        """Return the answer: nodes, GPUs, money, new total, and how many node pools are not in them."""
        change = self.change
        total = f"{usd(per_month(change.after_usd_h.expected or 0.0))}/month"
        unknown = f" + {len(change.unknown)} node pools unknown" if change.unknown else ""
        if self.is_total:
            hourly = usd(change.after_usd_h.expected or 0.0, cents=True)
            return f"{change.nodes_after:,.0f} nodes, {change.gpus_after:,.0f} GPUs, {total} ({hourly}/h){unknown}"
        if not change.changed:
            return f"no change, {total}{unknown}"
        delta = change.delta_usd_h.expected or 0.0
        money = f"{usd(per_month(delta), sign=True)}/month ({usd(delta, sign=True, cents=True)}/h)"
        return f"{change.delta_nodes:+,.0f} nodes, {change.delta_gpus:+,.0f} GPUs, {money} → {total}{unknown}"

    def verdicts(self) -> tuple[tuple[str, bool, str], ...]:
        """Return (subject, good, detail) in reading order."""
        short = "; ".join(
            f"{q.region} {q.code} needs {q.peak:,.0f} of {q.granted:,.0f} {q.unit}" for q in self.short_quotas
        )
        residency = _counted({"violation": self.residency_violations, "crashed rule": self.crashes})
        survival = _counted(
            {
                "violation": self.survival_violations,
                "crashed rule": self.crashes,
                "case not yet proven": self.not_yet_proven,
            }
        )
        unpriced = _counted({"node pool without a price or a count, not in the sums": len(self.change.unknown)})
        budget = "; ".join(self.over_budget)
        found = [
            ("Residency", residency, "holds"),
            ("Survival", survival, "holds"),
            ("Deployable", short, "within granted quotas"),
            ("Budget", budget, "within budget"),
            ("Priced", unpriced, "every node pool"),
        ]
        if self.stale:
            what = f"made before {', '.join(self.stale)} changed; run 'outlast plan {self.fleet}'"
            found.insert(0, ("Lock", what, ""))
        previews = {
            "did not pass": self.failed_previews,
            "not in the sums, for want of a preview": self.missing_previews,
        }
        unknown = "; ".join(f"{', '.join(stacks)} {what}" for what, stacks in previews.items() if stacks)
        if unknown:
            found.insert(0, ("Previews", unknown, ""))
        return tuple((subject, not bad, bad or good) for subject, bad, good in found)

    @property
    def shown(self) -> tuple[LineChange, ...]:
        """Lines worth showing: those that moved, or all of a total."""
        return self.change.lines if self.is_total else self.change.changed

    def by_region(self) -> Mapping[str, tuple[LineChange, ...]]:
        """Return region -> its node pools, all of them."""
        found: dict[str, list[LineChange]] = {}
        for change in self.change.lines:
            found.setdefault(change.line.region, []).append(change)
        return {region: tuple(changes) for region, changes in sorted(found.items())}


def _granted(intent: Intent, region: str, code: str) -> float:
    quota = intent.holdings(region).quotas.get(code)
    return quota.granted if quota else 0.0


def _counted(counts: Mapping[str, int]) -> str:
    """Return what there is of each, in words; empty if there is nothing."""
    parts = [f"{count} × {noun}" if count > 1 else f"1 {noun}" for noun, count in counts.items() if count]
    return ", ".join(parts)


_HALF_A_CENT = 0.005
"""Less is the rounding of sums."""


def usd(amount: float, *, sign: bool = False, cents: bool = False) -> str:
    """Return an amount in US dollars: whole units, or cents where asked for or below one dollar."""
    amount = 0.0 if abs(amount) < _HALF_A_CENT else amount
    digits = f"{abs(amount):,.2f}" if cents or 0 < abs(amount) < 1 else f"{abs(amount):,.0f}"
    mark = "-" if amount < 0 else "+" if sign else ""
    return f"{mark}${digits}"


def ranged(low: float | None, middle: float | None, high: float | None, *, text: str = "{:,.5g}") -> str:
    """Return min / expected / max in words; one number where all agree, a word where unknown."""
    parts = ["unknown" if value is None else text.format(value) for value in (low, middle, high)]
    return parts[0] if len(set(parts)) == 1 else " / ".join(parts)


def oldest_price(changes: Iterable[LineChange]) -> str:
    """Return the date of the oldest price used."""
    dates = [change.after.rate.as_of for change in changes if change.after and change.after.rate.as_of]
    return min(dates).isoformat() if dates else "none"
