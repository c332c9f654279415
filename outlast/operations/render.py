"""Kubernetes objects of a region's stack as files, for those who apply them by other means than the engine.

The objects are the inputs that a preview declares. What only a cloud can say is known once the stack has been deployed;
before that nothing is written. Secrets are never written: an object of that kind is left out and named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from outlast.errors import ConfigError, EnvironmentProblem, Problem, listed
from outlast.view import Resource, Value
from outlast.view.resource import unknown_paths

_PACKAGE = "kubernetes"
_CLUSTER_WIDE = "_cluster"
"""Folder of objects without a namespace; no namespace can begin with an underscore."""
_SECRET = ("v1", "Secret")
_ENDING = ".yaml"


@dataclass(frozen=True)
class Rendered:
    """Files of one stack."""

    stack: str
    texts: Mapping[PurePosixPath, str]
    """Path below the folder -> content, in the order of paths."""
    left_out: tuple[str, ...]
    """Secrets, by namespace and name."""


def rendered(stack: str, resources: Iterable[Resource], deploy_first: str) -> Rendered:
    """Return a stack's objects as files; the same resources always give the same bytes.

    Args:
        stack: whose they are.
        resources: of the whole stack, as a preview declares them.
        deploy_first: stack to deploy where a value is not known yet.

    Raises:
        EnvironmentProblem: a value is not known yet, or a resource is no object; names each.
    """
    objects = [resource for resource in resources if resource.package == _PACKAGE and not _is_provider(resource)]
    secrets = [resource for resource in objects if _kind(resource) == _SECRET]
    plain = [resource for resource in objects if _kind(resource) != _SECRET]
    problems = [problem for resource in plain for problem in _problems(stack, resource, deploy_first)]
    if problems:
        raise EnvironmentProblem(problems)
    texts: dict[PurePosixPath, str] = {}
    for resource in plain:
        path = _path(resource)
        if path in texts:
            what = f"the stack declares {path.parent.name} {path.stem} twice"
            raise EnvironmentProblem(Problem(where=stack, what=what, do="Give one of them another name"))
        texts[path] = f"{marker(stack)}\n{_document(resource)}"
    names = (f"{resource.get('metadata.namespace')}/{resource.get('metadata.name')}" for resource in secrets)
    return Rendered(stack, dict(sorted(texts.items())), tuple(sorted(names)))


def marker(stack: str) -> str:
    """Return the first line of every file of a stack; by it a later render knows its own files."""
    return f"# Rendered by outlast from {stack}. Change the fleet's files instead."


@dataclass(frozen=True)
class Change:
    """What has to happen to a folder."""

    write: Mapping[Path, str]
    """Files that are new or differ."""
    remove: tuple[Path, ...]
    """Files of an earlier render that the stack no longer declares."""


def change_of(folder: Path, files: Rendered) -> Change:
    """Compare a folder with what it should hold; files without the stack's marker stay as they are.

    Raises:
        ConfigError: where a file is to be written is something that no render of this stack wrote.
    """
    wanted = {folder / path: text for path, text in files.texts.items()}
    ours = {path for path in folder.rglob(f"*{_ENDING}") if _first_line(path) == marker(files.stack)}
    foreign = [path for path in wanted if path not in ours and (path.exists() or _is_blocked(path, folder))]
    if foreign:
        what = f"holds what no render of {files.stack} wrote: {listed(str(p.relative_to(folder)) for p in foreign)}"
        raise ConfigError(Problem(where=str(folder), what=what, do="Move it away, or render into another folder"))
    return Change(
        write={path: text for path, text in wanted.items() if path not in ours or path.read_bytes() != text.encode()},
        remove=tuple(sorted(ours - set(wanted))),
    )


def _first_line(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open(encoding="utf-8", errors="replace") as stream:
        return stream.readline().rstrip("\n")


def _is_blocked(path: Path, folder: Path) -> bool:
    """Whether a file is in the way of a folder that the path needs."""
    return any(up.is_file() for up in path.parents if up.is_relative_to(folder))


def _is_provider(resource: Resource) -> bool:
    return resource.type.startswith("pulumi:providers:")


def _kind(resource: Resource) -> tuple[Value, Value]:
    return resource.get("apiVersion"), resource.get("kind")


def _problems(stack: str, resource: Resource, deploy_first: str) -> Iterator[Problem]:
    where = f"{stack}, {resource.name}"
    unknown = sorted(unknown_paths(resource.inputs))
    if unknown:
        what = f"a cloud has not said its values yet, or they are secret: {listed(unknown)}"
        yield Problem(where=where, what=what, do=f"Deploy what they are made from first: 'pulumi up -s {deploy_first}'")
        return
    words = [*_kind(resource), resource.get("metadata.name"), resource.get("metadata.namespace") or _CLUSTER_WIDE]
    if not all(isinstance(word, str) and _is_name(word) for word in words[1:]) or not isinstance(words[0], str):
        what = f"{resource.type} is no single object with apiVersion, kind and metadata.name"
        yield Problem(where=where, what=what, do="Declare the objects themselves")


def _is_name(word: str) -> bool:
    return word not in {"", ".", ".."} and "/" not in word and "\0" not in word


def _path(resource: Resource) -> PurePosixPath:
    """Return ``namespace/kind.group/name.yaml``; the core group is left out, as in the command line of Kubernetes."""
    version, kind = (str(word) for word in _kind(resource))
    group = version.rpartition("/")[0]
    namespace = str(resource.get("metadata.namespace") or _CLUSTER_WIDE)
    folder = ".".join(filter(None, (kind.lower(), group)))
    return PurePosixPath(namespace, folder, f"{resource.get('metadata.name')}{_ENDING}")


def _document(resource: Resource) -> str:
    return yaml.safe_dump(_plain(resource.inputs), sort_keys=True, allow_unicode=True, width=4096)


def _plain(value: Value) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, tuple) else value
