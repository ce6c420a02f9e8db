"""JavaScript and TypeScript files as units."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from graphport_code.common_names import JS_NAMES
from graphport_code.ir import OPAQUE, SELF, UNKNOWN, Expr, make, name, union
from graphport_code.source import Source
from graphport_code.symbols import Symbol
from graphport_code.treesitter import TreeReader
from graphport_code.unit import MODULE, Scope, Unit, argument_sites

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

DEFAULT = "default"
"""Name under which a module holds its default export, or what CommonJS exports as a whole."""

_FUNCTIONS = frozenset(
    "function_declaration generator_function_declaration function_expression generator_function "
    "arrow_function function_signature".split()
)
_CLASSES = frozenset({"class_declaration", "abstract_class_declaration", "class"})
_SAME = frozenset(
    "parenthesized_expression await_expression non_null_expression as_expression satisfies_expression "
    "type_assertion spread_element expression_statement".split()
)
_LITERALS = frozenset({"number", "true", "false", "regex", "template_string"})


class EcmaReader(TreeReader):
    """Reads a tree of the JavaScript, TypeScript or TSX grammar."""

    family = "js"

    def read_file(self, tree: Tree) -> Unit:
        self.children(tree.root_node)
        functions = {symbol.name for symbol in self.unit.symbols.values()} | set(self.unit.names)
        argument_sites(self.unit, self.made_calls, {}, JS_NAMES, functions)
        return self.unit

    def read(self, node: Node) -> Expr:
        kind = node.type
        if kind in _FUNCTIONS:
            return self._function(node)
        if kind in _CLASSES:
            return self._class(node)
        if kind in _SAME:
            inside = self.named(node)
            found = self.expr(inside[0]) if inside else UNKNOWN
            return make("i", found) if kind == "spread_element" else found
        if kind in _LITERALS:
            self.children(node)
            return OPAQUE
        reader = _READERS.get(kind)
        if reader is not None:
            return reader(self, node)
        if kind.endswith(("_annotation", "_arguments", "_parameters")):
            return UNKNOWN  # types hold no calls
        return super().read(node)

    # Expressions

    def _identifier(self, node: Node) -> Expr:
        return name(self.text(node))

    def _this(self, node: Node) -> Expr:
        return SELF

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
                pairs.append([make("k", self._key(key)), self._function(item, self._key(key))])
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
            self._assign(target, value, right)
        return value

    def _valued(self, node: Node | None, called: str) -> Expr:
        """A value; a function or class without a name gets the one it is assigned to."""
        if node is not None and node.type in _FUNCTIONS and called:
            return self._function(node, called)
        if node is not None and node.type == "class" and called:
            return self._class(node, called)
        return self.expr(node)

    def _target_name(self, target: Node | None) -> str:
        if target is None or target.type in ("identifier", "property_identifier"):
            return self.text(target)
        return self._key(self.field(target, "property")) if target.type == "member_expression" else ""

    def _assign(self, target: Node, value: Expr, right: Node | None) -> None:
        if target.type == "member_expression":
            self._assign_member(target, value, right)
        else:
            self._bind_pattern(target, value)

    def _assign_member(self, target: Node, value: Expr, right: Node | None) -> None:
        owner = self.field(target, "object")
        attribute = self._key(self.field(target, "property"))
        written = self.text(owner)
        if self.text(target) == "module.exports":
            self._export_object(right, value)
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

    def _export_object(self, node: Node | None, value: Expr) -> None:
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

    # Statements

    def _declarator(self, node: Node) -> Expr:
        target = self.field(node, "name")
        value_node = self.field(node, "value")
        if target is not None and target.type == "identifier" and value_node is not None:
            value = self._valued(value_node, self.text(target))
        else:
            value = self.expr(value_node) if value_node is not None else UNKNOWN
        declared = self.type_of(self.field(node, "type"))
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

    # Functions and classes

    def _function(self, node: Node, called: str = "") -> Expr:
        """A function: a symbol if it has a name, else part of the function around it."""
        text = self._key(self.field(node, "name")) or called
        if not text:
            key = self.open_lambda()
            self._fill(key, node)
            return make("f", key)
        cls = self.key if self.scope["k"] == "class" else None
        symbol = self._symbol_of(node, text, "method" if cls is not None else "function")
        scope = self.open_function(symbol)
        flags = self._flags(node, cls)
        if cls is not None:
            scope["cls"] = cls
        if flags:
            scope["fl"] = flags
        self._fill(symbol.key, node)
        value = make("f", symbol.key)
        if node.type.endswith("_declaration") or node.type == "function_signature":
            self.bind(text, value)
        return value

    def _symbol_of(self, node: Node, text: str, kind: str) -> Symbol:
        body = self.field(node, "body")
        outer = node
        while outer.parent is not None and outer.parent.type in (
            "variable_declarator",
            "lexical_declaration",
            "variable_declaration",
            "public_field_definition",
            "field_definition",
            "pair",
        ):
            outer = outer.parent
        return self.symbol(outer, text, kind, body)

    def _flags(self, node: Node, cls: str | None) -> list[str]:
        words = {child.type for child in node.children}
        around = node.parent
        if around is not None and around.type in ("public_field_definition", "field_definition"):
            words |= {child.type for child in around.children}
        flags = ["static"] if cls is not None and "static" in words else []
        flags += ["property"] if "get" in words else []
        flags += ["abstract"] if self.field(node, "body") is None else []
        return sorted(flags)

    def _fill(self, key: str, node: Node) -> None:
        scope = self.unit.scopes[key]
        before, self.key = self.key, key
        single = self.field(node, "parameter")  # x => x.y
        for parameter in [single] if single is not None else self.named(self.field(node, "parameters")):
            self._parameter(scope, parameter)
        returned = self.type_of(self.field(node, "return_type"))
        if returned is not None:
            scope["ra"] = returned
        self._type_parameters(scope, node)
        body = self.field(node, "body")
        value = self.expr(body)
        if body is not None and body.type != "statement_block":
            scope.setdefault("r", []).append(value)
        self.key = before

    def _type_parameters(self, scope: Scope, node: Node) -> None:
        for parameter in self.named(self.field(node, "type_parameters")):
            bound = self.field(parameter, "constraint")
            limit = self.type_of(bound) if bound is not None else None
            scope["b"].setdefault(self.text(self.field(parameter, "name")), []).append(limit or UNKNOWN)

    def _parameter(self, scope: Scope, node: Node) -> None:
        pattern = self.field(node, "pattern") or node
        if pattern.type == "assignment_pattern":
            pattern, default = self.field(pattern, "left"), self.field(pattern, "right")
        else:
            default = self.field(node, "value")
        if pattern is None:
            return
        if pattern.type == "rest_pattern":
            scope["va"] = self.text(self.named(pattern)[0])
            return
        text = self.text(pattern) if pattern.type == "identifier" else f"<{len(scope['p'])}>"
        scope["p"].append(text)
        declared = self.type_of(self.field(node, "type"))
        if declared is not None:
            scope.setdefault("an", {})[text] = declared
        if default is not None:
            scope.setdefault("df", {})[text] = self.expr(default)
        if pattern.type != "identifier":
            self._bind_pattern(pattern, make("pm", text))
        if any(child.type in ("accessibility_modifier", "readonly") for child in node.children):
            cls = self._enclosing_class()
            if cls is not None:  # constructor(private readonly x: X) declares a field
                self.unit.bind_weakly(cls, text, name(text), self.key)

    def _class(self, node: Node, called: str = "") -> Expr:
        text = self.text(self.field(node, "name")) or called
        if not text:
            self.children(node)
            return UNKNOWN
        symbol = self._symbol_of(node, text, "class")
        bases: list[Expr] = []
        for heritage in (child for child in node.children if child.type == "class_heritage"):
            bases += self._heritage(symbol, heritage)
        self.open_class(symbol, bases=bases)
        self._in_class(symbol.key, self.field(node, "body"))
        value = make("f", symbol.key)
        if node.type != "class":
            self.bind(text, value)
        return value

    def _heritage(self, symbol: Symbol, heritage: Node) -> list[Expr]:
        bases: list[Expr] = []
        for clause in self.named(heritage):
            if clause.type == "extends_clause":
                found = [(self.expr(self.field(clause, "value")), "inherits")]
            elif clause.type == "implements_clause":
                found = [(self.type_of(part) or UNKNOWN, "implements") for part in self.named(clause)]
            else:  # JavaScript: the class itself
                found = [(self.expr(clause), "inherits")]
            for base, kind in found:
                self.unit.base(self.key, make("f", symbol.key), base, kind, self.line(clause))
                bases.append(base)
        return bases

    def _in_class(self, key: str, body: Node | None) -> None:
        before, self.key = self.key, key
        for member in self.named(body):
            if member.type in ("public_field_definition", "field_definition", "property_signature"):
                self._field(member)
            elif member.type in ("method_definition", "abstract_method_signature", "method_signature"):
                text = self._key(self.field(member, "name"))
                if member.type == "method_signature" and self._is_overload(member):
                    continue
                self.bind(text, self._function(member, text))
            else:
                self.expr(member)
        self.key = before

    def _is_overload(self, member: Node) -> bool:
        """A signature in a class body only announces the method that follows."""
        return member.parent is not None and member.parent.type == "class_body"

    def _field(self, node: Node) -> None:
        text = self._key(self.field(node, "name") or self.field(node, "property"))
        value_node = self.field(node, "value")
        for decorator in (child for child in node.children if child.type == "decorator"):
            self.expr(decorator)
        options = [self._valued(value_node, text if value_node.type in _FUNCTIONS else "")] if value_node else []
        declared = self.type_of(self.field(node, "type"))
        if declared is not None:
            options.append(make("T", declared))
        if options:
            self.bind(text, union(options))

    def _interface(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        symbol = self.symbol(node, text, "interface", self.field(node, "body"))
        bases: list[Expr] = []
        for clause in (child for child in node.children if child.type == "extends_type_clause"):
            for part in self.named(clause):
                base = self.type_of(part) or UNKNOWN
                self.unit.base(self.key, make("f", symbol.key), base, "inherits", self.line(clause))
                bases.append(base)
        self.open_class(symbol, bases=bases)
        self._in_class(symbol.key, self.field(node, "body"))
        self.bind(text, make("f", symbol.key))
        return UNKNOWN

    def _enum(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        symbol = self.symbol(node, text, "class", self.field(node, "body"))
        self.open_class(symbol)
        self.bind(text, make("f", symbol.key))
        return UNKNOWN

    def _alias(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name"))
        self.symbol(node, text, "type")
        self.bind(text, make("T", self.type_of(self.field(node, "value")) or UNKNOWN))
        return UNKNOWN

    def _namespace(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name")).strip("\"'")
        symbol = self.symbol(node, text, "module", self.field(node, "body"))
        self.open_class(symbol, "namespace")
        self.inside(symbol.key, self.field(node, "body"))
        self.bind(text, make("f", symbol.key))
        return UNKNOWN

    # Imports and exports

    def _import(self, node: Node) -> Expr:
        source = self.field(node, "source")
        module = self.text(source)[1:-1]
        whole = make("m", module, 0)
        self.unit.imports.append([self.key, whole, self.line(node)])
        for clause in self.named(node):
            for part in self.named(clause) if clause.type == "import_clause" else ():
                self._import_part(part, module, whole)
        return UNKNOWN

    def _import_part(self, part: Node, module: str, whole: Expr) -> None:
        if part.type == "identifier":
            self.bind(self.text(part), self._imported(module, DEFAULT, part))
        elif part.type == "namespace_import":
            self.bind(self.text(self.named(part)[0]), whole)
        elif part.type == "named_imports":
            for item in self.named(part):
                original = self.text(self.field(item, "name"))
                local = self.text(self.field(item, "alias")) or original
                self.bind(local, self._imported(module, original, item))

    def _imported(self, module: str, text: str, node: Node) -> Expr:
        value = make("p", module, 0, text)
        self.unit.imports.append([self.key, value, self.line(node)])
        return value

    def _export(self, node: Node) -> Expr:
        source = self.field(node, "source")
        module = self.text(source)[1:-1] if source is not None else ""
        declaration = self.field(node, "declaration")
        default = any(child.type == "default" for child in node.children)
        if declaration is not None:
            value = self._valued(declaration, DEFAULT) if default else self.expr(declaration)
            if default:
                self.bind(DEFAULT, value)
            return UNKNOWN
        if default:
            self.bind(DEFAULT, self._valued(self.field(node, "value"), DEFAULT))
            return UNKNOWN
        clauses = [child for child in self.named(node) if child.type in ("export_clause", "namespace_export")]
        for clause in clauses:
            self._export_clause(clause, module)
        if source is not None and not clauses:
            whole = make("m", module, 0)
            self.scope.setdefault("stars", []).append(whole)
            self.unit.imports.append([self.key, whole, self.line(node)])
        return UNKNOWN

    def _export_clause(self, clause: Node, module: str) -> None:
        if clause.type == "namespace_export":
            self.bind(self.text(self.named(clause)[0]), make("m", module, 0))
            return
        for item in self.named(clause):
            original = self.text(self.field(item, "name"))
            outward = self.text(self.field(item, "alias")) or original
            if module:
                self.bind(outward, self._imported(module, original, item))
            elif outward != original:
                self.bind(outward, name(original))

    # Types

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


_READERS: dict[str, Callable[[EcmaReader, Node], Expr]] = {
    "identifier": EcmaReader._identifier,
    "this": EcmaReader._this,
    "super": lambda _self, _node: make("super"),
    "string": EcmaReader._string,
    "member_expression": EcmaReader._member,
    "subscript_expression": EcmaReader._subscript,
    "call_expression": EcmaReader._call,
    "new_expression": EcmaReader._new,
    "array": EcmaReader._array,
    "object": EcmaReader._object,
    "ternary_expression": EcmaReader._conditional,
    "binary_expression": EcmaReader._binary,
    "assignment_expression": EcmaReader._assignment,
    "variable_declarator": EcmaReader._declarator,
    "for_in_statement": EcmaReader._for_in,
    "return_statement": EcmaReader._return,
    "yield_expression": EcmaReader._yield,
    "interface_declaration": EcmaReader._interface,
    "enum_declaration": EcmaReader._enum,
    "type_alias_declaration": EcmaReader._alias,
    "internal_module": EcmaReader._namespace,
    "module": EcmaReader._namespace,
    "import_statement": EcmaReader._import,
    "export_statement": EcmaReader._export,
}


def read_ecma(source: Source, tree: Tree) -> Unit:
    return EcmaReader(source, source.path).read_file(tree)
