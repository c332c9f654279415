"""Two kinds of import contract that import-linter lacks; both judge direct imports and deny by default.

``may_import`` lists what some modules may import beside the standard library, ``imported_by`` who may import some
modules. A module is named by an expression: ``a.b`` covers ``a.b`` and all below it, ``*`` stands for one part of a
name. Nothing named need exist yet, so a package that comes later finds its contract waiting.
"""

from __future__ import annotations

import re
import sys
from abc import abstractmethod
from typing import TYPE_CHECKING, cast

from importlinter import Contract, ContractCheck, fields, output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grimp import ImportGraph
    from importlinter.domain.imports import ModuleExpression

Edge = tuple[str, str]


def covers(field: fields.ListField | None, module: str) -> bool:
    """Whether a module is one of those that a field names, or lies below one."""
    named = cast("list[ModuleExpression]", field or [])
    return any(re.match(re.escape(one.expression).replace(r"\*", r"[^.]+") + r"(\.|$)", module) for one in named)


def edges(graph: ImportGraph) -> Iterator[Edge]:
    """Every direct import, as (importer, imported)."""
    for importer in sorted(graph.modules):
        for imported in sorted(graph.find_modules_directly_imported_by(importer)):
            yield importer, imported


class EdgeContract(Contract):
    """A contract broken by each direct import that ``refuses`` says."""

    @abstractmethod
    def refuses(self, importer: str, imported: str) -> bool:
        """Whether this import breaks the contract."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Judge the graph."""
        del verbose
        broken = [(edge, lines(graph, edge)) for edge in edges(graph) if self.refuses(*edge)]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """List the imports that break the contract."""
        for (importer, imported), numbers in cast("list[tuple[Edge, str]]", check.metadata["broken"]):
            output.print_error(f"- {importer} may not import {imported} (l.{numbers})", bold=False)
        output.new_line()


def lines(graph: ImportGraph, edge: Edge) -> str:
    """Line numbers of an import."""
    details = graph.get_import_details(importer=edge[0], imported=edge[1])
    return ", ".join(str(detail["line_number"]) for detail in details)


class MayImport(EdgeContract):
    """``modules``, less ``except_modules``, import only ``allowed`` beside the standard library.

    Of a package in ``allowed_alone`` they import the package itself, and nothing below it on that ground.
    """

    modules = fields.ListField(subfield=fields.ModuleExpressionField())
    except_modules = fields.ListField(subfield=fields.ModuleExpressionField(), required=False)
    allowed = fields.ListField(subfield=fields.ModuleExpressionField())
    allowed_alone = fields.ListField(subfield=fields.StringField(), required=False)

    def refuses(self, importer: str, imported: str) -> bool:
        """Whether this import breaks the contract."""
        return (
            covers(self.modules, importer)
            and not covers(self.except_modules, importer)
            and not covers(self.allowed, imported)
            and imported not in cast("list[str]", self.allowed_alone or [])
            and imported not in sys.stdlib_module_names
        )


class ImportedBy(EdgeContract):
    """``modules`` are imported only by ``importers`` and by themselves."""

    modules = fields.ListField(subfield=fields.ModuleExpressionField())
    importers = fields.ListField(subfield=fields.ModuleExpressionField())

    def refuses(self, importer: str, imported: str) -> bool:
        """Whether this import breaks the contract."""
        return covers(self.modules, imported) and not (
            covers(self.modules, importer) or covers(self.importers, importer)
        )
