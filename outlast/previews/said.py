"""What the engine prints, read: which resource a line is about, and which of its complaints are causes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_RESOURCE = re.compile(
    r"^ *(?:[-+~=<>x*]{1,3} +)?(?P<type>[a-zA-Z][\w-]*:[\w./-]+:\w+) +(?P<name>[^\s(]\S*)"
    r"(?: +\**(?P<doing>[a-z]+)(?P<failed> failed)?)?"
)
_STACK = "pulumi:pulumi:Stack"
_PREVIEWED = frozenset({"create", "update", "delete", "replace", "read", "refresh", "import", "same"})
_DOING = re.compile(r"(?:creat|updat|delet|replac|import|refresh|read|discard)(?:ing|ed)|read")
_PHASE = re.compile(r"^(?:Previewing \w+|Updating|Destroying|Refreshing|Importing) \(.*\):$")

_HEADING = re.compile(r"^  (?! )\S+ \(.*\):$")
_ENTRY = re.compile(r"^    (?:error|warning|info|debug): ")
_TRACEBACK = "Traceback (most recent call last):"
_SECONDARY = re.compile(
    r"context canceled|resource monitor has terminated"
    r"|(?:^ *|error: )(?:update|preview|destroy|refresh) (?:failed|canceled)$",
    re.IGNORECASE,
)
_CUT_OFF = re.compile(r"grpc|RpcError|RunError|CancelledError|resource monitor", re.IGNORECASE)
"""In a traceback: the program was talking to an engine that had already given up."""


class Watched:
    """Counts the resources in what the engine prints and says in words which came last."""

    def __init__(self) -> None:
        """Start with none."""
        self._seen: set[tuple[str, str]] = set()
        self._last = ""

    def __str__(self) -> str:
        """Return for example ``23 resources, creating NodeGroup us-east-gh100-1-a``; empty before the first."""
        count = len(self._seen)
        return f"{count} resource{'' if count == 1 else 's'}, {self._last}" if count else ""

    def take(self, line: str) -> None:
        """Read a line; what is not about a resource is passed over, and a new phase counts anew."""
        if _PHASE.match(line):
            self._seen.clear()
        found = _RESOURCE.match(line)
        if found is None or found["type"] == _STACK:
            return
        self._seen.add((found["type"], found["name"]))
        self._last = f"{found['type'].rsplit(':', 1)[-1]} {found['name']}"
        doing = found["doing"] or ""
        if doing in _PREVIEWED:
            self._last = f"previewing {self._last}"
        elif _DOING.fullmatch(doing):
            self._last = f"{doing} {self._last}{found['failed'] or ''}"


def secondary(complaint: str) -> bool:
    """Tell whether an error only follows from another: a cancellation, or a program cut off from its engine."""
    if _TRACEBACK in complaint:
        return bool(_CUT_OFF.search(complaint))
    return bool(_SECONDARY.search(complaint))


def causes(complaints: Iterable[str]) -> list[str]:
    """Return the errors that do not follow from others; all of them where every one would go."""
    found = list(complaints)
    return [complaint for complaint in found if not secondary(complaint)] or found


def told(lines: Iterable[str]) -> str:
    """Return the engine's diagnostics without the complaints that only follow from another error in them.

    Args:
        lines: what stands below ``Diagnostics:``: a heading for each resource, its complaints indented below.
    """
    blocks = [(heading, list(_entries(body))) for heading, body in _blocks(lines)]
    errors = [entry for _, entries in blocks for entry in entries if entry.startswith("    error: ")]
    if all(map(secondary, errors)):
        kept = blocks
    else:
        kept = [(heading, [entry for entry in entries if not secondary(entry)]) for heading, entries in blocks]
    shown = ["\n".join([*heading, *entries]) for heading, entries in kept if entries]
    return "\n\n".join(shown)


def _blocks(lines: Iterable[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield each resource's heading with the lines below it; lines before the first heading have none."""
    heading: list[str] = []
    body: list[str] = []
    for line in lines:
        if _HEADING.match(line):
            yield heading, body
            heading, body = [line], []
        else:
            body.append(line)
    yield heading, body


def _entries(body: Iterable[str]) -> Iterator[str]:
    """Yield complaints with the lines that continue them; a traceback is one complaint of its own."""
    entry: list[str] = []
    for line in body:
        starts = _ENTRY.match(line) or (_TRACEBACK in line and not _ongoing(entry))
        if starts and entry:
            yield "\n".join(entry).rstrip()
            entry = []
        if line.strip() or entry:
            entry.append(line)
    if entry:
        yield "\n".join(entry).rstrip()


def _ongoing(entry: list[str]) -> bool:
    """Tell whether a traceback belongs to the complaint before it: the host's headline, or an earlier traceback."""
    text = "\n".join(entry)
    return _TRACEBACK in text or "unhandled exception" in text
