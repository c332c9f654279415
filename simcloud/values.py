"""Property values as the plugins handle them: plain JSON, whole numbers as integers, unknowns marked.

Owns the translation from and to the wire (`decode`, `encode`), dotted paths into values (`at`, `changed_paths`) and the
merge of inputs with computed outputs.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from google.protobuf import json_format, struct_pb2

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The engine's mark for a string it cannot know yet. Source: Pulumi SDK, `sdk/go/common/resource/plugin/rpc.go`."""

DEFAULTS = "__defaults"
"""Key under which bridged providers list the inputs they filled in. Source: pulumi-terraform-bridge, `pkg/tfbridge`."""

CREATE_FIRST = "__createBeforeDelete"
"""Key by which the Azure Native provider marks a name it made up. Source: pulumi-azure-native, provider.go."""

MARKS = frozenset({DEFAULTS, CREATE_FIRST})
"""Keys that providers put among inputs and no cloud ever sees."""

AUTONAMED = "pulumi.com/autonamed"
"""Annotation that marks a name the Kubernetes provider made up. Source: pulumi-kubernetes, `provider/pkg/metadata`."""

_UNKNOWNS = frozenset(
    {
        UNKNOWN,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)
"""String, boolean, number, array, asset, archive and object unknowns. Source: the same file."""


def is_unknown(value: Any) -> bool:
    """Tell whether a value is one of the engine's unknown marks."""
    return isinstance(value, str) and value in _UNKNOWNS


def has_unknown(value: Any) -> bool:
    """Tell whether a value is unknown or holds an unknown anywhere."""
    if isinstance(value, dict):
        return any(has_unknown(item) for item in value.values())
    if isinstance(value, list):
        return any(has_unknown(item) for item in value)
    return is_unknown(value)


def decode(struct: struct_pb2.Struct) -> dict[str, Any]:
    """Turn a wire struct into plain values; a whole float becomes an integer, since the wire knows only floats."""
    values = _whole(json_format.MessageToDict(struct))
    return values if isinstance(values, dict) else {}


def encode(values: Mapping[str, Any]) -> struct_pb2.Struct:
    """Turn plain values into a wire struct."""
    struct = struct_pb2.Struct()
    struct.update(dict(values))
    return struct


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def plain(value: Any) -> Any:
    """Drop absent values and the providers' marks at every depth."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in MARKS and item is not None}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def at(values: Any, path: str) -> list[tuple[str, Any]]:
    """List what a path names as (exact path, value) pairs; `*` is every item, unset values are left out."""
    found = [("", values)]
    for step in path.split("."):
        found = [pair for where, value in found for pair in _step(where, value, step)]
    return [(where, value) for where, value in found if value is not None]


def first(values: Any, path: str) -> Any:
    """The single value a path names, or None."""
    found = at(values, path)
    return found[0][1] if found else None


def _step(where: str, value: Any, step: str) -> Iterator[tuple[str, Any]]:
    if is_unknown(value):
        yield where, value
    elif step == "*" and isinstance(value, list):
        for index, item in enumerate(value):
            yield f"{where}[{index}]", item
    elif step == "*" and isinstance(value, dict):
        for key, item in value.items():
            yield f"{where}.{key}", item
    elif isinstance(value, dict) and step in value:
        yield (f"{where}.{step}" if where else step), value[step]


def changed_paths(old: Any, new: Any, path: str = "") -> dict[str, str]:
    """Compare two values; return the exact path of every difference with `add`, `delete` or `update`."""
    if isinstance(old, dict) and isinstance(new, dict):
        found: dict[str, str] = {}
        for key in sorted(old.keys() | new.keys()):
            where = f"{path}.{key}" if path else key
            if key not in new:
                found[where] = "delete"
            elif key not in old:
                found[where] = "add"
            else:
                found |= changed_paths(old[key], new[key], where)
        return found
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        found = {}
        for index, (before, after) in enumerate(zip(old, new, strict=True)):
            found |= changed_paths(before, after, f"{path}[{index}]")
        return found
    return {} if _same(old, new) else {path: "update"}


def _same(old: Any, new: Any) -> bool:
    """Equal as values; two spellings of one JSON document are equal too, as the real providers treat policies."""
    if old == new:
        return True
    if isinstance(old, str) and isinstance(new, str) and old[:1] == new[:1] and old[:1] in ("{", "["):
        try:
            return bool(json.loads(old) == json.loads(new))
        except ValueError:
            return False
    return False


def lies_under(path: str, prefix: str) -> bool:
    """Tell whether an exact path names `prefix` or something inside it; list indices in `path` are ignored."""
    bare = "".join(part.split("]")[-1] for part in path.split("["))
    return bare == prefix or bare.startswith(f"{prefix}.")


def merge(base: Any, extra: Any) -> Any:
    """Lay `extra` over `base`, object by object; anything else in `extra` wins."""
    if isinstance(base, dict) and isinstance(extra, dict):
        return base | {key: merge(base.get(key), item) for key, item in extra.items()}
    return extra
