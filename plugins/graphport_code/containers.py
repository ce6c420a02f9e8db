"""What containers hold, what iterating and entering give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from graphport_code import classes
from graphport_code.ir import Expr
from graphport_code.values import (
    OUTSIDE,
    Builtin,
    Class,
    Constant,
    Container,
    Frame,
    Instance,
    Outside,
    Thunk,
    Value,
    distinct,
)

if TYPE_CHECKING:
    from graphport_code.bounds import Values
    from graphport_code.evaluate import Evaluator


def sequence(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    items: list[tuple[Constant | None, Thunk]] = []
    placed = True
    for place, item in enumerate(expr[1]):
        if item[0] == "*":
            placed = False
            items.append((None, known_content(iterate(evaluator, evaluator.values(item[1], frame)))))
        else:
            items.append((Constant(place) if placed else None, Thunk(item, frame)))
    return (Container(tuple(items), size=len(items) if placed else None, origin=_origin(expr, frame)),)


def mapping(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    items: list[tuple[Constant | None, Thunk]] = []
    base: Thunk | None = None
    for key, value in expr[1]:
        if key is None:
            base = Thunk(value, frame)
            continue
        known = constants(evaluator.values(key, frame))
        items += [(constant, Thunk(value, frame)) for constant in known] or [(None, Thunk(value, frame))]
    return (Container(tuple(reversed(items)), base, mapping=True, origin=_origin(expr, frame)),)


def updated(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    content = Thunk(expr[3], frame)
    known = constants(evaluator.values(expr[2], frame)) if expr[2] is not None else ()
    items: list[tuple[Constant | None, Thunk]] = [(key, content) for key in known] or [(None, content)]
    if len(known) > 1:  # one of several keys: none of them is certain to be replaced
        items = [(None, content)]
    return (Container(tuple(items), Thunk(expr[1], frame), mapping=bool(known), origin=_origin(expr, frame)),)


def merged(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    items: list[tuple[Constant | None, Thunk]] = []
    for value in evaluator.values(expr[2], frame):
        if isinstance(value, Container):
            known = value.mapping
            items += [(key if known else None, content) for key, content in value.items]
            if value.base is not None:
                items.append((None, known_content(contents(evaluator, [value.base]))))
    made = Container(tuple(items), Thunk(expr[1], frame), origin=_origin(expr, frame))
    return (made, *(value for value in evaluator.values(expr[1], frame) if isinstance(value, Instance)))


def sliced(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    found: list[Value] = []
    for value in evaluator.values(expr[1], frame):
        if isinstance(value, Container) and value.size is not None:
            kept = range(value.size)[slice(expr[2], expr[3])]
            by_place = {key.value: content for key, content in value.items if key is not None}
            items = tuple((Constant(place), by_place[old]) for place, old in enumerate(kept) if old in by_place)
            found.append(Container(items, size=len(items)))
        else:
            found.append(value)
    return tuple(found)


def _origin(expr: Expr, frame: Frame) -> tuple[int, int]:
    """Both are kept alive by the frame's memo or by the definitions they come from."""
    return id(expr), id(frame)


# Taking out of containers


def element(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    keys = evaluator.values(expr[2], frame) if expr[2] is not None else ()
    return distinct(
        [item for value in evaluator.values(expr[1], frame) for item in _element(evaluator, value, keys, expr, frame)]
    )


def _element(evaluator: Evaluator, value: Value, keys: Values, call: Expr, frame: Frame) -> Values:
    if isinstance(value, Container):
        return content_under(evaluator, value, constants(keys))
    if isinstance(value, Class):
        return (value,)
    if isinstance(value, Instance):
        found = classes.of_instance(evaluator, value, "__getitem__")
        asked = Expr(["c", call[1], [call[2]] if call[2] is not None else [], []], 1)
        return distinct([item for method in found for item in evaluator.result(method, asked, frame)])
    return (OUTSIDE,) if isinstance(value, (Outside, Constant, Builtin)) else ()


def content_under(evaluator: Evaluator, container: Container, keys: tuple[Constant, ...]) -> Values:
    """What is under one of the keys; everything if no key is known."""
    if not keys:
        return contents(evaluator, [container])
    return evaluator.guarded(
        ("content", container.identity, *(key.identity for key in keys)),
        _under,
        evaluator,
        container,
        keys,
    )


def _under(evaluator: Evaluator, container: Container, keys: tuple[Constant, ...]) -> Values:
    found: list[Value] = []
    for key in keys:
        wanted = _placed(key, container)
        hit = False
        for own, content in container.items:
            if own is not None and own.identity != wanted.identity:
                continue
            found += evaluator.values(content.expr, content.frame)
            if own is not None:
                hit = True
                break
        if not hit and container.base is not None:
            for value in evaluator.values(container.base.expr, container.base.frame):
                if isinstance(value, Container):
                    found += content_under(evaluator, value, (key,))
                elif isinstance(value, Outside):
                    found.append(value)
    return distinct(found)


def _placed(key: Constant, container: Container) -> Constant:
    """A place from the end as one from the start."""
    if container.size is not None and type(key.value) is int and key.value < 0:
        return Constant(key.value + container.size)
    return key


def constants(values: Iterable[Value]) -> tuple[Constant, ...]:
    """The values if all of them are constants; else none is known."""
    known = tuple(values)
    kept = tuple(value for value in known if isinstance(value, Constant))
    return kept if len(kept) == len(known) else ()


def iterated(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    return iterate(evaluator, evaluator.values(expr[1], frame))


def elements(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    """What a container holds, under any key; also of a mapping."""
    return contents(evaluator, [Thunk(expr[1], frame)])


def iterate(evaluator: Evaluator, values: Iterable[Value]) -> Values:
    found: list[Value] = []
    for value in values:
        if isinstance(value, Container):
            if value.mapping:
                found += [key if key is not None else OUTSIDE for key, _ in value.items] or [OUTSIDE]
            else:
                found += contents(evaluator, [value])
        elif isinstance(value, Instance):
            found += _iterate_object(evaluator, value)
        elif isinstance(value, (Outside, Constant, Builtin)):
            found.append(OUTSIDE)
    return distinct(found)


def _iterate_object(evaluator: Evaluator, value: Instance) -> Values:
    frames = [
        evaluator.world.frame(method.path, method.key, method.receiver)
        for method in classes.functions(classes.of_instance(evaluator, value, "__iter__"))
    ]
    given: list[Value] = []
    for iterator in (item for frame in frames if frame is not None for item in evaluator.returned_in(frame)):
        if isinstance(iterator, Instance):
            for method in classes.functions(classes.of_instance(evaluator, iterator, "__next__")):
                frame = evaluator.world.frame(method.path, method.key, method.receiver)
                given += evaluator.returned_in(frame) if frame is not None else ()
        else:
            given += iterate(evaluator, [iterator])
    return distinct(given)


def contents(evaluator: Evaluator, containers: Iterable[Container | Thunk]) -> Values:
    """Everything that is in containers, under any key."""
    found: list[Value] = []
    for place in containers:
        if isinstance(place, Container):
            found += evaluator.guarded(("contents", place.identity), _everything, evaluator, place)
        else:
            inside = [value for value in evaluator.values(place.expr, place.frame) if isinstance(value, Container)]
            found += contents(evaluator, inside)
    return distinct(found)


def _everything(evaluator: Evaluator, container: Container) -> Values:
    found = evaluator.all_of(content for _, content in container.items)
    return (*found, *contents(evaluator, [container.base])) if container.base is not None else found


def entered(evaluator: Evaluator, expr: Expr, frame: Frame) -> Values:
    found: list[Value] = []
    for value in evaluator.values(expr[1], frame):
        if isinstance(value, Container) and value.generator:
            found += contents(evaluator, [value])
        elif isinstance(value, Instance):
            methods = [
                method
                for text in ("__enter__", "__aenter__")
                for method in classes.functions(classes.of_instance(evaluator, value, text))
            ]
            asked = Expr(["c", expr[1], [], []], 1)
            given = [item for method in methods for item in evaluator.result(method, asked, frame)]
            found += given if methods else [value]
        elif isinstance(value, Outside):
            found.append(value)
    return distinct(found)


_NOWHERE = Frame("", "", {"k": "module"}, None)


def known_content(values: Values) -> Thunk:
    """Values that are known already, as content of a container."""
    return Thunk(Expr(["!", values], 1), _NOWHERE)
