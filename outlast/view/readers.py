"""Builds resource records from what the engine writes: a preview's JSON, a state export.

The other two readers live where their source is: the recorder in the tests, the policy pack's in ``policies``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from outlast.view.resource import Resource, Value, name_of, normalise, provider_of

GONE = frozenset({"delete", "delete-replaced", "read-discard", "discard-replaced", "remove-pending-replace"})
"""Operations after which a resource no longer exists."""


def after_preview(document: Mapping[str, Any]) -> tuple[Resource, ...]:
    """Return the resources that would exist after a preview.

    Args:
        document: what ``pulumi preview --json --show-sames`` printed.
    """
    states = [step["newState"] for step in document.get("steps", ()) if step["op"] not in GONE and step.get("newState")]
    return _records(states)


def before_preview(document: Mapping[str, Any]) -> tuple[Resource, ...]:
    """Return the resources that exist before the deployment of a preview."""
    states = [step["oldState"] for step in document.get("steps", ()) if step["op"] != "create" and step.get("oldState")]
    return _records(states)


def from_export(document: Mapping[str, Any]) -> tuple[Resource, ...]:
    """Return the resources of ``pulumi stack export``; those waiting for deletion are left out."""
    deployment = document.get("deployment") or {}
    return _records(state for state in deployment.get("resources", ()) if not state.get("delete"))


def _records(states: Iterable[Mapping[str, Any]]) -> tuple[Resource, ...]:
    unique = {state["urn"]: state for state in states}
    providers = {
        urn: _mapping(state.get("inputs"))
        for urn, state in unique.items()
        if state["type"].startswith("pulumi:providers:")
    }
    return tuple(_record(state, providers) for _, state in sorted(unique.items()))


def _record(state: Mapping[str, Any], providers: Mapping[str, Mapping[str, Value]]) -> Resource:
    reference = str(state.get("provider") or "")
    return Resource(
        urn=state["urn"],
        type=state["type"],
        name=name_of(state["urn"]),
        inputs=_mapping(state.get("inputs")),
        parent=_parent(state.get("parent")),
        provider=provider_of(reference),
        provider_inputs=providers.get(reference.rsplit("::", 1)[0], {}),
        dependencies=tuple(sorted(state.get("dependencies") or ())),
        property_dependencies={
            key: tuple(sorted(urns)) for key, urns in (state.get("propertyDependencies") or {}).items() if urns
        },
        protect=bool(state.get("protect")),
        ignore_changes=tuple(state.get("ignoreChanges") or ()),
    )


def _parent(urn: str | None) -> str:
    return "" if urn is None or "::pulumi:pulumi:Stack::" in urn else urn


def _mapping(raw: Any) -> Mapping[str, Value]:
    value = normalise(raw or {})
    return value if isinstance(value, Mapping) else {}
