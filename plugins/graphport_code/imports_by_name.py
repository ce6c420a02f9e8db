"""Modules and their members that a string names: ``import_module("shop.cart")``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphport_code.containers import known_content
from graphport_code.modules import find_modules
from graphport_code.values import OUTSIDE, Constant, Container, Frame, Module, Value, distinct
from graphport_code.world import binding_name

if TYPE_CHECKING:
    from graphport_code.bounds import Values
    from graphport_code.evaluate import Evaluator

SPLITS = frozenset({"split", "rsplit", "partition", "rpartition"})


def imported_by_name(evaluator: Evaluator, names: Values, frame: Frame) -> Values:
    """The project's modules of those names."""
    found: list[Value] = []
    for name in names:
        if isinstance(name, Constant) and isinstance(name.value, str) and not name.value.startswith("."):
            modules = find_modules(evaluator.world, frame.path, name.value, 0)
            found += modules if len(modules) == 1 else [OUTSIDE]
    return distinct(found)


def split(text: Constant, method: str, arguments: list[Values]) -> Values:
    """The parts of a string, known if what it is split at is."""
    given = [values[0].value if len(values) == 1 and isinstance(values[0], Constant) else None for values in arguments]
    if not isinstance(text.value, str) or None in given or not given or given[0] == "":
        return (OUTSIDE,)
    parts: list[str] = list(getattr(text.value, method)(*given))
    items = tuple((Constant(place), known_content((Constant(part),))) for place, part in enumerate(parts))
    return (Container(items, size=len(parts)),)


def may_have(evaluator: Evaluator, module: Module, name: str) -> bool:
    """Whether a module can have a member: one that no file binds, re-exports or is, it has not."""
    world = evaluator.world
    scope = world.scope(module.path, "") if module.path is not None else None
    if scope is None or "stars" in scope:
        return True
    return bool(world.find(binding_name(world.family, world.space_of(str(module.path)), name)))
