"""Rust expressions, patterns and the tokens of macros."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from graphport_code.ir import OPAQUE, UNKNOWN, Expr, make, name, union
from graphport_code.rust_paths import PathReader
from graphport_code.unit import Scope

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERALS = frozenset(
    "integer_literal float_literal boolean_literal char_literal string_literal raw_string_literal "
    "unit_expression".split()
)
_SAME = frozenset(
    "reference_expression unary_expression try_expression await_expression parenthesized_expression "
    "expression_statement unsafe_block async_block match_pattern ref_pattern mut_pattern reference_pattern".split()
)
_WRAPPERS = frozenset({"Some", "Ok"})
_WRAPPING_TYPES = frozenset("Box Rc Arc RefCell Cell Mutex RwLock Cow Pin Some Ok".split())
_PASSES_ELEMENTS = frozenset(
    "map for_each filter filter_map flat_map any all find position take_while skip_while map_err and_then inspect "
    "max_by_key min_by_key sort_by_key partition".split()
)
_NO_CALL = frozenset("if while match return in for let as move ref mut else loop break".split())


class ExpressionReader(PathReader):
    """Everything inside a function."""

    def read(self, node: Node) -> Expr:
        kind = node.type
        if kind in _LITERALS:
            return OPAQUE
        if kind in _SAME:
            inside = [self.expr(child) for child in self.named(node) if child.type != "mutable_specifier"]
            return inside[0] if inside else UNKNOWN
        reader = self.readers.get(kind)
        if reader is not None:
            return reader(self, node)
        if kind.endswith("_type") or kind in ("attribute_item", "inner_attribute_item", "where_clause"):
            return UNKNOWN
        return super().read(node)

    def _field_expression(self, node: Node) -> Expr:
        field = self.field(node, "field")
        base = self.expr(self.field(node, "value"))
        if field is not None and field.type == "integer_literal":
            return make("s", base, make("k", int(self.text(field)))) if self.text(field).isdigit() else UNKNOWN
        return make("a", base, self.text(field))

    def _call(self, node: Node) -> Expr:
        function = self.field(node, "function")
        if function is not None and function.type == "generic_function":
            function = self.field(function, "function")
        args = [self.expr(argument) for argument in self.named(self.field(node, "arguments"))]
        if function is not None and function.type == "field_expression":
            callee = self.expr(function)
            if callee[0] == "a" and callee[2] in _PASSES_ELEMENTS:
                self._pass_elements(callee[1], args)
        else:
            callee = self.expr(function)
        if len(args) == 1 and self._wraps(callee):
            return args[0]
        call = make("c", callee, args, [])
        self.call("call", callee, node, call)
        return call

    def _wraps(self, callee: Expr) -> bool:
        """``Some(x)`` and ``Box::new(x)`` are treated as x, as their types are."""
        if callee[0] == "n":
            return callee[1] in _WRAPPERS
        return callee[0] == "a" and callee[2] == "new" and callee[1][0] == "n" and callee[1][1] in _WRAPPING_TYPES

    def _pass_elements(self, base: Expr, args: Sequence[Expr]) -> None:
        for arg in args:
            scope = self.unit.scopes.get(arg[1]) if arg[0] == "f" else None
            if scope is not None and scope["p"]:
                scope["b"].setdefault(scope["p"][0], []).append(make("u", [make("elem", base), base]))

    def _macro(self, node: Node) -> Expr:
        macro = self.path(self.field(node, "macro"))
        if macro[0] in ("n", "a"):
            self.call("call", name(f"{macro[1]}!") if macro[0] == "n" else macro, node)
        found = UNKNOWN
        for child in node.children:
            if child.type == "token_tree":
                found = self._tokens(child)
        return make("t", [found]) if self.text(self.field(node, "macro")) == "vec" else UNKNOWN

    def _tokens(self, tree: Node) -> Expr:
        """The calls among a macro's tokens: names and paths before parentheses, methods after a dot."""
        current: Expr | None = None
        last: Expr = UNKNOWN
        joint = ""
        for token in tree.children:
            if token.type == "token_tree":
                inner = self._tokens(token)
                if current is not None and self.text(token).startswith("(") and not joint:
                    self.call("call", current, token)
                    current = last = make("c", current, [], [])
                else:
                    current, last = None, inner
                joint = ""
            elif token.type in ("identifier", "self", "crate", "super", "metavariable"):
                text = self.text(token)
                if current is not None and joint:
                    current = make("a", current, text)
                elif text in _NO_CALL:
                    current = None
                else:
                    in_path = token.next_sibling is not None and token.next_sibling.type == "::"
                    current = self.path(token) if in_path or token.type == "identifier" else name(text)
                last, joint = current if current is not None else UNKNOWN, ""
            elif token.type in (".", "::") and current is not None:
                joint = token.type
            else:
                current, joint = None, ""
        return last

    def _struct(self, node: Node) -> Expr:
        written = self.type_of(self.field(node, "name"))
        self.call("new", written, node)
        self.expr(self.field(node, "body"))
        return make("T", written)

    def _initializer(self, node: Node) -> Expr:
        return self.expr(self.field(node, "value"))

    def _index(self, node: Node) -> Expr:
        inside = [self.expr(child) for child in self.named(node)]
        return make("s", inside[0], inside[1]) if len(inside) == 2 else UNKNOWN

    def _tuple(self, node: Node) -> Expr:
        return make("t", [self.expr(child) for child in self.named(node)][:200])

    def _cast(self, node: Node) -> Expr:
        self.expr(self.field(node, "value"))
        return make("T", self.type_of(self.field(node, "type")))

    def _binary(self, node: Node) -> Expr:
        left: Node | None = node
        while left is not None and left.type == "binary_expression":
            self.expr(self.field(left, "right"))
            left = self.field(left, "left")
        self.expr(left)
        return UNKNOWN

    def _closure(self, node: Node) -> Expr:
        key = self.open_lambda()
        scope = self.unit.scopes[key]
        before, self.key = self.key, key
        for parameter in self.named(self.field(node, "parameters")):
            self._parameter(scope, parameter)
        scope["r"] = [self.expr(self.field(node, "body"))]
        self.key = before
        return make("f", key)

    def _block(self, node: Node) -> Expr:
        """A block is what its last expression is."""
        found = UNKNOWN
        for child in self.named(node):
            found = self.expr(child)
        return found

    def _if(self, node: Node) -> Expr:
        self.expr(self.field(node, "condition"))
        then = self.expr(self.field(node, "consequence"))
        other = self.field(node, "alternative")
        return union([then, self.expr(other)]) if other is not None else then

    def _else(self, node: Node) -> Expr:
        inside = [self.expr(child) for child in self.named(node)]
        return inside[-1] if inside else UNKNOWN

    def _match(self, node: Node) -> Expr:
        value = self.expr(self.field(node, "value"))
        found: list[Expr] = []
        for arm in self.named(self.field(node, "body")):
            pattern = self.field(arm, "pattern")
            for part in self.named(pattern):
                if part is self.field(pattern, "condition"):
                    self.expr(part)
                else:
                    self._bind_pattern(part, value)
            found.append(self.expr(self.field(arm, "value")))
        return union(found)

    def _let(self, node: Node) -> Expr:
        value_node = self.field(node, "value")
        value = self.expr(value_node) if value_node is not None else UNKNOWN
        written = self.field(node, "type")
        if written is not None:
            value = make("T", self.type_of(written))
        self._bind_pattern(self.field(node, "pattern"), value)
        other = self.field(node, "alternative")
        if other is not None:
            self.expr(other)
        return UNKNOWN

    def _for(self, node: Node) -> Expr:
        source = self.expr(self.field(node, "value"))
        self._bind_pattern(self.field(node, "pattern"), make("elem", source))
        self.expr(self.field(node, "body"))
        return UNKNOWN

    def _bind_pattern(self, node: Node | None, value: Expr) -> None:
        if node is None:
            return
        if node.type == "identifier":
            self.bind(self.text(node), value)
        elif node.type == "tuple_pattern":
            for place, part in enumerate(self.named(node)):
                self._bind_pattern(part, make("s", value, make("k", place)))
        elif node.type == "tuple_struct_pattern":
            written = self.field(node, "type")
            same = self.text(written) in (*_WRAPPERS, "Err")
            for place, part in enumerate(child for child in self.named(node) if child != written):
                inner = value if same else make("a", make("T", self.type_of(written)), str(place))
                self._bind_pattern(part, inner)
        elif node.type == "struct_pattern":
            typed = make("T", self.type_of(self.field(node, "type")))
            for part in self.named(node):
                if part.type == "field_pattern":
                    field = self.text(self.field(part, "name"))
                    inside = self.field(part, "pattern")
                    content = make("a", typed, field)
                    if inside is not None:
                        self._bind_pattern(inside, content)
                    else:
                        self.bind(field, content)
        elif node.type in ("captured_pattern", "or_pattern", *_SAME):
            for part in self.named(node):
                self._bind_pattern(part, value)

    def _parameter(self, scope: Scope, node: Node) -> None:
        pattern = self.field(node, "pattern") or node
        while pattern.type in ("mut_pattern", "reference_pattern", "ref_pattern") and self.named(pattern):
            pattern = self.named(pattern)[-1]
        text = self.text(pattern) if pattern.type == "identifier" else f"<{len(scope['p'])}>"
        scope["p"].append(text)
        written = self.field(node, "type")
        if written is not None:
            scope.setdefault("an", {})[text] = self.type_of(written)
        if pattern.type != "identifier":
            self._bind_pattern(pattern, make("pm", text))

    readers: ClassVar[dict[str, Callable[[Any, Node], Expr]]] = {
        "identifier": lambda self, node: self.path(node),
        "type_identifier": lambda self, node: self.path(node),
        "self": lambda _self, _node: name("self"),
        "scoped_identifier": lambda self, node: self.path(node),
        "generic_function": lambda self, node: self.path(node),
        "field_expression": _field_expression,
        "call_expression": _call,
        "macro_invocation": _macro,
        "struct_expression": _struct,
        "field_initializer": _initializer,
        "index_expression": _index,
        "tuple_expression": _tuple,
        "array_expression": _tuple,
        "type_cast_expression": _cast,
        "binary_expression": _binary,
        "closure_expression": _closure,
        "block": _block,
        "if_expression": _if,
        "else_clause": _else,
        "match_expression": _match,
        "let_declaration": _let,
        "let_condition": _let,
        "for_expression": _for,
    }
