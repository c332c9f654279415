"""Variants: named patches of intent in ``variants.yaml``, to ask what another choice would cost.

A variant holds, by file stem, what to change in that file:

    variants:
      burst-20:
        guardrails: {burst_margin: 20 %}
      fp8-kv:
        models: {models.chat-large.kv_precision: fp8}

A key with dots is a path; in a list, a number is a position from 0, the one behind the last adds an entry. A mapping
changes only the keys it names; a list or a value replaces what was there, and null removes the key. A lock is never
written from a variant.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from outlast.errors import ConfigError, Problem, did_you_mean, listed
from outlast.intent.base import Strict
from outlast.intent.intent import Intent
from outlast.intent.known import unknown
from outlast.intent.loader import FILES, intent_of
from outlast.intent.reading import parse_yaml, validate


class _Misfit(Exception):
    """A patch that does not fit the document."""

    def __init__(self, key: str, what: str, allowed: str = "", do: str = "") -> None:
        super().__init__(what)
        self.key, self.what, self.allowed, self.do = key, what, allowed, do


def with_variant(base: Intent, folder: Path, name: str) -> Intent:
    """Return the intent of a fleet with one of its variants.

    Args:
        base: the fleet as its files say.
        folder: where they lie.
        name: the variant.

    Raises:
        ConfigError: there is no such variant, its patch fits no file, or the files do not hold with it. Problems name
            variants.yaml and the variant.
    """
    variants = base.variants.variants
    where = f"{base.name}/variants.yaml"
    if name not in variants:
        raise ConfigError(unknown(where, "variant", name, variants))
    where = f"{where}, variants.{name}"
    if not variants[name]:
        raise ConfigError(Problem(where=where, what="changes nothing", do="Say what it changes, or remove it"))
    problems: list[Problem] = []
    files = {stem: _read(folder, stem, variants[name].get(stem), where, problems) for stem in FILES}
    try:
        return intent_of(files, folder, base.facts, problems)
    except ConfigError as error:
        raise ConfigError([_named(problem, where, base.name) for problem in error.problems]) from None


def check_variants(base: Intent, folder: Path) -> Iterator[Problem]:
    """Yield the problems of every variant of a fleet."""
    for name in base.variants.variants:
        try:
            with_variant(base, folder, name)
        except ConfigError as error:
            yield from error.problems


def _read(folder: Path, stem: str, patch: object, where: str, problems: list[Problem]) -> Strict | None:
    path, key = folder / f"{stem}.yaml", f"{where}.{stem}"
    document = parse_yaml(path.read_text(encoding="utf-8"), key, problems) if path.is_file() else {}
    if patch is not None:
        if not isinstance(patch, Mapping):
            do = f"Write for example '{stem}: {{some.key: value}}'"
            problems.append(Problem(where=key, what="holds keys and what to put there", got=str(patch), do=do))
            return None
        try:
            document = _patched(document or {}, _nested(patch), "")
        except _Misfit as misfit:
            place = f"{key}, {misfit.key}" if misfit.key else key
            problems.append(Problem(where=place, what=misfit.what, allowed=misfit.allowed, do=misfit.do))
            return None
    return validate(document or {}, f"{folder.name}/{stem}.yaml", FILES[stem], problems)


def _nested(patch: Mapping[Any, Any], path: str = "") -> dict[str, Any]:
    """Return a patch with its paths taken apart: ``{a.b: 1}`` is ``{a: {b: 1}}``."""
    found: dict[str, Any] = {}
    if not patch:
        raise _Misfit(path.rstrip("."), "changes nothing", do="Name keys below it, or write null to remove it")
    for key, value in patch.items():
        first, _, rest = str(key).partition(".")
        inner: Any = {rest: value} if rest else value
        if isinstance(inner, Mapping):
            inner = _nested(inner, f"{path}{first}.")
        _put(found, first, inner, f"{path}{key}")
    return found


def _put(found: dict[str, Any], key: str, value: Any, path: str) -> None:
    if key not in found:
        found[key] = value
    elif isinstance(found[key], dict) and isinstance(value, dict):
        for inner, entry in value.items():
            _put(found[key], inner, entry, path)
    else:
        raise _Misfit(path, "is changed twice", do="Keep one of them")


def _patched(document: Any, patch: Mapping[str, Any], path: str) -> Any:
    """Return a copy of a mapping or list with a patch in place."""
    result, removed = copy.copy(document), []
    for key, value in patch.items():
        place = f"{path}{key}"
        index = _position(result, key, place) if isinstance(result, list) else _spelled(result, key)
        known = index < len(result) if isinstance(result, list) else index in result
        if value is None and not known:
            do = did_you_mean(key, result) if isinstance(result, dict) else ""
            raise _Misfit(place, "there is nothing to remove", _keys(result), do or "Leave it out")
        if value is None:
            removed.append(index)
            continue
        old = result[index] if known else None
        if isinstance(value, Mapping):
            value = _patched(old if isinstance(old, dict | list) else {}, value, f"{place}.")
        if isinstance(result, list) and not known:
            result.append(value)
        else:
            result[index] = value
    for index in sorted(removed, reverse=True):
        del result[index]
    return result


def _keys(document: Any) -> str:
    if isinstance(document, dict):
        return listed(document)
    return f"0 to {len(document) - 1}" if document else "none: the list is empty"


def _position(document: list[Any], key: str, place: str) -> int:
    if not key.isdigit() or int(key) > len(document):
        do = "Count from 0; the position behind the last one adds an entry"
        raise _Misfit(place, "is no position in the list", f"0 to {len(document)}", do)
    return int(key)


def _spelled(document: Mapping[Any, Any], key: str) -> Any:
    """Return a key as the document holds it: YAML reads some plain words as numbers or truth values."""
    return next((known for known in document if str(known) == key), key)


def _named(problem: Problem, where: str, fleet: str) -> Problem:
    """Return the problem of a patched file as one of the variant that patches it."""
    if problem.where.startswith(where):
        return problem
    return replace(problem, where=f"{where}, giving {problem.where.removeprefix(f'{fleet}/')}")
