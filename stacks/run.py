"""Runs the program of a stack: loads the files, checks, and hands over to the stack's wiring."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pulumi

from outlast.errors import BrokenLock, OutlastError, Problem
from outlast.facts import load_facts
from outlast.intent import Intent, config_in, fleet_folder, load_intent
from outlast.intent.stacks import StackName, check_region, parse
from outlast.lock import Lock, read_lock
from stacks import global_, region, routing
from stacks.checks import check_before, check_knobs

_SAID = 32
"""Exit code of a program whose failure the user has been told already. Source: the SDK's program runner."""
_PROJECT = Path(__file__).parents[1]


def run(stack: str) -> None:
    """Declare a stack.

    Raises:
        SystemExit: a user's mistake has been shown in plain words; the engine adds nothing of its own.
    """
    try:
        _run(parse(stack))
    except OutlastError as error:
        pulumi.log.error(str(error))
        raise SystemExit(_SAID) from None


def end_quietly_on_interrupt() -> None:
    """End at once when interrupted: the engine stops a program whose deployment has failed, and has said why itself."""
    signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(_SAID))


def _run(stack: StackName) -> None:
    root = config_in(os.environ, _PROJECT)
    folder = fleet_folder(root, stack.fleet)
    intent = load_intent(root, stack.fleet, load_facts(root))
    check_region(stack, intent)
    lock = read_lock(folder)
    _check_block(stack, lock)
    knobs = pulumi.Config("outlast")
    teardown, inside = knobs.get_bool("teardown") or False, knobs.get_bool("inside") is not False
    check_knobs(stack, teardown=teardown, inside=inside)
    check_before(stack, intent, lock, teardown=teardown)
    declare(stack, intent, lock, teardown=teardown, inside=inside)


def declare(stack: StackName, intent: Intent, lock: Lock, *, teardown: bool = False, inside: bool = True) -> None:
    """Declare a stack from files already loaded and checked.

    Args:
        stack: which one.
        intent: the fleet.
        lock: its plan.
        teardown: lift protection, so that a later destroy may pass.
        inside: declare what lies inside a cluster too; a teardown of a half-made region leaves it out.
    """
    if stack.region is not None:
        region.declare(intent, lock, stack.region, teardown=teardown, inside=inside)
    elif stack.kind == "global":
        global_.declare(intent, lock, teardown=teardown)
    else:
        routing.declare(intent, lock)


def _check_block(stack: StackName, lock: Lock) -> None:
    if stack.region is not None and stack.region not in lock.regions:
        where = f"{stack.fleet}/plan.lock.yaml, regions"
        do = f"Run 'outlast plan {stack.fleet}' and commit the result"
        raise BrokenLock(Problem(where=where, what=f"the lock has no block for '{stack.region}'", do=do))
