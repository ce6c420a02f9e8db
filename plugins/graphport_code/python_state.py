"""Where a Python file is while it is read: its open scopes, and the bindings that reach each name.

A name's bindings are numbered; at each point of a scope the reader knows which of them may hold there
(reaching definitions).
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from graphport_code.ir import Expr, make, name
from graphport_code.python_expressions import CALLS_ITS_ARGUMENTS, ExpressionReader
from graphport_code.source import Source
from graphport_code.unit import MODULE, Unit, plain_name

Reaching = dict[str, tuple[int, ...] | None]
"""The bindings of each name that may hold; None: any of them."""


@dataclass(slots=True)
class OpenScope:
    """A scope while it is read.

    ``known`` are values of names that hold for a while (in a comprehension, under an ``isinstance``);
    ``stored`` the names it binds itself, ``outer`` those it binds elsewhere, by the scope's key;
    ``cls`` and ``receiver`` the class of a method and the name of its first parameter.
    """

    key: str
    kind: str
    reaching: Reaching = field(default_factory=Reaching)
    known: dict[str, Expr] = field(default_factory=dict[str, Expr])
    stored: frozenset[str] = frozenset()
    outer: dict[str, str] = field(default_factory=dict[str, str])
    cls: str | None = None
    receiver: str = ""
    lambdas: int = 0


class PythonState(ABC):
    """The stack of open scopes, and what is written into the `Unit` from any of them."""

    def __init__(self, source: Source, deadline: float) -> None:
        self.source = source
        self.deadline = deadline
        self.unit = Unit(source.path, "python", source.path)
        self.expressions = ExpressionReader(self)
        self.stack = [OpenScope(MODULE, "module")]
        self.made_calls: list[tuple[str, Expr]] = []
        self.aliases: dict[str, dict[str, None]] = {}
        self.imported: set[str] = set()

    @property
    def here(self) -> OpenScope:
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

    def uses(self, text: str, attribute: str) -> None:
        """An attribute of a name is used: of a parameter without a type it tells what may be handed over."""
        if text in self.here.known or attribute.startswith("__"):
            return
        for scope in reversed(self.stack):
            if text in scope.stored:
                return
            data = self.unit.scopes[scope.key]
            if text in data.get("p", ()):
                if text not in data.get("an", ()) and text != data.get("self"):
                    used = data.setdefault("at", {}).setdefault(text, [])
                    used += [attribute] if attribute not in used else []
                return

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
    def substituting(self) -> Generator[dict[str, Expr]]:
        """Names of a comprehension, for as long as it is read."""
        before = self.here.known
        self.here.known = dict(before)
        yield self.here.known
        self.here.known = before

    @abstractmethod
    def read_lambda(self, node: ast.Lambda) -> Expr:
        """A lambda as a scope of its own."""

    def _note_alias(self, text: str, value: Expr) -> None:
        """Remember that calling ``text`` may call what ``value`` names."""
        if value[0] in ("n", "a"):
            other = value[1] if value[0] == "n" else value[2]
            if other != text:
                self.aliases.setdefault(text, {})[other] = None
        elif value[0] == "c" and value[1][0] in ("n", "a"):
            called = value[1]
            self.aliases.setdefault(text, {})[f"{called[1] if called[0] == 'n' else called[2]}()"] = None

    def _bind_outside(self, key: str, text: str, value: Expr) -> None:
        if key == MODULE:
            self.unit.bind_weakly(MODULE, text, value, MODULE)
        else:
            self.unit.scopes[key]["b"].setdefault(text, []).append(value)


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
        for field_name in node._fields:
            child = getattr(node, field_name, None)
            if isinstance(child, ast.AST):
                waiting.append(child)
            elif isinstance(child, list):
                waiting += [part for part in cast("list[object]", child) if isinstance(part, ast.AST)]
    return frozenset(found)
