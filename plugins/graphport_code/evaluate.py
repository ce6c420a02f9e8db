"""What an expression may stand for: evaluation on demand, across files, within bounds.

A points-to analysis in the manner of PyCG (Salis et al., ICSE 2021), turned around: nothing is
propagated forward; each call site asks what its callee may be, and only what that needs is looked up.
Calls bind arguments, so that a function that returns its argument returns each caller's own. Where an
answer depends on itself it is cut, and an answer that was cut is not remembered as final.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, ClassVar

from graphport_code import classes, containers, names, parameters, written_types
from graphport_code.bounds import Bounded, Values
from graphport_code.builtin_calls import builtin_result
from graphport_code.common_names import UNWRAPS
from graphport_code.imports_by_name import SPLITS
from graphport_code.ir import Expr
from graphport_code.values import (
    OUTSIDE,
    Builtin,
    Class,
    Constant,
    Container,
    Frame,
    Function,
    Instance,
    Module,
    Outside,
    Overlay,
    Partial,
    Prefix,
    Super,
    Thunk,
    Value,
    distinct,
    reached_from,
)
from graphport_code.world import World

MAX_CALLS = 6
"""Calls inside calls whose arguments are followed."""
_SIMPLE = frozenset({"k", "pre", "f", "self", "super"})
"""Operations that need no other expression's value, and so neither fuel nor memory."""


class Evaluator(Bounded):
    """Answers questions about one document; not shared between threads."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world

    def ask(self, expr: Expr, frame: Frame) -> Values:
        """What an expression may stand for, with fresh fuel; ``partial`` says whether there may be more."""
        self.begin()
        return self.values(expr, frame)

    def values(self, expr: Expr, frame: Frame) -> Values:
        operation = expr[0]
        if operation == "x":
            return (OUTSIDE,)
        if operation == "?":
            return ()
        if operation == "!":
            return tuple(expr[1])
        if operation in _SIMPLE:
            return self._operations[operation](self, expr, frame)
        memo = frame.memo
        place = id(expr)
        named = None
        known = memo.get(place)
        if known is None and operation == "n":  # any expression that is the same name has the same answer
            named = (expr[1], tuple(expr[2]) if len(expr) > 2 else None)
            known = memo.get(named)
            if known is not None:
                memo[place] = (expr, known[1], known[2])
        if known is not None:
            self.partial = self.partial or known[2]
            return known[1]
        found, final = self.within_bounds((place, id(frame)), self._operations[operation], self, expr, frame)
        if final:
            memo[place] = kept = (expr, found, self.partial)
            if named is not None:
                memo[named] = kept
        return found

    def all_of(self, thunks: Iterable[Thunk]) -> Values:
        return distinct([value for thunk in thunks for value in self.values(thunk.expr, thunk.frame)])

    def _attribute(self, expr: Expr, frame: Frame) -> Values:
        base = self.values(expr[1], frame)
        return distinct([reached_from(item, value) for item in base for value in self.attribute(item, expr[2])])

    def attribute(self, value: Value, text: str) -> Values:
        """What ``value.text`` may be."""
        if isinstance(value, Module):
            return names.module_attribute(self, value, text)
        if isinstance(value, Class):
            return classes.of_class(self, value, text)
        if isinstance(value, Instance):
            if text == "__class__":
                return (value.of,)
            found = classes.of_instance(self, value, text)
            if text in UNWRAPS.get(self.world.family, ()) and not classes.functions(found):
                return (Builtin(text, value),)
            return found
        if isinstance(value, Super):
            return classes.of_super(self, value, text)
        if isinstance(value, Overlay):
            return self.values(value.content.expr, value.content.frame) if value.attr == text else ()
        if isinstance(value, Container):
            return (Builtin(text, value),)
        if isinstance(value, Prefix):
            return (Builtin(text, value),)
        if isinstance(value, Constant) and text in SPLITS:
            return (Builtin(text, value),)
        if isinstance(value, (Outside, Constant)):
            return (OUTSIDE,)
        if isinstance(value, Builtin):
            return (Builtin(text) if value.base is None else OUTSIDE,)
        return ()

    def _call(self, expr: Expr, frame: Frame) -> Values:
        callees = self.values(expr[1], frame)
        return distinct([value for callee in callees for value in self.result(callee, expr, frame)])

    def result(self, callee: Value, call: Expr, frame: Frame) -> Values:
        """What calling ``callee`` as ``call`` does in ``frame`` gives back."""
        if isinstance(callee, Function):
            returned = self._returned(callee, call, frame)
            return tuple(reached_from(callee.receiver, value) for value in returned) if callee.receiver else returned
        if isinstance(callee, Class):
            return (Instance(callee, exact=True),)
        if isinstance(callee, Instance):
            found = classes.of_instance(self, callee, "__call__")
            return distinct([value for method in found for value in self.result(method, call, frame)])
        if isinstance(callee, Partial):
            return self.result(callee.function, call, frame)
        if isinstance(callee, Module):
            exported = names.module_attribute(self, callee, "default") if self.world.family == "js" else ()
            return distinct([value for item in exported for value in self.result(item, call, frame)])
        if isinstance(callee, Builtin):
            return builtin_result(self, callee, call, frame)
        return (OUTSIDE,) if isinstance(callee, Outside) else ()

    def _returned(self, function: Function, call: Expr, frame: Frame) -> Values:
        scope = function.scope
        above = function.closure or self.world.frame(function.path, scope["up"])
        declared = self.declared(function) if "ra" in scope else ()
        if not classes.are_protocols(declared) and (
            any(not isinstance(value, Outside) for value in declared)
            or (declared and "y" not in self.world.body_of(function.path, function.key))
        ):
            return declared
        if frame.calls >= MAX_CALLS:
            return declared
        called = Frame(
            function.path,
            function.key,
            scope,
            above,
            parameters.bind(function, call, frame),
            function.receiver,
            frame.calls + 1,
        )
        return self.returned_in(called) or declared

    def declared(self, function: Function) -> Values:
        """What a function says it returns; () if it does not say."""
        frame = self.world.frame(function.path, function.key, function.receiver)
        place = self.world.types_of(frame) if frame is not None else None
        return self.type_values(function.scope["ra"], place) if place is not None and "ra" in function.scope else ()

    def returned_in(self, called: Frame) -> Values:
        """What a function returns in one call; what a generator gives, gathered."""
        body = self.world.body(called)
        if "y" in body:
            items = tuple((None, Thunk(item, called)) for item in body["y"])
            return (Container(items, generator=True),)
        return distinct([value for item in body.get("r", ()) for value in self.values(item, called)])

    def _definition(self, expr: Expr, frame: Frame) -> Values:
        scope = self.world.scope(frame.path, expr[1])
        if scope is None:
            return ()
        if scope["k"] in ("class", "namespace"):
            return (Class(frame.path, expr[1], scope),)
        above = frame if frame.arguments is not None else None
        return (Function(frame.path, expr[1], scope, closure=above),)

    def _wrapped(self, expr: Expr, frame: Frame) -> Values:
        """What a decorator makes of a function; the function itself where that is not known."""
        call = Expr(["c", expr[2], [expr[1]], []], 1)
        made = [value for decorator in self.values(expr[2], frame) for value in self.result(decorator, call, frame)]
        kept = [value for value in made if isinstance(value, (Function, Class, Instance, Partial))]
        return distinct(kept) or self.values(expr[1], frame)

    def _decorated(self, expr: Expr, frame: Frame) -> Values:
        """As decorators left it; whoever calls that by the function's name means the function too."""
        (inside,) = self._definition(Expr(["f", expr[2]], 1), frame) or (OUTSIDE,)
        if not isinstance(inside, Function):
            return self.values(expr[1], frame)
        found: list[Value] = []
        for value in self.values(expr[1], frame):
            found += [replace(value, wraps=inside)] if isinstance(value, Function) else [value, inside]
        return distinct(found)

    def _union(self, expr: Expr, frame: Frame) -> Values:
        return distinct([value for option in expr[1] for value in self.values(option, frame)])

    def _elsewhere(self, expr: Expr, frame: Frame) -> Values:
        other = self.world.frame(frame.path, expr[1])
        return self.values(expr[2], other) if other is not None else ()

    def receiver(self, frame: Frame) -> Value | None:
        """The object that the method around a frame was called on."""
        inside: Frame | None = frame
        while inside is not None and "cls" not in inside.scope:
            inside = inside.up
        return self.world.receiver_of(inside) if inside is not None else None

    def _super(self, _expr: Expr, frame: Frame) -> Values:
        of = self.world.enclosing_class(frame)
        return (Super(of, self.receiver(frame)),) if of is not None else ()

    def _self(self, _expr: Expr, frame: Frame) -> Values:
        receiver = self.receiver(frame)
        return (receiver,) if receiver is not None else ()

    def type_values(self, spelled: Expr, frame: Frame) -> Values:
        """Objects of the type that an annotation spells."""
        return written_types.of_type(self, spelled, frame)

    def _overlaid(self, expr: Expr, frame: Frame) -> Values:
        base = self.values(expr[1], frame)
        return distinct([*base, Overlay(expr[2], Thunk(expr[3], frame))])

    _operations: ClassVar[dict[str, Callable[[Any, Expr, Frame], Values]]] = {
        "n": names.name,
        "o": names.outer_name,
        "m": names.module,
        "p": names.imported,
        "a": _attribute,
        "c": _call,
        "f": _definition,
        "d1": _wrapped,
        "D": _decorated,
        "u": _union,
        "pm": lambda self, expr, frame: parameters.parameter(self, frame, expr[1]),
        "@": _elsewhere,
        "self": _self,
        "super": _super,
        "k": lambda _self, expr, _frame: (Constant(expr[1]),),
        "pre": lambda _self, expr, _frame: (Prefix(expr[1]),),
        "T": lambda self, expr, frame: self.type_values(expr[1], frame),
        "sa": _overlaid,
        "s": containers.element,
        "sl": containers.sliced,
        "t": containers.sequence,
        "d": containers.mapping,
        "i": containers.iterated,
        "*": containers.iterated,
        "elem": containers.elements,
        "e": containers.entered,
        "up": containers.updated,
        "mg": containers.merged,
    }
