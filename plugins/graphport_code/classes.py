"""Classes: their order of inheritance, and what their attributes may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from graphport_code.ir import Expr
from graphport_code.languages import family_of
from graphport_code.stored_attributes import stored
from graphport_code.unit import plain_name
from graphport_code.values import (
    OUTSIDE,
    Class,
    Constant,
    Container,
    Function,
    Instance,
    Outside,
    Super,
    Value,
    distinct,
)
from graphport_code.world import member_name, methods_name, subclass_name

if TYPE_CHECKING:
    from graphport_code.bounds import Values
    from graphport_code.evaluate import Evaluator

MAX_SUBCLASSES = 20
BASES = "<bases>"
"""Member name of what a type implements in a file other than its own."""


def linearize(evaluator: Evaluator, of: Class) -> list[Value]:
    """The class and its bases in the order attributes are looked up (C3); `OUTSIDE` where a base is unknown.

    Where C3 finds no order (which Python refuses), depth first.
    """
    return list(evaluator.remembered(("mro", of.identity), _order, evaluator, of))


def _order(evaluator: Evaluator, of: Class) -> Values:
    return tuple(_linearize(evaluator, of, ()))


def _linearize(evaluator: Evaluator, of: Class, below: tuple[object, ...]) -> list[Value]:
    if below:
        known = evaluator.known(("mro", of.identity))
        if known is not None and not any(value.identity in below for value in known):
            return list(known)
    bases = [base for base in bases_of(evaluator, of) if base.identity not in below and base.identity != of.identity]
    rows = [_linearize(evaluator, base, (*below, of.identity)) if isinstance(base, Class) else [base] for base in bases]
    if len(rows) < 2:
        return [of, *(value for row in rows for value in row)]
    rows.append(list(bases))
    order: list[Value] = [of]
    while rows := [row for row in rows if row]:
        head = next((row[0] for row in rows if not _in_a_tail(row[0], rows)), rows[0][0])
        order.append(head)
        rows = [[value for value in row if value.identity != head.identity] for row in rows]
    return order


def _in_a_tail(value: Value, rows: Iterable[Sequence[Value]]) -> bool:
    return any(value.identity == other.identity for row in rows for other in row[1:])


def bases_of(evaluator: Evaluator, of: Class) -> list[Value]:
    """A class's bases that are classes of the project, and `OUTSIDE` for any other."""
    named = of.scope.get("bases", ())
    frame = evaluator.world.frame(of.path, of.scope["up"]) if named else None
    found: list[Value] = []
    if frame is not None:
        for base in named:
            above = [value for value in evaluator.values(base, frame) if isinstance(value, Class)]
            found += above or [OUTSIDE]
    if family_of(of.path) == "rust":
        found += [value for value in _members(evaluator, of, BASES, None) if isinstance(value, Class)]
    return list(distinct(found))


def of_class(evaluator: Evaluator, of: Class, text: str) -> Values:
    """``C.text``: the first class in order that has it; functions unbound unless they take the class."""
    found, _ = _inherited(evaluator, linearize(evaluator, of), text, None)
    return tuple(_bound_to_class(value, of) for value in found)


def of_instance(evaluator: Evaluator, instance: Instance, text: str) -> Values:
    """``object.text``: what methods put there, else the class's own, methods bound to the object."""
    return evaluator.remembered(("attribute", instance.identity, text), _of_instance, evaluator, instance, text)


def _of_instance(evaluator: Evaluator, instance: Instance, text: str) -> Values:
    order = linearize(evaluator, instance.of)
    found, whole = _inherited(evaluator, order, text, instance)
    if not instance.inferred and all(isinstance(value, (Outside, Constant, Container)) for value in found):
        found = distinct([*found, *stored(evaluator, instance.of, text)])
    if not instance.exact and (not found or all(_is_abstract(value) for value in found)):
        below = _below(evaluator, instance, text)
        if below:
            return distinct([*(value for value in found if not isinstance(value, Outside)), *below])
    return found if found or whole else (OUTSIDE,)


def _below(evaluator: Evaluator, instance: Instance, text: str) -> list[Value]:
    """What an attribute is in objects of subclasses, also by their other bases; of several methods any may be meant."""
    methods: list[Value] = []
    set_there: list[Value] = []
    above = {place.identity for place in linearize(evaluator, instance.of)}
    seen: dict[tuple[object, ...], bool] = {}
    for sub in subclasses(evaluator, instance.of):
        for place in linearize(evaluator, sub):
            if isinstance(place, Class) and place.identity not in seen:
                own, set_elsewhere = _rows(evaluator, place, text, Instance(sub))
                seen[place.identity] = bool(own)
                if place.identity not in above:
                    methods += own
                    set_there += set_elsewhere
            if seen.get(place.identity):
                break
    return [*set_there, *_of_several(methods)]


def _of_several(methods: Sequence[Value]) -> Sequence[Value]:
    if len(functions(methods)) < 2:
        return methods
    return [replace(value, guessed=True) if isinstance(value, Function) else value for value in methods]


def of_super(evaluator: Evaluator, above: Super, text: str) -> Values:
    """``super().text``: past the class itself, and never what is below it."""
    order = linearize(evaluator, above.of)[1:]
    receiver = above.receiver
    if isinstance(receiver, Instance) and not receiver.exact:
        receiver = Instance(receiver.of, exact=True)
    found, whole = _inherited(evaluator, order, text, receiver)
    if not functions(found):
        found = distinct([*found, *_beside(evaluator, above.of, text)])
    return found if found or whole else (OUTSIDE,)


def _beside(evaluator: Evaluator, of: Class, text: str) -> Sequence[Value]:
    """What a class that others mix in finds past itself: in the bases that its subclasses have beside it."""
    methods: dict[object, Value] = {}
    for sub in subclasses(evaluator, of):
        order = linearize(evaluator, sub)
        places = [place.identity for place in order]
        rest = order[places.index(of.identity) + 1 :] if of.identity in places else []
        found, _ = _inherited(evaluator, rest, text, Instance(sub))
        methods |= {(value.path, value.key): value for value in functions(found)}
    return _of_several(list(methods.values()))


def _inherited(evaluator: Evaluator, order: Iterable[Value], text: str, receiver: Value | None) -> tuple[Values, bool]:
    """What the order says of an attribute, and whether every class in it is known."""
    found: list[Value] = []
    settled = False
    whole = True
    for place in order:
        if not isinstance(place, Class):
            whole = False
            if not settled and not found:
                found.append(OUTSIDE)
                settled = True
            continue
        own, set_elsewhere = _rows(evaluator, place, text, receiver)
        found += set_elsewhere
        if own and not settled:
            found += own
            settled = True
    kept = [value for value in found if not isinstance(value, Outside)]
    return distinct(kept or found), whole


def _rows(evaluator: Evaluator, of: Class, text: str, receiver: Value | None) -> tuple[list[Value], list[Value]]:
    """What the class body binds, and what methods set."""
    family = family_of(of.path)
    own: list[Value] = []
    set_elsewhere: list[Value] = []
    world = evaluator.world
    for path, data in world.bindings(world.space_of(of.path), of.key, text, family):
        chosen = [data["v"][number] for number in data["fin"]] if "fin" in data else data["v"]
        for key, expr in chosen:
            frame = world.frame(path, key)
            if frame is not None:
                own += [_bound(value, receiver) for value in evaluator.values(expr, frame)]
        for key, expr in data.get("w", ()):
            frame = world.frame(path, key, receiver if receiver is not None else Instance(of))
            if frame is not None:
                set_elsewhere += evaluator.values(expr, frame)
    if family == "rust":
        own += _members(evaluator, of, text, receiver)
    return [item for value in own for item in _read(evaluator, value)], set_elsewhere


def _members(evaluator: Evaluator, of: Class, text: str, receiver: Value | None) -> Iterator[Value]:
    """Methods of a type whose ``impl`` may stand in any file."""
    world = evaluator.world
    for path, data in world.find(member_name("rust", of.scope["name"], text)):
        for key, owner, value in data["of"]:
            frame = world.frame(path, key)
            if frame is None:
                continue
            owners = {item.identity for item in evaluator.values(owner, frame)}
            if of.identity in owners:
                for item in evaluator.values(value, frame):
                    yield _bound(item, receiver)


def _read(evaluator: Evaluator, value: Value) -> Values:
    """A property read from an object is what it returns."""
    if isinstance(value, Function) and value.receiver is not None and "property" in value.scope.get("fl", ()):
        declared = evaluator.declared(value)
        if declared:
            return declared
        frame = evaluator.world.frame(value.path, value.key, value.receiver)
        return evaluator.returned_in(frame) if frame is not None else ()
    return (value,)


def _bound(value: Value, receiver: Value | None) -> Value:
    if not isinstance(value, Function) or receiver is None or value.receiver is not None:
        return value
    if not value.scope.keys() & {"cls", "self"} and family_of(value.path) != "python":
        return value
    flags = value.scope.get("fl", ())
    if "static" in flags:
        return value
    if "class" in flags and isinstance(receiver, Instance):
        receiver = receiver.of
    return replace(value, receiver=receiver)


def _bound_to_class(value: Value, of: Class) -> Value:
    if isinstance(value, Function) and "class" in value.scope.get("fl", ()):
        return replace(value, receiver=of)
    return value


def functions(values: Iterable[Value]) -> list[Function]:
    return [value for value in values if isinstance(value, Function)]


def are_protocols(values: Iterable[Value]) -> bool:
    """Whether values are objects of which a type says nothing but what they can do: what they are is not known."""
    types = [value.of for value in values if isinstance(value, Instance)]
    return bool(types) and all(any(_named(base) == "Protocol" for base in of.scope.get("bases", ())) for of in types)


def _named(base: Expr) -> str:
    return plain_name(base[1] if base[0] == "s" else base)


def _is_abstract(value: Value) -> bool:
    if isinstance(value, Outside):
        return True
    return isinstance(value, Function) and "abstract" in value.scope.get("fl", ())


def methods_beginning(evaluator: Evaluator, value: Value, prefix: str) -> list[str]:
    """Names of methods of an object's class, and of those above and below it, that begin so."""
    of = value.of if isinstance(value, Instance) else value
    if not isinstance(of, Class) or not prefix.strip("_"):
        return []
    family = [*linearize(evaluator, of), *subclasses(evaluator, of)]
    names = {
        name
        for place in family
        if isinstance(place, Class)
        for _, data in evaluator.world.find(methods_name(place.path, place.key))
        for name in data["names"]
        if name.startswith(prefix)
    }
    return sorted(names)


def overrides(evaluator: Evaluator, method: Function) -> list[Function]:
    """What may run instead of a method that was taken from an object of its class or of one below."""
    receiver = method.receiver
    if not isinstance(receiver, Instance) or receiver.exact or "name" not in method.scope:
        return []
    name = str(method.scope["name"])
    below = _below(evaluator, receiver, name)
    return [value for value in functions(below) if value.scope["id"] != method.scope["id"]]


def subclasses(evaluator: Evaluator, of: Class) -> list[Class]:
    """Classes below, nearest first, at most `MAX_SUBCLASSES`."""
    found = evaluator.remembered(("below", of.identity), lambda: tuple(_subclasses(evaluator, of)))
    return [value for value in found if isinstance(value, Class)]


def _subclasses(evaluator: Evaluator, of: Class) -> list[Class]:
    found: dict[tuple[object, ...], Class] = {of.identity: of}
    waiting = [of]
    while waiting and len(found) <= MAX_SUBCLASSES:
        above = waiting.pop(0)
        for path, data in evaluator.world.find(subclass_name(family_of(above.path), above.scope["name"])):
            for scope, owner in data["classes"]:
                frame = evaluator.world.frame(path, scope)
                for candidate in evaluator.values(owner, frame) if frame is not None else ():
                    if not isinstance(candidate, Class) or candidate.identity in found:
                        continue
                    if any(base.identity == above.identity for base in bases_of(evaluator, candidate)):
                        found[candidate.identity] = candidate
                        waiting.append(candidate)
    del found[of.identity]
    return [*found.values()][:MAX_SUBCLASSES]
