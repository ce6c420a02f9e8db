"""Python assignments, also those into attributes and containers."""

from __future__ import annotations

import ast
from collections.abc import Callable

from graphport_code.ir import OPAQUE, UNKNOWN, Expr, make, union
from graphport_code.python_expressions import annotation, split_targets
from graphport_code.python_state import PythonState
from graphport_code.symbols import one_line
from graphport_code.unit import MODULE

Change = Callable[[Expr], Expr]
"""What becomes of a container or object when something is put into it."""

_ADDS_TO_CONTAINER = {"append": 0, "add": 0, "appendleft": 0, "insert": 1, "setdefault": 1}
"""Methods that put an argument into what they are called on, and which argument."""
_MERGES_INTO_CONTAINER = frozenset({"extend", "update"})


class AssignmentReader(PythonState):
    """Statements that bind names or change what they hold."""

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
            self._assign(target, value)
        if self.here.kind == "module" and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
            self._constant_symbol(statement.targets[0].id, statement)

    def _on_annassign(self, statement: ast.AnnAssign) -> None:
        value = self.expressions.read(statement.value) if statement.value else None
        declared = annotation(statement.annotation, self.expressions.read)
        typed = make("T", declared) if declared is not None else None
        options = [option for option in (value, typed) if option is not None]
        if options:
            self._assign(statement.target, union(options))
        if self.here.kind == "module" and isinstance(statement.target, ast.Name):
            self._constant_symbol(statement.target.id, statement)

    def _on_augassign(self, statement: ast.AugAssign) -> None:
        value = self.expressions.read(statement.value)
        if isinstance(statement.op, (ast.Add, ast.BitOr)) and value[0] not in ("x", "k"):
            self._change(statement.target, lambda base: make("mg", base, value))
        elif isinstance(statement.target, ast.Name):
            self.bind(statement.target.id, OPAQUE if value[0] in ("x", "k") else UNKNOWN)

    def _assign(self, target: ast.expr, value: Expr) -> None:
        if isinstance(target, ast.Name):
            self.bind(target.id, value)
        elif isinstance(target, ast.Starred):
            self._assign(target.value, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for item, part in split_targets(target, value):
                self._assign(item, part)
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
            return
        base = self.expressions.read(target.value)
        if value[0] in ("x", "k", "?"):
            return
        self.unit.store(self.here.key, target.attr, base, value)
        if isinstance(target.value, ast.Name):
            self._change(target.value, lambda base: make("sa", base, target.attr, value))

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
            else:
                self.unit.store(self.here.key, target.attr, self._quietly(target.value), changed(OPAQUE))
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
