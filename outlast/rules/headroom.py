"""Headroom: the fleet survives what it must, and its resources are what the proven lock says."""

from __future__ import annotations

from collections.abc import Iterator

from outlast.errors import listed
from outlast.intent import region_stack, routing_stack
from outlast.lock import overfull, short_quotas, short_ranges, undeclared
from outlast.proof import NODE, NOTHING, REPLICA, Case, Margin, arithmetic, cure, judge, realises, shortfall, unserved
from outlast.replica import slow_starts
from outlast.rules.rule import LOCK, Deployment, Rule
from outlast.rules.violation import Violation

_RULE_OF = {NOTHING: "H-01", REPLICA: "H-26", NODE: "H-26"}


def rule_of(margin: Margin) -> str:
    """Return the rule a margin belongs to."""
    lost = margin.case.lost
    return "H-03" if lost.startswith("zone ") else _RULE_OF.get(lost, "H-02")


def check_survival(deployment: Deployment) -> Iterator[Violation]:
    """Yield every negative margin: refused where the deployment lowers it, else reported as not yet proven."""
    intent = deployment.intent
    routes = routing_stack(intent.name) in deployment.stacks
    judged: list[str | None] = [*deployment.regions, *([None] if routes or not deployment.stacks else [])]
    seen: dict[Case, bool] = {}
    for region in judged:
        # Regions that are deployed together with routing go before it.
        first = deployment.regions if region is None else ()
        judgement = judge(deployment.lock, intent, deployment.applied, region, first)
        for margins, refused in ((judgement.refused, True), (judgement.not_yet_proven, False)):
            for margin in margins:
                if seen.get(margin.case) or (margin.case in seen and not refused):
                    continue
                seen[margin.case] = refused
                yield _negative(intent.name, margin, refused=refused)


def _negative(fleet: str, margin: Margin, *, refused: bool) -> Violation:
    case = margin.case
    return Violation(
        rule=rule_of(margin),
        urn=LOCK,
        path=f"pool {case.pool} in {case.region} when losing {case.lost}",
        title=shortfall(margin) if refused else f"Not yet proven: {shortfall(margin)}",
        found=f"{margin.available_tok_s:,.0f} {margin.unit}",
        allowed=f"at least {margin.need_tok_s:,.0f} {margin.unit}",
        why="capacity cannot be bought during somebody else's outage; it has to be running before",
        chain=arithmetic(margin),
        fix=(
            f"{cure(margin)}: run 'outlast plan {fleet}' and commit the lock"
            if refused
            else "deploy the remaining stacks; this deployment does not make it worse"
        ),
        refused=refused,
    )


def check_realised(deployment: Deployment) -> Iterator[Violation]:
    """Yield every resource that is not what the lock says; node pools beyond it are reported only."""
    for region in deployment.regions:
        if region not in deployment.lock.regions:
            yield _unplanned(deployment, region)
            continue
        subnets = deployment.intent.regions[region].network.subnets
        for mismatch in realises(deployment.view, deployment.lock, region, subnets):
            yield Violation(
                rule="H-05",
                urn=mismatch.urn or region_stack(deployment.intent.name, region),
                path=f"{mismatch.row}: {mismatch.field}",
                title=f"{region} {mismatch.row} is not what the lock says: {mismatch.field}",
                found=mismatch.found,
                allowed=mismatch.expected,
                why="the lock is what was proven to survive; other resources prove nothing",
                fix="declare it from the lock, as the stack does; to change it, change intent and plan again",
                decided=not mismatch.is_undecidable,
                refused=not mismatch.is_extra,
            )


def _unplanned(deployment: Deployment, region: str) -> Violation:
    return Violation(
        rule="H-05",
        urn=region_stack(deployment.intent.name, region),
        path=f"regions.{region}",
        title=f"The lock has no block for {region}",
        found="no block",
        allowed="a region of the lock",
        why="the lock is what was proven to survive; other resources prove nothing",
        fix=f"run 'outlast plan {deployment.intent.name}' and commit the lock",
    )


def check_served(deployment: Deployment) -> Iterator[Violation]:
    """Yield every home that routing would send to no region that serves."""
    if routing_stack(deployment.intent.name) not in deployment.stacks:
        return
    for home in unserved(deployment.lock, deployment.intent):
        yield Violation(
            rule="H-17",
            urn=LOCK,
            path=f"homes.{home.residency}.{home.origin}.{home.region}",
            title=f"Class '{home.residency}' from '{home.origin}' would be served nowhere",
            found=f"{home.region} does not serve, nor does any of {listed(home.survivors)}",
            allowed="a home that serves, or a survivor that does",
            why="a class without a region that serves it has no DNS records at all",
            fix=f"set one of them to serving in {deployment.intent.name}/operations.yaml",
        )


def check_quotas(deployment: Deployment) -> Iterator[Violation]:
    """Yield every quota that the lock exceeds; only reported for a deployment, which may be the cure."""
    for short in short_quotas(deployment.lock, deployment.intent):
        yield Violation(
            rule="H-09",
            urn=LOCK,
            path=f"regions.{short.region}.quotas.{short.code}",
            title=f"{short.region} needs more of quota {short.code} than is granted",
            found=f"{short.need:,.0f} {short.unit}",
            allowed=f"{short.granted:,.0f} {short.unit}",
            why="a plan beyond the quota is no plan: the cloud refuses its nodes when they are needed",
            fix="ask for more and put the grant into capacity.yaml, or lower the demand and plan again",
            refused=not deployment.stacks,
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


def check_addresses(deployment: Deployment) -> Iterator[Violation]:
    """Yield every range of a region's network that does not hold the lock's nodes and their pods."""
    regions = deployment.regions if deployment.stacks else None
    for problem in short_ranges(deployment.lock, deployment.intent, regions):
        yield Violation(
            rule="H-35",
            urn=LOCK,
            path=problem.where.split(", ", 1)[-1],
            title=f"The address range is {problem.what}",
            found=problem.got,
            allowed=problem.allowed,
            why="a node without an address for itself and its pods never joins, and a loss is when it is needed",
            fix=problem.do[0].lower() + problem.do[1:],
            refused=not deployment.stacks,
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


def check_cold_starts(deployment: Deployment) -> Iterator[Violation]:
    """Yield every pool that starts too slowly for a class; refused until it is deployed, then reported."""
    for slow in slow_starts(deployment.intent):
        block = deployment.lock.regions.get(slow.region)
        pools = block.pools.items() if block else ()
        for key in (key for key, pool in pools if pool.pool == slow.model):
            runs = (deployment.applied or {}).get(region_stack(deployment.intent.name, slow.region))
            yield Violation(
                rule="H-34",
                urn=LOCK,
                path=f"regions.{slow.region}.pools.{key}",
                title=f"{slow.model} starts too slowly in {slow.region} for class '{slow.residency}'",
                found=f"{slow.start.total_s:,.0f} s on {slow.start.machine_type}",
                allowed=f"up to {slow.allowed_s:,.0f} s, the class's allowed outage",
                why="a model that scales to zero serves nobody until it has started",
                chain="; ".join(f"{step.name} {step.seconds:,.0f} s" for step in slow.start.steps),
                fix="use another tier, a faster machine type or smaller weights, and plan again",
                refused=runs is None or key not in runs.counts.pools,
            )


RULES = (
    _rule("H-01", "Every pool carries its own demand at every hour", "all 168 hours at normal occupancy"),
    _rule(
        "H-02", "The fleet carries the loss of any region", "every lost region, hour and class with the lock's shares"
    ),
    _rule("H-03", "Every region carries the loss of any of its zones", "every zone and hour at failure occupancy"),
    _rule(
        "H-26",
        "Every pool carries the loss of a replica",
        "all hours at normal occupancy with one replica fewer; of a packed pool, one node fewer",
    ),
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
        id="H-09",
        title="Granted quotas cover the lock",
        severity="critical",
        why="a plan beyond the quota is no plan",
        checks="maximum nodes of every node pool, overlapping generations included, against capacity.yaml",
        misses="quotas that were changed in the cloud and not in capacity.yaml",
        fix="ask for more, or lower the demand and plan again",
        is_local=False,
        check=check_quotas,
    ),
    Rule(
        id="H-35",
        title="The network holds the lock's nodes",
        severity="critical",
        why="a node without addresses never joins",
        checks="maximum nodes of every node pool, one more while it is updated, against the ranges of regions.yaml",
        misses="networks that existed before; what else takes addresses there; the program itself refuses to grow so",
        fix="widen the range, or use more zones or regions",
        is_local=False,
        check=check_addresses,
    ),
    Rule(
        id="H-34",
        title="Models that scale to zero start inside the allowed outage",
        severity="high",
        why="a model that scales to zero serves nobody until it has started",
        checks="node, image, download, load and start of every such model, against every class that may wait for it",
        misses="clouds that have no node to give; time until a node is there is assumed",
        fix="use another tier or a faster machine type",
        is_local=False,
        check=check_cold_starts,
    ),
    Rule(
        id="H-17",
        title="Routing sends every class to a region that serves",
        severity="critical",
        why="a class without a region that serves it has no DNS records at all",
        checks="homes and shares of the lock against the serving regions of operations.yaml",
        misses="how much a drained region's neighbours can carry beyond the loss they are planned for",
        fix="set a region to serving",
        is_local=False,
        check=check_served,
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
