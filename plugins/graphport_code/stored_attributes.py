"""Attributes that are set on an object, or grown, outside of its class: ``stack.filters.append(Strip())``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphport_code import classes
from graphport_code.values import Class, Instance, Value, distinct
from graphport_code.world import stored_name

if TYPE_CHECKING:
    from graphport_code.bounds import Values
    from graphport_code.evaluate import Evaluator

MAX_SITES = 20
"""An attribute that is set in more places is one of many classes."""


def stored(evaluator: Evaluator, of: Class, attribute: str) -> Values:
    """What code anywhere in the project puts there, in objects that may be of that class."""
    rows = evaluator.world.find(stored_name(evaluator.world.family, attribute))
    if not 0 < sum(len(data["sites"]) for _, data in rows) <= MAX_SITES:
        return ()
    sites = [(path, *site) for path, data in rows for site in data["sites"]]
    return evaluator.searched(lambda: _held(evaluator, of, sites))


def _held(evaluator: Evaluator, of: Class, sites: list[tuple[Any, ...]]) -> Values:
    found: list[Value] = []
    for path, key, owner, value in sites:
        if evaluator.spent:
            break
        frame = evaluator.world.frame(path, key)
        if frame is not None and any(_may_be(evaluator, of, other) for other in evaluator.values(owner, frame)):
            found += evaluator.values(value, frame)
    return distinct(found)


def _may_be(evaluator: Evaluator, of: Class, value: Value) -> bool:
    other = value.of if isinstance(value, Instance) else value
    if not isinstance(other, Class):
        return False
    if other.identity == of.identity:
        return True
    above = [place.identity for place in classes.linearize(evaluator, of)]
    return other.identity in above or of.identity in [place.identity for place in classes.linearize(evaluator, other)]
