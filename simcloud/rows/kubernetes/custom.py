"""Custom resources: their definitions, and any kind that a definition in the cluster serves."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.refusals import Violation
from simcloud.row import Case, Row, refusal
from simcloud.rows.kubernetes.objects import (
    METADATA,
    cluster_id,
    cluster_key,
    namespace_missing,
    object_id,
    object_key,
    object_name,
)
from simcloud.state import Stored
from simcloud.values import is_unknown

DEFINITION = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
_DOCS = "Kubernetes documentation, Custom Resources"


@refusal(f"{_DOCS}: CustomResourceDefinition names")
def _plural_and_group(case: Case) -> Iterator[Violation]:
    wanted = f"{case.get('spec.names.plural')}.{case.get('spec.group')}"
    if case.get("metadata.name", wanted) != wanted and not case.unsure("spec.names.plural", "spec.group"):
        yield Violation(
            property="metadata.name",
            what="must be the plural and the group",
            got=f"'{case.get('metadata.name')}'",
            allowed=wanted,
            do="Rename it",
        )


@refusal(f"{_DOCS}: Deleting a CustomResourceDefinition", phase="delete")
def _objects_left(case: Case) -> Iterator[Violation]:
    wanted = f"kubernetes:{case.get('spec.group')}/", f":{case.get('spec.names.kind')}"
    left = [
        item.id
        for item in case.clouds.every("kubernetes", account=case.place.account)
        if item.type.startswith(wanted[0]) and item.type.endswith(wanted[1])
    ]
    if left:
        yield Violation(
            what="objects of this kind exist and would be deleted", got=", ".join(left[:5]), do="Delete them first"
        )


def _definition(case: Case) -> tuple[Stored | None, Mapping[str, Any]]:
    """The definition that serves a kind in this cluster, with its version's schema."""
    _, group_version, kind = case.type.split(":")
    group, version = group_version.split("/")
    for item in case.clouds.every("kubernetes", DEFINITION, case.place.account):
        spec = item.inputs.get("spec") or {}
        if spec.get("group") == group and (spec.get("names") or {}).get("kind") == kind:
            served = {entry.get("name"): entry for entry in spec.get("versions") or () if entry.get("served")}
            if version in served:
                return item, (served[version].get("schema") or {}).get("openAPIV3Schema") or {}
    return None, {}


@refusal(f"{_DOCS}: no matches for kind", phase="birth")
def _definition_missing(case: Case) -> Iterator[Violation]:
    found, _ = _definition(case)
    if found is None:
        kind, version = case.type.split(":")[2], case.type.split(":")[1]
        yield Violation(
            property="kind",
            what=f"the cluster knows no {kind} of {version}",
            do="Install its CustomResourceDefinition first (depends_on)",
        )


@refusal(f"{_DOCS}: structural schemas and field validation", phase="apply")
def _unlike_its_schema(case: Case) -> Iterator[Violation]:
    _, schema = _definition(case)
    yield from _problems(
        "", {k: v for k, v in case.inputs.items() if k not in ("apiVersion", "kind", "metadata")}, schema
    )


_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def _problems(path: str, value: Any, schema: Mapping[str, Any]) -> Iterator[Violation]:
    """Compare a value with an OpenAPI schema: types, required and unknown fields, allowed words."""
    kind = schema.get("type")
    if is_unknown(value) or schema.get("x-kubernetes-int-or-string") or kind is None:
        return
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        yield Violation(property=path, what=f"must be of type {kind}", got=repr(value), do="Correct it")
    elif "enum" in schema and value not in schema["enum"]:
        allowed = ", ".join(str(item) for item in schema["enum"])
        yield Violation(
            property=path, what="is not an allowed word", got=repr(value), allowed=allowed, do="Use one of these"
        )
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _problems(f"{path}[{index}]", item, schema.get("items") or {})
    elif isinstance(value, dict):
        yield from _field_problems(path, value, schema)


def _field_problems(path: str, value: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[Violation]:
    fields = schema.get("properties") or {}
    for key in schema.get("required") or ():
        if key not in value:
            yield Violation(property=f"{path}.{key}".lstrip("."), what="is required and missing", do="Set it")
    for key, item in value.items():
        where = f"{path}.{key}".lstrip(".")
        extra = schema.get("additionalProperties")
        if key in fields:
            yield from _problems(where, item, fields[key])
        elif isinstance(extra, Mapping):
            yield from _problems(where, item, extra)
        elif fields and not extra and not schema.get("x-kubernetes-preserve-unknown-fields"):
            near = difflib.get_close_matches(key, fields, n=1)
            yield Violation(
                property=where,
                what="is a field the schema does not know",
                do=f"Did you mean '{near[0]}'" if near else "Remove it",
            )


_SERVED = frozenset({"gateway.networking.k8s.io", "inference.networking.k8s.io", "snapshot.storage.k8s.io"})
"""Groups under the project's own domain that come as custom resources and not with the API server."""


def row_of(kind: str) -> Row | None:
    """Row of a custom kind: any type whose group is a domain name and not the API server's own."""
    words = kind.split(":")
    group = words[1].split("/")[0] if len(words) == 3 else ""
    if "." not in group or (group.endswith(".k8s.io") and group not in _SERVED and ".x-k8s." not in group):
        return None
    return Row(
        type=kind,
        id=object_id,
        name=object_name(),
        outputs={"metadata": METADATA},
        immutable=frozenset({"metadata.namespace"}),
        unique=(object_key,),
        refusals=(namespace_missing, _definition_missing, _unlike_its_schema),
    )


ROWS = (
    Row(
        type=DEFINITION,
        id=cluster_id,
        name=object_name(),
        place="cluster",
        outputs={"metadata": METADATA},
        unique=(cluster_key,),
        refusals=(_plural_and_group, _objects_left),
    ),
)
