"""Reads one YAML file into one model and says everything that is wrong with it in the user's words."""

from __future__ import annotations

import typing
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from outlast.errors import Problem, did_you_mean, listed

M = TypeVar("M", bound=BaseModel)


class _Mistake(yaml.MarkedYAMLError):
    def __init__(self, what: str, node: yaml.Node) -> None:
        super().__init__(problem=what, problem_mark=node.start_mark)


class _Loader(yaml.SafeLoader):
    """Names the line of what YAML itself lets pass silently, such as a key twice, or breaks on without a place."""


def _unique_mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Hashable, Any]:
    keys: set[Hashable] = set()
    for key_node, _ in node.value:
        if key_node.tag == _MERGE:
            continue
        if not isinstance(key_node, yaml.ScalarNode):
            what = "a key must be a plain word; put text with braces in quotes"
            raise _Mistake(what, key_node)
        if key_node.tag == _BOOL:
            key_node.tag = _TEXT  # 'off' and 'NO' are words where a key is asked for
        key = loader.construct_object(key_node)
        if key in keys:
            what = f"key '{key}' stands twice"
            raise _Mistake(what, key_node)
        keys.add(key)
    return loader.construct_mapping(node, deep=True)


def _whole(loader: _Loader, node: yaml.ScalarNode) -> object:
    """Return digits after a leading zero as text: they are an id, and YAML would take them for a number of base 8."""
    text = loader.construct_scalar(node)
    return text if text.isdigit() and text.startswith("0") and len(text) > 1 else loader.construct_yaml_int(node)


def _date(loader: _Loader, node: yaml.ScalarNode) -> object:
    try:
        return loader.construct_yaml_timestamp(node)
    except ValueError as error:
        what = f"'{node.value}' is no date: {error}"
        raise _Mistake(what, node) from error


_MERGE = "tag:yaml.org,2002:merge"
_BOOL, _TEXT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:str"
_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _unique_mapping)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _date)
_Loader.add_constructor("tag:yaml.org,2002:int", _whole)


def parse_yaml(text: str, where: str, problems: list[Problem]) -> object | None:
    """Return the parsed document, or None after adding a problem."""
    try:
        document: object = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{where}, line {mark.line + 1}" if mark else where
        what = " ".join(part for part in (error.context, error.problem) if part)
        do = "Indent with blanks, never with tabs" if "'\\t'" in what else "Mend the line"
        problems.append(Problem(where=place, what=f"not valid YAML: {what}", do=do))
    except (yaml.YAMLError, ValueError) as error:
        problems.append(Problem(where=where, what=f"not valid YAML: {str(error).splitlines()[0]}", do="Mend the file"))
    else:
        return document
    return None


def read_file(path: Path, where: str, model: type[M], problems: list[Problem], *, optional: bool) -> M | None:
    """Return the file as ``model``, or None after adding its problems.

    Args:
        path: the file.
        where: how messages name it.
        model: what it must hold.
        problems: receives one problem per mistake.
        optional: a missing file stands for an empty one.
    """
    if not path.is_file():
        if optional:
            return model.model_validate({})
        problems.append(
            Problem(where=where, what="the file is missing", do="Create it, or copy it from the demo fleet")
        )
        return None
    found = len(problems)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        problems.append(Problem(where=where, what="the file is not UTF-8 text", do="Save it as UTF-8"))
        return None
    document = parse_yaml(text, where, problems)
    if len(problems) > found:
        return None
    return validate(document if document is not None else {}, where, model, problems)


def validate(document: object, where: str, model: type[M], problems: list[Problem]) -> M | None:
    """Return ``document`` as ``model``, or None after adding one problem per mistake."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        details = error.errors()
        problems.extend(_problem(detail, where, model) for detail in details if not _follows(detail, details))
        return None


def _follows(detail: ErrorDetails, details: Iterable[ErrorDetails]) -> bool:
    """Whether a list only seems too short because some of its entries are wrong, which is said already."""
    place = detail["loc"]
    below = (other["loc"] for other in details if len(other["loc"]) > len(place))
    return detail["type"] == "too_short" and any(loc[: len(place)] == place for loc in below)


def _problem(detail: ErrorDetails, where: str, model: type[BaseModel]) -> Problem:
    path = [str(part) for part in detail["loc"] if part != "[key]"]
    key = ".".join(path)
    place = f"{where}, {key}" if key else where
    kind = detail["type"]
    if kind == "extra_forbidden":
        known = sorted(_keys_at(model, detail["loc"][:-1]))
        return Problem(
            where=place,
            what=f"unknown key '{path[-1]}'",
            allowed=listed(known, 20),
            do=did_you_mean(path[-1], known) or "Remove it",
        )
    if kind == "missing":
        return Problem(where=place, what="this key is missing", do=f"Add '{path[-1]}'")
    if kind in ("literal_error", "enum"):
        expected = detail.get("ctx", {}).get("expected", "")
        words = [word.strip(" '") for word in expected.replace(" or ", ", ").split(",")]
        got = str(detail["input"])
        return Problem(
            where=place,
            what="not an allowed value",
            got=f"'{got}'",
            allowed=expected,
            do=did_you_mean(got, words) or "Choose one",
        )
    if kind == "value_error":
        return Problem(where=place, what=str(detail["ctx"]["error"]), do="Mend the value")
    if kind == "string_pattern_mismatch":
        pattern = detail.get("ctx", {}).get("pattern", "")
        return Problem(
            where=place,
            what="malformed value",
            got=f"'{detail['input']}'",
            allowed=_PATTERNS.get(pattern, f"text like {pattern}"),
            do="Mend it",
        )
    what, do = _KINDS.get(kind, (detail["msg"][:1].lower() + detail["msg"][1:], "Mend the value"))
    return Problem(where=place, what=what, got=_short(detail["input"]), allowed=_bounds(detail), do=do)


_KINDS: Mapping[str, tuple[str, str]] = {
    "model_type": ("must hold keys with values", "Write 'key: value' lines"),
    "dict_type": ("must hold keys with values", "Write 'key: value' lines"),
    "tuple_type": ("must be a list", "Write [a, b]"),
    "too_short": ("must hold at least one entry", "Add one"),
    "string_type": ("must be text", "Put it in quotes"),
    "string_too_short": ("is too short", "Write it out"),
    "string_too_long": ("is too long", "Shorten it"),
    "int_type": ("must be a whole number", "Mend the value"),
    "int_parsing": ("must be a whole number", "Mend the value"),
    "int_from_float": ("must be a whole number", "Mend the value"),
    "float_parsing": ("must be a number", "Mend the value"),
    "float_type": ("must be a number", "Mend the value"),
    "greater_than": ("is too small", "Mend the value"),
    "greater_than_equal": ("is too small", "Mend the value"),
    "less_than_equal": ("is too large", "Mend the value"),
    "bool_type": ("must be true or false", "Mend the value"),
    "bool_parsing": ("must be true or false", "Mend the value"),
    "date_type": ("must be a date", "Write it as 2026-11-30"),
    "date_parsing": ("must be a date", "Write it as 2026-11-30"),
    "date_from_datetime_parsing": ("must be a date", "Write it as 2026-11-30"),
    "timezone_aware": ("lacks its time zone", "Write it as 2026-11-30T09:00:00Z"),
    "datetime_from_date_parsing": ("must be a time", "Write it as 2026-11-30T09:00:00Z"),
    "datetime_parsing": ("must be a time", "Write it as 2026-11-30T09:00:00Z"),
}
"""Kind of mistake -> what is wrong, and what to do, in words that need no knowledge of Python."""
_BOUNDS: Mapping[str, str] = {
    "gt": "more than {}",
    "ge": "{} or more",
    "le": "{} or less",
    "min_length": "{} or more",
    "max_length": "at most {}",
}


def _bounds(detail: ErrorDetails) -> str:
    context = detail.get("ctx", {})
    return ", ".join(form.format(context[name]) for name, form in _BOUNDS.items() if name in context)


_PATTERNS: Mapping[str, str] = {
    r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$": "lower-case letters, digits and single hyphens, starting with a letter",
    r"^[a-z][a-z0-9]{0,7}$": "1 to 8 lower-case letters and digits, starting with a letter",
    r"^v?\d+(\.\d+)+([-.][A-Za-z0-9.]+)?$": 'a version such as "1.36" or v1.22.3',
    r"^([a-z0-9-]+\.)+[a-z]{2,}$": "a DNS name such as api.example.com",
    r"^\d{6,20}$": '6 to 20 digits in quotes, such as "604917283350"',
    r"^(whole|mig-\d+x[a-z0-9.+]+|slice-\d+)$": "whole, a layout such as mig-7x1g.10gb, or slice-4",
    r"^https://.+$": "https:// and a host, with or without a path",
    r"^sha256:[0-9a-f]{64}$": "a digest sha256:<64 hex digits>, never a tag",
    r"^\d{1,3}(\.\d{1,3}){3}/\d{1,2}$": "an address range such as 10.16.0.0/16",
    r"^https://[^/]+$": "https:// and a host, without a path",
    r"^(public-base|jurisdiction:[A-Z]{2,3}(-[A-Z]+)?|tenant:[a-z0-9-]+)$": "public-base, jurisdiction:EU, tenant:NAME",
    r"^([A-Z]{2,3}(-[A-Z]+)?|\*)$": "capitals as in facts/provider_regions.csv, or *",
}


def _short(value: object, limit: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _keys_at(model: type[BaseModel], loc: Sequence[int | str]) -> set[str]:
    """Return the keys that the model found at ``loc`` allows."""
    current: object = model
    for part in loc:
        current = next(iter(_step(current, part)), None)
    return set().union(
        *({field.alias or name for name, field in found.model_fields.items()} for found in _models(current))
    )


def _step(kind: object, part: int | str) -> Iterator[object]:
    for found in _models(kind):
        for name, field in found.model_fields.items():
            if part in (name, field.alias):
                yield field.annotation
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is dict:
        yield arguments[1]
    elif origin in (tuple, list):
        yield arguments[0]
    else:
        for argument in arguments:
            yield from _step(argument, part)


def _models(kind: object) -> list[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    if typing.get_origin(kind) in (dict, tuple, list):
        return []
    return [found for argument in typing.get_args(kind) for found in _models(argument)]
