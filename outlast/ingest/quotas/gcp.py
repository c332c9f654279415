"""Reads ``gcloud compute regions describe REGION`` and ``gcloud quotas info list``, both with ``--format json``.

Schemas: Compute Engine API v1, ``Region.quotas`` with ``metric``, ``limit``, ``usage``; Cloud Quotas API v1,
``QuotaInfo`` with ``quotaId``, ``metric`` and ``dimensionsInfos`` of ``dimensions``, ``applicableLocations`` and
``details.value`` (text; left out for 0, -1 for no limit).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outlast.errors import ConfigError, Problem
from outlast.ingest.quotas.amounts import Amounts, Wanted, amount, entries, once

CLOUD = "gcp"
COMMAND = "gcloud compute regions describe REGION --format json, or gcloud quotas info list --format json"
_NO_LIMIT = -1


def recognises(document: object) -> bool:
    """Whether a document is one of these commands'."""
    return _is_region(document) or bool(_infos(document))


def amounts(document: Any, wanted: Wanted, where: str) -> Amounts:
    """Return the listing's amounts.

    Raises:
        ConfigError: it is of another region or project, or wrong in itself.
    """
    return _of_region(document, wanted, where) if _is_region(document) else _of_infos(_infos(document), wanted, where)


def _is_region(document: object) -> bool:
    return isinstance(document, Mapping) and "quotas" in document and "name" in document


def _infos(document: object) -> Any:
    listed = document.get("quotaInfos") if isinstance(document, Mapping) else document
    is_ours = isinstance(listed, list) and any(isinstance(item, Mapping) and "quotaId" in item for item in listed)
    return listed if is_ours else ()


def _of_region(document: Mapping[str, Any], wanted: Wanted, where: str) -> Amounts:
    region, link = str(document["name"]), str(document.get("selfLink", ""))
    if region != wanted.provider_region:
        _refuse(where, "is of another region", region, wanted.provider_region)
    _check_project(link, wanted, where)
    found: dict[str, float] = {}
    for quota in entries(document["quotas"], where):
        code = str(quota.get("metric"))
        if code in wanted.codes:
            once(found, code, amount(quota.get("limit"), f"{where}, {code}"), where)
    family = any("/" in code for code in wanted.codes)
    notes = ("quotas by GPU family are only in 'gcloud quotas info list'",) if family else ()
    return Amounts(tool=COMMAND, granted=found, notes=notes)


def _of_infos(listed: Any, wanted: Wanted, where: str) -> Amounts:
    found: dict[str, float] = {}
    notes: list[str] = []
    for info in entries(list(listed), where):
        _check_project(str(info.get("name", "")), wanted, where)
        metric = str(info.get("metric", "")).rsplit("/", 1)[-1].upper()
        best: dict[str, tuple[int, Mapping[str, Any]]] = {}
        for row in entries(info.get("dimensionsInfos") or [], where):
            dimensions = row.get("dimensions") or {}
            rank = _rank(row, wanted.provider_region)
            family = dimensions.get("gpu_family")
            code = f"{info.get('quotaId')}/{family}" if family else metric
            if code in wanted.codes and rank > best.get(code, (0, {}))[0]:
                best[code] = (rank, row)
        for code, (_, row) in best.items():
            value = (row.get("details") or {}).get("value", 0)
            if str(value) == str(_NO_LIMIT):
                notes.append(f"{code} has no limit there; it is left as it stands")
            else:
                once(found, code, amount(value, f"{where}, {code}"), where)
    return Amounts(tool=COMMAND, granted=found, notes=tuple(notes))


def _rank(row: Mapping[str, Any], region: str) -> int:
    """Return how closely a row is about a region: 0 not at all, 2 by name, 1 among others."""
    named = (row.get("dimensions") or {}).get("region")
    if named is not None:
        return 2 if named == region else 0
    return int(region in (row.get("applicableLocations") or ()))


def _check_project(link: str, wanted: Wanted, where: str) -> None:
    """Refuse another project's listing; a number instead of an id cannot be compared."""
    parts = link.split("/")
    project = parts[parts.index("projects") + 1] if "projects" in parts[:-1] else ""
    if project and not project.isdecimal() and project != wanted.account:
        _refuse(where, "is of another project", project, wanted.account)


def _refuse(where: str, what: str, got: str, allowed: str) -> None:
    do = "Name the region of ours that it is of, or list the right one"
    raise ConfigError(Problem(where=where, what=what, got=got, allowed=allowed, do=do))
