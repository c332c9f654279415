"""Rules of the house that neither the linter, the type checker nor the import contracts can state.

Each rule looks at one source and names the places that break it. A rule knows nothing of the others and reads no file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

MAX_FUNCTION = 60
MAX_FILE = 400
MAX_PROGRAM = 15

CLOUDS = ("aws", "azure", "gcp")
CLOUD_WORD = re.compile(r"(?<![a-z0-9])(aws|gcp|azure|eks|gke|aks)(?![a-z0-9])", re.IGNORECASE)

HEAVY = ("outlast.planner", "simcloud", "highspy", "numpy", "pydantic", "rich")
"""What the command line imports only inside functions."""

UNDONE = re.compile(r"\b(T[O]DO|F[I]XME|X[X]X)\b")
SKIPPED = re.compile(r"\bmark\.(skip|skipif|xfail)\b|\bpytest\.(skip|xfail|importorskip)\b")
MACHINE = re.compile(r"(?<![\w.$}*-])/((work|home|Users|tmp)/[a-z]|root/)")
REGISTRY = re.compile(r"\b(pypi\.or[g]|pythonhosted\.or[g]|proxy\.golang\.or[g]|sum\.golang\.or[g]|npmjs\.or[g])\b")


@dataclass(frozen=True)
class Source:
    """A text file of the project."""

    name: str
    """Path from the project's root, with slashes."""
    text: str

    @property
    def path(self) -> PurePosixPath:
        """The name, in parts."""
        return PurePosixPath(self.name)

    @property
    def is_python(self) -> bool:
        """Whether the file is Python."""
        return self.path.suffix == ".py"

    @cached_property
    def tree(self) -> ast.Module:
        """Syntax tree."""
        return ast.parse(self.text, filename=self.name)

    def nodes(self, *kinds: type[ast.AST]) -> list[Any]:
        """Nodes of these kinds, anywhere in the file."""
        return [node for node in ast.walk(self.tree) if isinstance(node, kinds)] if self.is_python else []

    def within(self, *folders: str) -> bool:
        """Whether the file lies below one of these folders."""
        return self.name.startswith(tuple(f"{folder}/" for folder in folders))

    @cached_property
    def documentation(self) -> set[ast.Constant]:
        """Strings that document a module, a class, a function, or a name assigned just before them."""
        found: set[Any] = set()
        for scope in self.nodes(ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef):
            strings = [statement.value if lone_string(statement) else None for statement in scope.body]
            found.add(strings[0])
            if isinstance(scope, ast.Module | ast.ClassDef):
                assigned = [isinstance(statement, ast.Assign | ast.AnnAssign) for statement in scope.body]
                found.update(string for before, string in zip(assigned, strings[1:], strict=False) if before)
        return found - {None}


@dataclass(frozen=True, order=True)
class Finding:
    """A place that breaks a rule."""

    where: str
    """File, or ``file::function``: what an exception names."""
    line: int
    what: str

    def __str__(self) -> str:
        """One line, with the place as an editor opens it."""
        return f"{self.where.split('::', maxsplit=1)[0]}:{self.line}: {self.what}"


Rule = Callable[[Source], Iterable[Finding]]


def lone_string(node: ast.AST) -> bool:
    """Whether a statement is nothing but a string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def imported(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Full names that an import statement brings in."""
    module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    return {module + alias.name for alias in node.names}


def below(name: str, packages: Iterable[str]) -> bool:
    """Whether a dotted name is one of these or lies below one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def for_type_checkers(node: ast.AST) -> bool:
    """Whether a block runs only in a type checker."""
    return isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}


def run_at_import(body: list[Any]) -> Iterator[ast.stmt]:
    """Statements that run when a module is imported, nested blocks and class bodies included."""
    for node in body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            for block in ("orelse",) if for_type_checkers(node) else ("body", "handlers", "orelse", "finalbody"):
                yield from run_at_import(getattr(node, block, []))


def lines(source: Source, pattern: re.Pattern[str]) -> Iterator[Finding]:
    """Lines of a text that match."""
    for number, line in enumerate(source.text.splitlines(), 1):
        if pattern.search(line):
            yield Finding(source.name, number, line.strip()[:100])


def functions_are_short(source: Source) -> Iterator[Finding]:
    """A function fits on a screen."""
    for node in source.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        length = node.end_lineno - node.lineno + 1
        if length > MAX_FUNCTION:
            yield Finding(f"{source.name}::{node.name}", node.lineno, f"{node.name} has {length} lines")


def files_are_short(source: Source) -> Iterator[Finding]:
    """A file holds one thing; the engine's entry point holds a call."""
    length = len(source.text.splitlines())
    if source.is_python and length > (MAX_PROGRAM if source.name == "__main__.py" else MAX_FILE):
        yield Finding(source.name, 1, f"{length} lines")


def packages_only_export(source: Source) -> Iterator[Finding]:
    """A package's first file says what the package may hold, brings names in, and holds no code."""
    if source.path.name != "__init__.py":
        return
    if not ast.get_docstring(source.tree):
        yield Finding(source.name, 1, "no docstring that says what the package may hold")
    for node in source.tree.body:
        is_export = (
            isinstance(node, ast.Import | ast.ImportFrom)
            or for_type_checkers(node)
            or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
            or (isinstance(node, ast.FunctionDef) and node.name == "__getattr__")
        )
        if not is_export and not lone_string(node):
            yield Finding(source.name, node.lineno, "code in a package's __init__")


def strings_are_used(source: Source) -> Iterator[Finding]:
    """A second half of a message outside its parentheses is thrown away by Python without a word."""
    for node in source.nodes(ast.Expr):
        if lone_string(node) and node.value not in source.documentation:
            yield Finding(source.name, node.lineno, "a string that nothing uses")


def stacks_read_configuration(source: Source) -> Iterator[Finding]:
    """Only stacks read the engine's configuration, so a component is decided by its arguments."""
    if source.within("stacks"):
        return
    for node in source.nodes(ast.Attribute, ast.ImportFrom):
        if (isinstance(node, ast.Attribute) and ast.unparse(node) in {"pulumi.Config", "pulumi.config.Config"}) or (
            isinstance(node, ast.ImportFrom) and imported(node) & {"pulumi.Config", "pulumi.config.Config"}
        ):
            yield Finding(source.name, node.lineno, "reads pulumi.Config")


def simcloud_speaks_the_wire(source: Source) -> Iterator[Finding]:
    """Simulated plugins take from the SDK only its wire format."""
    if source.within("simcloud"):
        for node in source.nodes(ast.Import, ast.ImportFrom):
            for name in imported(node):
                if below(name, ["pulumi"]) and not below(name, ["pulumi.runtime.proto"]):
                    yield Finding(source.name, node.lineno, f"imports {name}")


def command_line_is_lazy(source: Source) -> Iterator[Finding]:
    """The help text appears at once: heavy packages are imported inside functions."""
    if source.within("outlast/cli"):
        for node in run_at_import(source.tree.body):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for name in imported(node):
                    if below(name, HEAVY):
                        yield Finding(source.name, node.lineno, f"imports {name} when loaded")


def cloud_names_stay_home(source: Source) -> Iterator[Finding]:
    """Adding or removing a cloud touches its own files, overlays, facts and simulated rows, nothing else."""
    at_home = source.path.stem in CLOUDS or "overlays" in source.path.parts
    if at_home or source.within("outlast/facts", "simcloud/rows"):
        return
    if source.within("outlast", "components", "stacks", "policies", "simcloud"):
        for node in source.nodes(ast.Constant):
            if isinstance(node.value, str) and CLOUD_WORD.search(node.value) and node not in source.documentation:
                yield Finding(source.name, node.lineno, f"names a cloud: {node.value[:60]!r}")


def tests_do_not_wait_in_apply(source: Source) -> Iterator[Finding]:
    """An assertion inside ``apply`` may never run; tests look at recorded data."""
    if source.within("tests"):
        for node in source.nodes(ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr == "apply":
                yield Finding(source.name, node.lineno, "calls .apply")


def tests_are_collected(source: Source) -> Iterator[Finding]:
    """A test file that pytest does not collect proves nothing."""
    expected = re.fullmatch(r"test_.+\.py|conftest\.py|__init__\.py|__main__\.py", source.path.name)
    if source.within("tests") and source.is_python and not expected:
        yield Finding(source.name, 1, "neither a test_*.py nor a conftest.py")


def tests_always_run(source: Source) -> Iterator[Finding]:
    """A missing tool is an error, never a skip."""
    if source.within("tests") and source.is_python:
        yield from lines(source, SKIPPED)


def nothing_is_undone(source: Source) -> Iterator[Finding]:
    """What is left to do is work, not a comment."""
    yield from lines(source, UNDONE)


def no_place_of_one_machine(source: Source) -> Iterator[Finding]:
    """A path that exists on one machine helps nobody else."""
    yield from lines(source, MACHINE)


def no_registry_host(source: Source) -> Iterator[Finding]:
    """Which registry serves a package is the reader's setting."""
    yield from lines(source, REGISTRY)


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        functions_are_short,
        files_are_short,
        packages_only_export,
        strings_are_used,
        stacks_read_configuration,
        simcloud_speaks_the_wire,
        command_line_is_lazy,
        cloud_names_stay_home,
        tests_do_not_wait_in_apply,
        tests_are_collected,
        tests_always_run,
        nothing_is_undone,
        no_place_of_one_machine,
        no_registry_host,
    )
}
