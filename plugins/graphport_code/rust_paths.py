"""Rust paths, types and ``use`` declarations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphport_code.ir import OPAQUE, UNKNOWN, Expr, make, name, union
from graphport_code.source import Source
from graphport_code.treesitter import TreeReader

if TYPE_CHECKING:
    from tree_sitter import Node


class PathReader(TreeReader):
    """Names with ``::`` in them; ``owner`` is the type whose ``impl`` is read, which ``Self`` stands for."""

    family = "rust"
    comment_types = frozenset({"line_comment", "block_comment"})

    def __init__(self, source: Source, space: str, deadline: float) -> None:
        super().__init__(source, space, deadline)
        self.owner: Expr | None = None
        self.owner_name = ""
        self.inline_modules: dict[str, str] = {}

    def _identifier(self, node: Node) -> Expr:
        text = self.text(node)
        return self.owner if text == "Self" and self.owner is not None else name(text)

    def path(self, node: Node | None) -> Expr:
        """``a::b::c`` in an expression, a type or a ``use``."""
        if node is None:
            return UNKNOWN
        if node.type in ("scoped_identifier", "scoped_type_identifier"):
            above = self.field(node, "path")
            base = self.path(above) if above is not None else make("m", "crate", 0)
            return make("a", base, self.text(self.field(node, "name")))
        if node.type in ("crate", "super", "self"):
            return self._anchor(node.type)
        if node.type == "bracketed_type":  # <Bar as Trait>::method
            inside = self.named(node)
            written = self.field(inside[0], "type") if inside and inside[0].type == "qualified_type" else None
            return self.type_of(written or (inside[0] if inside else None))
        if node.type in ("generic_type", "generic_type_with_turbofish", "generic_function"):
            return self.path(self.field(node, "type") or self.field(node, "function"))
        return self._identifier(node)

    def _anchor(self, word: str) -> Expr:
        """``crate``, ``self`` and ``super``, the last two as seen from a module inside the file too."""
        inside = [key for key in self._around() if self.unit.scopes[key]["k"] == "namespace"]
        if word == "crate" or not inside:
            return make("m", word, 0)
        if word == "self":
            return make("f", inside[0])
        return make("f", inside[1]) if len(inside) > 1 else make("m", "self", 0)

    def _around(self) -> Iterator[str]:
        key: str | None = self.key
        while key:
            yield key
            key = self.unit.scopes[key]["up"]

    def use(self, node: Node) -> Expr:
        for local, value in self._used(self.field(node, "argument"), None):
            self.unit.imports.append([self.key, value, self.line(node)])
            if local == "*":
                self.scope.setdefault("stars", []).append(value)
            elif local not in ("_", ""):
                self.bind(local, value)
        return UNKNOWN

    def _used(self, node: Node | None, base: Expr | None) -> Iterator[tuple[str, Expr]]:
        """(local name, value) of everything a ``use`` brings; ``*`` for all of a module."""
        if node is None:
            return
        if node.type == "scoped_use_list":
            inner = self._use_path(self.field(node, "path"), base)
            yield from self._used(self.field(node, "list"), inner)
        elif node.type == "use_list":
            for part in self.named(node):
                yield from self._used(part, base)
        elif node.type == "use_as_clause":
            value = self._use_path(self.field(node, "path"), base)
            yield self.text(self.field(node, "alias")), value
        elif node.type == "use_wildcard":
            inside = self.named(node)
            yield "*", self._use_path(inside[0], base) if inside else base or UNKNOWN
        elif node.type == "self" and base is not None:
            yield str(base[-1]) if base[0] == "a" else "", base
        else:
            text = self.text(node).rpartition("::")[2]
            yield text, self._use_path(node, base)

    def _use_path(self, node: Node | None, base: Expr | None) -> Expr:
        if node is None:
            return base if base is not None else make("m", "crate", 0)
        if node.type == "scoped_identifier":
            return make("a", self._use_path(self.field(node, "path"), base), self.text(self.field(node, "name")))
        text = self.text(node)
        if base is not None:
            return base if text == "self" else make("a", base, text)
        if node.type in ("crate", "super", "self"):
            return self._anchor(node.type)
        return make("f", self.inline_modules[text]) if text in self.inline_modules else make("m", text, 0)

    def _bounds(self, node: Node | None) -> Expr | None:
        inside = [self.type_of(part) for part in self.named(node) if part.type != "lifetime"]
        return union(inside) if inside else None

    def read_type(self, node: Node) -> Expr:
        if node.type == "primitive_type":
            return OPAQUE
        if node.type in ("type_identifier", "identifier", "scoped_type_identifier", "scoped_identifier"):
            return self.path(node)
        if node.type in ("reference_type", "pointer_type"):
            return self.type_of(self.field(node, "type"))
        if node.type in ("dynamic_type", "abstract_type"):
            return self.type_of(self.field(node, "trait"))
        if node.type == "bounded_type":
            return self._bounds(node) or UNKNOWN
        if node.type in ("array_type", "slice_type"):
            return make("s", name("Vec"), make("t", [self.type_of(self.field(node, "element") or self.named(node)[0])]))
        if node.type == "tuple_type":
            return make("t", [self.type_of(part) for part in self.named(node)])
        if node.type == "generic_type":
            written = self.named(self.field(node, "type_arguments"))
            arguments = [self.type_of(part) for part in written if part.type not in ("lifetime", "type_binding")]
            return make("s", self.type_of(self.field(node, "type")), make("t", arguments or [UNKNOWN]))
        return UNKNOWN
