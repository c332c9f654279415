"""Edits of YAML text that keep every comment and every other line.

Each edit finds its place by the marks of the parser, changes the text there, and is then read back: an edit that would
change anything but what it was asked for is refused, and the caller shows the lines to write by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from outlast.errors import ConfigError, Problem

Path = tuple[str | int, ...]
"""Keys and positions from the root of the document."""


def with_keys(text: str, path: Path, values: Mapping[str, str | None], where: str) -> str:
    """Return ``text`` with keys of the mapping at ``path`` set; the mapping is made if it is absent.

    Args:
        text: the document.
        path: where the mapping stands.
        values: key -> value as YAML of one line; None takes the key out.
        where: how messages name the file.

    Raises:
        ConfigError: the text cannot be edited without changing more.
    """
    wanted = _apart(yaml.safe_load(text) or {})
    owner = _made(wanted, path)
    for key, value in values.items():
        if value is None:
            owner.pop(key, None)
        else:
            owner[key] = yaml.safe_load(value)
    edited = text
    for key, value in values.items():
        edited = _without(edited, path, key) if value is None else _with(edited, (*path, key), value)
    return _verified(edited, wanted, where)


def with_item(text: str, path: Path, item: str, where: str, replaced: int | None = None) -> str:
    """Return ``text`` with an item, YAML of one line, at the end of the list at ``path``, or in the place of another.

    Raises:
        ConfigError: the text cannot be edited without changing more.
    """
    wanted = _apart(yaml.safe_load(text) or {})
    items: Any = wanted
    for part in path:
        items = items[part]
    node = _at(_root(text), path)
    if replaced is None:
        items.append(yaml.safe_load(item))
        edited = _appended(text, node, item)
    else:
        items[replaced] = yaml.safe_load(item)
        edited = _put(text, node.value[replaced], item)
    return _verified(edited, wanted, where)


def quoted(text: str) -> str:
    """Return text as YAML of one line, in quotes only where it needs them."""
    plain = text and all(sign.isalnum() or sign in " ._+/()" for sign in text) and text[0].isalpha()
    if plain and text == text.strip() and yaml.safe_load(text) == text:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def flow(values: Mapping[str, str]) -> str:
    """Return a mapping of one line from values that are YAML already."""
    return "{" + ", ".join(f"{key}: {value}" for key, value in values.items()) + "}"


def _made(document: Any, path: Path) -> Any:
    for part in path:
        if document.get(part) is None:
            document[part] = {}
        document = document[part]
    return document


def _apart(value: Any) -> Any:
    """Return a copy in which nothing is shared, as aliases of YAML share it."""
    if isinstance(value, dict):
        return {key: _apart(item) for key, item in value.items()}
    return [_apart(item) for item in value] if isinstance(value, list) else value


def _verified(text: str, wanted: Any, where: str) -> str:
    try:
        is_right = yaml.safe_load(text) == wanted
    except yaml.YAMLError:
        is_right = False
    if not is_right:
        what = "is written in a way that cannot be edited without changing more"
        raise ConfigError(Problem(where=where, what=what, do="Leave --write out and put the lines shown in by hand"))
    return text


def _root(text: str) -> Any:
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _at(node: Any, path: Path) -> Any:
    for part in path:
        node = node.value[part] if isinstance(part, int) else _child(node, part)
    return node


def _child(node: Any, key: str) -> Any:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for name, value in pairs if name.value == key), None)


def _with(text: str, path: Path, value: str) -> str:
    """Replace the value at ``path``, or put it where the deepest part of the path that exists ends."""
    node, depth = _root(text), 0
    while depth < len(path) and (found := _at(node, path[depth : depth + 1])) is not None:
        node, depth = found, depth + 1
    if depth == len(path):
        return _put(text, node, value)
    for key in reversed(path[depth + 1 :]):
        value = "{" + f"{key}: {value}" + "}"
    return _inserted(text, node, f"{path[depth]}: {value}")


def _inserted(text: str, node: Any, pair: str) -> str:
    if node is None:
        return f"{text}{pair}\n"
    if not isinstance(node, yaml.MappingNode) or (node.flow_style and not node.value):
        return _put(text, node, "{" + pair + "}")
    if node.flow_style:
        end = _end(node.value[-1][1])
        return f"{text[:end]}, {pair}{text[end:]}"
    return _on_new_line(text, node, pair)


def _appended(text: str, node: Any, item: str) -> str:
    if node.flow_style and node.value:
        end = _end(node.value[-1])
        return f"{text[:end]}, {item}{text[end:]}"
    return _on_new_line(text, node, f"- {item}") if node.value else _put(text, node, f"[{item}]")


def _on_new_line(text: str, node: Any, content: str) -> str:
    end = _line_end(text, _end(node))
    return f"{text[:end]}\n{' ' * node.start_mark.column}{content}{text[end:]}"


def _put(text: str, node: Any, value: str) -> str:
    start, end = node.start_mark.index, _end(node)
    blank = "" if start == 0 or text[start - 1] in " {[" else " "
    return f"{text[:start]}{blank}{value}{text[end:]}"


def _without(text: str, path: Path, key: str) -> str:
    owner = _at(_root(text), path)
    names = [name.value for name, _ in owner.value] if isinstance(owner, yaml.MappingNode) else []
    if key not in names:
        return text
    index = names.index(key)
    name, value = owner.value[index]
    if not owner.flow_style:
        start = text.rfind("\n", 0, name.start_mark.index) + 1
        return text[:start] + text[_line_end(text, _end(value)) + 1 :]
    if index + 1 < len(names):
        return text[: name.start_mark.index] + text[owner.value[index + 1][0].start_mark.index :]
    start = _end(owner.value[index - 1][1]) if index else name.start_mark.index
    return text[:start] + text[_end(value) :]


def _end(node: Any) -> int:
    """Return where a node's text ends; the parser's mark of a block lies behind the comments that follow it."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _end(last[1] if isinstance(last, tuple) else last)


def _line_end(text: str, index: int) -> int:
    end = text.find("\n", index)
    return len(text) if end < 0 else end
