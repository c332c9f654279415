"""Says what would lift the smallest conflict of a fleet that has no plan; every answer is tested by planning it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from outlast.errors import InfeasiblePlan, PlanError, Problem, listed
from outlast.intent import Intent
from outlast.lock import Lock
from outlast.planner.holdings import Ask, boundless, holdings_of, needed, smallest_asks
from outlast.planner.premiums import Rule, rules_of
from outlast.planner.runway import grown
from outlast.planner.trials import Size, Trials, size_of

PER_CENT = range(1, 100)
"""Parts of the demand that are tried, so that the answer is whole per cent."""

MOST_ELSEWHERE = 8
"""Other quotas and reservations that are tried, in the order of the files."""


@dataclass(frozen=True)
class Way:
    """A change that gives a plan."""

    words: str
    size: Size
    """What that plan holds."""

    def __str__(self) -> str:
        """Return the change and what it then costs."""
        return f"{self.words} [{self.size.gpus:,.0f} GPUs, {self.size.usd_h:,.2f} USD/h]"


def explained(intent: Intent, error: InfeasiblePlan, in_force: Lock | None, trials: Trials) -> InfeasiblePlan:
    """Return the error with the classes that need what is short, and what lifts the conflict.

    Args:
        intent: the fleet.
        error: why it has no plan.
        in_force: the lock it was planned from; changes are planned from it if the fleet has a plan from nothing.
        trials: plan from nothing.
    """
    trials = trials.planning_from(in_force) if trials(intent).lock else trials
    found = list(ways(intent, trials))
    where = f"outlast plan {intent.name}"
    if not found:
        tried = "no larger quota, no class elsewhere, no guardrail less and no part of the demand gives a plan"
        lift = Problem(where=where, what=tried, do="Change regions or node pools")
    else:
        do = "; or ".join(str(way) for way in found)
        what = (
            "this gives a plan, tested by planning"
            if len(found) == 1
            else "each of these gives a plan, tested by planning"
        )
        lift = Problem(where=where, what=what, do=f"{do[0].upper()}{do[1:]}")
    return InfeasiblePlan([*(_with_classes(intent, problem) for problem in error.problems), lift])


def ways(intent: Intent, trials: Trials) -> Iterator[Way]:
    """Yield the changes that give a plan: larger holdings, classes elsewhere, no zone loss, less demand."""
    asks: tuple[Ask, ...] = ()
    try:
        asks, lock = smallest_asks(intent, trials)
        yield Way(" and ".join(str(ask) for ask in asks), size_of(lock))
    except PlanError:
        pass  # no quota lifts it; the other changes may
    yield from _elsewhere(intent, asks, trials)
    for rule in rules_of(intent):
        if (words := _words(intent, rule)) and (size := trials(rule.without(intent)).size):
            yield Way(words, size)
    if part := _largest_part(intent, trials):
        size = trials(grown(intent, part / 100)).size
        yield Way(f"plan for {part} % of the demand", size or Size(0, 0, 0, 0))


def _elsewhere(intent: Intent, asks: tuple[Ask, ...], trials: Trials) -> Iterator[Way]:
    """Yield larger holdings instead of the smallest ones, one by one, each with what the cheapest plan needs of it."""
    named = {ask.holding.key for ask in asks}
    others = [holding for key, holding in holdings_of(intent).items() if key not in named]
    for holding in others[:MOST_ELSEWHERE] if asks else ():
        lock = trials(boundless(intent, [holding.key])).lock
        if lock and (need := needed(lock, intent).get(holding.key, 0.0)) > holding.held:
            yield Way(str(Ask(holding, need)), size_of(lock))


def _words(intent: Intent, rule: Rule) -> str:
    """Return how to drop a rule; an empty string for one that nobody should drop to get a plan."""
    subject = rule.name.rpartition(" ")[2]
    if rule.kind == "legal" and rule.name.startswith("admission"):
        return f"admit every class to {subject} that may be there by its own rule (tenants.yaml, admits.{subject})"
    if rule.kind == "legal":
        places = listed(law for law in intent.jurisdictions)
        return f"let '{subject}' go to any of {places}, if its contract allows (tenants.yaml, classes.{subject})"
    if rule.name == "zone loss" and intent.guardrails.losses.zone:
        return "do not plan for the loss of a zone (guardrails.yaml, losses.zone: 0)"
    return ""


def _largest_part(intent: Intent, trials: Trials) -> int:
    """Return the largest whole per cent of the demand that has a plan; 0 if none has."""
    fits, fails = 0, PER_CENT.stop
    while fails - fits > 1:
        middle = (fits + fails) // 2
        if trials(grown(intent, middle / 100)).lock:
            fits = middle
        else:
            fails = middle
    return fits


def _with_classes(intent: Intent, problem: Problem) -> Problem:
    """Return the problem of a holding that is short, with the classes whose demand its region carries."""
    for holding in holdings_of(intent).values():
        if problem.where == f"{intent.name}/capacity.yaml, {holding.path}":
            home = {residency for _, residency, region in intent.home_demand if region == holding.region}
            guests = [
                name
                for name in intent.tenants_file.classes
                if name not in home and intent.may_fail_over(name, holding.region)
            ]
            words = [f"at home there: {listed(home)}"] if home else []
            words += [f"may fail over to it: {listed(guests)}"] if guests else []
            return replace(problem, what="; ".join([problem.what, *words])) if words else problem
    return problem
