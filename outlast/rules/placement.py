"""Placement: what may be in which kind of stack. Legal rules: outside a region's stack no rule asks where nodes lie."""

from __future__ import annotations

from collections.abc import Iterator

from outlast.errors import did_you_mean, listed
from outlast.intent import global_stack, routing_stack, stack_order
from outlast.rules.rule import Deployment, Rule
from outlast.rules.violation import Violation

REGIONAL_ROLES = frozenset({"cluster", "node_pool", "workload", "compute"})
"""Catalogue roles of what processes data."""
_STRAY_WHY = "what is in no stack of the fleet has no region, so no rule would ask where it lies"
_NODES_WHY = "only a region's stack is held to a place and to the lock; elsewhere nodes would lie anywhere, unproven"


def check_stack(deployment: Deployment) -> Iterator[Violation]:
    """Yield every stack that is none of the fleet's."""
    known = stack_order(deployment.intent)
    for stack in deployment.stacks:
        if stack not in known:
            meant = did_you_mean(stack, known)
            add = f"add the region to {deployment.intent.name}/regions.yaml, or select another stack"
            yield Violation(
                rule="R-41",
                urn=stack,
                path="stack",
                title=f"Stack {stack} is none of fleet '{deployment.intent.name}'",
                found=stack,
                allowed=listed(known, len(known)),
                why=_STRAY_WHY,
                fix=f"{meant}? Else {add}" if meant else add,
            )


def check_nodes_in_regions(deployment: Deployment) -> Iterator[Violation]:
    """Yield every cluster, node pool, workload and machine of a stack that is no region's."""
    intent = deployment.intent
    elsewhere = (global_stack(intent.name), routing_stack(intent.name))
    for resource in deployment.view.cloud_resources:
        row = deployment.view.row(resource)
        if row is not None and row.role in REGIONAL_ROLES and resource.stack in elsewhere:
            yield Violation(
                rule="R-42",
                urn=resource.urn,
                path="stack",
                title=f"{row.role.replace('_', ' ')} '{resource.name}' is in stack {resource.stack}, no region's",
                found=resource.stack,
                allowed=listed(stack for stack in stack_order(intent) if stack not in elsewhere),
                why=_NODES_WHY,
                fix="declare it in the stack of the region where it belongs",
            )


RULES = (
    Rule(
        id="R-41",
        title="The stack is one of the fleet's",
        severity="critical",
        why=_STRAY_WHY,
        checks="the stack in every URN against the regions of the fleet, global and routing",
        misses="stacks that never meet the policies",
        fix="add the region to regions.yaml, or select another stack",
        is_local=True,
        check=check_stack,
    ),
    Rule(
        id="R-42",
        title="Clusters, nodes and workloads are in a region's stack",
        severity="critical",
        why=_NODES_WHY,
        checks="catalogue roles cluster, node_pool, workload and compute in the global and the routing stack",
        misses="nodes that controllers create outside the engine",
        fix="declare it in the stack of its region",
        is_local=True,
        check=check_nodes_in_regions,
    ),
)
