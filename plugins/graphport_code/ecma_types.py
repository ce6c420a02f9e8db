"""Types as TypeScript writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphport_code.ir import OPAQUE, UNKNOWN, Expr, dotted, make, name, union
from graphport_code.treesitter import TreeReader

if TYPE_CHECKING:
    from tree_sitter import Node


class TypeReader(TreeReader):
    """What follows a colon."""

    family = "js"

    def written(self, node: Node | None) -> Expr | None:
        """The type that a node spells; None where there is none."""
        return None if node is None else self.type_of(node)

    def read_type(self, node: Node) -> Expr:
        if node.type in ("type_annotation", "parenthesized_type", "readonly_type", "constraint", "default_type"):
            return self.type_of(next(iter(self.named(node)), None))
        if node.type in ("type_identifier", "identifier"):
            return name(self.text(node))
        if node.type in ("nested_type_identifier", "nested_identifier", "member_expression"):
            return dotted(self.text(node).replace(" ", ""))
        if node.type == "generic_type":
            inner = [self.type_of(part) for part in self.named(self.field(node, "type_arguments"))]
            return make("s", self.type_of(self.field(node, "name")), make("t", inner))
        if node.type == "array_type":
            return make("s", name("Array"), make("t", [self.type_of(self.named(node)[0])]))
        if node.type == "tuple_type":
            return make("t", [self.type_of(part) for part in self.named(node)])
        if node.type in ("union_type", "intersection_type"):
            return union([part for part in map(self.type_of, self.named(node)) if part[0] != "x"])
        if node.type in ("predefined_type", "literal_type", "template_literal_type"):
            return name("any") if self.text(node) in ("any", "unknown", "object") else OPAQUE
        return UNKNOWN
