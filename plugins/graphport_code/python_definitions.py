"""Python modules, classes, functions and imports."""

from __future__ import annotations

import ast
from typing import Any

from graphport_code.common_names import PYTHON_NAMES
from graphport_code.ir import Expr, make, union
from graphport_code.python_expressions import annotation
from graphport_code.python_flow import FlowReader
from graphport_code.python_state import OpenScope, stored_names
from graphport_code.symbols import MAX_DOCSTRING, Symbol, one_line
from graphport_code.unit import MODULE, Unit, argument_sites

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_PLAIN_DECORATORS = {
    "staticmethod": "static",
    "classmethod": "class",
    "property": "property",
    "cached_property": "property",
    "setter": "property",
    "getter": "property",
    "deleter": "property",
    "abstractmethod": "abstract",
    "contextmanager": "manager",
    "asynccontextmanager": "manager",
    "overload": "overload",
    "override": "",
    "final": "",
    "wraps": "",
    "lru_cache": "",
    "cache": "",
    "dataclass": "",
    "total_ordering": "",
}
"""Decorators that leave a function callable as it is written, and what they say of it."""


class ModuleReader(FlowReader):
    """Reads a module's tree into a `Unit`."""

    def read_module(self, tree: ast.Module) -> Unit:
        self.unit.docstring = _docstring(tree)
        self.here.stored = stored_names(tree.body)
        self._block(tree.body)
        self._close()
        functions = {symbol.name for symbol in self.unit.symbols.values()} | self.imported
        argument_sites(self.unit, self.made_calls, self.aliases, PYTHON_NAMES, functions)
        return self.unit

    def _on_import(self, statement: ast.Import) -> None:
        for alias in statement.names:
            module = make("m", alias.name, 0)
            top = alias.name.partition(".")[0]
            self.unit.imports.append([self.here.key, module, statement.lineno])
            self.bind(alias.asname or top, module if alias.asname else make("m", top, 0))

    def _on_importfrom(self, statement: ast.ImportFrom) -> None:
        module = statement.module or ""
        for alias in statement.names:
            if alias.name == "*":
                source = make("m", module, statement.level)
                self.unit.scopes[self.here.key].setdefault("stars", []).append(source)
                self.unit.imports.append([self.here.key, source, statement.lineno])
                continue
            value = make("p", module, statement.level, alias.name)
            self.unit.imports.append([self.here.key, value, statement.lineno])
            self.bind(alias.asname or alias.name, value)
            self.imported.add(alias.name)
            if alias.asname and alias.asname != alias.name:
                self.aliases.setdefault(alias.asname, {})[alias.name] = None

    def _on_functiondef(self, statement: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        here = self.here
        flags, wrappers = self._decorators(statement)
        is_method = here.kind == "class"
        symbol = self._symbol(statement, "method" if is_method else "function")
        scope = self._open_function(symbol.key, "function", statement.args, here.key, stored_names(statement.body))
        scope["name"] = statement.name
        declared = annotation(statement.returns, self._quietly)
        if declared is not None:
            scope["ra"] = declared
        if isinstance(statement, ast.AsyncFunctionDef):
            flags.append("async")
        if _is_stub(statement):
            flags.append("abstract")
        if is_method:
            scope["cls"] = here.key
            self._receiver(scope, statement, flags)
        if flags:
            scope["fl"] = sorted(set(flags))
        self._block(statement.body)
        self.stack.pop()
        value = make("f", symbol.key)
        for wrapper in reversed(wrappers):
            self.made_calls.append((here.key, make("c", wrapper, [value], [])))
            value = make("d1", value, wrapper)
        self.bind(statement.name, make("D", value, symbol.key) if wrappers else value)

    _on_asyncfunctiondef = _on_functiondef

    def _decorators(self, statement: Definition) -> tuple[list[str], list[Expr]]:
        """Flags that decorators set, and decorators that may replace what they are put on; all are called."""
        flags: list[str] = []
        wrappers: list[Expr] = []
        for decorator in statement.decorator_list:
            value = self.expressions.read(decorator)
            self.call("decorator", value, decorator.lineno)
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            text = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if text in _PLAIN_DECORATORS:
                flags += [_PLAIN_DECORATORS[text]] if _PLAIN_DECORATORS[text] else []
            elif value[0] not in ("x", "?"):
                wrappers.append(value)
        return flags, wrappers

    def _receiver(
        self, scope: dict[str, Any], statement: ast.FunctionDef | ast.AsyncFunctionDef, flags: list[str]
    ) -> None:
        arguments = [*statement.args.posonlyargs, *statement.args.args]
        if "static" in flags or not arguments:
            return
        if statement.name in ("__new__", "__init_subclass__", "__class_getitem__"):
            flags.append("class")
        self.here.cls = self.stack[-2].key
        self.here.receiver = arguments[0].arg
        scope["self"] = arguments[0].arg

    def _open_function(
        self, key: str, kind: str, args: ast.arguments, up: str, stored: frozenset[str]
    ) -> dict[str, Any]:
        """Defaults and annotations belong to the scope around; then the new scope is the open one."""
        positional = [*args.posonlyargs, *args.args]
        names = [arg.arg for arg in (*positional, *args.kwonlyargs)]
        defaults: dict[str, Expr] = {}
        for arg, default in zip(reversed(positional), reversed(args.defaults), strict=False):
            defaults[arg.arg] = self.expressions.read(default)
        for arg, maybe in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if maybe is not None:
                defaults[arg.arg] = self.expressions.read(maybe)
        declared = {
            arg.arg: value
            for arg in (*positional, *args.kwonlyargs)
            if (value := annotation(arg.annotation, self._quietly)) is not None
        }
        owner = self.unit.owner(key if key in self.unit.symbols else up)
        node = self.unit.symbols[owner].node_id(self.source.path) if owner else self.unit.scopes[MODULE]["id"]
        scope = self.unit.add_scope(key, kind, node, up, b={}, p=names)
        if args.kwonlyargs:
            scope["pos"] = len(positional)
        scope.update({field: value for field, value in (("df", defaults), ("an", declared)) if value})
        if args.vararg:
            scope["va"] = args.vararg.arg
        if args.kwarg:
            scope["vk"] = args.kwarg.arg
        opened = OpenScope(key, kind, stored=stored)
        for text in names:
            if text in stored:  # a parameter that is bound anew: what was handed over is its first binding
                scope["b"][text] = [make("pm", text)]
                opened.reaching[text] = (0,)
        self.stack.append(opened)
        return scope

    def read_lambda(self, node: ast.Lambda) -> Expr:
        here = self.here
        here.lambdas += 1
        key = f"{here.key}.<lambda{here.lambdas}>" if here.key else f"<lambda{here.lambdas}>"
        self._open_function(key, "lambda", node.args, here.key, frozenset())
        self.stack[-1].known = dict(here.known)
        self.unit.scopes[key]["r"] = [self.expressions.read(node.body)]
        self.stack.pop()
        return make("f", key)

    def _on_classdef(self, statement: ast.ClassDef) -> None:
        here = self.here
        _, wrappers = self._decorators(statement)
        bases = [self.expressions.read(base) for base in statement.bases]
        for keyword in statement.keywords:
            self.expressions.read(keyword.value)
        symbol = self._symbol(statement, "class")
        for base in bases:
            self.unit.base(here.key, make("f", symbol.key), base, "inherits", statement.lineno)
        scope = self.unit.add_scope(symbol.key, "class", symbol.node_id(self.source.path), here.key, bases=bases)
        scope["name"] = statement.name
        self.stack.append(OpenScope(symbol.key, "class", stored=stored_names(statement.body)))
        self._block(statement.body)
        self._close()
        self.stack.pop()
        value = make("f", symbol.key)
        for wrapper in reversed(wrappers):
            self.made_calls.append((here.key, make("c", wrapper, [value], [])))
            value = union([value, make("d1", value, wrapper)])
        self.bind(statement.name, value)

    def _close(self) -> None:
        """Note which bindings of a module or class are left at its end."""
        here = self.here
        for text, versions in here.reaching.items():
            row = self.unit.names.get(f"{here.key}.{text}" if here.key else text)
            if row is not None and versions is not None and len(versions) < len(row["v"]):
                row["fin"] = list(versions)

    def _symbol(self, statement: Definition, kind: str) -> Symbol:
        first = min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)])
        parent = self.unit.owner(self.here.key)
        return self.unit.add_symbol(
            statement.name,
            kind,
            parent,
            line=statement.lineno,
            end_line=statement.end_lineno or statement.lineno,
            start=first,
            signature=self._signature(statement),
            docstring=_docstring(statement),
        )

    def _signature(self, statement: Definition) -> str:
        body = statement.body[0]
        lines = self.source.lines
        if body.lineno == statement.lineno:
            text = lines[statement.lineno - 1].encode()[statement.col_offset : body.col_offset].decode(errors="replace")
        else:
            first = min([body.lineno, *(item.lineno for item in getattr(body, "decorator_list", ()))])
            text = "\n".join(lines[statement.lineno - 1 : first - 1])
        head, colon, _ = text.rpartition(":")
        return one_line(head if colon else text)


def _docstring(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "")[:MAX_DOCSTRING]


def _is_stub(statement: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a body says nothing but that somebody else must: ``...`` or NotImplementedError."""
    literals = [
        item.value.value
        for item in statement.body
        if isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
    ]
    body = [item for item in statement.body if not _is_literal(item)]
    if not body:
        return ... in literals
    if len(body) > 1 or not isinstance(body[0], ast.Raise) or body[0].exc is None:
        return False
    raised = body[0].exc.func if isinstance(body[0].exc, ast.Call) else body[0].exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _is_literal(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
