"""A rule, what it judges, and how all rules are run so that none can fail open."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from outlast.intent import Intent, region_stack
from outlast.lock import AppliedFile, Lock
from outlast.rules.violation import Severity, Violation
from outlast.view import View, stack_of

LOCK = "plan.lock.yaml"
"""Where a violation of the lock itself is, instead of a URN."""
CRASHED = "X-00"


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """What rules judge: a fleet's intent and lock, and the resources of the stacks at hand."""

    intent: Intent
    lock: Lock
    applied: AppliedFile | None
    """What every stack has deployed; None if unknown."""
    view: View
    """Resources; empty when only the lock is judged."""

    @cached_property
    def stacks(self) -> tuple[str, ...]:
        """Names of the stacks in the view, sorted."""
        return tuple(sorted({stack_of(resource.urn) for resource in self.view.resources}))

    @cached_property
    def regions(self) -> tuple[str, ...]:
        """Our regions whose stacks are in the view."""
        return tuple(region for region in self.intent.regions if region_stack(self.intent.name, region) in self.stacks)


Check = Callable[[Deployment], Iterable[Violation]]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One claim about a deployment."""

    id: str
    title: str
    """The claim that is broken, as a sentence a user reads."""
    severity: Severity
    why: str
    checks: str
    """What is looked at."""
    misses: str
    """What is not looked at."""
    fix: str
    waivable: bool = False
    is_local: bool
    """Decidable from one resource alone, so that it can be refused before it is created."""
    check: Check


def run(rules: Iterable[Rule], deployment: Deployment) -> tuple[Violation, ...]:
    """Run rules and return all violations, sorted; a rule that crashes is a violation of its own.

    Rules that share a check run it once; the check names the rule in each violation.
    """
    ids: dict[Check, list[str]] = {}
    for rule in rules:
        ids.setdefault(rule.check, []).append(rule.id)
    found: set[Violation] = set()
    for check, shared in ids.items():
        try:
            found.update(check(deployment))
        except Exception as error:  # noqa: BLE001  (a rule that cannot run must refuse, not pass)
            found.add(_crash(", ".join(shared), deployment, error))
    return tuple(sorted(found))


def _crash(ids: str, deployment: Deployment, error: Exception) -> Violation:
    return Violation(
        rule=CRASHED,
        urn=", ".join(deployment.stacks) or LOCK,
        path=ids,
        title=f"rule {ids} crashed",
        found=f"{type(error).__name__}: {error}",
        allowed="a rule that runs",
        why="a rule that cannot run proves nothing, so the deployment is refused",
        fix="report the crash with this message; roll the pack back if it is new",
        decided=False,
    )
