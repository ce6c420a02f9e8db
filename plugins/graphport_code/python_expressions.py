"""Python expressions as `graphport_code.ir`, and the calls in them."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol

from graphport_code.ir import MAX_DEPTH, OPAQUE, UNKNOWN, Expr, make, union
from graphport_code.python_literals import beginning, constant
from graphport_code.unit import plain_name


class Writer(Protocol):
    """Who takes the names, bindings and calls of expressions."""

    def load(self, text: str) -> Expr: ...

    def bind(self, text: str, value: Expr) -> None: ...

    def call(self, kind: str, callee: Expr, line: int, call: Expr | None = None) -> None: ...

    def uses(self, text: str, attribute: str) -> None: ...

    def yields(self, value: Expr) -> None: ...

    def substituting(self) -> AbstractContextManager[dict[str, Expr]]: ...

    def read_lambda(self, node: ast.Lambda) -> Expr: ...


MAX_ITEMS = 200
"""Of a longer literal only the first items are followed: it is data, not a table of functions."""
MAX_NESTING = 60
"""Deeper expressions are read by their surface; Python's own parser allows 200 parentheses."""

CALLS_METHODS = {"next": ("__next__",), "iter": ("__iter__",)}
"""Built-in functions that call a method of what they are given, and which."""
ITERATES = frozenset("list tuple set frozenset dict sorted sum any all min max enumerate zip join extend".split())
"""Functions and methods of the language that iterate over what they are given."""
CALLS_FUNCTIONS = frozenset("map filter sorted min max sort reduce sub subn".split())
"""Callables of the standard library that call a function they are given."""
CALLS_ITS_ARGUMENTS = CALLS_FUNCTIONS | ITERATES | CALLS_METHODS.keys()


class ExpressionReader:
    """Reads the expressions of one scope after another; ``writer`` takes names, bindings and calls."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.depth = 0

    def read(self, node: ast.expr | None) -> Expr:
        """``node`` as an expression; every call in it is recorded."""
        if node is None:
            return OPAQUE
        if self.depth >= MAX_NESTING:
            return self._surface(node)
        self.depth += 1
        reader = self.readers.get(type(node))
        found = reader(self, node) if reader else self._children(node)
        self.depth -= 1
        return found

    def _surface(self, node: ast.expr) -> Expr:
        """Record the calls in an expression that nests too deep, each by its last name."""
        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                if isinstance(part.func, ast.Name):
                    self.writer.call("call", self.writer.load(part.func.id), part.lineno)
                elif isinstance(part.func, ast.Attribute):
                    self.writer.call("call", make("a", UNKNOWN, part.func.attr), part.lineno)
        return UNKNOWN

    def _children(self, node: ast.AST) -> Expr:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.read(child)
            else:
                self._children(child)
        return OPAQUE

    def _constant(self, node: ast.Constant) -> Expr:
        return constant(node.value)

    def _name(self, node: ast.Name) -> Expr:
        return self.writer.load(node.id)

    def _attribute(self, node: ast.Attribute) -> Expr:
        base = self.read(node.value)
        if isinstance(node.value, ast.Name):
            self.writer.uses(node.value.id, node.attr)
        return make("a", UNKNOWN if base.depth + 1 >= MAX_DEPTH else base, node.attr)

    def _call(self, node: ast.Call) -> Expr:
        callee = self.read(node.func)
        if callee[0] == "a" and callee[2] == "format" and callee[1][0] == "k":
            self._children(node)
            return beginning(str(callee[1][1]).partition("{")[0])
        args = [
            make("*", self.read(arg.value)) if isinstance(arg, ast.Starred) else self.read(arg) for arg in node.args
        ]
        kwargs = [[keyword.arg, self.read(keyword.value)] for keyword in node.keywords]
        if plain_name(callee) == "TypeVar":
            return self._type_variable(node)
        if plain_name(callee) == "cast" and len(args) == 2:
            args[0] = annotation(node.args[0], self.read) or OPAQUE
        call = make("c", callee, args, kwargs)
        self.writer.call("call", callee, node.lineno, call)
        return call

    def _type_variable(self, node: ast.Call) -> Expr:
        """``TypeVar("T", bound=C)`` as the type it stands for at least; of another nothing is known."""
        bounds = [*node.args[1:], *(keyword.value for keyword in node.keywords if keyword.arg == "bound")]
        return union([make("T", spelled) for bound in bounds if (spelled := annotation(bound, self.read)) is not None])

    def _subscript(self, node: ast.Subscript) -> Expr:
        base = self.read(node.value)
        if isinstance(node.slice, ast.Slice):
            low, high = _whole(node.slice.lower), _whole(node.slice.upper)
            self._children(node.slice)
            return make("sl", base, low, high) if node.slice.step is None else make("u", [make("i", base)])
        return make("s", base, self.read(node.slice))

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set) -> Expr:
        items = [
            make("*", self.read(item.value)) if isinstance(item, ast.Starred) else self.read(item) for item in node.elts
        ]
        return make("t", items[:MAX_ITEMS])

    def _dict(self, node: ast.Dict) -> Expr:
        pairs = [
            [None if key is None else self.read(key), self.read(value)]
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return make("d", pairs[:MAX_ITEMS])

    def _binary(self, node: ast.BinOp) -> Expr:
        operands: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):  # a sum of a thousand terms nests a thousand deep to the left
            operands.append(left.right)
            left = left.left
        values = [self.read(operand) for operand in (left, *reversed(operands))]
        if values[0][0] == "k" and isinstance(values[0][1], str) and isinstance(node.op, (ast.Add, ast.Mod)):
            return beginning(values[0][1].partition("%")[0])
        known = [value for value in values if value[0] not in ("x", "k")]
        if not known:
            return OPAQUE
        return union(known) if isinstance(node.op, (ast.Add, ast.BitOr)) and len(known) <= MAX_ITEMS else UNKNOWN

    def _formatted(self, node: ast.JoinedStr) -> Expr:
        self._children(node)
        first = node.values[0] if node.values else None
        return beginning(str(first.value)) if isinstance(first, ast.Constant) else OPAQUE

    def _boolean(self, node: ast.BoolOp) -> Expr:
        return union([self.read(value) for value in node.values])

    def _unary(self, node: ast.UnaryOp) -> Expr:
        value = self.read(node.operand)
        if isinstance(node.op, ast.USub) and value[0] == "k" and type(value[1]) is int:
            return constant(-value[1])
        return OPAQUE if isinstance(node.op, ast.Not) or value[0] in ("k", "x") else UNKNOWN

    def _conditional(self, node: ast.IfExp) -> Expr:
        self.read(node.test)
        return union([self.read(node.body), self.read(node.orelse)])

    def _walrus(self, node: ast.NamedExpr) -> Expr:
        value = self.read(node.value)
        self.writer.bind(node.target.id, value)
        return value

    def _await(self, node: ast.Await) -> Expr:
        return self.read(node.value)

    def _starred(self, node: ast.Starred) -> Expr:
        return make("i", self.read(node.value))

    def _yield(self, node: ast.Yield) -> Expr:
        self.writer.yields(self.read(node.value))
        return UNKNOWN

    def _yield_from(self, node: ast.YieldFrom) -> Expr:
        source = self.read(node.value)
        self.writer.call("iter", source, node.lineno)
        self.writer.yields(make("i", source))
        return UNKNOWN

    def _lambda(self, node: ast.Lambda) -> Expr:
        return self.writer.read_lambda(node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Expr:
        with self.writer.substituting() as known:
            for generator in node.generators:
                source = self.read(generator.iter)
                self.writer.call("iter", source, node.lineno)
                for text, value in targets(generator.target, make("i", source)):
                    known[text] = value
                for condition in generator.ifs:
                    self.read(condition)
            if isinstance(node, ast.DictComp):
                self.read(node.key)
                value = self.read(node.value)
            else:
                value = self.read(node.elt)
        return make("up", OPAQUE, None, value)

    readers: ClassVar[dict[type[ast.expr], Callable[[Any, Any], Expr]]] = {
        ast.Constant: _constant,
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.Subscript: _subscript,
        ast.Tuple: _sequence,
        ast.List: _sequence,
        ast.Set: _sequence,
        ast.Dict: _dict,
        ast.BinOp: _binary,
        ast.JoinedStr: _formatted,
        ast.BoolOp: _boolean,
        ast.UnaryOp: _unary,
        ast.IfExp: _conditional,
        ast.NamedExpr: _walrus,
        ast.Await: _await,
        ast.Starred: _starred,
        ast.Yield: _yield,
        ast.YieldFrom: _yield_from,
        ast.Lambda: _lambda,
        ast.ListComp: _comprehension,
        ast.SetComp: _comprehension,
        ast.GeneratorExp: _comprehension,
        ast.DictComp: _comprehension,
    }


def targets(target: ast.expr, value: Expr) -> Iterable[tuple[str, Expr]]:
    """The names an assignment target binds and what each gets of ``value``; attributes are left out."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Starred):
        yield from targets(target.value, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        for item, part in split_targets(target, value):
            yield from targets(item, part)


def split_targets(target: ast.Tuple | ast.List, value: Expr) -> Iterable[tuple[ast.expr, Expr]]:
    """The items of an unpacking and what each gets: by place, from the end after a starred one."""
    count = len(target.elts)
    star = next((place for place, item in enumerate(target.elts) if isinstance(item, ast.Starred)), count)
    for place, item in enumerate(target.elts):
        if place == star:
            high = place + 1 - count
            yield item, make("sl", value, place, high or None)
        else:
            yield item, make("s", value, make("k", place if place < star else place - count))


def parse_expression(text: str) -> ast.expr:
    """One expression, its parser's warnings about style kept quiet; raises what `ast.parse` raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text.strip(), mode="eval").body


def annotation(node: ast.expr | None, read: Callable[[ast.expr], Expr]) -> Expr | None:
    """A type annotation as a type; one in quotes is parsed."""
    if node is None:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = parse_expression(node.value)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        sides = [annotation(node.left, read), annotation(node.right, read)]
        return union([side for side in sides if side is not None])
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        inner = [annotation(part, read) or OPAQUE for part in parts]
        base = annotation(node.value, read) or OPAQUE
        return make("s", base, make("t", inner))
    if isinstance(node, (ast.Name, ast.Attribute, ast.Constant)):
        return read(node)
    return None


def _whole(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        return -value if type(value) is int else None
    return None
