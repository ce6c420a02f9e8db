"""JavaScript and TypeScript files as units: functions, classes, imports and exports."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from graphport_code.common_names import JS_NAMES
from graphport_code.ecma_expressions import DEFAULT, FUNCTIONS, ExpressionReader
from graphport_code.ir import UNKNOWN, Expr, make, name, union
from graphport_code.source import Source
from graphport_code.symbols import Symbol
from graphport_code.unit import Scope, Unit, argument_sites

if TYPE_CHECKING:
    from tree_sitter import Node, Tree


class EcmaReader(ExpressionReader):
    """Reads a whole file."""

    def read_file(self, tree: Tree) -> Unit:
        self.children(tree.root_node)
        functions = {symbol.name for symbol in self.unit.symbols.values()} | set(self.unit.names)
        argument_sites(self.unit, self.made_calls, {}, JS_NAMES, functions)
        return self.unit

    def function(self, node: Node, called: str = "") -> Expr:
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
        returned = self.written(self.field(node, "return_type"))
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
            limit = self.written(bound)
            scope["b"].setdefault(self.text(self.field(parameter, "name")), []).append(limit or UNKNOWN)

    def _parameter(self, scope: Scope, node: Node) -> None:
        whole = self.field(node, "pattern") or node
        defaulted = whole.type == "assignment_pattern"
        pattern = self.field(whole, "left") if defaulted else whole
        default = self.field(whole, "right") if defaulted else self.field(node, "value")
        if pattern is None:
            return
        if pattern.type == "rest_pattern":
            scope["va"] = self.text(self.named(pattern)[0])
            return
        text = self.text(pattern) if pattern.type == "identifier" else f"<{len(scope['p'])}>"
        scope["p"].append(text)
        declared = self.written(self.field(node, "type"))
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

    def class_(self, node: Node, called: str = "") -> Expr:
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
                found = [(self.type_of(part), "implements") for part in self.named(clause)]
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
                self.bind(text, self.function(member, text))
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
        options = [self._valued(value_node, text if value_node.type in FUNCTIONS else "")] if value_node else []
        declared = self.written(self.field(node, "type"))
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
                base = self.type_of(part)
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
        self.bind(text, make("T", self.type_of(self.field(node, "value"))))
        return UNKNOWN

    def _namespace(self, node: Node) -> Expr:
        text = self.text(self.field(node, "name")).strip("\"'")
        symbol = self.symbol(node, text, "module", self.field(node, "body"))
        self.open_class(symbol, "namespace")
        self.inside(symbol.key, self.field(node, "body"))
        self.bind(text, make("f", symbol.key))
        return UNKNOWN

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

    readers: ClassVar[dict[str, Callable[[Any, Node], Expr]]] = {
        **ExpressionReader.readers,
        "interface_declaration": _interface,
        "enum_declaration": _enum,
        "type_alias_declaration": _alias,
        "internal_module": _namespace,
        "module": _namespace,
        "import_statement": _import,
        "export_statement": _export,
    }


def read_ecma(source: Source, tree: Tree, deadline: float) -> Unit:
    return EcmaReader(source, source.path, deadline).read_file(tree)
