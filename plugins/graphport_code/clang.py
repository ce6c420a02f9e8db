"""C and C++ files as units: definitions by their shape, calls by their name alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphport_code.ir import UNKNOWN, Expr, make, name
from graphport_code.source import Source
from graphport_code.treesitter import TreeReader
from graphport_code.unit import MODULE, Unit

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_TYPES = {
    "class_specifier": "class",
    "struct_specifier": "class",
    "union_specifier": "class",
    "enum_specifier": "class",
    "namespace_definition": "module",
}


class ClangReader(TreeReader):
    """Reads a tree of the C or C++ grammar: no types are followed, a call is ``name(``."""

    family = "c"

    def read_file(self, tree: Tree) -> Unit:
        self.children(tree.root_node)
        return self.unit

    def read(self, node: Node) -> Expr:
        if node.type == "function_definition":
            return self._function(node)
        if node.type in _TYPES and self.field(node, "body") is not None:
            return self._type(node)
        if node.type == "call_expression":
            return self._call(node)
        if node.type == "preproc_include":
            return UNKNOWN
        return super().read(node)

    def _function(self, node: Node) -> Expr:
        written = self._declared_name(self.field(node, "declarator"))
        if not written:
            self.children(node)
            return UNKNOWN
        *scopes, text = written.split("::")
        in_type = self.scope["k"] == "class" or bool(scopes)
        symbol = self.symbol(
            node, text, "method" if in_type else "function", self.field(node, "body"), prefix=".".join(scopes)
        )
        self.open_function(symbol)
        self.unit.bind(MODULE, text, make("f", symbol.key))
        self.inside(symbol.key, self.field(node, "body"))
        return UNKNOWN

    def _declared_name(self, node: Node | None) -> str:
        """The name in ``*f(int)``, ``A::f(int)`` or ``operator+(...)``."""
        while node is not None and node.type != "function_declarator":
            node = self.field(node, "declarator")
        inner = self.field(node, "declarator")
        return self.text(inner) if inner is not None else ""

    def _type(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        if not text:
            self.children(self.field(node, "body"))
            return UNKNOWN
        kind = _TYPES[node.type]
        symbol = self.symbol(node, text, kind, self.field(node, "body"))
        self.open_class(symbol, "namespace" if kind == "module" else "class")
        self.unit.bind(MODULE, text, make("f", symbol.key))
        for clause in (child for child in node.children if child.type == "base_class_clause"):
            for part in self.named(clause):
                if part.type == "type_identifier":
                    self.unit.base(self.key, make("f", symbol.key), name(self.text(part)), "inherits", self.line(part))
        self.inside(symbol.key, self.field(node, "body"))
        return UNKNOWN

    def _call(self, node: Node) -> Expr:
        function = self.field(node, "function")
        self.children(self.field(node, "arguments"))
        if function is None:
            return UNKNOWN
        if function.type not in ("identifier", "qualified_identifier", "template_function"):
            self.expr(function)
        text = self.last_name(function)
        if text:
            self.call("call", name(text), node)
        return UNKNOWN


def read_clang(source: Source, tree: Tree, deadline: float) -> Unit:
    return ClangReader(source, source.path, deadline).read_file(tree)
