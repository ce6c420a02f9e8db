"""What a front end makes of one file: symbols, scopes, bindings, calls, imports and bases."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphport_code.ir import Expr
from graphport_code.symbols import Symbol, file_node

MODULE = ""
"""Key of the scope of a whole file."""

Scope = dict[str, Any]
BODY = frozenset({"b", "r", "y", "pc", "at"})
"""Fields of a function's scope that only its own calls, and calls that follow its results, need."""


@dataclass(slots=True)
class Unit:
    """One file as a front end describes it; see `graphport_code.ir` for scopes and expressions.

    ``space`` is whose top-level names the file adds to: the file's path, or its folder where a package
    is a folder. ``names`` are the bindings of modules and classes by ``{scope}.{name}`` (``{name}`` at
    the top); ``members`` those of types that may be defined in another file, by ``{Type}.{name}``. ``sites`` are
    calls by what is called, ``passed`` by what is handed over, ``stored`` attributes set on other objects.
    """

    path: str
    family: str
    space: str
    symbols: dict[str, Symbol] = field(default_factory=dict[str, Symbol])
    scopes: dict[str, Scope] = field(default_factory=dict[str, Scope])
    names: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    members: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    calls: list[list[Any]] = field(default_factory=list[list[Any]])
    imports: list[list[Any]] = field(default_factory=list[list[Any]])
    bases: list[list[Any]] = field(default_factory=list[list[Any]])
    sites: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    passed: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    stored: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    docstring: str = ""
    warnings: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.scopes[MODULE] = {"k": "module", "id": file_node(self.path), "up": None}
        if self.space != self.path:
            self.scopes[MODULE]["space"] = self.space

    def add_symbol(
        self,
        name: str,
        kind: str,
        parent: str,
        *,
        line: int,
        end_line: int,
        start: int,
        signature: str,
        docstring: str,
        prefix: str = "",
    ) -> Symbol:
        """A new symbol inside ``parent``; a second one of the same name gets a key of its own.

        ``prefix`` is the type that a method belongs to where that is not the symbol around it.
        """
        above = self.symbols.get(parent)
        inside = join(prefix, name)
        qualified = f"{above.qualified}.{inside}" if above else inside
        base = join(parent, inside)
        key, number = base, 1
        while key in self.scopes or key in self.symbols:
            number += 1
            key = f"{base}#{number}"
        symbol = Symbol(key, name, qualified, kind, line, end_line, start, parent, signature, docstring)
        self.symbols[key] = symbol
        return symbol

    def add_scope(self, key: str, kind: str, node: str, up: str, **rest: Any) -> Scope:
        scope: Scope = {"k": kind, "id": node, "up": up, **rest}
        self.scopes[key] = scope
        return scope

    def bind(self, scope: str, name: str, value: Expr, seen_from: str | None = None) -> int:
        """Bind a name of a module or class; returns the number of this binding."""
        row = self.names.setdefault(join(scope, name), {"v": []})
        row["v"].append([scope if seen_from is None else seen_from, value])
        return len(row["v"]) - 1

    def bind_weakly(self, scope: str, name: str, value: Expr, seen_from: str) -> None:
        """A binding made from another scope, which may hold at any time."""
        row = self.names.setdefault(join(scope, name), {"v": []})
        row.setdefault("w", []).append([seen_from, value])

    def call(self, scope: str, kind: str, callee: Expr, line: int) -> None:
        """Something called in a scope: kind ``call``, ``raise``, ``iter``, ``with``, ``decorator`` or ``new``."""
        self.calls.append([scope, kind, callee, line])

    def store(self, scope: str, attribute: str, owner: Expr, value: Expr) -> None:
        """``owner.attribute`` holds ``value`` from some time on, both as ``scope`` sees them."""
        self.stored.setdefault(attribute, []).append([scope, owner, value])

    def base(self, scope: str, owner: Expr, base: Expr, kind: str, line: int) -> None:
        """``owner`` inherits from or implements ``base``, both as ``scope`` sees them."""
        self.bases.append([scope, owner, base, kind, line])

    def owner(self, scope: str) -> str:
        """Key of the symbol whose node a scope's calls belong to; "" for the file."""
        while scope and scope not in self.symbols:
            scope = self.scopes[scope]["up"]
        return scope


def join(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def split_scope(scope: Scope) -> tuple[Scope, Scope]:
    """What callers see of a scope, and what is inside it: editing a body leaves its callers alone."""
    head = {field: value for field, value in scope.items() if field not in BODY}
    return head, {field: value for field, value in scope.items() if field in BODY and value}


def argument_sites(
    unit: Unit,
    calls: Iterable[tuple[str, Expr]],
    aliases: Mapping[str, Iterable[str]],
    ignored: frozenset[str],
    callables: Collection[str],
) -> None:
    """Index calls that hand something over, by what is called and by which function is handed over.

    ``aliases`` are further names that a local name stands for (``c = func``, ``import f as g``);
    ``ignored`` callees take no part, for they are the language's own; of what is handed over only the
    names in ``callables`` may be functions.
    """
    for scope, call in calls:
        args = [*call[2], *(value for _, value in call[3])]
        if all(arg[0] in ("x", "?") for arg in args):
            continue
        _note_called_parameter(unit, scope, call)
        for called in _names_of(call[1], aliases, unit, scope):
            if called not in ignored or called in callables:
                unit.sites.setdefault(called, []).append([scope, call])
        handed = {text for arg in args for text in _names_of(arg, aliases, unit, scope) if text in callables}
        for text in sorted(handed):
            unit.passed.setdefault(text, []).append([scope, call])


def _note_called_parameter(unit: Unit, scope: str, call: Expr) -> None:
    """Remember in a function that it calls one of its own parameters, and with what."""
    data = unit.scopes[scope]
    if call[1][0] == "n" and call[1][1] in data.get("p", ()):
        data.setdefault("pc", []).append(call)


def plain_name(expr: Expr) -> str:
    """The last name of a name or attribute; "" for anything else."""
    return str(expr[2] if expr[0] == "a" else expr[1] if expr[0] == "n" else "")


def _names_of(expr: Expr, aliases: Mapping[str, Iterable[str]], unit: Unit, scope: str) -> list[str]:
    """Names a callee or argument may be defined under; ``f()`` for what a call of f gives back."""
    if expr[0] == "*":
        expr = expr[1]
    if expr[0] == "c":
        called = plain_name(expr[1])
        return [f"{called}()"] if called else []
    text = plain_name(expr)
    if text == "__init__":
        return [f"{base}.{text}" for base in _constructed(expr[1], unit, scope)]
    return [text, *aliases.get(text, ())] if text else []


def _constructed(owner: Expr, unit: Unit, scope: str) -> list[str]:
    """Classes whose constructor ``super().__init__`` or ``Base.__init__`` may be."""
    if owner[0] != "c":
        return [plain_name(owner)]
    above = unit.scopes[scope]
    while above.get("up") is not None and "cls" not in above:
        above = unit.scopes[above["up"]]
    bases = unit.scopes[above["cls"]].get("bases", ()) if "cls" in above else ()
    return [text for text in map(plain_name, bases) if text]
