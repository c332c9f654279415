"""Names of stacks: ``<fleet>.<region>``, ``<fleet>.global``, ``<fleet>.routing``; spelled here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from outlast.errors import ConfigError, Problem, did_you_mean, listed
from outlast.intent.intent import Intent

GLOBAL: Literal["global"] = "global"
ROUTING: Literal["routing"] = "routing"


@dataclass(frozen=True, kw_only=True)
class StackName:
    """A stack's name, taken apart."""

    fleet: str
    kind: Literal["global", "region", "routing"]
    region: str | None = None
    """Our region; only for a region's stack."""

    def __str__(self) -> str:
        """Return the name as the engine knows it."""
        return f"{self.fleet}.{self.region or self.kind}"


def region_stack(fleet: str, region: str) -> str:
    """Return the name of a region's stack."""
    return f"{fleet}.{region}"


def global_stack(fleet: str) -> str:
    """Return the name of the stack that outlives every region."""
    return f"{fleet}.{GLOBAL}"


def routing_stack(fleet: str) -> str:
    """Return the name of the stack that sends traffic to regions."""
    return f"{fleet}.{ROUTING}"


def stack_order(intent: Intent) -> tuple[str, ...]:
    """Return the fleet's stacks in the order of deployment: global, regions, routing."""
    regions = (region_stack(intent.name, region) for region in intent.regions)
    return (global_stack(intent.name), *regions, routing_stack(intent.name))


def deployed_together(stacks: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Return stacks in the groups in which they are deployed: global, all regions at once, routing; none is empty.

    A region's deployment changes nothing that another region reads, and is judged with the others anywhere between
    what they hold and what they are to hold.
    """
    found: dict[str, list[str]] = {"global": [], "region": [], "routing": []}
    for stack in stacks:
        found[parse(stack).kind].append(stack)
    return tuple(tuple(group) for group in found.values() if group)


def parse(text: str) -> StackName:
    """Take a stack's name apart.

    Raises:
        ConfigError: it has no fleet or no part.
    """
    fleet, _, part = text.partition(".")
    if not fleet or not part or "." in part:
        form = "<fleet>.<region>, <fleet>.global or <fleet>.routing"
        raise ConfigError(
            Problem(
                where=f"stack '{text}'",
                what="not a stack's name",
                allowed=form,
                do="Select a stack such as demo.global",
            )
        )
    if part == GLOBAL:
        return StackName(fleet=fleet, kind="global")
    if part == ROUTING:
        return StackName(fleet=fleet, kind="routing")
    return StackName(fleet=fleet, kind="region", region=part)


def check_region(stack: StackName, intent: Intent) -> None:
    """Check that a region's stack names a region of the fleet.

    Raises:
        ConfigError: it does not.
    """
    if stack.region is not None and stack.region not in intent.regions:
        known = [*intent.regions, GLOBAL, ROUTING]
        do = (
            did_you_mean(stack.region, known)
            or f"Add the region to {intent.name}/regions.yaml, or select another stack"
        )
        raise ConfigError(
            Problem(
                where=f"stack '{stack}'",
                what=f"fleet '{intent.name}' has no '{stack.region}'",
                allowed=listed(known),
                do=do,
            )
        )
