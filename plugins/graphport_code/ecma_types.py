"""Types as TypeScript writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphport_code.ir import OPAQUE, UNKNOWN, Expr, make, name, union
from graphport_code.treesitter import TreeReader

if TYPE_CHECKING:
    from tree_sitter import Node


class TypeReader(TreeReader):
    """What follows a colon."""

    family = "js"

    def type_of(self, node: Node | None) -> Expr | None:
        """A written type; None where there is none."""
        if node is None:
            return None
        if node.type in ("type_annotation", "parenthesized_type", "readonly_type", "constraint", "default_type"):
            inside = self.named(node)
            return self.type_of(inside[0]) if inside else None
        if node.type in ("type_identifier", "identifier"):
            return name(self.text(node))
        if node.type in ("nested_type_identifier", "nested_identifier", "member_expression"):
            parts = self.text(node).replace(" ", "").split(".")
            found = name(parts[0])
            for part in parts[1:]:
                found = make("a", found, part)
            return found
        if node.type == "generic_type":
            base = self.type_of(self.field(node, "name")) or UNKNOWN
            inner = [self.type_of(part) or OPAQUE for part in self.named(self.field(node, "type_arguments"))]
            return make("s", base, make("t", inner))
        if node.type == "array_type":
            return make("s", name("Array"), make("t", [self.type_of(self.named(node)[0]) or OPAQUE]))
        if node.type == "tuple_type":
            return make("t", [self.type_of(part) or OPAQUE for part in self.named(node)])
        if node.type in ("union_type", "intersection_type"):
            parts_of = [self.type_of(part) for part in self.named(node)]
            return union([part for part in parts_of if part is not None and part[0] != "x"])
        if node.type in ("predefined_type", "literal_type", "template_literal_type"):
            return name("any") if self.text(node) in ("any", "unknown", "object") else OPAQUE
        return UNKNOWN
