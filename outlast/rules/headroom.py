"""Headroom: the fleet survives what it must, and its resources are what the proven lock says."""

from __future__ import annotations

from collections.abc import Iterator

from outlast.lock import overfull, undeclared
from outlast.proof import NOTHING, REPLICA, Judgement, Margin, arithmetic, cure, realises, shortfall
from outlast.rules.rule import LOCK, Deployment, Rule
from outlast.rules.violation import Violation

_RULE_OF = {NOTHING: "H-01", REPLICA: "H-26"}


def rule_of(margin: Margin) -> str:
    """Return the rule a margin belongs to."""
    lost = margin.case.lost
    return "H-03" if lost.startswith("zone ") else _RULE_OF.get(lost, "H-02")


def check_survival(deployment: Deployment) -> Iterator[Violation]:
    """Yield every margin that the deployment would make negative, or lower where it is negative."""
    if deployment.regions or not deployment.stacks:
        for region in deployment.regions or (None,):
            yield from _refused(deployment, deployment.judgement(region))
    elif f"{deployment.intent.name}.routing" in deployment.stacks:
        yield from _refused(deployment, deployment.judgement(None))


def _refused(deployment: Deployment, judgement: Judgement) -> Iterator[Violation]:
    for margin in judgement.refused:
        case = margin.case
        yield Violation(
            rule=rule_of(margin),
            urn=LOCK,
            path=f"regions.{case.region}.pools: {case.pool}, lost {case.lost}",
            title=shortfall(margin),
            found=f"{margin.available_tok_s:,.0f} tok/s",
            allowed=f"at least {margin.need_tok_s:,.0f} tok/s",
            why="capacity cannot be bought during somebody else's outage; it has to be running before",
            chain=arithmetic(margin),
            fix=f"{cure(margin)}: run 'outlast plan {deployment.intent.name}' and commit the lock",
        )


def check_realised(deployment: Deployment) -> Iterator[Violation]:
    """Yield every resource that is not what the lock says."""
    for region in deployment.regions:
        if region not in deployment.lock.regions:
            continue
        for mismatch in realises(deployment.view, deployment.lock, region):
            if mismatch.is_extra:
                continue
            yield Violation(
                rule="H-05",
                urn=mismatch.urn or f"{deployment.intent.name}.{region}",
                path=f"{mismatch.row}: {mismatch.field}",
                title=f"{region} {mismatch.row} is not what the lock says: {mismatch.field}",
                found=mismatch.found,
                allowed=mismatch.expected,
                why="the lock is what was proven to survive; other resources prove nothing",
                fix="declare it from the lock, as the stack does; to change it, change intent and plan again",
                decided=not mismatch.is_undecidable,
            )


def check_declared(deployment: Deployment) -> Iterator[Violation]:
    """Yield every row of the lock that is not what the files declare."""
    for problem in undeclared(deployment.lock, deployment.intent):
        yield Violation(
            rule="H-08",
            urn=LOCK,
            path=problem.where.split(", ", 1)[-1],
            title=f"The lock is not what the files declare: {problem.what}",
            found=problem.got or "it is there",
            allowed=problem.allowed,
            why="a lock that differs from its inputs was not planned, so nothing is known of it",
            fix=problem.do or f"run 'outlast plan {deployment.intent.name}'",
        )


def check_replicas_fit(deployment: Deployment) -> Iterator[Violation]:
    """Yield every node pool of the lock whose nodes do not hold its replicas."""
    for row in overfull(deployment.lock):
        if deployment.stacks and row.region not in deployment.regions:
            continue
        yield Violation(
            rule="H-06",
            urn=LOCK,
            path=f"regions.{row.region}.node_pools.{row.node_pool}.nodes.min",
            title=f"{row.region} node pool {row.node_pool} does not hold its replicas",
            found=f"{row.nodes} nodes for {row.replicas} replicas",
            allowed=f"at least {row.nodes_needed} nodes",
            why="replicas without a node wait for ever; headroom is what runs",
            fix=f"run 'outlast plan {deployment.intent.name}' and commit the lock",
        )


def _rule(id_: str, title: str, checks: str) -> Rule:
    return Rule(
        id=id_,
        title=title,
        severity="critical",
        why="capacity cannot be bought during somebody else's outage",
        checks=checks,
        misses="goodput measured wrongly: compare it with the running fleet",
        fix="plan again and commit the lock",
        is_local=False,
        check=check_survival,
    )


RULES = (
    _rule("H-01", "Every pool carries its own demand at every hour", "all 168 hours at normal occupancy"),
    _rule(
        "H-02", "The fleet carries the loss of any region", "every lost region, hour and class with the lock's shares"
    ),
    _rule("H-03", "Every region carries the loss of any of its zones", "every zone and hour at failure occupancy"),
    _rule("H-26", "Every pool carries the loss of a replica", "all hours at normal occupancy with one replica fewer"),
    Rule(
        id="H-05",
        title="Resources are what the lock says",
        severity="critical",
        why="the lock is what was proven",
        checks=(
            "zone, machine type, capacity, reservation, counts and scaling of node pools; replicas, GPUs and node "
            "pools of workloads"
        ),
        misses="what a person changes in the cloud afterwards; a refresh or an analysis of the state shows it",
        fix="declare from the lock",
        is_local=False,
        check=check_realised,
    ),
    Rule(
        id="H-06",
        title="Nodes hold the replicas placed on them",
        severity="critical",
        why="replicas without a node wait for ever",
        checks="places of the lock against the nodes that a node pool keeps",
        misses="GPUs that drivers or other workloads take",
        fix="plan again and commit the lock",
        is_local=False,
        check=check_replicas_fit,
    ),
    Rule(
        id="H-08",
        title="The lock is what the files declare",
        severity="critical",
        why="a lock that differs from its inputs was not planned",
        checks="zone, machine type, capacity, reservation, partition, scaling of every row; homes; GPUs of a replica",
        misses="rows that are leaving",
        fix="plan again; do not edit the lock by hand",
        is_local=False,
        check=check_declared,
    ),
)
"""The four survival rules share one check: it names the rule by the kind of loss."""
