"""What an API server refuses in the metadata of any object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simcloud.kubernetes_words import is_label_key, is_label_value
from simcloud.refusals import Violation
from simcloud.row import Case, refusal
from simcloud.values import is_unknown

_DOCS = "Kubernetes documentation"


@refusal("Kubernetes API Reference")
def kind_of_another(case: Case) -> Iterator[Violation]:
    """Refuse an object that says it is of another kind than its resource."""
    _, group_version, kind = case.type.split(":")
    version = group_version.removeprefix("core/")
    for key, wanted in (("apiVersion", version), ("kind", kind)):
        given = case.get(key, wanted)
        if given != wanted:
            yield Violation(
                property=key, what="is not the resource's", got=f"'{given}'", allowed=wanted, do="Leave it out"
            )


@refusal(f"{_DOCS}, Labels and Selectors")
def label_malformed(case: Case) -> Iterator[Violation]:
    """Refuse labels of a form that the API server does not take, on an object, its pods or in its selector."""
    for path in ("metadata.labels", "spec.template.metadata.labels", "spec.selector.matchLabels"):
        found: Any = case.get(path)
        for key, value in found.items() if isinstance(found, dict) else ():
            if not is_label_key(key) or not (is_unknown(value) or is_label_value(str(value))):
                yield Violation(
                    property=f"{path}.{key}",
                    what="is not a label",
                    got=f"{key}={value}",
                    do="Use at most 63 letters, digits, - _ and .",
                )


@refusal(f"{_DOCS}, Annotations: Syntax and character set")
def annotation_malformed(case: Case) -> Iterator[Violation]:
    """Refuse annotations whose keys are of another form, or that are too long together."""
    found: Any = case.get("metadata.annotations")
    for key in found if isinstance(found, dict) else ():
        if not is_label_key(key):
            yield Violation(
                property=f"metadata.annotations.{key}",
                what="is not the key of an annotation",
                got=f"'{key}'",
                do="Use at most 63 letters, digits, - _ and . after a domain and a slash",
            )
    size = sum(len(f"{key}{value}".encode()) for key, value in found.items()) if isinstance(found, dict) else 0
    if size > 256 * 1024:
        yield Violation(
            property="metadata.annotations",
            what="is too long",
            got=f"{size} bytes",
            allowed="262144 bytes",
            do="Shorten it",
        )
