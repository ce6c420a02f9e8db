"""Rust files as units. Methods belong to a type by name, for their ``impl`` may stand in any file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from graphport_code.classes import BASES
from graphport_code.ir import OPAQUE, UNKNOWN, Expr, make, name, union
from graphport_code.source import Source
from graphport_code.treesitter import TreeReader
from graphport_code.unit import Scope, Unit, join

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

_LITERALS = frozenset(
    "integer_literal float_literal boolean_literal char_literal string_literal raw_string_literal unit_expression".split()
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


class RustReader(TreeReader):
    family = "rust"
    comment_types = frozenset({"line_comment", "block_comment"})

    def __init__(self, source: Source, space: str) -> None:
        super().__init__(source, space)
        self.owner: Expr | None = None
        self.owner_name = ""
        self.inline_modules: dict[str, str] = {}

    def read_file(self, tree: Tree) -> Unit:
        for child in tree.root_node.named_children:
            if child.type == "mod_item" and self.field(child, "body") is not None:
                text = self.text(self.field(child, "name"))
                self.inline_modules[text] = text
        self.children(tree.root_node)
        return self.unit

    def read(self, node: Node) -> Expr:
        kind = node.type
        if kind in _LITERALS:
            return OPAQUE
        if kind in _SAME:
            inside = [self.expr(child) for child in self.named(node) if child.type != "mutable_specifier"]
            return inside[0] if inside else UNKNOWN
        reader = _READERS.get(kind)
        if reader is not None:
            return reader(self, node)
        if kind.endswith("_type") or kind in ("attribute_item", "inner_attribute_item", "where_clause"):
            return UNKNOWN
        return super().read(node)

    # Paths and expressions

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

    def _self_value(self, node: Node) -> Expr:
        return name("self")

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
            self.call("call", macro[:-1] + [f"{macro[-1]}!"] if macro[0] == "n" else macro, node)
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

    # Statements and patterns

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
                    inner = self.field(part, "pattern")
                    content = make("a", typed, field)
                    if inner is not None:
                        self._bind_pattern(inner, content)
                    else:
                        self.bind(field, content)
        elif node.type in ("captured_pattern", "or_pattern", *_SAME):
            for part in self.named(node):
                self._bind_pattern(part, value)

    # Items

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

    def _bounds(self, node: Node | None) -> Expr | None:
        inside = [self.type_of(part) for part in self.named(node) if part.type != "lifetime"]
        return union(inside) if inside else None

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

    # Imports

    def _use(self, node: Node) -> Expr:
        for path, local, value in self._used(self.field(node, "argument"), None):
            self.unit.imports.append([self.key, value, self.line(node)])
            if local == "*":
                self.scope.setdefault("stars", []).append(value)
            elif local not in ("_", ""):
                self.bind(local, value)
            del path
        return UNKNOWN

    def _used(self, node: Node | None, base: Expr | None) -> Iterator[tuple[str, str, Expr]]:
        """(written name, local name, value) of everything a ``use`` brings; ``*`` for all of a module."""
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
            yield self.text(self.field(node, "path")), self.text(self.field(node, "alias")), value
        elif node.type == "use_wildcard":
            inside = self.named(node)
            yield "*", "*", self._use_path(inside[0], base) if inside else base or UNKNOWN
        elif node.type == "self" and base is not None:
            yield "self", str(base[-1]) if base[0] == "a" else "", base
        else:
            text = self.text(node).rpartition("::")[2]
            yield text, text, self._use_path(node, base)

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

    # Types

    def type_of(self, node: Node | None) -> Expr:
        if node is None:
            return UNKNOWN
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


_READERS: dict[str, Callable[[RustReader, Node], Expr]] = {
    "identifier": RustReader._identifier,
    "type_identifier": RustReader._identifier,
    "self": RustReader._self_value,
    "scoped_identifier": RustReader.path,
    "generic_function": RustReader.path,
    "field_expression": RustReader._field_expression,
    "call_expression": RustReader._call,
    "macro_invocation": RustReader._macro,
    "struct_expression": RustReader._struct,
    "field_initializer": RustReader._initializer,
    "index_expression": RustReader._index,
    "tuple_expression": RustReader._tuple,
    "array_expression": RustReader._tuple,
    "type_cast_expression": RustReader._cast,
    "binary_expression": RustReader._binary,
    "closure_expression": RustReader._closure,
    "block": RustReader._block,
    "if_expression": RustReader._if,
    "else_clause": RustReader._else,
    "match_expression": RustReader._match,
    "let_declaration": RustReader._let,
    "let_condition": RustReader._let,
    "for_expression": RustReader._for,
    "function_item": RustReader._function,
    "function_signature_item": RustReader._function,
    "struct_item": RustReader._type_item,
    "enum_item": RustReader._type_item,
    "union_item": RustReader._type_item,
    "trait_item": RustReader._trait,
    "impl_item": RustReader._impl,
    "mod_item": RustReader._mod,
    "const_item": RustReader._constant,
    "static_item": RustReader._constant,
    "type_item": RustReader._alias,
    "associated_type": RustReader._alias,
    "macro_definition": RustReader._macro_definition,
    "use_declaration": RustReader._use,
}


def read_rust(source: Source, tree: Tree) -> Unit:
    return RustReader(source, source.path).read_file(tree)
