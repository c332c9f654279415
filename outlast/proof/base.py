"""What a deployment is compared with: never make it worse, never block the cure.

A margin that is negative is refused only where it is lower than under what is applied; otherwise it is reported as not
yet proven. Without a file of what is applied, every stack is taken to hold what the lock says, and a negative margin is
refused whatever the base: nothing is known that could excuse it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from outlast.intent import Intent
from outlast.lock import AppliedFile, Lock
from outlast.proof.held import held_of_applied, held_of_lock
from outlast.proof.prove import Case, Margin, Proof, Shares, prove


@dataclass(frozen=True)
class Judgement:
    """What a deployment would do to survival."""

    proof: Proof
    """The fleet right after the deployment of one stack."""
    refused: tuple[Margin, ...]
    not_yet_proven: tuple[Margin, ...]


def judge(lock: Lock, intent: Intent, applied: AppliedFile | None, region: str | None) -> Judgement:
    """Judge the deployment of one stack.

    Args:
        lock: what the stack deploys.
        intent: what the fleet wants.
        applied: what every stack has deployed; None if unknown.
        region: the region stack deployed; None for the routing stack, which changes shares only.
    """
    target = held_of_lock(lock)
    if applied is None:
        proof = prove(lock, intent, target)
        return Judgement(proof, proof.failures, ())
    deployed = held_of_applied(applied, lock)
    routing = applied.get(f"{lock.fleet}.routing")
    in_force = routing.counts.shares if routing else lock.shares

    def after(shares: Shares) -> Proof:
        return _after(prove(lock, intent, deployed, shares), prove(lock, intent, target, shares), region)

    proof = after(lock.shares)
    if region is None:
        lowered = proof.lowered_against(prove(lock, intent, deployed, in_force))
    else:
        # Regions go before routing: until routing follows, a lost region's traffic takes the shares in force.
        tables = (lock.shares,) if in_force == lock.shares else (lock.shares, in_force)
        lowered = tuple(
            margin
            for shares in tables
            for margin in after(shares).lowered_against(prove(lock, intent, deployed, shares))
        )
    refused = _worst_per_case(lowered)
    cases = {margin.case for margin in refused}
    return Judgement(proof, refused, tuple(margin for margin in proof.failures if margin.case not in cases))


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
