"""The demo's fleet as its stacks declare it, with what a test changes."""

from functools import cache

from outlast.rules import Deployment
from outlast.view import Resource, is_built_in, view_of
from tests.builders import demo_intent, facts, with_input
from tests.stacks.conftest import STACKS, demo_lock, recorded


@cache
def declared(stack: str) -> tuple[Resource, ...]:
    """What a stack of the demo tells the engine before anything is deployed."""
    return recorded(stack).resources


def declared_resource(stack: str, type_: str, name: str) -> Resource:
    """One resource of the demo."""
    (found,) = [row for row in declared(stack) if row.name == name and row.type == type_ and not is_built_in(row.type)]
    return found


def demo(*more: Resource, without: tuple[str, ...] = ()) -> Deployment:
    """All stacks of the demo, with more resources, each instead of the one of its URN, and without some URNs."""
    resources = {row.urn: row for stack in STACKS for row in declared(stack)} | {row.urn: row for row in more}
    kept = [row for urn, row in resources.items() if urn not in without]
    return Deployment(intent=demo_intent(), lock=demo_lock(), applied=None, view=view_of(kept, facts()))


def demo_with(stack: str, type_: str, name: str, path: str, value: object) -> Deployment:
    """All stacks of the demo with one input of one resource changed."""
    return demo(with_input(declared_resource(stack, type_, name), path, value))
