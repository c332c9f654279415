"""The pack: one resource policy with all local rules, one stack policy with the rest; every finding is mandatory.

The resource policy also collects each resource's checked inputs, because on a first preview a stack policy sees empty
inputs for objects inside a cluster that does not exist yet. Fleet and stack come from the URN, never from the engine's
context, which is empty when a stored state is analysed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from outlast.errors import OutlastError
from outlast.facts import Facts, load_facts
from outlast.intent import Intent, config_in, fleet_folder, load_intent
from outlast.lock import AppliedFile, Lock, applied_in, read_lock
from outlast.rules import LOCK, RULES, Deployment, Violation, run
from outlast.view import Resource, View, is_built_in, stack_of, view_of
from policies.reading import record

LOCAL = tuple(rule for rule in RULES if rule.is_local)
UNREADABLE = "X-01"


@dataclass(frozen=True)
class Context:
    """What rules need besides resources: read once per fleet and pack process."""

    intent: Intent
    lock: Lock
    applied: AppliedFile | None


@dataclass
class Pack:
    """State of one pack process: where configuration lies, and the resources seen so far."""

    root: Path
    """The pack's own root; configuration lies in its ``config`` folder unless the environment says otherwise."""
    environment: Mapping[str, str]
    seen: dict[str, Resource] = field(default_factory=dict)
    reported: set[Violation] = field(default_factory=set)

    def collect(self, args: ResourceValidationArgs) -> Resource:
        """Keep a resource's checked inputs for the stack policy."""
        resource = record(args)
        self.seen[resource.urn] = resource
        return resource

    def check_resource(self, args: ResourceValidationArgs, report: ReportViolation) -> None:
        """Collect a resource and judge it alone where that decides."""
        resource = self.collect(args)
        if is_built_in(resource.type):
            return
        try:
            context = self._context(stack_of(resource.urn))
        except OutlastError:
            return  # the stack policy says why, once
        alone = View((resource,), context.intent.facts)
        deployment = Deployment(intent=context.intent, lock=context.lock, applied=context.applied, view=alone)
        self._report(run(LOCAL, deployment), report)

    def check_stack(self, args: StackValidationArgs, report: ReportViolation) -> None:
        """Judge the whole stack with the inputs collected from its resources."""
        resources = [self.merged(found) for found in args.resources]
        stacks = sorted({stack_of(resource.urn) for resource in resources})
        for stack in stacks:
            try:
                context = self._context(stack)
            except OutlastError as error:
                report(_unreadable(stack, error).message(), "")
                continue
            view = view_of((r for r in resources if stack_of(r.urn) == stack), context.intent.facts)
            deployment = Deployment(intent=context.intent, lock=context.lock, applied=context.applied, view=view)
            self._report(run(RULES, deployment), report)

    def merged(self, found: PolicyResource) -> Resource:
        """Return a resource of the stack with the inputs collected from it."""
        dependencies = [resource.urn for resource in found.dependencies]
        properties = {
            key: [resource.urn for resource in targets] for key, targets in found.property_dependencies.items()
        }
        resource = record(found, dependencies, properties)
        seen = self.seen.get(resource.urn)
        return resource if seen is None else replace(resource, inputs=seen.inputs, provider_inputs=seen.provider_inputs)

    def _report(self, violations: Iterable[Violation], report: ReportViolation) -> None:
        for violation in violations:
            if violation.refused and violation not in self.reported:
                self.reported.add(violation)
                report(violation.message(), "" if violation.urn == LOCK else violation.urn)

    def _context(self, stack: str) -> Context:
        config = config_in(self.environment, self.root)
        intent, lock = _load(config, stack.partition(".")[0])
        return Context(intent, lock, applied_in(self.environment, self.root))


@cache
def _facts(config: Path) -> Facts:
    return load_facts(config)


@cache
def _load(config: Path, fleet: str) -> tuple[Intent, Lock]:
    return load_intent(config, fleet, _facts(config)), read_lock(fleet_folder(config, fleet))


def _unreadable(stack: str, error: OutlastError) -> Violation:
    return Violation(
        rule=UNREADABLE,
        urn=stack,
        path="configuration",
        title=f"The configuration of {stack} cannot be read, so nothing can be allowed",
        found=f"{len(error.problems)} problems; first: {error.problems[0]}",
        allowed="configuration without problems",
        why="rules without intent and lock would pass anything",
        fix="run 'outlast check' and mend what it says",
        decided=False,
    )


def policies(root: Path) -> list[Policy]:
    """Return the pack's two policies.

    Args:
        root: the pack's own root; configuration lies in its ``config`` folder unless ``OUTLAST_CONFIG`` says otherwise.
    """
    pack = Pack(root, os.environ)
    return [
        ResourceValidationPolicy(
            name="outlast-resource",
            description="Each resource alone: listed type, place, jurisdiction.",
            validate=[pack.check_resource],
            enforcement_level=EnforcementLevel.MANDATORY,
        ),
        StackValidationPolicy(
            name="outlast-stack",
            description="The whole stack: survival of every loss, resources as the lock says, every place known.",
            validate=pack.check_stack,
            enforcement_level=EnforcementLevel.MANDATORY,
        ),
    ]
