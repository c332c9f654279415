"""Forms that all services of Google Cloud share: names of Compute Engine, labels, locations inside full names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simcloud.refusals import Violation
from simcloud.row import Case, Name, Refusal, refusal

_API = "Compute Engine API Reference"
_MOST_LABELS = 64


def resource_name(longest: int = 63, source: str = f"{_API}, resource names (RFC 1035)") -> Name:
    """The form of name that most of Compute Engine takes."""
    return Name(
        path="name",
        pattern=r"[a-z]([-a-z0-9]*[a-z0-9])?",
        longest=longest,
        source=source,
        says="lower-case letters, digits and hyphens, starting with a letter",
    )


def labelled(path: str = "labels") -> Refusal:
    """Make the refusal of labels at a path that the cloud does not take."""

    @refusal("Resource Manager documentation, Requirements for labels", claim="label-malformed")
    def check(case: Case) -> Iterator[Violation]:
        labels = case.get(path)
        if not isinstance(labels, dict):
            return
        if len(labels) > _MOST_LABELS:
            what, do = "holds too many labels", "Leave some out"
            yield Violation(property=path, what=what, got=str(len(labels)), allowed=f"up to {_MOST_LABELS}", do=do)
        for key, value in labels.items():
            text = str(value)
            good = re.fullmatch(r"[^\W\d_][\w-]{0,62}", key) and re.fullmatch(r"[\w-]{0,63}", text)
            if not good or key != key.lower() or text != text.lower():
                yield Violation(
                    property=f"{path}.{key}",
                    what="is not a label the cloud takes",
                    got=f"'{key}: {text}'",
                    allowed="lower-case letters, digits, _ and -, up to 63; a key starts with a letter",
                    do="Write it so",
                )

    return check


def location_of(full_name: object) -> str:
    """Return the location inside a full name; empty if it says none."""
    found = re.search(r"/locations/([^/]+)/", str(full_name))
    return found[1] if found else ""
