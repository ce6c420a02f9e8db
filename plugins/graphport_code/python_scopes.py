"""Python statements as scopes and bindings, with the bindings that reach each name.

A name's bindings are numbered; at each point of a scope the walker knows which of them may hold there
(reaching definitions). Branches are merged, a loop body may see what its end binds, and a branch that
leaves the scope takes its bindings with it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeGuard

from graphport_code.common_names import PYTHON_NAMES
from graphport_code.ir import OPAQUE, UNKNOWN, Expr, make, name, union
from graphport_code.python_expressions import (
    CALLS_ITS_ARGUMENTS,
    ExpressionReader,
    annotation,
    split_targets,
)
from graphport_code.source import Source
from graphport_code.symbols import MAX_DOCSTRING, Symbol, one_line
from graphport_code.unit import MODULE, Unit, argument_sites, plain_name

Change = Callable[[Expr], Expr]
"""What becomes of a container or object when something is put into it."""
Reaching = dict[str, tuple[int, ...] | None]
"""The bindings of each name that may hold; None: any of them."""

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

_ADDS_TO_CONTAINER = {"append": 0, "add": 0, "appendleft": 0, "insert": 1, "setdefault": 1}
"""Methods that put an argument into what they are called on, and which argument."""
_MERGES_INTO_CONTAINER = frozenset({"extend", "update"})


@dataclass(slots=True)
class _Open:
    """A scope while it is read."""

    key: str
    kind: str
    reaching: Reaching = field(default_factory=Reaching)
    known: dict[str, Expr] = field(default_factory=dict[str, Expr])
    stored: frozenset[str] = frozenset()
    outer: dict[str, str] = field(default_factory=dict[str, str])
    cls: str | None = None
    receiver: str = ""
    lambdas: int = 0


class ScopeWriter:
    """Reads a module's tree into a `Unit`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.unit = Unit(source.path, "python", source.path)
        self.expressions = ExpressionReader(self)
        self.stack = [_Open(MODULE, "module")]
        self.made_calls: list[tuple[str, Expr]] = []
        self.aliases: dict[str, dict[str, None]] = {}
        self.imported: set[str] = set()

    def read_module(self, tree: ast.Module) -> Unit:
        self.unit.docstring = _docstring(tree)
        self.here.stored = stored_names(tree.body)
        self._block(tree.body)
        self._close()
        functions = {symbol.name for symbol in self.unit.symbols.values()} | self.imported
        argument_sites(self.unit, self.made_calls, self.aliases, PYTHON_NAMES, functions)
        return self.unit

    # What expressions ask for

    @property
    def here(self) -> _Open:
        return self.stack[-1]

    def load(self, text: str) -> Expr:
        if text in self.here.known:
            return self.here.known[text]
        versions = self.here.reaching.get(text)
        return name(text, versions)

    def call(self, kind: str, callee: Expr, line: int, call: Expr | None = None) -> None:
        """Record that something is called; ``call`` is the whole call where it may hand something over."""
        if callee[0] in ("x", "?", "k", "t", "d", "up"):
            return
        if call is None or call[0] != "c" or not (call[2] or call[3]):
            self.unit.call(self.here.key, kind, callee, line)
            return
        self.made_calls.append((self.here.key, call))
        if plain_name(callee) in CALLS_ITS_ARGUMENTS:
            self.unit.call(self.here.key, "hands", call, line)
        else:
            self.unit.call(self.here.key, kind, callee, line)

    def bind(self, text: str, value: Expr) -> None:
        here = self.here
        here.known.pop(text, None)
        self._note_alias(text, value)
        if value[0] == "f" and self.unit.scopes[value[1]]["k"] == "lambda":
            self.unit.scopes[value[1]].setdefault("name", text)
        if text in here.outer:
            self._bind_outside(here.outer[text], text, make("@", here.key, value))
        elif here.kind in ("function", "lambda"):
            bound = self.unit.scopes[here.key]["b"].setdefault(text, [])
            bound.append(value)
            here.reaching[text] = (len(bound) - 1,)
        else:
            here.reaching[text] = (self.unit.bind(here.key, text, value),)

    def yields(self, value: Expr) -> None:
        if self.here.kind in ("function", "lambda"):
            self.unit.scopes[self.here.key].setdefault("y", []).append(value)

    @contextmanager
    def substituting(self) -> Iterator[dict[str, Expr]]:
        """Names of a comprehension, for as long as it is read."""
        before = self.here.known
        self.here.known = dict(before)
        yield self.here.known
        self.here.known = before

    def read_lambda(self, node: ast.Lambda) -> Expr:
        here = self.here
        here.lambdas += 1
        key = f"{here.key}.<lambda{here.lambdas}>" if here.key else f"<lambda{here.lambdas}>"
        self._open_function(key, "lambda", node.args, here.key, frozenset())
        self.stack[-1].known = dict(here.known)
        self.unit.scopes[key]["r"] = [self.expressions.read(node.body)]
        self.stack.pop()
        return make("f", key)

    # Statements

    def _block(self, body: Iterable[ast.stmt]) -> bool:
        """Read statements; whether the end of the block is never reached."""
        ends = False
        for statement in body:
            reader = getattr(self, f"_on_{type(statement).__name__.lower()}", self._on_other)
            ends = bool(reader(statement)) or ends
        return ends

    def _on_other(self, statement: ast.stmt) -> bool:
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.expr):
                self.expressions.read(child)
        return isinstance(statement, (ast.Break, ast.Continue))

    def _on_expr(self, statement: ast.Expr) -> None:
        value = statement.value
        self.expressions.read(value)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
            self._grow(value, value.func)

    def _grow(self, call: ast.Call, method: ast.Attribute) -> None:
        """``d.append(x)`` and its like change what ``d`` holds."""
        merges = method.attr in _MERGES_INTO_CONTAINER
        place = 0 if merges else _ADDS_TO_CONTAINER.get(method.attr)
        if place is None or len(call.args) <= place or isinstance(call.args[0], ast.Starred):
            return
        # Read again for its value only: its calls have been recorded
        value = self._quietly(call.args[-1 if method.attr == "setdefault" else place])
        if value[0] in ("x", "?", "k"):
            return
        key = self._quietly(call.args[0]) if method.attr == "setdefault" else None
        self._change(method.value, lambda base: make("mg", base, value) if merges else make("up", base, key, value))

    def _quietly(self, node: ast.expr) -> Expr:
        """A simple expression's value without recording anything; `UNKNOWN` for one that is not simple."""
        simple = (ast.Name, ast.Attribute, ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.Subscript)
        if isinstance(node, ast.Call):
            return make("c", self._quietly(node.func), [], [])
        if not all(isinstance(part, (*simple, ast.expr_context)) for part in ast.walk(node)):
            return UNKNOWN
        return self.expressions.read(node)

    def _on_assign(self, statement: ast.Assign) -> None:
        value = self.expressions.read(statement.value)
        for target in statement.targets:
            self._assign(target, value, statement.value)
        if self.here.kind == "module" and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            self._constant_symbol(statement.targets[0].id, statement)

    def _on_annassign(self, statement: ast.AnnAssign) -> None:
        value = self.expressions.read(statement.value) if statement.value else None
        declared = annotation(statement.annotation, self.expressions.read)
        typed = make("T", declared) if declared is not None else None
        options = [option for option in (value, typed) if option is not None]
        if options:
            self._assign(statement.target, union(options), None)
        if self.here.kind == "module" and isinstance(statement.target, ast.Name):
            self._constant_symbol(statement.target.id, statement)

    def _on_augassign(self, statement: ast.AugAssign) -> None:
        value = self.expressions.read(statement.value)
        if isinstance(statement.op, (ast.Add, ast.BitOr)) and value[0] not in ("x", "k"):
            self._change(statement.target, lambda base: make("mg", base, value))
        elif isinstance(statement.target, ast.Name):
            self.bind(statement.target.id, OPAQUE if value[0] in ("x", "k") else UNKNOWN)

    def _assign(self, target: ast.expr, value: Expr, node: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, value, None)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for item, part in split_targets(target, value):
                self._assign(item, part, None)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            key = self._key(target.slice)
            self.expressions.read(target.value)
            if value[0] not in ("x", "k"):
                self._change(target.value, lambda base: make("up", base, key, value))

    def _key(self, node: ast.expr) -> Expr | None:
        return None if isinstance(node, ast.Slice) else self.expressions.read(node)

    def _assign_attribute(self, target: ast.Attribute, value: Expr) -> None:
        self._note_alias(target.attr, value)
        owner = self._class_of(target.value)
        if owner is not None:
            self.unit.bind_weakly(owner, target.attr, value, self.here.key)
        elif isinstance(target.value, ast.Name) and value[0] not in ("x", "k"):
            self._change(target.value, lambda base: make("sa", base, target.attr, value))
        else:
            self.expressions.read(target.value)

    def _class_of(self, node: ast.expr) -> str | None:
        """Key of the class whose attributes ``node.x = ...`` sets: of ``self``, ``cls`` or a class of this file."""
        if not isinstance(node, ast.Name):
            return None
        for scope in reversed(self.stack):
            if scope.cls is not None and node.id == scope.receiver:
                return scope.cls
            if node.id in scope.stored and scope.kind != "class":
                break
        return node.id if node.id in self.unit.symbols and self.unit.symbols[node.id].kind == "class" else None

    def _change(self, target: ast.expr, changed: Change) -> None:
        """What ``target`` names holds something more from here on."""
        if isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            key = self._quietly(target.slice)
            inner = self._quietly(target.value)
            value = changed(make("s", inner, key))
            self._change(target.value, lambda base: make("up", base, key, value))
        elif isinstance(target, ast.Attribute):
            owner = self._class_of(target.value)
            if owner is not None:
                self.unit.bind_weakly(owner, target.attr, changed(OPAQUE), self.here.key)
        elif isinstance(target, ast.Name):
            self._change_name(target.id, changed)

    def _change_name(self, text: str, changed: Change) -> None:
        here = self.here
        if here.kind in ("module", "class") or (text in here.stored and text not in here.outer):
            self.bind(text, changed(self.load(text)))
            return
        for scope in reversed(self.stack[:-1]):
            if text in scope.stored and scope.kind != "class":
                self._bind_outside(scope.key, text, make("@", here.key, changed(OPAQUE)))
                return
        if here.kind == "function" and text in self.unit.scopes[here.key]["p"]:
            self.bind(text, changed(make("pm", text)))

    def _bind_outside(self, key: str, text: str, value: Expr) -> None:
        if key == MODULE:
            self.unit.bind_weakly(MODULE, text, value, MODULE)
        else:
            self.unit.scopes[key]["b"].setdefault(text, []).append(value)

    def _on_return(self, statement: ast.Return) -> bool:
        if statement.value is not None:
            value = self.expressions.read(statement.value)
            self.unit.scopes[self.here.key].setdefault("r", []).append(value)
        return True

    def _on_raise(self, statement: ast.Raise) -> bool:
        if statement.exc is not None:
            raised = self.expressions.read(statement.exc)
            if not isinstance(statement.exc, ast.Call):
                self.call("raise", raised, statement.lineno)
        if statement.cause is not None:
            self.expressions.read(statement.cause)
        return True

    def _on_global(self, statement: ast.Global) -> None:
        self.here.outer.update(dict.fromkeys(statement.names, MODULE))

    def _on_nonlocal(self, statement: ast.Nonlocal) -> None:
        for text in statement.names:
            owner = next(
                (scope.key for scope in reversed(self.stack[:-1]) if text in scope.stored and scope.kind == "function"),
                None,
            )
            if owner is not None:
                self.here.outer[text] = owner

    # Branches and loops

    def _on_if(self, statement: ast.If) -> bool:
        """An ``elif`` is an ``if`` in the ``else`` of the one before: read as a chain, it nests too deep otherwise."""
        ends: list[Reaching] = []
        branch: ast.If | None = statement
        while branch is not None:
            self.expressions.read(branch.test)
            before = dict(self.here.reaching)
            with self.substituting() as known:
                known.update(self._narrowed(branch.test))
                leaves = self._block(branch.body)
            if not leaves:
                ends.append(self.here.reaching)
            self.here.reaching = before
            following = branch.orelse
            if len(following) == 1 and isinstance(following[0], ast.If):
                branch = following[0]
                continue
            if not self._block(following):
                ends.append(self.here.reaching)
            if (
                leaves
                and not following
                and isinstance(branch.test, ast.UnaryOp)
                and isinstance(branch.test.op, ast.Not)
            ):
                self.here.known = {**self.here.known, **self._narrowed(branch.test.operand)}
            branch = None
        self.here.reaching = merge(ends)
        return not ends

    def _narrowed(self, test: ast.expr) -> dict[str, Expr]:
        """What ``isinstance(x, C)`` says of x where it holds."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return {text: value for part in test.values for text, value in self._narrowed(part).items()}
        if not (isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "isinstance"):
            return {}
        if len(test.args) != 2 or not isinstance(test.args[0], ast.Name):
            return {}
        types = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
        options = [make("T", self._quietly(item)) for item in types]
        return {test.args[0].id: union(options)}

    def _on_assert(self, statement: ast.Assert) -> None:
        self.expressions.read(statement.test)
        if statement.msg is not None:
            self.expressions.read(statement.msg)
        self.here.known = {**self.here.known, **self._narrowed(statement.test)}

    def _on_for(self, statement: ast.For | ast.AsyncFor) -> None:
        source = self.expressions.read(statement.iter)
        self.call("iter", source, statement.lineno)
        self._loop(statement, make("i", source))

    _on_asyncfor = _on_for

    def _on_while(self, statement: ast.While) -> None:
        self.expressions.read(statement.test)
        self._loop(statement, None)

    def _loop(self, statement: ast.For | ast.AsyncFor | ast.While, item: Expr | None) -> None:
        before = dict(self.here.reaching)
        for text in stored_names(statement.body):
            self.here.reaching[text] = None
            self.here.known.pop(text, None)
        if item is not None and not isinstance(statement, ast.While):
            self._assign(statement.target, item, None)
        self._block(statement.body)
        self.here.reaching = merge([before, self.here.reaching])
        self._block(statement.orelse)

    def _on_with(self, statement: ast.With | ast.AsyncWith) -> bool:
        for item in statement.items:
            manager = self.expressions.read(item.context_expr)
            self.call("with", manager, statement.lineno)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, make("e", manager), None)
        return self._block(statement.body)

    _on_asyncwith = _on_with

    def _on_try(self, statement: ast.Try) -> bool:
        before = dict(self.here.reaching)
        left = self._block(statement.body)
        midway = merge([before, self.here.reaching])
        if not left:
            left = self._block(statement.orelse)
        ends = [] if left else [self.here.reaching]
        for handler in statement.handlers:
            self.here.reaching = dict(midway)
            if handler.type is not None:
                caught = self.expressions.read(handler.type)
                if handler.name:
                    self.bind(handler.name, make("T", caught))
            if not self._block(handler.body):
                ends.append(self.here.reaching)
        self.here.reaching = merge(ends) if ends else midway
        return self._block(statement.finalbody) or not ends

    _on_trystar = _on_try

    def _on_match(self, statement: ast.Match) -> None:
        self.expressions.read(statement.subject)
        before = dict(self.here.reaching)
        ends = [before]
        for case in statement.cases:
            self.here.reaching = dict(before)
            with self.substituting() as known:
                if isinstance(statement.subject, ast.Name) and isinstance(case.pattern, ast.MatchClass):
                    known[statement.subject.id] = make("T", self._quietly(case.pattern.cls))
                self._pattern(case.pattern)
                if case.guard is not None:
                    self.expressions.read(case.guard)
                if not self._block(case.body):
                    ends.append(self.here.reaching)
        self.here.reaching = merge(ends)

    def _pattern(self, pattern: ast.pattern) -> None:
        """Bind what a pattern captures: ``Circle() as c`` is a Circle, anything else is unknown."""
        if isinstance(pattern, ast.MatchAs) and pattern.name:
            inner = pattern.pattern
            typed = isinstance(inner, ast.MatchClass)
            self.bind(pattern.name, make("T", self._quietly(inner.cls)) if typed else UNKNOWN)
        for part in ast.iter_child_nodes(pattern):
            if isinstance(part, ast.pattern):
                self._pattern(part)
            elif isinstance(part, ast.expr):
                self.expressions.read(part)

    # Imports

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

    # Functions and classes

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

    def _decorators(
        self, statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> tuple[list[str], list[Expr]]:
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
        self, scope: dict[str, object], statement: ast.FunctionDef | ast.AsyncFunctionDef, flags: list[str]
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
    ) -> dict[str, object]:
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
        opened = _Open(key, kind, stored=stored)
        for text in names:
            if text in stored:  # a parameter that is bound anew: what was handed over is its first binding
                scope["b"][text] = [make("pm", text)]
                opened.reaching[text] = (0,)
        self.stack.append(opened)
        return scope

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
        self.stack.append(_Open(symbol.key, "class", stored=stored_names(statement.body)))
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

    def _symbol(self, statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, kind: str) -> Symbol:
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

    def _signature(self, statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
        body = statement.body[0]
        lines = self.source.lines
        if body.lineno == statement.lineno:
            text = lines[statement.lineno - 1].encode()[statement.col_offset : body.col_offset].decode(errors="replace")
        else:
            first = min([body.lineno, *(item.lineno for item in getattr(body, "decorator_list", ()))])
            text = "\n".join(lines[statement.lineno - 1 : first - 1])
        head, colon, _ = text.rpartition(":")
        return one_line(head if colon else text)

    def _constant_symbol(self, text: str, statement: ast.Assign | ast.AnnAssign) -> None:
        if text.isupper() and text not in self.unit.symbols:
            source = self.source.lines[statement.lineno - 1]
            self.unit.add_symbol(
                text,
                "constant",
                "",
                line=statement.lineno,
                end_line=statement.end_lineno or statement.lineno,
                start=statement.lineno,
                signature=one_line(source),
                docstring="",
            )

    def _note_alias(self, text: str, value: Expr) -> None:
        """Remember that calling ``text`` may call what ``value`` names."""
        if value[0] in ("n", "a"):
            other = value[1] if value[0] == "n" else value[2]
            if other != text:
                self.aliases.setdefault(text, {})[other] = None
        elif value[0] == "c" and value[1][0] in ("n", "a"):
            called = value[1]
            self.aliases.setdefault(text, {})[f"{called[1] if called[0] == 'n' else called[2]}()"] = None


def merge(ends: Iterable[Reaching]) -> Reaching:
    """What may hold where several paths meet."""
    merged: Reaching = {}
    for end in ends:
        for text, versions in end.items():
            if text not in merged:
                merged[text] = versions
            elif merged[text] != versions:
                known = merged[text]
                merged[text] = None if known is None or versions is None else tuple(sorted({*known, *versions}))
    return merged


def stored_names(body: Iterable[ast.stmt]) -> frozenset[str]:
    """Names that statements bind, not those bound in functions, classes or lambdas inside."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                found.add(node.id)
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
            continue
        if isinstance(node, (ast.Lambda, ast.Constant)):
            continue
        if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
        waiting.extend(ast.iter_child_nodes(node))
    return frozenset(found)


def _docstring(node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    return (ast.get_docstring(node) or "")[:MAX_DOCSTRING]


def _is_stub(statement: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a body says nothing but that somebody else must: ``...`` or NotImplementedError."""
    literals = [item.value.value for item in statement.body if _is_literal(item)]
    body = [item for item in statement.body if not _is_literal(item)]
    if not body:
        return ... in literals
    if len(body) > 1 or not isinstance(body[0], ast.Raise) or body[0].exc is None:
        return False
    raised = body[0].exc.func if isinstance(body[0].exc, ast.Call) else body[0].exc
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def _is_literal(statement: ast.stmt) -> TypeGuard[_Literal]:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Literal(ast.Expr):
    value: ast.Constant
