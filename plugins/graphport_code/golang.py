"""Go files as units. A package is a folder: its files share their top-level names."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from graphport_code.ir import OPAQUE, UNKNOWN, Expr, make, name, union
from graphport_code.source import Source
from graphport_code.treesitter import TreeReader
from graphport_code.unit import MODULE, Scope, Unit

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_LITERALS = frozenset(
    "int_literal float_literal imaginary_literal rune_literal raw_string_literal true false nil iota".split()
)


class GoReader(TreeReader):
    family = "go"

    def read_file(self, tree: Tree) -> Unit:
        self.children(tree.root_node)
        return self.unit

    def read(self, node: Node) -> Expr:
        if node.type in _LITERALS:
            return OPAQUE
        reader = self.readers.get(node.type)
        if reader is not None:
            return reader(self, node)
        if node.type.endswith("_type"):
            return UNKNOWN  # types hold no calls
        return super().read(node)

    # Expressions

    def _identifier(self, node: Node) -> Expr:
        return name(self.text(node))

    def _string(self, node: Node) -> Expr:
        text = self.text(node)[1:-1]
        return make("k", text) if len(text) <= 40 else OPAQUE

    def _selector(self, node: Node) -> Expr:
        return make("a", self.expr(self.field(node, "operand")), self.text(self.field(node, "field")))

    def _call(self, node: Node) -> Expr:
        function = self.field(node, "function")
        arguments = self.named(self.field(node, "arguments"))
        if self.text(function) in ("new", "make") and arguments:
            for argument in arguments[1:]:
                self.expr(argument)
            return make("T", self.type_of(arguments[0]))
        callee = self.expr(function)
        call = make("c", callee, [self.expr(argument) for argument in arguments], [])
        self.call("call", callee, node, call)
        return call

    def _conversion(self, node: Node) -> Expr:
        """``[]T(x)``, and ``F[int](x)``, which the grammar cannot tell from it."""
        self.expr(self.field(node, "operand"))
        written = self.field(node, "type")
        if written is not None and written.type == "generic_type":
            callee = self.type_of(self.field(written, "type"))
            self.call("call", callee, node)
            return make("c", callee, [], [])
        return make("T", self.type_of(written))

    def _composite(self, node: Node) -> Expr:
        written = self.type_of(self.field(node, "type"))
        self.call("new", written, node)
        self.expr(self.field(node, "body"))
        return make("T", written)

    def _keyed(self, node: Node) -> Expr:
        self.expr(self.field(node, "value") or next(iter(self.named(node)[-1:]), None))
        return UNKNOWN

    def _unary(self, node: Node) -> Expr:
        value = self.expr(self.field(node, "operand"))
        operator = self.text(self.field(node, "operator"))
        return value if operator in ("&", "*") else make("i", value) if operator == "<-" else OPAQUE

    def _binary(self, node: Node) -> Expr:
        left: Node | None = node
        while left is not None and left.type == "binary_expression":
            self.expr(self.field(left, "right"))
            left = self.field(left, "left")
        self.expr(left)
        return OPAQUE

    def _index(self, node: Node) -> Expr:
        return make("s", self.expr(self.field(node, "operand")), self.expr(self.field(node, "index")))

    def _slice(self, node: Node) -> Expr:
        found = self.expr(self.field(node, "operand"))
        for end in ("start", "end", "capacity"):
            if self.field(node, end) is not None:
                self.expr(self.field(node, end))
        return found

    def _assertion(self, node: Node) -> Expr:
        self.expr(self.field(node, "operand"))
        return make("T", self.type_of(self.field(node, "type")))

    def _inner(self, node: Node) -> Expr:
        inside = [self.expr(child) for child in self.named(node)]
        return inside[0] if inside else UNKNOWN

    def _literal(self, node: Node) -> Expr:
        key = self.open_lambda()
        self._fill(key, node)
        return make("f", key)

    # Statements

    def _assign(self, node: Node) -> Expr:
        left = self.named(self.field(node, "left"))
        right = self.named(self.field(node, "right"))
        if node.type == "assignment_statement" and self.text(self.field(node, "operator")) != "=":
            self.children(node)
            return UNKNOWN
        self._bind_all(left, right)
        return UNKNOWN

    def _bind_all(self, left: Sequence[Node], right: Sequence[Node], declared: Expr | None = None) -> None:
        values = [self.expr(item) for item in right]
        for place, target in enumerate(left):
            if declared is not None:
                value = make("T", declared)
            elif len(values) == len(left):
                value = values[place]
            elif len(values) == 1:
                value = self._part(values[0], place)
            else:
                value = UNKNOWN
            if target.type == "identifier" and self.text(target) != "_":
                self.bind(self.text(target), value)
            elif target.type != "identifier":
                self.expr(target)

    def _part(self, value: Expr, place: int) -> Expr:
        """``x, err := f()`` takes the call apart; ``x, ok := m[k]`` and the like give a value and a bool."""
        return make("s", value, make("k", place)) if value[0] == "c" else value if place == 0 else OPAQUE

    def _var(self, node: Node) -> Expr:
        targets = [child for child in node.children_by_field_name("name") if child.is_named]
        declared = self.field(node, "type")
        self._bind_all(
            targets,
            self.named(self.field(node, "value")),
            self.type_of(declared) if declared is not None else None,
        )
        if self.key == MODULE and node.type == "const_spec":
            for target in targets:
                self.symbol(node, self.text(target), "constant")
        return UNKNOWN

    def _range(self, node: Node) -> Expr:
        source = self.expr(self.field(node, "right"))
        for place, target in enumerate(self.named(self.field(node, "left"))):
            if target.type == "identifier" and self.text(target) != "_":
                self.bind(self.text(target), make("elem", source) if place else OPAQUE)
        return UNKNOWN

    def _type_switch(self, node: Node) -> Expr:
        value = self.expr(self.field(node, "value"))
        cases = [child for child in self.named(node) if child.type == "type_case"]
        types = [self.type_of(written) for case in cases for written in case.children_by_field_name("type")]
        for target in self.named(self.field(node, "alias")):
            self.bind(self.text(target), union([make("T", written) for written in types] or [value]))
        for child in self.named(node):
            if child.type in ("type_case", "default_case"):
                self.children(child)
        return UNKNOWN

    # Declarations

    def _function(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        symbol = self.symbol(node, text, "function", self.field(node, "body"))
        self.open_function(symbol)
        self._fill(symbol.key, node)
        self.bind(text, make("f", symbol.key))
        return UNKNOWN

    def _method(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        receiver = next(iter(self.named(self.field(node, "receiver"))), None)
        written = self.type_of(self.field(receiver, "type"))
        owner = written[1] if written[0] == "n" else written[1][1] if written[0] == "s" else ""
        here = owner in self.unit.symbols
        symbol = self.symbol(
            node, text, "method", self.field(node, "body"), parent=owner if here else "", prefix="" if here else owner
        )
        scope = self.open_function(symbol)
        called = self.text(self.field(receiver, "name")) or "_"
        scope["self"] = called
        scope["p"].append(called)
        scope.setdefault("an", {})[called] = written
        self._fill(symbol.key, node)
        if owner:
            self.unit.bind(owner, text, make("f", symbol.key), MODULE)
        return UNKNOWN

    def _fill(self, key: str, node: Node) -> None:
        scope = self.unit.scopes[key]
        before, self.key = self.key, key
        for parameter in self.named(self.field(node, "type_parameters")):
            bound = self.type_of(self.field(parameter, "type"))
            for target in parameter.children_by_field_name("name"):
                scope["b"].setdefault(self.text(target), []).append(bound)
        for parameter in self.named(self.field(node, "parameters")):
            self._parameter(scope, parameter)
        result = self.field(node, "result")
        if result is not None:
            scope["ra"] = self._result(result)
        self.expr(self.field(node, "body"))
        self.key = before

    def _parameter(self, scope: Scope, node: Node) -> None:
        written = self.type_of(self.field(node, "type"))
        if node.type == "variadic_parameter_declaration":
            text = self.text(self.field(node, "name"))
            scope["p"].append(text)
            scope.setdefault("an", {})[text] = make("s", name("slice"), make("t", [written]))
            return
        for target in node.children_by_field_name("name"):
            scope["p"].append(self.text(target))
            scope.setdefault("an", {})[self.text(target)] = written

    def _result(self, node: Node) -> Expr:
        if node.type != "parameter_list":
            return self.type_of(node)
        types = [self.type_of(self.field(part, "type")) for part in self.named(node)]
        return types[0] if len(types) == 1 else make("t", types)

    def _type(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        written = self.field(node, "type")
        kind = {"struct_type": "class", "interface_type": "interface"}.get(written.type if written else "", "type")
        outer = node.parent if node.parent is not None and len(self.named(node.parent)) == 1 else node
        symbol = self.symbol(outer, text, kind, None if kind == "type" else written)
        if node.type == "type_alias":
            self.bind(text, self.type_of(written))
            return UNKNOWN
        self.bind(text, make("f", symbol.key))
        bases: list[Expr] = []
        self.open_class(symbol, bases=bases)
        for member in self._members(written):
            self._member(symbol.key, text, member, bases)
        return UNKNOWN

    def _members(self, written: Node | None) -> list[Node]:
        inside = self.named(written)
        return self.named(inside[0]) if inside and inside[0].type == "field_declaration_list" else inside

    def _member(self, key: str, owner: str, node: Node, bases: list[Expr]) -> None:
        if node.type == "method_elem":
            symbol = self.symbol(node, self.text(self.field(node, "name")), "method", parent=key)
            scope = self.open_function(symbol, fl=["abstract"])
            scope["self"] = "_"
            scope["p"].append("_")
            scope["an"] = {"_": name(owner)}
            self._fill(symbol.key, node)
            self.unit.bind(owner, symbol.name, make("f", symbol.key), MODULE)
            return
        if node.type not in ("field_declaration", "type_elem"):
            return
        names = [self.text(target) for target in node.children_by_field_name("name")]
        written = self.type_of(self.field(node, "type") or next(iter(self.named(node)), None))
        if not names and written[0] in ("n", "a", "s"):  # embedded: its fields and methods are promoted
            bases.append(written)
            self.unit.base(self.key, make("f", key), written, "inherits", self.line(node))
            plain = written[1] if written[0] == "s" else written
            names = [plain[-1]] if plain[0] in ("n", "a") else []
        for text in names:
            self.unit.bind(owner, text, make("T", written), MODULE)

    def _import(self, node: Node) -> Expr:
        path = self.text(self.field(node, "path"))[1:-1]
        module = make("m", path, 0)
        self.unit.imports.append([self.key, module, self.line(node)])
        alias = self.text(self.field(node, "name"))
        if alias == ".":
            self.scope.setdefault("stars", []).append(module)
        elif alias != "_":
            for text in [alias] if alias else package_names(path):
                self.bind(text, module)
        return UNKNOWN

    # Types

    def read_type(self, node: Node) -> Expr:
        if node.type in ("type_identifier", "identifier", "package_identifier"):
            return name(self.text(node))
        if node.type in ("qualified_type", "selector_expression"):
            package, _, text = self.text(node).rpartition(".")
            return make("a", name(package), text)
        if node.type in ("pointer_type", "parenthesized_type", "type_constraint", "type_elem", "negated_type"):
            inside = self.named(node)
            return self.type_of(inside[0]) if len(inside) == 1 else UNKNOWN
        if node.type in ("slice_type", "array_type", "channel_type"):
            element = self.field(node, "element") or self.field(node, "value")
            return make("s", name("slice"), make("t", [self.type_of(element)]))
        if node.type == "map_type":
            parts = [self.type_of(self.field(node, "key")), self.type_of(self.field(node, "value"))]
            return make("s", name("Map"), make("t", parts))
        if node.type == "generic_type":
            return self.type_of(self.field(node, "type"))
        return UNKNOWN

    readers: ClassVar[dict[str, Callable[[Any, Node], Expr]]] = {
        "identifier": _identifier,
        "interpreted_string_literal": _string,
        "selector_expression": _selector,
        "call_expression": _call,
        "type_conversion_expression": _conversion,
        "composite_literal": _composite,
        "keyed_element": _keyed,
        "literal_element": _inner,
        "unary_expression": _unary,
        "binary_expression": _binary,
        "index_expression": _index,
        "slice_expression": _slice,
        "type_assertion_expression": _assertion,
        "parenthesized_expression": _inner,
        "func_literal": _literal,
        "short_var_declaration": _assign,
        "assignment_statement": _assign,
        "var_spec": _var,
        "const_spec": _var,
        "range_clause": _range,
        "type_switch_statement": _type_switch,
        "function_declaration": _function,
        "method_declaration": _method,
        "type_spec": _type,
        "type_alias": _type,
        "import_spec": _import,
    }


def package_names(path: str) -> list[str]:
    """What a package that is imported from ``path`` may be called; its own file says, which is not seen here."""
    parts = path.split("/")
    last = parts[-2] if len(parts) > 1 and parts[-1][:1] == "v" and parts[-1][1:].isdigit() else parts[-1]
    last = last.partition(".")[0]
    return list(dict.fromkeys([last, last.removeprefix("go-"), last.removesuffix("-go"), last.replace("-", "")]))


def read_go(source: Source, tree: Tree, deadline: float) -> Unit:
    package = next((child for child in tree.root_node.named_children if child.type == "package_clause"), None)
    text = source.data[package.named_children[0].start_byte : package.end_byte].decode() if package else ""
    return GoReader(source, f"{posixpath.dirname(source.path)}:{text}", deadline).read_file(tree)
