"""Java expressions, local statements and written types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from graphport_code.ir import OPAQUE, SELF, UNKNOWN, Expr, dotted, make, name, union
from graphport_code.treesitter import TreeReader
from graphport_code.unit import Scope

if TYPE_CHECKING:
    from tree_sitter import Node

INIT = "<init>"
"""Name under which a class holds its constructors."""
_PRIMITIVES = frozenset({"integral_type", "floating_point_type", "boolean_type", "void_type"})
_PASSES_ELEMENTS = frozenset(
    "map forEach filter anyMatch allMatch noneMatch flatMap mapToInt mapToLong mapToObj peek removeIf ifPresent "
    "takeWhile dropWhile sorted max min computeIfAbsent".split()
)


class ExpressionReader(TreeReader):
    """Everything inside a method."""

    family = "java"

    def read(self, node: Node) -> Expr:
        reader = self.readers.get(node.type)
        if reader is not None:
            return reader(self, node)
        if node.type.endswith(("_literal", "_type")) or node.type in ("true", "false"):
            return OPAQUE
        return super().read(node)

    def _identifier(self, node: Node) -> Expr:
        return name(self.text(node))

    def _field_access(self, node: Node) -> Expr:
        last = self.field(node, "field")
        owner = self.expr(self.field(node, "object"))
        return make("T", owner) if last is not None and last.type == "this" else make("a", owner, self.text(last))

    def _invocation(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        owner = self.field(node, "object")
        base = self.expr(owner) if owner is not None else None
        args = [self.expr(argument) for argument in self.named(self.field(node, "arguments"))]
        if base is not None and text in _PASSES_ELEMENTS:
            self._pass_elements(base, args)
        callee = make("o", text) if base is None else make("a", base, text)
        self.call(f"call:{len(args)}", callee, node)
        return make("c", callee, args, [])

    def _pass_elements(self, base: Expr, args: list[Expr]) -> None:
        """``items.forEach(item -> ...)``: the lambda gets the elements."""
        for arg in args:
            scope = self.unit.scopes.get(arg[1]) if arg[0] == "f" else None
            if scope is not None and scope["p"]:
                scope["b"].setdefault(scope["p"][0], []).append(make("elem", base))

    def _new(self, node: Node) -> Expr:
        written = self.type_of(self.field(node, "type"))
        args = [self.expr(argument) for argument in self.named(self.field(node, "arguments"))]
        self.call(f"new:{len(args)}", written, node)
        for body in (child for child in node.children if child.type == "class_body"):
            self._anonymous(body)
        return make("c", written, args, [])

    def _anonymous(self, body: Node) -> None:
        """The methods of a class without a name belong to the method around it."""
        for member in self.named(body):
            if member.type == "method_declaration":
                self._fill(self.open_lambda(), member)
            else:
                self.expr(member)

    def _explicit(self, node: Node) -> Expr:
        target = self.field(node, "constructor")
        args = [self.expr(argument) for argument in self.named(self.field(node, "arguments"))]
        above = make("super") if target is not None and target.type == "super" else SELF
        self.call(f"call:{len(args)}", make("a", above, INIT), node)
        return UNKNOWN

    def _lambda(self, node: Node) -> Expr:
        key = self.open_lambda()
        scope = self.unit.scopes[key]
        parameters = self.field(node, "parameters")
        if parameters is not None and parameters.type == "identifier":
            scope["p"].append(self.text(parameters))
        for parameter in self.named(parameters):
            if parameter.type == "identifier":
                scope["p"].append(self.text(parameter))
            else:
                self._parameter(scope, parameter)
        body = self.field(node, "body")
        value = self.inside(key, body)
        if body is not None and body.type != "block":
            scope["r"] = [value]
        return make("f", key)

    def _reference(self, node: Node) -> Expr:
        parts = self.named(node)
        if len(parts) < 2:
            return UNKNOWN
        callee = make("a", self.expr(parts[0]), self.text(parts[-1]))
        self.call("call", callee, node)
        return callee

    def _cast(self, node: Node) -> Expr:
        self.expr(self.field(node, "value"))
        return make("T", self.type_of(self.field(node, "type")))

    def _array(self, node: Node) -> Expr:
        self.children(node)
        return make("T", make("s", name("Array"), make("t", [self.type_of(self.field(node, "type"))])))

    def _element(self, node: Node) -> Expr:
        return make("s", self.expr(self.field(node, "array")), self.expr(self.field(node, "index")))

    def _inner(self, node: Node) -> Expr:
        inside = [self.expr(child) for child in self.named(node)]
        return inside[0] if inside else UNKNOWN

    def _ternary(self, node: Node) -> Expr:
        self.expr(self.field(node, "condition"))
        return union([self.expr(self.field(node, "consequence")), self.expr(self.field(node, "alternative"))])

    def _binary(self, node: Node) -> Expr:
        left: Node | None = node
        while left is not None and left.type == "binary_expression":
            self.expr(self.field(left, "right"))
            left = self.field(left, "left")
        self.expr(left)
        return OPAQUE

    def _instanceof(self, node: Node) -> Expr:
        self.expr(self.field(node, "left"))
        bound = self.field(node, "name")
        if bound is not None:
            self.bind(self.text(bound), make("T", self.type_of(self.field(node, "right"))))
        return OPAQUE

    def _assignment(self, node: Node) -> Expr:
        target = self.field(node, "left")
        value = self.expr(self.field(node, "right"))
        if target is not None and target.type != "identifier":
            self.expr(target)
        return value

    def _local(self, node: Node) -> Expr:
        written = self.type_of(self.field(node, "type"))
        for declarator in node.children_by_field_name("declarator"):
            self._declare(declarator, written)
        return UNKNOWN

    def _declare(self, node: Node, written: Expr) -> None:
        value = self.field(node, "value")
        found = self.expr(value) if value is not None else UNKNOWN
        infer = written == ["n", "var"]
        self.bind(self.text(self.field(node, "name")), found if infer else make("T", written))

    def _for_each(self, node: Node) -> Expr:
        source = self.expr(self.field(node, "value"))
        written = self.type_of(self.field(node, "type"))
        item = make("elem", source) if written == ["n", "var"] else make("T", written)
        self.bind(self.text(self.field(node, "name")), item)
        return self.expr(self.field(node, "body"))

    def _resource(self, node: Node) -> Expr:
        value = self.expr(self.field(node, "value"))
        target = self.field(node, "name")
        if target is not None:
            written = self.type_of(self.field(node, "type"))
            self.bind(self.text(target), value if written == ["n", "var"] else make("T", written))
        return UNKNOWN

    def _caught(self, node: Node) -> Expr:
        types = [child for child in self.named(node) if child.type == "catch_type"]
        options = [make("T", self.type_of(part)) for written in types for part in self.named(written)]
        self.bind(self.text(self.field(node, "name")), union(options))
        return UNKNOWN

    def _return(self, node: Node) -> Expr:
        values = [self.expr(child) for child in self.named(node)]
        if values and self.scope["k"] in ("function", "lambda"):
            self.scope.setdefault("r", []).append(values[0])
        return UNKNOWN

    def _fill(self, key: str, node: Node) -> None:
        scope = self.unit.scopes[key]
        before, self.key = self.key, key
        for parameter in self.named(self.field(node, "type_parameters")):
            self._type_parameter(parameter)
        for parameter in self.named(self.field(node, "parameters")):
            self._parameter(scope, parameter)
        returned = self.field(node, "type")
        if returned is not None and returned.type != "void_type":
            scope["ra"] = self.type_of(returned)
        self.expr(self.field(node, "body"))
        self.key = before

    def _type_parameter(self, node: Node) -> None:
        inside = self.named(node)
        if not inside:  # in a damaged file
            return
        bound = [part for child in inside if child.type == "type_bound" for part in self.named(child)]
        self.bind(self.text(inside[0]), self.type_of(bound[0]) if bound else name("Object"))

    def _parameter(self, scope: Scope, node: Node) -> None:
        if node.type == "spread_parameter":
            inside = self.named(node)
            scope["va"] = self.text(inside[-1])
            return
        text = self.text(self.field(node, "name"))
        written = self.field(node, "type")
        if text:
            scope["p"].append(text)
        if text and written is not None and self.text(written) != "var":
            scope.setdefault("an", {})[text] = self.type_of(written)

    def read_type(self, node: Node) -> Expr:
        if node.type in _PRIMITIVES:
            return OPAQUE
        if node.type in ("type_identifier", "identifier"):
            return name(self.text(node))
        if node.type == "scoped_type_identifier":
            package, of = split_package(self.text(node).replace(" ", ""))
            if not package:
                return dotted(".".join(of))
            found = make("p", package, 0, of[0]) if of else UNKNOWN
            for part in of[1:]:
                found = make("a", found, part)
            return found
        if node.type == "generic_type":
            inside = self.named(node)
            arguments = [child for child in inside if child.type == "type_arguments"]
            parts = [self.type_of(part) for written in arguments for part in self.named(written)]
            return make("s", self.type_of(inside[0]), make("t", parts or [UNKNOWN]))
        if node.type == "array_type":
            return make("s", name("Array"), make("t", [self.type_of(self.field(node, "element"))]))
        if node.type in ("annotated_type", "wildcard"):
            inside = [child for child in self.named(node) if not child.type.endswith("annotation")]
            return self.type_of(inside[-1]) if inside else UNKNOWN
        return UNKNOWN

    readers: ClassVar[dict[str, Callable[[Any, Node], Expr]]] = {
        "identifier": _identifier,
        "type_identifier": _identifier,
        "this": lambda _self, _node: SELF,
        "super": lambda _self, _node: make("super"),
        "field_access": _field_access,
        "method_invocation": _invocation,
        "object_creation_expression": _new,
        "explicit_constructor_invocation": _explicit,
        "lambda_expression": _lambda,
        "method_reference": _reference,
        "cast_expression": _cast,
        "array_creation_expression": _array,
        "array_access": _element,
        "parenthesized_expression": _inner,
        "ternary_expression": _ternary,
        "binary_expression": _binary,
        "instanceof_expression": _instanceof,
        "assignment_expression": _assignment,
        "local_variable_declaration": _local,
        "field_declaration": _local,
        "constant_declaration": _local,
        "enhanced_for_statement": _for_each,
        "resource": _resource,
        "catch_formal_parameter": _caught,
        "return_statement": _return,
        "package_declaration": lambda _self, _node: UNKNOWN,
        "modifiers": lambda _self, _node: UNKNOWN,
    }


def split_package(path: str) -> tuple[str, list[str]]:
    """``com.x.Outer.inner`` as its package and what is in it: a type's name begins with a capital."""
    parts = path.split(".")
    first = next((place for place, part in enumerate(parts) if part[:1].isupper()), len(parts))
    return ".".join(parts[:first]), parts[first:]
