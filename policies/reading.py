"""Turns what the policy SDK hands over into resource records; unknown values become UNKNOWN, never an exception."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pulumi_policy import PolicyResourceOptions
from pulumi_policy.proxy import UnknownValueError

from outlast.view import UNKNOWN, Resource, Value, name_of, named_provider, normalise


class _Analysed(Protocol):
    """What resource and stack arguments of the SDK have in common."""

    resource_type: str
    props: Mapping[str, Any]
    urn: str
    opts: PolicyResourceOptions
    provider: Any


def plain(raw: Any) -> Value:
    """Return a property of the SDK as a plain value.

    Every access to a proxy can raise for an unknown value, so each is guarded on its own; slices are never taken,
    because they would leak the marker of an unknown.
    """
    if isinstance(raw, Mapping):
        return normalise({str(key): _entry(raw, key) for key in raw})
    if isinstance(raw, Sequence) and not isinstance(raw, str):
        return tuple(_entry(raw, index) for index in range(len(raw)))
    return normalise(raw)


def _entry(container: Any, key: Any) -> Value:
    try:
        return plain(container[key])
    except UnknownValueError:
        return UNKNOWN


def record(
    args: _Analysed, dependencies: Sequence[str] = (), property_dependencies: Mapping[str, Sequence[str]] | None = None
) -> Resource:
    """Return the record of one analysed resource."""
    inputs = plain(args.props)
    provider = plain(args.provider.props) if args.provider else {}
    return Resource(
        urn=args.urn,
        type=args.resource_type,
        name=name_of(args.urn),
        inputs=inputs if isinstance(inputs, Mapping) else {},
        parent=_parent(args.opts.parent),
        provider=named_provider(args.provider.urn) if args.provider else "",
        provider_inputs=provider if isinstance(provider, Mapping) else {},
        dependencies=tuple(sorted(dependencies)),
        property_dependencies={key: tuple(sorted(urns)) for key, urns in (property_dependencies or {}).items() if urns},
        protect=bool(args.opts.protect),
        ignore_changes=tuple(args.opts.ignore_changes or ()),
    )


def _parent(urn: str | None) -> str:
    return "" if not urn or "::pulumi:pulumi:Stack::" in urn else urn
