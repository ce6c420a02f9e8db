"""What parameters stand for: what one call hands over, or what any call in the project may."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphport_code import classes
from graphport_code.ir import Expr
from graphport_code.languages import family_of
from graphport_code.told_by_use import told_by_use
from graphport_code.values import Class, Constant, Frame, Function, Instance, Outside, Partial, Thunk, distinct
from graphport_code.world import call_name, passed_name

if TYPE_CHECKING:
    from graphport_code.bounds import Values
    from graphport_code.evaluate import Evaluator

MAX_SITES = 40
"""Calls that are looked at for one function; one that is called from everywhere is handed anything."""

CONSTRUCTORS = {"python": ("__init__", "__new__"), "js": ("constructor",), "java": ("<init>",)}
"""Methods that run when a class is called, by family of languages."""


def parameter(evaluator: Evaluator, frame: Frame, text: str) -> Values:
    """What a parameter stands for in a frame."""
    scope = frame.scope
    if text == scope.get("self"):
        receiver = evaluator.world.receiver_of(frame)
        if receiver is not None:
            return (receiver,)
    if frame.receiver is not None and [text] == scope["p"][:1] and "self" not in scope and "cls" not in scope:
        return (frame.receiver,)
    if frame.arguments is not None and text != scope.get("self"):
        return _handed(evaluator, frame, text)
    key = ("parameter", frame.path, frame.key, text)
    return evaluator.remembered(key, _any, evaluator, frame, text)


def _handed(evaluator: Evaluator, frame: Frame, text: str) -> Values:
    handed = (frame.arguments or {}).get(text)
    if handed:
        return evaluator.all_of(handed)
    return _default(evaluator, frame, text)


def _default(evaluator: Evaluator, frame: Frame, text: str) -> Values:
    default = frame.scope.get("df", {}).get(text)
    return evaluator.values(default, frame.up) if default is not None and frame.up is not None else ()


def _any(evaluator: Evaluator, frame: Frame, text: str) -> Values:
    declared = frame.scope.get("an", {}).get(text)
    typed: Values = ()
    place = evaluator.world.types_of(frame)
    if declared is not None and place is not None:
        typed = evaluator.type_values(declared, place)
        if typed and not classes.are_protocols(typed):
            return typed
    found = [*_default(evaluator, frame, text)]
    found += evaluator.searched(lambda: evaluator.all_of(_search(evaluator, frame, text)))
    if all(isinstance(value, (Constant, Outside)) for value in found):
        found += typed or told_by_use(evaluator, frame, text)
    return distinct(found)


def _search(evaluator: Evaluator, frame: Frame, text: str) -> Iterator[Thunk]:
    """What calls anywhere hand over for a parameter."""
    wanted = (frame.path, frame.key)
    family = family_of(frame.path)
    for called in _called_as(evaluator, frame):
        for path, data in evaluator.world.find_few(call_name(family, called), MAX_SITES):
            for key, call in data["sites"][:MAX_SITES]:
                yield from _handed_by(evaluator, wanted, text, path, key, call)
    name = frame.scope.get("name")
    if name:
        for path, data in evaluator.world.find_few(passed_name(family, name), MAX_SITES):
            for key, call in data["sites"][:MAX_SITES]:
                yield from _handed_through(evaluator, wanted, text, path, key, call)


def _called_as(evaluator: Evaluator, frame: Frame) -> list[str]:
    """Names under which calls of a function are indexed."""
    name = frame.scope.get("name")
    special = CONSTRUCTORS.get(family_of(frame.path), ())
    names = [name] if name and name not in special else []
    if frame.up is not None and frame.up.scope["k"] == "function":
        names.append(f"{frame.up.scope['name']}()")
    if name in special and "cls" in frame.scope:
        of = evaluator.world.enclosing_class(frame)
        if of is not None:
            family = [of, *classes.subclasses(evaluator, of)]
            names += [item.scope["name"] for item in family]
            names += [f"{of.scope['name']}.{name}"]
    return list(dict.fromkeys(names))


def _handed_by(
    evaluator: Evaluator, wanted: tuple[str, str], text: str, path: str, key: str, call: Expr
) -> Iterator[Thunk]:
    site = None if evaluator.spent else evaluator.world.frame(path, key)
    if site is None:
        return
    for callee in _functions(evaluator, evaluator.values(call[1], site)):
        if (callee.path, callee.key) == wanted:
            yield from bind(callee, call, site).get(text, ())


def _functions(evaluator: Evaluator, callees: Values) -> Iterator[Function]:
    """The functions that calling some values runs."""
    for value in callees:
        if isinstance(value, Function):
            yield value
        elif isinstance(value, Class):
            yield from constructors(evaluator, value)
        elif isinstance(value, Partial):
            yield from _functions(evaluator, (value.function,))


def constructors(evaluator: Evaluator, of: Class) -> list[Function]:
    """What runs when a class is called, bound to the new object."""
    instance = Instance(of, exact=True)
    return [
        method
        for name in CONSTRUCTORS.get(family_of(of.path), ())
        for method in classes.functions(classes.of_instance(evaluator, instance, name))
    ]


def _handed_through(
    evaluator: Evaluator, wanted: tuple[str, str], text: str, path: str, key: str, call: Expr
) -> Iterator[Thunk]:
    """The function is itself handed to another one, which calls it through its own parameter."""
    site = None if evaluator.spent else evaluator.world.frame(path, key)
    if site is None:
        return
    for other in _functions(evaluator, evaluator.values(call[1], site)):
        inside = evaluator.world.frame(other.path, other.key, other.receiver)
        if inside is None:
            continue
        for theirs, thunks in bind(other, call, site).items():
            calls = [item for item in evaluator.world.body(inside).get("pc", ()) if item[1][1] == theirs]
            if not calls:
                continue
            for value in evaluator.all_of(thunks):
                if isinstance(value, Function) and (value.path, value.key) == wanted:
                    for inner in calls:
                        yield from bind(value, inner, inside).get(text, ())


def bind(function: Function, call: Expr, frame: Frame) -> dict[str, tuple[Thunk, ...]]:
    """Which argument of a call each parameter gets."""
    scope = function.scope
    names: list[str] = list(scope["p"])
    places = names[: scope.get("pos", len(names))]
    if function.receiver is not None and ("self" in scope or "cls" not in scope):
        places = places[1:]
    bound: dict[str, tuple[Thunk, ...]] = {}
    place = 0
    rest: list[Any] = []
    for arg in call[2]:
        if arg[0] == "*":
            spread = (Thunk(Expr(["i", arg[1]], 1), frame),)
            bound.update(dict.fromkeys(places[place:], spread))
            place = len(places)
            rest.append(arg)
        elif place < len(places):
            bound[places[place]] = (Thunk(arg, frame),)
            place += 1
        else:
            rest.append(arg)
    more: list[Any] = []
    for name, value in call[3]:
        if name is None:
            for missing in names:
                bound.setdefault(missing, (Thunk(Expr(["s", value, Expr(["k", missing], 1)], 1), frame),))
        elif name in names:
            bound[name] = (Thunk(value, frame),)
        else:
            more.append([Expr(["k", name], 1), value])
    if "va" in scope:
        bound[scope["va"]] = (Thunk(Expr(["t", rest], 1), frame),)
    if "vk" in scope:
        bound[scope["vk"]] = (Thunk(Expr(["d", more], 1), frame),)
    return bound
