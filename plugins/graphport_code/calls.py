"""What a call site calls: by evaluation, else by the name alone, else among several."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from graphport_code import classes
from graphport_code.common_names import COMMON_METHODS
from graphport_code.evaluate import Evaluator
from graphport_code.ir import Expr
from graphport_code.languages import family_of, language_named
from graphport_code.parameters import constructors
from graphport_code.python_expressions import CALLS_FUNCTIONS, CALLS_METHODS, ITERATES
from graphport_code.symbols import CALLABLE_KINDS
from graphport_code.unit import plain_name
from graphport_code.values import Builtin, Class, Frame, Function, Instance, Outside, Partial, Value
from graphport_code.world import attribute_name, symbol_name

METHOD_KINDS = frozenset({"method"})
FUNCTION_KINDS = frozenset({"function"})
TYPED = frozenset({"rust", "go", "java"})
"""Families whose every value has a written or inferred type."""
BY_NAME = frozenset({"c"})
"""Families whose calls are read by name alone: a function and a method look the same."""
MAX_CANDIDATES = 5
"""Of a name that more symbols share no edge is made at all."""
MAX_CERTAIN = 32
"""Of more functions that a call may reach, found in a table or registry, some are meant: which is not certain."""
MAX_OVERRIDING = 16
"""Of a method that more classes override only the method itself is linked."""
MAX_NAMED = 16
"""So many candidates are named in an edge; its weight tells how many there are."""


@dataclass(frozen=True, slots=True)
class Target:
    """A node that is called, how it was found, and among which candidates where that is not certain."""

    node: str
    kind: str
    confidence: str
    weight: float = 1.0
    candidates: tuple[str, ...] = ()


def called(evaluator: Evaluator, kind: str, expr: Expr, frame: Frame) -> list[Target]:
    """The targets of one call site; ``kind`` as in `graphport_code.unit.Unit.call`."""
    kind, _, size = kind.partition(":")
    callee = expr[1] if kind == "hands" else expr
    if kind == "call" and _is_the_languages_own(evaluator, callee, frame):
        return []
    values = evaluator.ask(callee, frame)
    certain = MAX_CANDIDATES if evaluator.partial else MAX_CERTAIN
    if not values and kind in ("call", "hands", "decorator", "new"):
        return called_by_name(evaluator, callee, frame)
    found: dict[tuple[str, str], Target] = {}
    reached = list(_reached(evaluator, kind, expr, values, frame))
    guessed: dict[str, None] = {}
    for edge, run in _overloads(reached, int(size)) if size else reached:
        node = str(run.scope["id"])
        if isinstance(run, Function) and run.guessed:
            guessed[node] = None
            continue
        found.setdefault((edge, node), Target(node, edge, _confidence(evaluator, run)))
    if len(found) > certain:
        guessed |= dict.fromkeys(node for edge, node in found if edge == "calls")
        found = {key: target for key, target in found.items() if key[0] != "calls"}
    for target in (*among(tuple(guessed)), *_overriding(evaluator, [run for _, run in reached])):
        found.setdefault((target.kind, target.node), target)
    return list(found.values())


def _is_the_languages_own(evaluator: Evaluator, callee: Expr, frame: Frame) -> bool:
    """Whether a method has a name of the language's own types and nothing in the project is called so."""
    family = family_of(frame.path)
    if family != "python" or callee[0] != "a" or callee[2] not in COMMON_METHODS[family]:
        return False
    find = evaluator.world.find
    return not find(attribute_name(family, callee[2])) and not find(symbol_name(callee[2]))


def _confidence(evaluator: Evaluator, run: Function | Class) -> str:
    if isinstance(run, Function) and isinstance(run.receiver, Instance) and run.receiver.inferred:
        return "unique"
    return "exact" if run.path == evaluator.world.document else "import"


def among(candidates: tuple[str, ...]) -> list[Target]:
    """Several nodes of which one or some are called."""
    weight = 1.0 / len(candidates) if candidates else 0.0
    return [Target(node, "calls", "ambiguous", weight, candidates[:MAX_NAMED]) for node in candidates]


def _overloads(reached: list[tuple[str, Function | Class]], size: int) -> list[tuple[str, Function | Class]]:
    """Of methods that share a name, those that take so many arguments; all of them if none does."""
    fitting = [
        (edge, run)
        for edge, run in reached
        if isinstance(run, Class) or len(run.scope["p"]) == size or ("va" in run.scope and len(run.scope["p"]) <= size)
    ]
    return fitting if any(isinstance(run, Function) for _, run in fitting) else reached


def _overriding(evaluator: Evaluator, reached: Iterable[Function | Class]) -> Iterator[Target]:
    """Methods of subclasses that may run instead; which one does is not known."""
    for method in reached:
        others = classes.overrides(evaluator, method) if isinstance(method, Function) else []
        candidates = tuple(dict.fromkeys(str(run.scope["id"]) for run in (method, *others)))
        if 1 < len(candidates) <= MAX_OVERRIDING:
            yield from among(candidates)[1:]


def _reached(
    evaluator: Evaluator, kind: str, expr: Expr, values: Iterable[Value], frame: Frame
) -> Iterator[tuple[str, Function | Class]]:
    """(edge kind, what runs or is made) at a call site."""
    for value in values:
        if kind == "iter":
            yield from _iterating(evaluator, value)
        elif kind == "with":
            yield from _methods(evaluator, value, ("__enter__", "__exit__", "__aenter__", "__aexit__"))
        elif kind != "raise" or isinstance(value, Class):
            yield from _calling(evaluator, value)
        if kind == "hands" and isinstance(value, (Builtin, Outside)):
            yield from _called_for(evaluator, plain_name(expr[1]), expr, frame)


def _called_for(evaluator: Evaluator, name: str, call: Expr, frame: Frame) -> Iterator[tuple[str, Function | Class]]:
    """What a function of the language calls of what it is given."""
    for arg in (*call[2], *(item for _, item in call[3])):
        for handed in evaluator.ask(arg, frame):
            if name in CALLS_METHODS:
                yield from _methods(evaluator, handed, CALLS_METHODS[name])
            elif name in CALLS_FUNCTIONS and isinstance(handed, (Function, Partial)):
                yield from _calling(evaluator, handed)
            elif name in ITERATES:
                yield from _iterating(evaluator, handed)


def _calling(evaluator: Evaluator, value: Value) -> Iterator[tuple[str, Function | Class]]:
    """(edge kind, what runs or is made) when a value is called."""
    if isinstance(value, Function):
        if value.scope["k"] == "function":
            yield "calls", value
        if value.wraps is not None:
            yield "calls", replace(value.wraps, guessed=value.guessed)
    elif isinstance(value, Class):
        yield "instantiates", value
        for constructor in constructors(evaluator, value):
            yield "calls", constructor
    elif isinstance(value, Instance):
        yield from _methods(evaluator, value, ("__call__",))
    elif isinstance(value, Partial):
        yield from _calling(evaluator, value.function)


def _methods(evaluator: Evaluator, value: Value, names: Iterable[str]) -> Iterator[tuple[str, Function]]:
    if isinstance(value, Instance):
        for name in names:
            for method in classes.functions(classes.of_instance(evaluator, value, name)):
                yield "calls", method


def _iterating(evaluator: Evaluator, value: Value) -> Iterator[tuple[str, Function]]:
    yield from _methods(evaluator, value, ("__iter__", "__aiter__"))
    if isinstance(value, Instance):
        for method in classes.functions(classes.of_instance(evaluator, value, "__iter__")):
            inside = evaluator.world.frame(method.path, method.key, method.receiver)
            for iterator in evaluator.returned_in(inside) if inside is not None else ():
                yield from _methods(evaluator, iterator, ("__next__", "__anext__"))


def called_by_name(evaluator: Evaluator, callee: Expr, frame: Frame) -> list[Target]:
    """A callee of which nothing but its name is known: the only symbol of that name, or the few there are."""
    family = family_of(frame.path)
    if callee[0] == "a":
        name, kinds = callee[2], METHOD_KINDS
        if family in TYPED and any(not isinstance(value, Outside) for value in evaluator.ask(callee[1], frame)):
            return []  # the type is known, and the method is not one that was written for it
    elif callee[0] == "n" and not _is_bound(evaluator, callee[1], frame):
        name, kinds = callee[1], FUNCTION_KINDS
    else:
        return []
    if name in COMMON_METHODS.get(family, ()) or (name.startswith("__") and name.endswith("__")):
        return []
    rows = evaluator.world.find(symbol_name(name))
    wanted = CALLABLE_KINDS if family in BY_NAME or family not in COMMON_METHODS else kinds
    nodes = tuple(dict.fromkeys(str(row["node"]) for _, row in rows if _fits(row, family, wanted)))
    if not nodes or len(nodes) > MAX_CANDIDATES:
        return []
    return [Target(nodes[0], "calls", "unique")] if len(nodes) == 1 else among(nodes)


def _fits(row: Mapping[str, Any], family: str, kinds: frozenset[str]) -> bool:
    return row["kind"] in kinds and language_named(row["language"]).family == family


def _is_bound(evaluator: Evaluator, name: str, frame: Frame) -> bool:
    """Whether a name is a local one or a parameter: then no function elsewhere is meant."""
    inside: Frame | None = frame
    while inside is not None:
        if name in inside.scope.get("p", ()) or name in evaluator.world.body(inside).get("b", ()):
            return True
        inside = inside.up
    return False
