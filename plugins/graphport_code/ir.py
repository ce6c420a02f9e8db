"""The small language that every parsed file is brought into: expressions, scopes and bindings.

An expression is a JSON list, its operation first:

==================================  =====================================================================
``["n", name]``                     a name; ``["n", name, [i, ...]]``: those of its bindings that reach it
``["o", name]``                     a member of the classes around, or of the file; never a local name
``["a", base, attr]``               an attribute, member or path segment
``["c", callee, args, kwargs]``     a call's result; args may hold ``["*", e]``, kwargs are ``[name, e]``
``["s", base, key]``                an element by key
``["sl", base, low, high]``         a slice with constant ends (null: open)
``["t", [e, ...]]``                 a tuple, list or set
``["d", [[key, e], ...]]``          a dictionary; key null for ``**e``
``["k", constant]``                 a string, integer, boolean or null
``["pre", text]``                   any string that begins so
``["u", [e, ...]]``                 one of several
``["i", e]``                        an element of an iteration over e; ``["*", e]`` as an argument: each of them
``["elem", e]``                     anything in the container e
``["e", e]``                        what a ``with`` over e binds
``["f", key]``                      the function or class of that scope in this file
``["d1", e, decorator]``            e as its decorator leaves it
``["D", e, key]``                   e, the decorated function of that scope, which a call of e calls too
``["T", e]``                        an instance of the type that e spells
``["m", module, level]``            a module; level counts leading dots, 0 is absolute
``["p", module, level, name]``      a name imported from a module
``["up", base, key, e]``            a container after ``base[key] = e``; key null: anywhere
``["sa", base, attr, e]``           an object after ``base.attr = e``
``["pm", name]``                    the parameter of that name, before it is bound anew
``["@", key, e]``                   e as the scope of that key sees it
``["self"]``                        the object a method was called on
``["super"]``                       that object as the classes above its method's see it
``["x"]``                           something that is certainly not from the project: a literal, a sum
``["?"]``                           unknown
==================================  =====================================================================

A scope is a JSON object: ``k`` its kind (``module``, ``class``, ``function``, ``lambda``), ``id`` the
node its calls belong to, ``up`` the key of the scope around it; ``b`` a function's local bindings (name
to expressions); ``p`` parameters in order, ``va`` and ``vk`` the rest ones, ``df`` defaults, ``an``
annotations; ``r`` what it returns, ``ra`` the declared type of that, ``y`` what it yields; ``pc`` calls of
its own parameters; ``at`` which attributes of a parameter without a type are used; ``fl`` flags
(``static``, ``class``, ``property``, ``abstract``, ``manager``, ``async``); ``bases`` of a class.

Bindings of modules and classes can be seen from other files, so each is a definition of its own:
``v`` pairs of (scope key, expression) in order, ``fin`` which of them are left at the end (all when
absent), ``w`` bindings made from elsewhere (``self.x = ...``, ``global x``), which may hold at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

MAX_DEPTH = 14
"""Deeper expressions become unknown: nothing is resolved through them anyway."""

JSON = Any


class Expr(list[JSON]):
    """An expression that knows how deep it nests."""

    __slots__ = ("depth",)

    def __init__(self, items: Sequence[JSON], depth: int) -> None:
        super().__init__(items)
        self.depth = depth


OPAQUE = Expr(["x"], 1)
UNKNOWN = Expr(["?"], 1)
SELF = Expr(["self"], 1)


def make(*items: JSON) -> Expr:
    """An expression from its operation and operands, `UNKNOWN` where it would nest too deep."""
    depth = 1 + _deepest(items)
    return UNKNOWN if depth > MAX_DEPTH else Expr(items, depth)


def union(options: Sequence[Expr]) -> Expr:
    """One of several expressions, each kept once."""
    distinct: list[Expr] = []
    for option in options:
        if option not in distinct:
            distinct.append(option)
    if not distinct:
        return UNKNOWN
    return distinct[0] if len(distinct) == 1 else make("u", distinct)


def name(text: str, versions: Sequence[int] | None = None) -> Expr:
    return make("n", text) if versions is None else make("n", text, list(versions))


def dotted(text: str) -> Expr:
    """``a.b.c`` as a name and its attributes."""
    first, *rest = text.split(".")
    found = name(first)
    for part in rest:
        found = make("a", found, part)
    return found


def _deepest(items: Iterable[JSON]) -> int:
    deepest = 0
    for item in items:
        if isinstance(item, Expr):
            depth = item.depth
        elif isinstance(item, list):
            depth = _deepest(cast("list[JSON]", item))
        else:
            continue
        if depth > deepest:
            deepest = depth
    return deepest
