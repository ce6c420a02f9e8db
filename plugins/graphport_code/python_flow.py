"""Python statements in order: branches, loops and what they do to the bindings that hold.

Branches are merged, a loop body may see what its end binds, and a branch that leaves the scope takes
its bindings with it.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Iterable

from graphport_code.ir import UNKNOWN, Expr, make, union
from graphport_code.python_assignments import AssignmentReader
from graphport_code.python_state import Reaching, merge, stored_names


class FlowReader(AssignmentReader):
    """Blocks of statements; ``_on_...`` methods read one kind each and say whether it leaves the block."""

    def _block(self, body: Iterable[ast.stmt]) -> bool:
        """Read statements; whether the end of the block is never reached."""
        if time.monotonic() > self.deadline:
            raise TimeoutError
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
            self._assign(statement.target, item)
        self._block(statement.body)
        self.here.reaching = merge([before, self.here.reaching])
        self._block(statement.orelse)

    def _on_with(self, statement: ast.With | ast.AsyncWith) -> bool:
        for item in statement.items:
            manager = self.expressions.read(item.context_expr)
            self.call("with", manager, statement.lineno)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, make("e", manager))
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
            typed = make("T", self._quietly(inner.cls)) if isinstance(inner, ast.MatchClass) else UNKNOWN
            self.bind(pattern.name, typed)
        for part in ast.iter_child_nodes(pattern):
            if isinstance(part, ast.pattern):
                self._pattern(part)
            elif isinstance(part, ast.expr):
                self.expressions.read(part)
