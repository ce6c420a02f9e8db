"""What an expression may stand for: evaluation on demand, across files, within bounds.

A points-to analysis in the manner of PyCG (Salis et al., ICSE 2021), turned around: nothing is
propagated forward; each call site asks what its callee may be, and only what that needs is looked up.
Calls bind arguments, so that a function that returns its argument returns each caller's own. Where an
answer depends on itself it is cut, and an answer that was cut is not remembered as final.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from graphport_code import classes, containers, parameters
from graphport_code.common_names import BUILTINS, UNWRAPS
from graphport_code.ir import Expr
from graphport_code.languages import family_of
from graphport_code.modules import find_modules, module_below
from graphport_code.unit import MODULE
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
    Super,
    Thunk,
    Value,
    distinct,
)
from graphport_code.world import World, binding_name

FUEL = 1500
"""Steps that one question may cost; what was found until then is the answer."""
MAX_DEPTH = 50
MAX_CALLS = 6
"""Calls inside calls whose arguments are followed."""
MAX_VALUES = 32
"""Something that may be more things than this is a registry, not a call."""
_NEVER = 10**9

Values = tuple[Value, ...]


class Evaluator:
    """Answers questions about one document; not shared between threads."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._fuel = 0
        self._active: dict[Any, int] = {}
        self._lowest_cut = _NEVER
        self._memo: dict[Any, Values] = {}
        self.searches = 0

    def ask(self, expr: Expr, frame: Frame) -> Values:
        """What an expression may stand for, with fresh fuel."""
        self._fuel = FUEL
        self._lowest_cut = _NEVER
        return self.values(expr, frame)

    def values(self, expr: Expr, frame: Frame) -> Values:
        operation = expr[0]
        if operation == "x":
            return (OUTSIDE,)
        if operation == "?":
            return ()
        if operation == "!":
            return tuple(expr[1])
        known = frame.memo.get(id(expr))
        if known is not None:
            return known[1]
        found, final = self._guarded((id(expr), id(frame)), lambda: _OPERATIONS[operation](self, expr, frame))
        if final:
            frame.memo[id(expr)] = (expr, found)
        return found

    def remembered(self, key: Any, compute: Callable[[], Values]) -> Values:
        """``compute()``, once for each key, cut where it needs itself."""
        known = self._memo.get(key)
        if known is None:
            known, final = self._guarded(key, compute)
            if final:
                self._memo[key] = known
        return known

    def guarded(self, key: Any, compute: Callable[[], Values]) -> Values:
        """``compute()``, cut where it needs itself."""
        return self._guarded(key, compute)[0]

    def _guarded(self, key: Any, compute: Callable[[], Values]) -> tuple[Values, bool]:
        """The answer, and whether it is whole: neither cut short at a question still open nor out of fuel."""
        place = self._active.get(key)
        if place is not None:
            self._lowest_cut = min(self._lowest_cut, place)
            return (), False
        self._fuel -= 1
        depth = len(self._active)
        if self._fuel < 0 or depth > MAX_DEPTH:
            self._lowest_cut = -1
            return (), False
        before, self._lowest_cut = self._lowest_cut, _NEVER
        self._active[key] = depth
        try:
            found = compute()
        finally:
            del self._active[key]
        final = self._lowest_cut >= depth
        self._lowest_cut = before if final else min(before, self._lowest_cut)
        return (found if len(found) <= MAX_VALUES else ()), final

    def all_of(self, thunks: Iterable[Thunk]) -> Values:
        return distinct([value for thunk in thunks for value in self.values(thunk.expr, thunk.frame)])

    # Names

    def _name(self, expr: Expr, frame: Frame) -> Values:
        text = expr[1]
        versions = expr[2] if len(expr) > 2 else None
        inside: Frame | None = frame
        while inside is not None:
            kind = inside.scope["k"]
            found: Values | None = None
            if kind in ("function", "lambda"):
                found = self._local(text, versions, inside)
            elif kind != "class" or inside is frame or self.world.family != "python":
                found = self.binding(inside.path, inside.key, text, versions if inside is frame else None)
                if found is None and kind == "class" and self.world.family == "java":
                    inherited = classes.of_instance(self, Instance(Class(inside.path, inside.key, inside.scope)), text)
                    found = tuple(value for value in inherited if not isinstance(value, Outside)) or None
            if found is not None:
                return found
            versions = None
            inside = inside.up
        if text in BUILTINS.get(family_of(frame.path), ()):
            return (Builtin(text),)
        return ()

    def _outer_name(self, expr: Expr, frame: Frame) -> Values:
        """A name as a member of the classes around, from the inside out, then of the file; no local variable."""
        text = expr[1]
        outside: Values = ()
        inside: Frame | None = frame
        while inside is not None:
            if inside.scope["k"] == "class":
                of = Class(inside.path, inside.key, inside.scope)
                found = classes.of_instance(self, Instance(of), text)
                if any(not isinstance(value, Outside) for value in found):
                    return found
                outside = outside or found
            elif inside.scope["k"] == "module":
                return self.binding(inside.path, inside.key, text) or outside
            inside = inside.up
        return outside

    def _local(self, text: str, versions: Sequence[int] | None, frame: Frame) -> Values | None:
        bound = frame.scope["b"].get(text)
        if bound is not None:
            chosen = bound if versions is None else [bound[number] for number in versions]
            weak = [] if versions is None else [item for item in bound if item[0] == "@"]
            return distinct([value for item in (*chosen, *weak) for value in self.values(item, frame)])
        if text in frame.scope["p"] or text in (frame.scope.get("va"), frame.scope.get("vk")):
            return parameters.parameter(self, frame, text)
        return None

    def binding(self, path: str, key: str, text: str, versions: Sequence[int] | None = None) -> Values | None:
        """What a name of a module or class may stand for; None if nothing binds it there."""
        family = family_of(path)
        rows = self.world.bindings(self.world.space_of(path), key, text, family)
        if rows:
            return distinct([value for row in rows for value in self._bound(row, versions)])
        return self._star(path, key, text)

    def _bound(self, row: tuple[str, Any], versions: Sequence[int] | None) -> Iterable[Value]:
        path, data = row
        chosen = data["v"]
        if versions is not None and path == self.world.document:
            chosen = [chosen[number] for number in versions if number < len(chosen)]
        elif "fin" in data:
            chosen = [chosen[number] for number in data["fin"]]
        for key, expr in (*chosen, *data.get("w", ())):
            frame = self.world.frame(path, key)
            if frame is not None:
                yield from self.values(expr, frame)

    def _star(self, path: str, key: str, text: str) -> Values | None:
        frame = self.world.frame(path, key)
        if frame is None or "stars" not in frame.scope or text.startswith("_"):
            return None
        for star in frame.scope["stars"]:
            for source in self.values(star, frame):
                found = self.attribute(source, text) if isinstance(source, (Module, Class)) else None
                if found:
                    return found
        return None

    # Modules

    def _module(self, expr: Expr, frame: Frame) -> Values:
        modules = find_modules(self.world, frame.path, expr[1], expr[2])
        if not modules:
            return (OUTSIDE,)
        return (modules[0],) if len(modules) == 1 else ()

    def _imported(self, expr: Expr, frame: Frame) -> Values:
        modules = find_modules(self.world, frame.path, expr[1], expr[2])
        if not modules:
            return (OUTSIDE,)
        if len(modules) > 1:
            return ()
        return self.attribute(modules[0], expr[3]) or ()

    def _module_attribute(self, module: Module, text: str) -> Values:
        found = self.remembered(("in", module.identity, text), lambda: self._in_module(module, text))
        if found:
            return found
        below = module_below(self.world, module, text)
        if below is not None:
            return (below,)
        if self.world.family == "js" and text != "default":  # a CommonJS module is what it exports
            exported = self._module_attribute(module, "default")
            return distinct([value for item in exported for value in self.attribute(item, text)])
        return ()

    def _in_module(self, module: Module, text: str) -> Values:
        if module.path is not None:
            return self.binding(module.path, MODULE, text) or ()
        if module.space:
            rows = self.world.find(binding_name(self.world.family, module.space, text))
            return distinct([value for row in rows for value in self._bound(row, None)])
        return ()

    # Attributes

    def _attribute(self, expr: Expr, frame: Frame) -> Values:
        base = self.values(expr[1], frame)
        return distinct([value for item in base for value in self.attribute(item, expr[2])])

    def attribute(self, value: Value, text: str) -> Values:
        """What ``value.text`` may be."""
        if isinstance(value, Module):
            return self._module_attribute(value, text)
        if isinstance(value, Class):
            return classes.of_class(self, value, text)
        if isinstance(value, Instance):
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
        if isinstance(value, (Outside, Constant)):
            return (OUTSIDE,)
        if isinstance(value, Builtin):
            return (Builtin(text) if value.base is None else OUTSIDE,)
        return ()

    # Calls

    def _call(self, expr: Expr, frame: Frame) -> Values:
        callees = self.values(expr[1], frame)
        return distinct([value for callee in callees for value in self.result(callee, expr, frame)])

    def result(self, callee: Value, call: Expr, frame: Frame) -> Values:
        """What calling ``callee`` as ``call`` does in ``frame`` gives back."""
        if isinstance(callee, Function):
            return self._returned(callee, call, frame)
        if isinstance(callee, Class):
            return (Instance(callee, exact=True),)
        if isinstance(callee, Instance):
            found = classes.of_instance(self, callee, "__call__")
            return distinct([value for method in found for value in self.result(method, call, frame)])
        if isinstance(callee, Partial):
            return self.result(callee.function, call, frame)
        if isinstance(callee, Module):
            exported = self._module_attribute(callee, "default") if self.world.family == "js" else ()
            return distinct([value for item in exported for value in self.result(item, call, frame)])
        if isinstance(callee, Builtin):
            return containers.builtin_result(self, callee, call, frame)
        return (OUTSIDE,) if isinstance(callee, Outside) else ()

    def _returned(self, function: Function, call: Expr, frame: Frame) -> Values:
        scope = function.scope
        above = function.closure or self.world.frame(function.path, scope["up"])
        if "ra" in scope:
            declared = self.declared(function)
            if any(not isinstance(value, Outside) for value in declared) or (declared and not scope.get("y")):
                return declared
        if frame.calls >= MAX_CALLS:
            return ()
        called = Frame(
            function.path,
            function.key,
            scope,
            above,
            parameters.bind(function, call, frame),
            function.receiver,
            frame.calls + 1,
        )
        return self.returned_in(called)

    def declared(self, function: Function) -> Values:
        """What a function says it returns; () if it does not say."""
        frame = self.world.frame(function.path, function.key, function.receiver)
        place = self.world.types_of(frame) if frame is not None else None
        return self.type_values(function.scope["ra"], place) if place is not None and "ra" in function.scope else ()

    def returned_in(self, called: Frame) -> Values:
        """What a function returns in one call; what a generator gives, gathered."""
        if "y" in called.scope:
            items = tuple((None, Thunk(item, called)) for item in called.scope["y"])
            return (Container(items, generator=True),)
        return distinct([value for item in called.scope.get("r", ()) for value in self.values(item, called)])

    # The rest of the operations

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

    def _parameter(self, expr: Expr, frame: Frame) -> Values:
        return parameters.parameter(self, frame, expr[1])

    def _elsewhere(self, expr: Expr, frame: Frame) -> Values:
        other = self.world.frame(frame.path, expr[1])
        return self.values(expr[2], other) if other is not None else ()

    def _self(self, expr: Expr, frame: Frame) -> Values:
        inside: Frame | None = frame
        while inside is not None:
            if "cls" in inside.scope:
                receiver = self.world.receiver_of(inside)
                return (receiver,) if receiver is not None else ()
            inside = inside.up
        return ()

    def _super(self, expr: Expr, frame: Frame) -> Values:
        of = self.world.enclosing_class(frame)
        return (Super(of, (self._self(expr, frame) or (None,))[0]),) if of is not None else ()

    def _constant(self, expr: Expr, frame: Frame) -> Values:
        return (Constant(expr[1]),)

    def _typed(self, expr: Expr, frame: Frame) -> Values:
        return self.type_values(expr[1], frame)

    def type_values(self, spelled: Expr, frame: Frame) -> Values:
        """Objects of the type that an annotation spells."""
        return containers.of_type(self, spelled, frame)

    def _overlaid(self, expr: Expr, frame: Frame) -> Values:
        base = self.values(expr[1], frame)
        return distinct([*base, Overlay(expr[2], Thunk(expr[3], frame))])


_OPERATIONS: dict[str, Callable[[Evaluator, Expr, Frame], Values]] = {
    "n": Evaluator._name,
    "o": Evaluator._outer_name,
    "a": Evaluator._attribute,
    "c": Evaluator._call,
    "f": Evaluator._definition,
    "d1": Evaluator._wrapped,
    "D": Evaluator._decorated,
    "u": Evaluator._union,
    "m": Evaluator._module,
    "p": Evaluator._imported,
    "pm": Evaluator._parameter,
    "@": Evaluator._elsewhere,
    "self": Evaluator._self,
    "k": Evaluator._constant,
    "super": Evaluator._super,
    "T": Evaluator._typed,
    "sa": Evaluator._overlaid,
    "s": containers.element,
    "sl": containers.sliced,
    "t": containers.sequence,
    "d": containers.mapping,
    "i": containers.iterated,
    "elem": containers.elements,
    "e": containers.entered,
    "up": containers.updated,
    "mg": containers.merged,
}
