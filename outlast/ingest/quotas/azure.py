"""Reads ``az vm list-usage --location LOCATION --output json``.

Schema: Compute API, ``Usage`` with ``name.value``, ``limit`` and ``currentValue``; the command line prints the list
alone and its numbers as text. It names neither the subscription nor the location.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outlast.ingest.quotas.amounts import CANNOT_SAY, Amounts, Wanted, amount, entries, once

CLOUD = "azure"
COMMAND = "az vm list-usage --location LOCATION --output json"


def recognises(document: object) -> bool:
    """Whether a document is this command's."""
    listed = _usages(document)
    return isinstance(listed, list) and any(
        isinstance(item, Mapping) and "limit" in item and isinstance(item.get("name"), Mapping) for item in listed
    )


def amounts(document: Any, wanted: Wanted, where: str) -> Amounts:
    """Return the listing's amounts.

    Raises:
        ConfigError: it is wrong in itself.
    """
    by_name = {code.lower(): code for code in wanted.codes}
    found: dict[str, float] = {}
    for usage in entries(_usages(document), where):
        name = usage.get("name")
        code = by_name.get(str(name.get("value", "")).lower()) if isinstance(name, Mapping) else None
        if code is not None:
            once(found, code, amount(usage.get("limit"), f"{where}, {code}"), where)
    right = f"{wanted.provider_region} of {wanted.account}"
    note = CANNOT_SAY.format(what="its location and subscription", right=right)
    return Amounts(tool=COMMAND, granted=found, notes=(note,))


def _usages(document: object) -> Any:
    return document.get("value") if isinstance(document, Mapping) else document
