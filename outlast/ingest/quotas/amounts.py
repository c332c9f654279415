"""What a cloud's listing says: quota code of facts -> granted amount; and the readers of all clouds."""

from __future__ import annotations

import importlib
import math
import pkgutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from outlast.errors import ConfigError, Problem

CANNOT_SAY = "the listing does not say {what}; make sure that it is {right}"


@dataclass(frozen=True, kw_only=True)
class Amounts:
    """The quotas of one listing that facts know."""

    tool: str
    """Command that printed it."""
    granted: Mapping[str, float]
    """Quota code -> amount, in the unit of the quota."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The region whose quotas are looked for."""

    provider_region: str
    account: str
    codes: Collection[str]
    """Quota codes that facts know of the cloud."""


@cache
def readers() -> Mapping[str, ModuleType]:
    """Return cloud -> the module that reads its listings; a new cloud is a new file."""
    package = importlib.import_module("outlast.ingest.quotas")
    names = [f"{package.__name__}.{found.name}" for found in pkgutil.iter_modules(package.__path__)]
    modules = [importlib.import_module(name) for name in names]
    return {module.CLOUD: module for module in modules if hasattr(module, "CLOUD")}


def amount(value: object, where: str) -> float:
    """Return a granted amount of 0 or more, written as a number or as text.

    Raises:
        ConfigError: it is none.
    """
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise ConfigError(Problem(where=where, what="is no granted amount", got=repr(value)[:40], allowed="0 or more"))
    return number


def once(found: dict[str, float], code: str, value: float, where: str) -> None:
    """Put an amount under its code.

    Raises:
        ConfigError: another amount stands there.
    """
    if found.setdefault(code, value) != value:
        got = f"{found[code]:g} and {value:g}"
        do = "List one account and one region"
        raise ConfigError(Problem(where=where, what=f"quota {code} stands twice", got=got, do=do))


def entries(document: Any, where: str) -> list[Mapping[str, Any]]:
    """Return the items of a list that must be mappings.

    Raises:
        ConfigError: it is no list, or holds something else.
    """
    if not isinstance(document, list) or not all(isinstance(item, Mapping) for item in document):
        raise ConfigError(Problem(where=where, what="is cut off or changed", do="Save what the command prints, whole"))
    return document
