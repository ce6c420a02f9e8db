"""What a parameter without a type is, told by the attributes that its function uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphport_code import classes
from graphport_code.common_names import COMMON_METHODS
from graphport_code.values import Class, Frame, Instance
from graphport_code.world import attribute_name

if TYPE_CHECKING:
    from graphport_code.bounds import Values
    from graphport_code.evaluate import Evaluator

MAX_OWNERS = 12
"""An attribute that more classes have of their own tells nothing."""


def told_by_use(evaluator: Evaluator, frame: Frame, parameter: str) -> Values:
    """An object of the only class in the project that has every attribute that is used; () if it is not the only one.

    Of classes that inherit from each other the highest is meant. Attributes that the language's own types have
    say nothing about a class.
    """
    used = evaluator.world.body(frame).get("at", {}).get(parameter, ())
    family = evaluator.world.family
    if all(name in COMMON_METHODS.get(family, ()) for name in used):
        return ()
    owners = [_owners(evaluator, attribute) for attribute in used]
    fewest = min(owners, key=len)
    if not fewest or len(fewest) > MAX_OWNERS:
        return ()
    found = {of.identity: of for owner in fewest.values() for of in (owner, *classes.subclasses(evaluator, owner))}
    fitting = [of for of in found.values() if _has_all(evaluator, of, owners)]
    highest = [of for of in fitting if not any(_is_below(evaluator, of, other) for other in fitting)]
    return (Instance(highest[0], inferred=True),) if len(highest) == 1 else ()


def _owners(evaluator: Evaluator, attribute: str) -> dict[tuple[object, ...], Class]:
    found: dict[tuple[object, ...], Class] = {}
    for path, data in evaluator.world.find(attribute_name(evaluator.world.family, attribute)):
        for key in data["of"]:
            scope = evaluator.world.scope(path, key)
            if scope is not None:
                of = Class(path, key, scope)
                found[of.identity] = of
    return found


def _has_all(evaluator: Evaluator, of: Class, owners: list[dict[tuple[object, ...], Class]]) -> bool:
    order = {value.identity for value in classes.linearize(evaluator, of)}
    return all(order & having.keys() for having in owners)


def _is_below(evaluator: Evaluator, of: Class, other: Class) -> bool:
    return of.identity != other.identity and any(
        above.identity == other.identity for above in classes.linearize(evaluator, of)
    )
