"""Java files as units. A package is a namespace: its files share their top-level names."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from graphport_code.ir import UNKNOWN, Expr, make
from graphport_code.java_expressions import INIT, ExpressionReader, split_package
from graphport_code.source import Source
from graphport_code.symbols import Symbol
from graphport_code.unit import Unit

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_TYPES = {
    "class_declaration": "class",
    "enum_declaration": "class",
    "record_declaration": "class",
    "interface_declaration": "interface",
    "annotation_type_declaration": "interface",
}


class JavaReader(ExpressionReader):
    """Reads a whole file: its types and imports."""

    def read_file(self, tree: Tree) -> Unit:
        self.children(tree.root_node)
        return self.unit

    def _type(self, node: Node) -> Expr:
        kind = _TYPES[node.type]
        text = self.text(self.field(node, "name"))
        symbol = self.symbol(node, text, kind, self.field(node, "body"))
        bases: list[Expr] = []
        self.open_class(symbol, bases=bases)
        self.bind(text, make("f", symbol.key))
        for child in self.named(node):
            edge = {"superclass": "inherits", "super_interfaces": "implements", "extends_interfaces": "inherits"}
            if child.type in edge:
                self._bases(symbol, child, edge[child.type], bases)
        before, self.key = self.key, symbol.key
        for parameter in self.named(self.field(node, "type_parameters")):
            self._type_parameter(parameter)
        for parameter in self.named(self.field(node, "parameters")):  # a record's components are fields
            self.bind(self.text(self.field(parameter, "name")), make("T", self.type_of(self.field(parameter, "type"))))
        self.expr(self.field(node, "body"))
        self.key = before
        return UNKNOWN

    def _bases(self, symbol: Symbol, node: Node, kind: str, bases: list[Expr]) -> None:
        inside = self.named(node)
        written = self.named(inside[0]) if inside and inside[0].type == "type_list" else inside
        for part in written:
            base = self.type_of(part)
            bases.append(base)
            self.unit.base(self.key, make("f", symbol.key), base, kind, self.line(part))

    def _enum_constant(self, node: Node) -> Expr:
        if self.scope["k"] == "class":
            self.bind(self.text(self.field(node, "name")), make("T", make("f", self.key)))
        self.expr(self.field(node, "arguments"))
        return UNKNOWN

    def _method(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        is_constructor = node.type != "method_declaration"
        symbol = self.symbol(node, text, "method", self.field(node, "body"))
        scope = self.open_function(symbol)
        if self.scope["k"] == "class":  # a broken file may have methods anywhere
            scope["cls"] = self.key
        words = {part.type for child in node.children if child.type == "modifiers" for part in child.children}
        flags = [word for word in ("static", "abstract") if word in words]
        if self.field(node, "body") is None and "abstract" not in flags:
            flags.append("abstract")
        if flags:
            scope["fl"] = sorted(flags)
        self._fill(symbol.key, node)
        self.bind(INIT if is_constructor else text, make("f", symbol.key))
        return UNKNOWN

    def _import(self, node: Node) -> Expr:
        words = [child.type for child in node.children]
        path = self.text(next((child for child in node.named_children if child.type != "asterisk"), None))
        package, of = split_package(path.replace(" ", ""))
        if not of:
            value: Expr = make("m", package, 0)
        else:
            value = make("p", package, 0, of[0])
            for part in of[1:]:
                value = make("a", value, part)
        self.unit.imports.append([self.key, value, self.line(node)])
        if "asterisk" in words:
            self.scope.setdefault("stars", []).append(value)
        elif of:
            self.bind(of[-1], value)
        return UNKNOWN

    readers: ClassVar[dict[str, Callable[[Any, Node], Expr]]] = {
        **ExpressionReader.readers,
        "class_declaration": _type,
        "enum_declaration": _type,
        "record_declaration": _type,
        "interface_declaration": _type,
        "annotation_type_declaration": _type,
        "method_declaration": _method,
        "constructor_declaration": _method,
        "compact_constructor_declaration": _method,
        "enum_constant": _enum_constant,
        "import_declaration": _import,
    }


def read_java(source: Source, tree: Tree, deadline: float) -> Unit:
    declared = next((child for child in tree.root_node.named_children if child.type == "package_declaration"), None)
    if declared is None:
        return JavaReader(source, f"{posixpath.dirname(source.path)}/", deadline).read_file(tree)
    written = declared.named_children[-1]
    return JavaReader(source, source.data[written.start_byte : written.end_byte].decode(), deadline).read_file(tree)
