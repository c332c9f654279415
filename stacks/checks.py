"""What every deployment proves before it declares anything, so that forgetting the policy pack does not mean no check.

The account is checked where the clouds can answer: the providers refuse every account but the region's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pulumi

from outlast.errors import EnvironmentProblem, Problem, RefusedError, StaleLock, listed
from outlast.intent import Intent, stack_order
from outlast.intent.checks_capacity import ended_in_use
from outlast.intent.checks_forms import without_admin
from outlast.intent.stacks import StackName
from outlast.lock import (
    Applied,
    AppliedFile,
    Lock,
    applied_in,
    changed_zones,
    freshness,
    overfull,
    short_ranges,
    stale_problem,
    undeclared,
    zoneless,
)
from outlast.proof import Judgement, arithmetic, cure, judge, misplaced, shortfall, unserved

_MARGINS = "'outlast verify' shows every margin"


@dataclass(frozen=True)
class Surroundings:
    """What the environment says about the clouds and about what is deployed."""

    simulated: bool
    """Whether the plugins and the backend are the simulated ones."""
    applied: AppliedFile | None
    """What every stack has deployed; None if nobody wrote it down."""

    @staticmethod
    def read() -> Surroundings:
        """Read what the environment says.

        Raises:
            EnvironmentProblem: the environment mixes a simulation with an engine outside it.
        """
        return Surroundings(is_simulated(os.environ), applied_in(os.environ, Path(__file__).parents[1]))


def is_simulated(environment: Mapping[str, str]) -> bool:
    """Whether the engine's plugins and state are those of a simulation: all of them, or none.

    Raises:
        EnvironmentProblem: ``OUTLAST_SIM`` is set, and the engine's home or state lies elsewhere.
    """
    sim = environment.get("OUTLAST_SIM")
    if not sim:
        return False
    expected = {"PULUMI_HOME": f"{sim}/", "PULUMI_BACKEND_URL": f"file://{sim}/"}
    for name, start in expected.items():
        found = environment.get(name, "")
        if not found.startswith(start):
            do = 'Run eval "$(outlast sim env FLEET)" in a new shell'
            what = "does not belong to the simulation that OUTLAST_SIM names"
            raise EnvironmentProblem(Problem(where=name, what=what, got=found or "nothing", allowed=f"{start}…", do=do))
    return True


def check_before(stack: StackName, intent: Intent, lock: Lock, *, teardown: bool = False) -> None:
    """Refuse a deployment that cannot be proven, or meets the wrong clouds.

    A margin that is negative but not lowered is reported as a warning: never make it worse, never block the cure.

    Args:
        stack: what is deployed.
        intent: what the fleet wants.
        lock: what the stack deploys.
        teardown: the stack is about to be destroyed, on purpose; only the clouds and the zones are checked.

    Raises:
        EnvironmentProblem: the fleet's clouds and the plugins in use do not belong together.
        StaleLock: the lock was made from other inputs.
        RefusedError: the deployment breaks residency, lowers a margin, places replicas where no node is, moves a
            region's zones, outgrows its network, or makes a cluster that nobody may administer.
    """
    surroundings = Surroundings.read()
    check_clouds(intent, simulated=surroundings.simulated)
    applied = (surroundings.applied or {}).get(str(stack))
    check_zones(stack, intent, lock, applied)
    if teardown:
        return
    check_fresh(intent, lock)
    judgement = judge(lock, intent, surroundings.applied, stack.region) if stack.kind != "global" else None
    problems = [*_misplaced(intent, lock), *(_lowered(stack, judgement) if judgement else ())]
    if stack.kind == "routing":
        problems += _unserved(intent, lock)
    problems += [*_overfull(stack, lock), *undeclared(lock, intent)]
    if stack.region is not None:
        problems += without_admin(intent, stack.region)
        problems += ended_in_use(intent, stack.region)
        problems += _outgrown(stack.region, intent, lock, applied)
    if problems:
        raise RefusedError(problems)
    if judgement and judgement.not_yet_proven:
        pulumi.log.warn(_not_yet(intent, judgement, surroundings.applied))


def check_knobs(stack: StackName, *, teardown: bool, inside: bool) -> None:
    """Refuse to take what serves out of a region that is to stay.

    Raises:
        RefusedError: the stack's file says so.
    """
    if not inside and not teardown:
        raise RefusedError(
            Problem(
                where=f"config/stacks/Pulumi.{stack}.yaml, outlast:inside",
                what="only a teardown leaves out what lies inside the cluster",
                got="false",
                do="Set outlast:teardown too, or remove it",
            )
        )


def check_clouds(intent: Intent, *, simulated: bool) -> None:
    """Refuse a simulated fleet on real clouds, and the reverse.

    Raises:
        EnvironmentProblem: they do not belong together.
    """
    where = f"{intent.name}/fleet.yaml, clouds"
    if intent.fleet.clouds == "simulated" and not simulated:
        do = f'Run eval "$(outlast sim env {intent.name})", or set clouds: real'
        what, got = "a simulated fleet must not meet real clouds", "no OUTLAST_SIM in the environment"
        raise EnvironmentProblem(Problem(where=where, what=what, got=got, do=do))
    if intent.fleet.clouds == "real" and simulated:
        do = "Open a shell without the variables of 'outlast sim env'"
        what, got = "a real fleet must not meet simulated clouds", "OUTLAST_SIM is set"
        raise EnvironmentProblem(Problem(where=where, what=what, got=got, do=do))


def check_zones(stack: StackName, intent: Intent, lock: Lock, applied: Applied | None) -> None:
    """Refuse a region without the zones that its nodes lie in, or with others than its cloud keeps for good.

    Raises:
        RefusedError: it has such zones.
    """
    if stack.region is None:
        return
    if problems := [*zoneless(lock, intent, [stack.region]), *changed_zones(intent, stack.region, applied)]:
        raise RefusedError(problems)


def check_fresh(intent: Intent, lock: Lock) -> None:
    """Refuse a lock made from other inputs; a changed price alone does not matter here.

    Raises:
        StaleLock: names the inputs that changed.
    """
    fresh = freshness(lock, intent)
    if fresh.stale:
        raise StaleLock(stale_problem(intent, fresh))


def _misplaced(intent: Intent, lock: Lock) -> Iterator[Problem]:
    for sent in misplaced(lock, intent):
        yield Problem(
            where=f"{intent.name}/plan.lock.yaml, {sent.path}",
            what=f"class '{sent.residency}' may not be in {sent.region}",
            got=f"{sent.share} %",
            allowed=listed(sent.allowed),
            do=f"Run 'outlast plan {intent.name}'; do not edit the lock by hand",
        )


def _unserved(intent: Intent, lock: Lock) -> Iterator[Problem]:
    for home in unserved(lock, intent):
        yield Problem(
            where=f"{intent.name}/operations.yaml, regions.{home.region}",
            what=f"class '{home.residency}' from '{home.origin}' would be served nowhere",
            got=f"{home.region} does not serve, nor does any of {listed(home.survivors)}",
            do=f"Set one of them to serving, or plan the class's homes elsewhere with 'outlast plan {intent.name}'",
        )


def _overfull(stack: StackName, lock: Lock) -> Iterator[Problem]:
    for row in overfull(lock):
        if row.region == stack.region:
            yield Problem(
                where=f"{stack.fleet}/plan.lock.yaml, regions.{row.region}.node_pools.{row.node_pool}.nodes",
                what=f"they do not hold the {row.replicas} replicas placed on them",
                got=f"{row.nodes} nodes",
                allowed=f"at least {row.nodes_needed}",
                do=f"Run 'outlast plan {stack.fleet}' and commit the lock",
            )


def _outgrown(region: str, intent: Intent, lock: Lock, applied: Applied | None) -> Iterator[Problem]:
    """Yield ranges that do not hold the region's nodes; a deployment that adds none is never refused for that."""
    held = applied.counts.node_pools.values() if applied else ()
    if sum(row.nodes.max for row in lock.regions[region].node_pools.values()) > sum(row.nodes_max for row in held):
        yield from short_ranges(lock, intent, [region])


def _lowered(stack: StackName, judgement: Judgement) -> Iterator[Problem]:
    for margin in judgement.refused:
        action, case = cure(margin), margin.case
        held = "shares" if case.region == case.lost else f"regions.{case.region}.pools"
        yield Problem(
            where=f"{stack.fleet}/plan.lock.yaml, {held}",
            what=f"{shortfall(margin)} ({arithmetic(margin)})",
            do=f"{action[0].upper()}{action[1:]}: run 'outlast plan {stack.fleet}' and commit the lock; {_MARGINS}",
        )


def _not_yet(intent: Intent, judgement: Judgement, applied: AppliedFile | None) -> str:
    missing = [stack for stack in stack_order(intent)[1:] if stack not in (applied or {})]
    if missing:
        return f"not proven until {listed(missing)} are up; this is expected while a fleet is first deployed."
    worst, cases = judgement.not_yet_proven[0], len(judgement.not_yet_proven)
    return (
        f"not yet proven: {shortfall(worst)}; {cases} cases in all, none made worse by this deployment. "
        f"Deploy the remaining stacks; {_MARGINS}."
    )
