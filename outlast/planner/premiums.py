"""Prices every rule of a fleet by planning without it.

A *guardrail* says what the fleet survives and with which margins; a *legal rule* says where a class may be and who may
enter a jurisdiction. Without losses to survive, no class moves and no legal rule costs anything, so legal rules are
priced on top of all guardrails, and what matters only after a loss on top of the losses:

    first in   plan with (ground and this rule) − plan with (ground)
    last in    plan with (all rules)            − plan with (all rules but this one)

    ground     of region, zone and replica loss, burst margin, canary:  no rule at all
               of prefill surge and failure occupancy:                  the losses alone
               of a legal rule:                                         all guardrails, no legal rule

Prices do not add up: two rules may ask for the same spare, or make each other dearer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal, TypeAlias

from outlast.intent import Intent
from outlast.intent.guardrails import GuardrailsFile, NoSurge, PrefillSurge
from outlast.intent.intent import ANY
from outlast.intent.tenants import ResidencyClass
from outlast.lock import Lock, Premium, PremiumSize
from outlast.planner.trials import Trial, Trials, unproven_usd_h

Kind: TypeAlias = Literal["loss", "margin", "margin of a loss", "legal"]
GROUNDS: Mapping[Kind, str] = {
    "loss": "no rule",
    "margin": "no rule",
    "margin of a loss": "the losses",
    "legal": "all guardrails",
}
"""Kind of rule -> what its first-in price is on top of."""


@dataclass(frozen=True)
class Rule:
    """A rule that can be taken away."""

    name: str
    kind: Kind
    without: Callable[[Intent], Intent]
    """The fleet without it."""


@dataclass(frozen=True)
class Price:
    """What a rule costs."""

    rule: str
    on_top_of: str
    first_in: PremiumSize | None
    """None where a plan that it compares does not exist."""
    last_in: PremiumSize | None
    why_not: tuple[str, ...]
    """Why a plan to compare with does not exist."""
    unproven_usd_h: float
    """How far either price may be off, because searches ended before their gaps were closed."""


def rules_of(intent: Intent) -> tuple[Rule, ...]:
    """Return the rules of a fleet: guardrails, in force or not, then the legal rules that restrict something."""
    classes = intent.tenants_file.classes
    restricted = [name for name, detail in classes.items() if not _is_free(detail)]
    return (
        *(Rule(f"{loss} loss", "loss", _without_loss(loss)) for loss in ("region", "zone", "replica")),
        Rule("burst margin", "margin", lambda of: _with_guardrails(of, burst_margin=0.0)),
        Rule("canary", "margin", lambda of: _with_guardrails(of, canary_replicas=0)),
        Rule("prefill surge", "margin of a loss", _without_surge),
        Rule("failure occupancy", "margin of a loss", _without_failure_occupancy),
        *(Rule(f"residency of {name}", "legal", _without_residency(name)) for name in restricted),
        *(
            Rule(f"admission to {law}", "legal", _without_closure(law))
            for law in intent.jurisdictions
            if _shut(intent, law)
        ),
    )


def premiums(intent: Intent, trials: Trials) -> tuple[Price, ...]:
    """Return the price of every rule of a fleet, in GPUs and money.

    Raises:
        PlanError: the fleet as it is has no plan.
    """
    rules = rules_of(intent)
    full = trials(intent)
    full.must()
    return tuple(_price(intent, rule, rules, full, trials) for rule in rules)


def to_lock(prices: Iterable[Price]) -> tuple[Premium, ...]:
    """Return prices as a lock holds them; without those of rules that are off, or that cannot be priced."""
    return tuple(
        Premium(rule=price.rule, first_in=price.first_in, last_in=price.last_in)
        for price in prices
        if price.first_in and price.last_in
    )


def with_premiums(lock: Lock, in_force: Lock | None) -> Lock:
    """Return a lock with the premiums of the lock in force, if they are of the same inputs."""
    if in_force is None or lock.premiums or lock.inputs != in_force.inputs:
        return lock
    return lock.model_copy(update={"premiums": in_force.premiums})


def has_premiums_of_other_inputs(lock: Lock, in_force: Lock | None) -> bool:
    """Whether the lock in force has premiums that no longer hold for a lock."""
    return in_force is not None and bool(in_force.premiums) and lock.inputs != in_force.inputs


def _price(intent: Intent, rule: Rule, rules: tuple[Rule, ...], full: Trial, trials: Trials) -> Price:
    off = [other for other in rules if other is not rule and other.kind in _absent(rule.kind)]
    alone = _without(intent, off)
    with_it, ground, others = trials(alone), trials(rule.without(alone)), trials(rule.without(intent))
    problems = dict.fromkeys(str(p) for trial in (with_it, ground, others) for p in trial.problems)
    return Price(
        rule=rule.name,
        on_top_of=GROUNDS[rule.kind],
        first_in=_more(with_it, ground),
        last_in=_more(full, others),
        why_not=tuple(problems),
        unproven_usd_h=max(unproven_usd_h(with_it.lock, ground.lock), unproven_usd_h(full.lock, others.lock)),
    )


def _absent(kind: Kind) -> tuple[Kind, ...]:
    """Return the kinds of rules that are not there when a rule is the first one in."""
    if kind == "legal":
        return ("legal",)
    losses: tuple[Kind, ...] = ("loss",) if kind != "margin of a loss" else ()
    return (*losses, "margin", "margin of a loss", "legal")


def _without(intent: Intent, rules: Iterable[Rule]) -> Intent:
    for rule in rules:
        intent = rule.without(intent)
    return intent


def _more(dear: Trial, cheap: Trial) -> PremiumSize | None:
    if dear.size is None or cheap.size is None:
        return None
    more = dear.size - cheap.size
    return PremiumSize(gpus=more.gpus, usd_h=more.usd_h)


def _with_guardrails(intent: Intent, **changes: object) -> Intent:
    values = {name: getattr(intent.guardrails, name) for name in GuardrailsFile.model_fields} | changes
    return replace(intent, guardrails=intent.guardrails.model_copy(update=values))


def _without_loss(loss: str) -> Callable[[Intent], Intent]:
    return lambda of: _with_guardrails(of, losses=of.guardrails.losses.model_copy(update={loss: 0}))


def _without_surge(intent: Intent) -> Intent:
    why = NoSurge(reason="priced by planning without it", owner="outlast plan", date=date.min)
    return _with_guardrails(intent, prefill_surge=PrefillSurge(factor=1.0, none_because=why))


def _without_failure_occupancy(intent: Intent) -> Intent:
    """Let replicas run full in the hour of a loss."""
    occupancy = intent.guardrails.occupancy
    return _with_guardrails(intent, occupancy=occupancy.model_copy(update={"failure": 1.0}))


def _is_free(detail: ResidencyClass) -> bool:
    return ANY in detail.serve_in and ANY in detail.fail_over_to


def _without_residency(name: str) -> Callable[[Intent], Intent]:
    """Let a class be anywhere, and admit it where its own rule kept it out; closures to it are rules of their own."""

    def without(intent: Intent) -> Intent:
        detail = intent.tenants_file.classes[name]
        kept_out = [law for law in intent.jurisdictions if not _may_be(detail, law)]
        free = detail.model_copy(update={"serve_in": (ANY,), "fail_over_to": (ANY,)})
        return _with_tenants(
            intent,
            classes={**intent.tenants_file.classes, name: free},
            admits={law: _joined(intent, law, (name,)) for law in kept_out},
        )

    return without


def _without_closure(law: str) -> Callable[[Intent], Intent]:
    """Admit to a jurisdiction every class whose own rule lets it in."""
    return lambda of: _with_tenants(of, admits={law: _joined(of, law, _shut(of, law))})


def _shut(intent: Intent, law: str) -> tuple[str, ...]:
    """Return the classes that may be in a jurisdiction by their own rule, but are not admitted to it."""
    admitted = intent.tenants_file.admits.get(law, ())
    return tuple(
        name for name, detail in intent.tenants_file.classes.items() if name not in admitted and _may_be(detail, law)
    )


def _may_be(detail: ResidencyClass, law: str) -> bool:
    return bool({ANY, law} & {*detail.serve_in, *detail.fail_over_to})


def _joined(intent: Intent, law: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*intent.tenants_file.admits.get(law, ()), *names)))


def _with_tenants(intent: Intent, *, admits: Mapping[str, tuple[str, ...]], classes: object = None) -> Intent:
    file = intent.tenants_file
    changes = {"admits": {**file.admits, **admits}, "classes": classes or file.classes}
    return replace(intent, tenants_file=file.model_copy(update=changes))
