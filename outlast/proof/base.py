"""What a deployment is compared with: never make it worse, never block the cure.

A margin that is negative is refused only where some hour of it is lower than under what is applied; otherwise it is
reported as not yet proven. Without a file of what is applied, every stack is taken to hold what the lock says, and a
negative margin is refused whatever the base: nothing is known that could excuse it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from outlast.intent import Intent, routing_stack
from outlast.lock import AppliedFile, Lock
from outlast.proof.held import held_of_applied, held_of_lock
from outlast.proof.prove import Case, Margin, Proof, Routes, prove


@dataclass(frozen=True)
class Judgement:
    """What a deployment would do to survival."""

    proof: Proof
    """The fleet right after the deployment of one stack."""
    refused: tuple[Margin, ...]
    not_yet_proven: tuple[Margin, ...]


def judge(
    lock: Lock, intent: Intent, applied: AppliedFile | None, region: str | None, first: Collection[str] = ()
) -> Judgement:
    """Judge the deployment of one stack.

    Args:
        lock: what the stack deploys.
        intent: what the fleet wants.
        applied: what every stack has deployed; None if unknown.
        region: the region stack deployed; None for the routing stack, which changes homes and shares only.
        first: regions that are deployed before it, in the same change.
    """
    target = held_of_lock(lock)
    if applied is None:
        proof = prove(lock, intent, target)
        return Judgement(proof, proof.failures, ())
    deployed = held_of_applied(applied, intent) | {name: target[name] for name in first if name in target}
    planned, in_force = Routes(lock.homes, lock.shares), _in_force(lock, intent, applied)

    def before(routes: Routes) -> Proof:
        return prove(lock, intent, deployed, routes)

    def after(routes: Routes) -> Proof:
        return _after(before(routes), prove(lock, intent, target, routes), region)

    proof = after(planned)
    if region is None:
        lowered = proof.lowered_against(before(in_force))
    else:
        # Regions go before routing: until routing follows, demand goes where the routes in force send it.
        tables = (planned,) if in_force == planned else (planned, in_force)
        lowered = tuple(margin for routes in tables for margin in after(routes).lowered_against(before(routes)))
    refused = _worst_per_case(lowered)
    cases = {margin.case for margin in refused}
    return Judgement(proof, refused, tuple(margin for margin in proof.failures if margin.case not in cases))


def _in_force(lock: Lock, intent: Intent, applied: AppliedFile) -> Routes:
    """Return the routes that the routing stack has deployed; before its first deployment, those it will deploy."""
    routing = applied.get(routing_stack(intent.name))
    return Routes(routing.counts.homes, routing.counts.shares) if routing else Routes(lock.homes, lock.shares)


def _after(deployed: Proof, target: Proof, region: str | None) -> Proof:
    """Return the proof once ``region`` is deployed: its own cases under the lock, others under the worse of both.

    A case asks one region only, so the other stacks may be anywhere between what they hold and what they are to hold.
    """
    own = {case: margin for case, margin in target.margins.items() if case.region == region}
    others = [margin for proof in (deployed, target) for case, margin in proof.margins.items() if case.region != region]
    return Proof({**own, **{margin.case: margin for margin in _worst_per_case(others)}})


def _worst_per_case(margins: Iterable[Margin]) -> tuple[Margin, ...]:
    worst: dict[Case, Margin] = {}
    for margin in margins:
        if margin.case not in worst or margin.slack_tok_s < worst[margin.case].slack_tok_s:
            worst[margin.case] = margin
    return tuple(sorted(worst.values(), key=lambda margin: (margin.slack_tok_s, margin.case)))
