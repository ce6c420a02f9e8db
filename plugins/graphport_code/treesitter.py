"""Parsing with tree-sitter, within a deadline, and what every reader of such a tree needs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphport_code.ir import UNKNOWN, Expr, make
from graphport_code.languages import Language, grammar
from graphport_code.source import Source
from graphport_code.symbols import MAX_DOCSTRING, Symbol, one_line
from graphport_code.unit import MODULE, Scope, Unit

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

CHUNK = 1 << 16
MAX_NESTING = 80
"""Deeper trees are walked without recursion, for the names that are called in them."""

LAST_FIELDS = ("property", "field", "name", "function")
"""Where grammars keep the last part of a qualified name."""


def parse(source: Source, language: Language, deadline: float) -> Tree:
    """The file's tree, errors marked in it. Raises TimeoutError after ``deadline`` (`time.monotonic`)."""
    import tree_sitter

    parser = tree_sitter.Parser(grammar(language))
    data = source.data
    late = False

    def read(offset: int, _point: object) -> bytes:
        return data[offset : offset + CHUNK]

    def stop(_offset: int, _has_error: bool) -> bool:
        nonlocal late
        late = time.monotonic() > deadline
        return late

    try:
        return parser.parse(read, progress_callback=stop)
    except ValueError as error:  # py-tree-sitter's word for "the callback said stop"
        if late:
            raise TimeoutError from error
        raise


def first_error(tree: Tree) -> int | None:
    """The 1-based line of the first place that did not parse; None if all did."""
    node = tree.root_node
    if not node.has_error:
        return None
    while not (node.is_error or node.is_missing):
        inside = next((child for child in node.children if child.has_error or child.is_missing), None)
        if inside is None:
            break
        node = inside
    return node.start_point.row + 1


class TreeReader:
    """Base of the readers: where in the file's scopes it is, names, lines, comments and symbols."""

    family = ""
    comment_types = frozenset({"comment", "line_comment", "block_comment"})

    def __init__(self, source: Source, space: str, deadline: float) -> None:
        self.source = source
        self.deadline = deadline
        self.unit = Unit(source.path, self.family, space)
        self.key = MODULE
        self.depth = 0
        self.made_calls: list[tuple[str, Expr]] = []
        self.lambdas = 0

    def text(self, node: Node | None) -> str:
        return "" if node is None else self.source.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def line(self, node: Node) -> int:
        return node.start_point.row + 1

    def field(self, node: Node | None, name: str) -> Node | None:
        return None if node is None else node.child_by_field_name(name)

    def named(self, node: Node | None) -> list[Node]:
        """The children that mean something, without comments."""
        if node is None:
            return []
        return [child for child in node.named_children if child.type not in self.comment_types]

    @property
    def scope(self) -> Scope:
        return self.unit.scopes[self.key]

    def bind(self, name: str, value: Expr) -> None:
        """Bind a name in the scope that is read."""
        if self.scope["k"] in ("function", "lambda"):
            self.scope["b"].setdefault(name, []).append(value)
        else:
            self.unit.bind(self.key, name, value)

    def call(self, kind: str, callee: Expr, node: Node, call: Expr | None = None) -> None:
        if callee[0] in ("x", "?", "k", "t", "d", "up"):
            return
        self.unit.call(self.key, kind, callee, self.line(node))
        if call is not None and call[0] == "c" and (call[2] or call[3]):
            self.made_calls.append((self.key, call))

    def expr(self, node: Node | None) -> Expr:
        """A node as an expression; calls in it are recorded."""
        if node is None:
            return UNKNOWN
        if self.depth >= MAX_NESTING:
            return self._surface(node)
        if self.depth < MAX_NESTING // 4 and time.monotonic() > self.deadline:
            raise TimeoutError
        self.depth += 1
        found = self.read(node)
        self.depth -= 1
        return found

    def read(self, node: Node) -> Expr:
        """What `expr` does for one node; by default its children are read and nothing is known of it."""
        self.children(node)
        return UNKNOWN

    def type_of(self, node: Node | None) -> Expr:
        """A written type."""
        if node is None or self.depth >= MAX_NESTING:
            return UNKNOWN
        self.depth += 1
        found = self.read_type(node)
        self.depth -= 1
        return found

    def read_type(self, node: Node) -> Expr:  # noqa: ARG002 - for languages that write types
        """What `type_of` does for one node."""
        return UNKNOWN

    def children(self, node: Node | None) -> None:
        for child in self.named(node):
            self.expr(child)

    def _surface(self, node: Node) -> Expr:
        """Record the calls in what nests too deep, each by its last name."""
        for part in walk(node):
            callee = self.called_in(part)
            if callee is not None:
                name = self.last_name(callee)
                if name:
                    self.call("call", make("a", UNKNOWN, name), part)
        return UNKNOWN

    def called_in(self, node: Node) -> Node | None:
        """What a call calls; None if the node is no call."""
        if node.type in ("call_expression", "method_invocation", "macro_invocation"):
            return self.field(node, "function") or self.field(node, "name") or self.field(node, "macro")
        return None

    def last_name(self, node: Node) -> str:
        """``c`` of ``a.b.c``, ``a::c<T>`` and the like; "" for what has no name."""
        while node.child_count:
            inside = next((found for name in LAST_FIELDS if (found := node.child_by_field_name(name))), None)
            inside = inside or next(iter(node.named_children[-1:]), None)
            if inside is None:
                return ""
            node = inside
        return self.text(node) if node.type.endswith("identifier") else ""

    # Symbols

    def symbol(
        self, node: Node, name: str, kind: str, body: Node | None = None, *, parent: str | None = None, prefix: str = ""
    ) -> Symbol:
        """A symbol for a definition; the comments right above it are its documentation and belong to it."""
        first, documentation = self.comments_above(node)
        end = body.start_byte if body is not None else node.end_byte
        signature = self.source.data[node.start_byte : end].decode("utf-8", "replace")
        return self.unit.add_symbol(
            name,
            kind,
            self.unit.owner(self.key) if parent is None else parent,
            line=self.line(node),
            end_line=node.end_point.row + 1,
            start=first,
            signature=one_line(signature).rstrip("{ ;"),
            docstring=documentation[:MAX_DOCSTRING],
            prefix=prefix,
        )

    def comments_above(self, node: Node) -> tuple[int, str]:
        """The line where a definition's comments and attributes begin, and what the comments say."""
        first = node
        while first.parent is not None and first.parent.type in ("export_statement", "decorated_definition"):
            first = first.parent
        line = self.line(first)
        said: list[str] = []
        above = first.prev_sibling
        while above is not None and above.type in (*self.comment_types, "attribute_item", "decorator"):
            if above.end_point.row + (above.end_point.column > 0) < line - 1:
                break
            if above.type in self.comment_types:
                if above.prev_sibling is not None and above.prev_sibling.end_point.row == above.start_point.row:
                    break  # a comment at the end of a line of code is about that line
                said.append(plain_comment(self.text(above)))
            line = self.line(above)
            above = above.prev_sibling
        return line, "\n".join(reversed(said)).strip()

    def open_function(self, symbol: Symbol, **rest: object) -> Scope:
        return self.unit.add_scope(
            symbol.key, "function", symbol.node_id(self.source.path), self.key, b={}, p=[], name=symbol.name, **rest
        )

    def open_class(self, symbol: Symbol, kind: str = "class", **rest: object) -> Scope:
        return self.unit.add_scope(
            symbol.key, kind, symbol.node_id(self.source.path), self.key, name=symbol.name, **rest
        )

    def open_lambda(self) -> str:
        self.lambdas += 1
        key = f"{self.key}.<lambda{self.lambdas}>" if self.key else f"<lambda{self.lambdas}>"
        owner = self.unit.owner(self.key)
        node = self.unit.symbols[owner].node_id(self.source.path) if owner else self.unit.scopes[MODULE]["id"]
        self.unit.add_scope(key, "lambda", node, self.key, b={}, p=[])
        return key

    def inside(self, key: str, node: Node | None) -> Expr:
        """Read a node in another scope."""
        before, self.key = self.key, key
        found = self.expr(node)
        self.key = before
        return found


def walk(node: Node) -> Iterator[Node]:
    """A node and everything in it, in the order of the text, however deep."""
    cursor = node.walk()
    while True:
        current = cursor.node
        if current is not None:
            yield current
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def plain_comment(text: str) -> str:
    """What a comment says, without its marks."""
    lines = text.removeprefix("/**").removeprefix("/*").removesuffix("*/").splitlines()
    return "\n".join(line.strip().lstrip("/*!#").strip() for line in lines).strip()
