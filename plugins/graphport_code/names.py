"""Names and imports: which bindings they mean, in scopes, modules and packages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from graphport_code import classes, parameters
from graphport_code.common_names import BUILTINS
from graphport_code.ir import Expr
from graphport_code.languages import family_of
from graphport_code.modules import find_modules, imported_from_indexed_package, module_below
from graphport_code.unit import MODULE
from graphport_code.values import OUTSIDE, Builtin, Class, Frame, Instance, Module, Outside, Value, distinct
from graphport_code.world import binding_name

if TYPE_CHECKING:
    from graphport_code.bounds import Values
    from graphport_code.evaluate import Evaluator

FOLLOWED = frozenset({"functools", "importlib", "typing", "typing_extensions"})
"""Modules of the standard library whose functions `graphport_code.builtin_calls` knows."""


def name(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    text = expr[1]
    versions = expr[2] if len(expr) > 2 else None
    inside: Frame | None = frame
    while inside is not None:
        kind = inside.scope["k"]
        found: Values | None = None
        if kind in ("function", "lambda"):
            found = _local(evaluator, text, versions, inside)
        elif kind != "class" or inside is frame or evaluator.world.family != "python":
            found = binding(evaluator, inside.path, inside.key, text, versions if inside is frame else None)
            if found is None and kind == "class" and evaluator.world.family == "java":
                inherited = classes.of_instance(evaluator, Instance(Class(inside.path, inside.key, inside.scope)), text)
                found = tuple(value for value in inherited if not isinstance(value, Outside)) or None
        if found is not None:
            return found
        versions = None
        inside = inside.up
    if text in BUILTINS.get(family_of(frame.path), ()):
        return (Builtin(text),)
    return ()


def outer_name(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    """A name as a member of the classes around, from the inside out, then of the file; no local variable."""
    text = expr[1]
    outside: Values = ()
    inside: Frame | None = frame
    while inside is not None:
        if inside.scope["k"] == "class":
            of = Class(inside.path, inside.key, inside.scope)
            found = classes.of_instance(evaluator, Instance(of), text)
            if any(not isinstance(value, Outside) for value in found):
                return found
            outside = outside or found
        elif inside.scope["k"] == "module":
            return binding(evaluator, inside.path, inside.key, text) or outside
        inside = inside.up
    return outside


def _local(evaluator: Evaluator, text: str, versions: Sequence[int] | None, frame: Frame) -> Values | None:
    bound = evaluator.world.body(frame).get("b", {}).get(text)
    if bound is not None:
        chosen = bound if versions is None else [bound[number] for number in versions]
        weak = [] if versions is None else [item for item in bound if item[0] == "@"]
        return distinct([value for item in (*chosen, *weak) for value in evaluator.values(item, frame)])
    if text in frame.scope["p"] or text in (frame.scope.get("va"), frame.scope.get("vk")):
        return parameters.parameter(evaluator, frame, text)
    return None


def binding(
    evaluator: Evaluator, path: str, key: str, text: str, versions: Sequence[int] | None = None
) -> Values | None:
    """What a name of a module or class may stand for; None if nothing binds it there."""
    family = family_of(path)
    rows = evaluator.world.bindings(evaluator.world.space_of(path), key, text, family)
    if rows:
        return distinct([value for row in rows for value in _bound(evaluator, row, versions)])
    return _star(evaluator, path, key, text)


def _bound(evaluator: Evaluator, row: tuple[str, Any], versions: Sequence[int] | None) -> Iterable[Value]:
    path, data = row
    chosen = data["v"]
    if versions is not None and path == evaluator.world.document:
        chosen = [chosen[number] for number in versions if number < len(chosen)]
    elif "fin" in data:
        chosen = [chosen[number] for number in data["fin"]]
    for key, expr in (*chosen, *data.get("w", ())):
        frame = evaluator.world.frame(path, key)
        if frame is not None:
            yield from evaluator.values(expr, frame)


def _star(evaluator: Evaluator, path: str, key: str, text: str) -> Values | None:
    frame = evaluator.world.frame(path, key)
    if frame is None or "stars" not in frame.scope or text.startswith("_"):
        return None
    for star in frame.scope["stars"]:
        for source in evaluator.values(star, frame):
            if isinstance(source, Module):  # not what stands below a package: a star does not import that
                found = _in_module(evaluator, source, text)
            else:
                found = evaluator.attribute(source, text) if isinstance(source, Class) else ()
            if found:
                return found
    return None


def module(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    modules = find_modules(evaluator.world, frame.path, expr[1], expr[2])
    if not modules:
        return _outside(expr[1])
    return (modules[0],) if len(modules) == 1 else ()


def _outside(module_name: str) -> Values:
    return (Builtin(module_name),) if module_name in FOLLOWED else (OUTSIDE,)


def imported(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    modules = find_modules(evaluator.world, frame.path, expr[1], expr[2])
    if not modules and not expr[2]:
        inside = imported_from_indexed_package(evaluator.world, frame.path, expr[1], expr[3])
        if inside is not None:
            return (inside,)
    if not modules:
        return (Builtin(expr[3]),) if expr[1] in FOLLOWED else (OUTSIDE,)
    if len(modules) > 1:
        return ()
    return evaluator.attribute(modules[0], expr[3]) or ()


def module_attribute(evaluator: Evaluator, module: Module, text: str) -> Values:
    found = _in_module(evaluator, module, text)
    if found:
        return found
    below = module_below(evaluator.world, module, text)
    if below is not None:
        return (below,)
    if evaluator.world.family == "js" and text != "default":  # a CommonJS module is what it exports
        exported = module_attribute(evaluator, module, "default")
        return distinct([value for item in exported for value in evaluator.attribute(item, text)])
    return ()


def _in_module(evaluator: Evaluator, module: Module, text: str) -> Values:
    return evaluator.remembered(("in", module.identity, text), _top_level, evaluator, module, text)


def _top_level(evaluator: Evaluator, module: Module, text: str) -> Values:
    if module.path is not None:
        return binding(evaluator, module.path, MODULE, text) or ()
    if module.space:
        rows = evaluator.world.find(binding_name(evaluator.world.family, module.space, text))
        return distinct([value for row in rows for value in _bound(evaluator, row, None)])
    return ()
