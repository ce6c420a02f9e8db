"""Rust files as units. Methods belong to a type by name, for their ``impl`` may stand in any file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from graphport_code.classes import BASES
from graphport_code.ir import UNKNOWN, Expr, make, name
from graphport_code.rust_expressions import ExpressionReader
from graphport_code.source import Source
from graphport_code.unit import Scope, Unit, join

if TYPE_CHECKING:
    from tree_sitter import Node, Tree


class RustReader(ExpressionReader):
    """Reads a whole file: its items."""

    def read_file(self, tree: Tree) -> Unit:
        for child in tree.root_node.named_children:
            if child.type == "mod_item" and self.field(child, "body") is not None:
                text = self.text(self.field(child, "name"))
                self.inline_modules[text] = text
        self.children(tree.root_node)
        return self.unit

    def _function(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        in_type = self.owner is not None
        body = self.field(node, "body")
        above = self._type_symbol()
        symbol = self.symbol(
            node,
            text,
            "method" if in_type else "function",
            body,
            parent=above if in_type and above else None,
            prefix=self.owner_name if in_type and not above else "",
        )
        scope = self.open_function(symbol)
        if body is None:
            scope["fl"] = ["abstract"]
        owner = self.owner
        if not in_type:
            self.bind(text, make("f", symbol.key))
        self._fill(scope, symbol.key, node)
        self.owner = owner
        if in_type and self.owner_name:
            self._member(text, make("f", symbol.key))
        return UNKNOWN

    def _type_symbol(self) -> str:
        """Key of the type whose methods are read, if it is defined in this file."""
        key = join(self.unit.owner(self.key), self.owner_name)
        return key if self.owner_name and key in self.unit.symbols else ""

    def _member(self, text: str, value: Expr) -> None:
        self.unit.members.setdefault(f"{self.owner_name}.{text}", []).append([self.key, self.owner, value])

    def _fill(self, scope: Scope, key: str, node: Node) -> None:
        owner = self.owner
        before, self.key = self.key, key
        for parameter in self.named(self.field(node, "type_parameters")):
            self._type_parameter(scope, parameter)
        for clause in (child for child in node.children if child.type == "where_clause"):
            for predicate in self.named(clause):
                bound = self._bounds(self.field(predicate, "bounds"))
                if bound is not None:
                    scope["b"].setdefault(self.text(self.field(predicate, "left")), []).append(bound)
        for parameter in self.named(self.field(node, "parameters")):
            if parameter.type == "self_parameter" and owner is not None:
                scope["self"] = "self"
                scope["p"].append("self")
                scope.setdefault("an", {})["self"] = owner
            else:
                self._parameter(scope, parameter)
        returned = self.field(node, "return_type")
        if returned is not None:
            scope["ra"] = self.type_of(returned)
        self.expr(self.field(node, "body"))
        self.key = before

    def _type_parameter(self, scope: Scope, node: Node) -> None:
        bound = self._bounds(self.field(node, "bounds"))
        if node.type == "type_parameter":
            scope["b"].setdefault(self.text(self.field(node, "name")), []).append(bound or UNKNOWN)

    def _type_item(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        symbol = self.symbol(node, text, "class", self.field(node, "body"))
        self.bind(text, make("f", symbol.key))
        self.open_class(symbol)
        for place, member in enumerate(self._type_members(self.field(node, "body"))):
            if member.type == "field_declaration":
                value = make("T", self.type_of(self.field(member, "type")))
                self.unit.bind(symbol.key, self.text(self.field(member, "name")), value, self.key)
            elif member.type == "enum_variant":
                self.unit.bind(symbol.key, self.text(self.field(member, "name")), make("T", name(text)), self.key)
            else:
                self.unit.bind(symbol.key, str(place), make("T", self.type_of(member)), self.key)
        return UNKNOWN

    def _type_members(self, body: Node | None) -> list[Node]:
        return [child for child in self.named(body) if child.type not in ("visibility_modifier", "attribute_item")]

    def _trait(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        symbol = self.symbol(node, text, "interface", self.field(node, "body"))
        self.bind(text, make("f", symbol.key))
        bases = [self.type_of(part) for part in self.named(self.field(node, "bounds")) if part.type != "lifetime"]
        self.open_class(symbol, bases=bases)
        for base in bases:
            self.unit.base(self.key, make("f", symbol.key), base, "inherits", self.line(node))
        self._in_type(name(text), text, self.field(node, "body"))
        return UNKNOWN

    def _impl(self, node: Node) -> Expr:
        written = self.type_of(self.field(node, "type"))
        plain = written[1] if written[0] == "s" else written
        text = str(plain[-1]) if plain[0] in ("n", "a") else ""
        trait = self.field(node, "trait")
        if trait is not None and text:
            above = self.type_of(trait)
            self.unit.base(self.key, plain, above, "implements", self.line(node))
            self.unit.members.setdefault(f"{text}.{BASES}", []).append([self.key, plain, above])
        self._in_type(plain, text, self.field(node, "body"))
        return UNKNOWN

    def _in_type(self, owner: Expr, text: str, body: Node | None) -> None:
        before = self.owner, self.owner_name
        self.owner, self.owner_name = owner, text
        self.children(body)
        self.owner, self.owner_name = before

    def _mod(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        body = self.field(node, "body")
        if body is None:
            self.bind(text, make("m", f"self/{text}", 0))
            return UNKNOWN
        symbol = self.symbol(node, text, "module", body)
        self.bind(text, make("f", symbol.key))
        self.open_class(symbol, "namespace")
        self.inside(symbol.key, body)
        return UNKNOWN

    def _constant(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        value_node = self.field(node, "value")
        if value_node is not None:
            self.expr(value_node)
        value = make("T", self.type_of(self.field(node, "type")))
        if self.owner is None:
            self.symbol(node, text, "constant")
            self.bind(text, value)
        else:
            self._member(text, value)
        return UNKNOWN

    def _alias(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        if self.owner is None:
            self.symbol(node, text, "type")
            self.bind(text, self.type_of(self.field(node, "type")))
        return UNKNOWN

    def _macro_definition(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        symbol = self.symbol(node, text, "function")
        self.open_function(symbol)
        self.bind(f"{text}!", make("f", symbol.key))
        return UNKNOWN

    readers: ClassVar[dict[str, Callable[[Any, Node], Expr]]] = {
        **ExpressionReader.readers,
        "function_item": _function,
        "function_signature_item": _function,
        "struct_item": _type_item,
        "enum_item": _type_item,
        "union_item": _type_item,
        "trait_item": _trait,
        "impl_item": _impl,
        "mod_item": _mod,
        "const_item": _constant,
        "static_item": _constant,
        "type_item": _alias,
        "associated_type": _alias,
        "macro_definition": _macro_definition,
        "use_declaration": ExpressionReader.use,
    }


def read_rust(source: Source, tree: Tree, deadline: float) -> Unit:
    return RustReader(source, source.path, deadline).read_file(tree)
