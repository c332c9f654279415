"""Words of Kubernetes that every cloud reads alike: versions and labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simcloud.refusals import Violation
from simcloud.row import Case, Check

_WORD = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"


def minor(version: object) -> int:
    """Return the minor number of a version such as `1.36` or `v1.36.2-eksbuild.1`; 0 if it says none."""
    match = re.match(r"v?1\.(\d+)", str(version))
    return int(match[1]) if match else 0


def one_step(path: str) -> Check:
    """Make a check that a control plane's version moves as far as Kubernetes lets it."""

    def check(case: Case) -> Iterator[Violation]:
        old, new = minor((case.old or {}).get(path)), minor(case.get(path))
        if old and new and not old <= new <= old + 1:
            yield Violation(
                property=path,
                what="a control plane moves up one minor version at a time",
                got=f"1.{old} to 1.{new}",
                allowed=f"1.{old} or 1.{old + 1}",
                do="Go step by step",
            )

    check.__name__ = "version-step"
    return check


def is_label_key(key: str) -> bool:
    """Tell whether labels and annotations may have a key, with or without a domain before it."""
    return re.fullmatch(rf"([a-z0-9.-]{{1,253}}/)?{_WORD}", key) is not None


def is_label_value(value: str) -> bool:
    """Tell whether a label may have a value."""
    return re.fullmatch(rf"({_WORD})?", value) is not None
