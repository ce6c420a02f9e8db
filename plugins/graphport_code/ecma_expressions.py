"""JavaScript expressions, and statements that bind names."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from graphport_code.ecma_types import TypeReader
from graphport_code.ir import OPAQUE, SELF, UNKNOWN, Expr, make, name, union
from graphport_code.unit import MODULE

if TYPE_CHECKING:
    from tree_sitter import Node

DEFAULT = "default"
"""Name under which a module holds its default export, or what CommonJS exports as a whole."""

FUNCTIONS = frozenset(
    "function_declaration generator_function_declaration function_expression generator_function "
    "arrow_function function_signature".split()
)
_CLASSES = frozenset({"class_declaration", "abstract_class_declaration", "class"})
_SAME = frozenset(
    "parenthesized_expression await_expression non_null_expression as_expression satisfies_expression "
    "type_assertion spread_element expression_statement".split()
)
_LITERALS = frozenset({"number", "true", "false", "regex", "template_string"})


class ExpressionReader(TypeReader):
    """Reads a tree of the JavaScript, TypeScript or TSX grammar."""

    def read(self, node: Node) -> Expr:
        kind = node.type
        if kind in FUNCTIONS:
            return self.function(node)
        if kind in _CLASSES:
            return self.class_(node)
        if kind in _SAME:
            inside = self.named(node)
            found = self.expr(inside[0]) if inside else UNKNOWN
            return make("i", found) if kind == "spread_element" else found
        if kind in _LITERALS:
            self.children(node)
            return OPAQUE
        reader = self.readers.get(kind)
        if reader is not None:
            return reader(self, node)
        if kind.endswith(("_annotation", "_arguments", "_parameters")):
            return UNKNOWN  # types hold no calls
        return super().read(node)

    @abstractmethod
    def function(self, node: Node, called: str = "") -> Expr:
        """A function, named ``called`` if it has no name itself."""

    @abstractmethod
    def class_(self, node: Node, called: str = "") -> Expr:
        """A class, named ``called`` if it has no name itself."""

    def _identifier(self, node: Node) -> Expr:
        return name(self.text(node))

    def _string(self, node: Node) -> Expr:
        text = self.text(node)[1:-1]
        return make("k", text) if len(text) <= 40 else OPAQUE

    def _member(self, node: Node) -> Expr:
        base = self.expr(self.field(node, "object"))
        return make("a", base, self.text(self.field(node, "property")).lstrip("#"))

    def _subscript(self, node: Node) -> Expr:
        return make("s", self.expr(self.field(node, "object")), self.expr(self.field(node, "index")))

    def _call(self, node: Node) -> Expr:
        function = self.field(node, "function")
        arguments = self.field(node, "arguments")
        if function is not None and function.type in ("identifier", "import") and arguments is not None:
            module = self._required(function, arguments)
            if module is not None:
                return module
        if function is not None and function.type == "super":
            callee = make("a", make("super"), "constructor")
        else:
            callee = self.expr(function)
        return self._called("call", callee, node, arguments)

    def _new(self, node: Node) -> Expr:
        callee = self.expr(self.field(node, "constructor"))
        return self._called("new", callee, node, self.field(node, "arguments"))

    def _called(self, kind: str, callee: Expr, node: Node, arguments: Node | None) -> Expr:
        if arguments is not None and arguments.type == "template_string":
            self.expr(arguments)
            args: list[Expr] = []
        else:
            args = [self.expr(argument) for argument in self.named(arguments)]
        call = make("c", callee, args, [])
        self.call(kind, callee, node, call)
        return call

    def _required(self, function: Node, arguments: Node) -> Expr | None:
        """``require("./x")`` and ``import("./x")``: the module."""
        inside = self.named(arguments)
        if self.text(function) not in ("require", "import") or len(inside) != 1 or inside[0].type != "string":
            return None
        module = make("m", self.text(inside[0])[1:-1], 0)
        self.unit.imports.append([self.key, module, self.line(function)])
        return module

    def _array(self, node: Node) -> Expr:
        return make("t", [self.expr(item) for item in self.named(node)][:200])

    def _object(self, node: Node) -> Expr:
        pairs: list[list[Expr | None]] = []
        for item in self.named(node):
            if item.type == "pair":
                key = self.field(item, "key")
                pairs.append([make("k", self._key(key)), self.expr(self.field(item, "value"))])
            elif item.type == "shorthand_property_identifier":
                pairs.append([make("k", self.text(item)), name(self.text(item))])
            elif item.type == "method_definition":
                key = self.field(item, "name")
                pairs.append([make("k", self._key(key)), self.function(item, self._key(key))])
            elif item.type == "spread_element":
                pairs.append([None, self.expr(self.named(item)[0])])
        return make("d", pairs[:200])

    def _key(self, node: Node | None) -> str:
        return self.text(node).strip("\"'#")

    def _conditional(self, node: Node) -> Expr:
        self.expr(self.field(node, "condition"))
        return union([self.expr(self.field(node, "consequence")), self.expr(self.field(node, "alternative"))])

    def _binary(self, node: Node) -> Expr:
        operands: list[Node | None] = []
        left: Node | None = node
        while left is not None and left.type == "binary_expression":
            operands.append(self.field(left, "right"))
            left = self.field(left, "left")
        values = [self.expr(operand) for operand in (left, *reversed(operands))]
        if self.text(self.field(node, "operator")) in ("||", "&&", "??"):
            return union(values)
        return OPAQUE

    def _assignment(self, node: Node) -> Expr:
        target = self.field(node, "left")
        right = self.field(node, "right")
        value = self._valued(right, self._target_name(target))
        if target is not None:
            self._assign(target, value)
        return value

    def _valued(self, node: Node | None, called: str) -> Expr:
        """A value; a function or class without a name gets the one it is assigned to."""
        if node is not None and node.type in FUNCTIONS and called:
            return self.function(node, called)
        if node is not None and node.type == "class" and called:
            return self.class_(node, called)
        return self.expr(node)

    def _target_name(self, target: Node | None) -> str:
        if target is None or target.type in ("identifier", "property_identifier"):
            return self.text(target)
        return self._key(self.field(target, "property")) if target.type == "member_expression" else ""

    def _assign(self, target: Node, value: Expr) -> None:
        if target.type == "member_expression":
            self._assign_member(target, value)
        else:
            self._bind_pattern(target, value)

    def _assign_member(self, target: Node, value: Expr) -> None:
        owner = self.field(target, "object")
        attribute = self._key(self.field(target, "property"))
        written = self.text(owner)
        if self.text(target) == "module.exports":
            self._export_object(value)
        elif written in ("exports", "module.exports"):
            self.unit.bind(MODULE, attribute, value, self.key)
        elif owner is not None and owner.type == "this":
            cls = self._enclosing_class()
            if cls is not None:
                self.unit.bind_weakly(cls, attribute, value, self.key)
        elif written.endswith(".prototype") and written.removesuffix(".prototype") in self.unit.symbols:
            self.unit.bind(written.removesuffix(".prototype"), attribute, value, self.key)
        else:
            self.expr(owner)

    def _export_object(self, value: Expr) -> None:
        self.unit.bind(MODULE, DEFAULT, value, self.key)
        if value[0] == "d":
            for key, content in value[1]:
                if key is not None:
                    self.unit.bind(MODULE, key[1], content, self.key)

    def _enclosing_class(self) -> str | None:
        key: str | None = self.key
        while key:
            if "cls" in self.unit.scopes[key]:
                return str(self.unit.scopes[key]["cls"])
            key = self.unit.scopes[key]["up"]
        return None

    def _bind_pattern(self, target: Node | None, value: Expr) -> None:
        if target is None:
            return
        if target.type in ("identifier", "shorthand_property_identifier_pattern", "type_identifier"):
            self.bind(self.text(target), value)
        elif target.type in ("assignment_pattern", "object_assignment_pattern"):
            default = self.expr(self.field(target, "right"))
            self._bind_pattern(self.field(target, "left"), union([value, default]))
        elif target.type == "pair_pattern":
            inner = make("a", value, self._key(self.field(target, "key")))
            self._bind_pattern(self.field(target, "value"), inner)
        elif target.type == "rest_pattern":
            self._bind_pattern(self.named(target)[0], value)
        elif target.type == "object_pattern":
            for item in self.named(target):
                plain = item.type in ("shorthand_property_identifier_pattern", "object_assignment_pattern")
                left = self.field(item, "left") or item
                self._bind_pattern(item, make("a", value, self.text(left)) if plain else value)
        elif target.type == "array_pattern":
            for place, item in enumerate(self.named(target)):
                self._bind_pattern(item, make("s", value, make("k", place)))

    def _declarator(self, node: Node) -> Expr:
        target = self.field(node, "name")
        value_node = self.field(node, "value")
        if target is not None and target.type == "identifier" and value_node is not None:
            value = self._valued(value_node, self.text(target))
        else:
            value = self.expr(value_node) if value_node is not None else UNKNOWN
        declared = self.written(self.field(node, "type"))
        if declared is not None:
            value = union([*([value] if value_node is not None else []), make("T", declared)])
        self._bind_pattern(target, value)
        self._constant_symbol(node, target)
        return UNKNOWN

    def _constant_symbol(self, node: Node, target: Node | None) -> None:
        if self.key == MODULE and target is not None and target.type == "identifier" and node.parent is not None:
            text = self.text(target)
            if text.isupper() and text not in self.unit.symbols:
                self.symbol(node.parent, text, "constant")

    def _for_in(self, node: Node) -> Expr:
        source = self.expr(self.field(node, "right"))
        target = self.field(node, "left")
        of = self.text(self.field(node, "operator")) == "of"
        self._bind_pattern(target, make("i", source) if of else OPAQUE)
        return self.expr(self.field(node, "body"))

    def _return(self, node: Node) -> Expr:
        values = [self.expr(child) for child in self.named(node)]
        if values and self.scope["k"] in ("function", "lambda"):
            self.scope.setdefault("r", []).append(values[0])
        return UNKNOWN

    def _yield(self, node: Node) -> Expr:
        values = [self.expr(child) for child in self.named(node)]
        if values and self.scope["k"] in ("function", "lambda"):
            self.scope.setdefault("y", []).append(values[0])
        return UNKNOWN

    readers: ClassVar[dict[str, Callable[[Any, Node], Expr]]] = {
        "identifier": _identifier,
        "this": lambda _self, _node: SELF,
        "super": lambda _self, _node: make("super"),
        "string": _string,
        "member_expression": _member,
        "subscript_expression": _subscript,
        "call_expression": _call,
        "new_expression": _new,
        "array": _array,
        "object": _object,
        "ternary_expression": _conditional,
        "binary_expression": _binary,
        "assignment_expression": _assignment,
        "variable_declarator": _declarator,
        "for_in_statement": _for_in,
        "return_statement": _return,
        "yield_expression": _yield,
    }
