"""What built-in functions, and the methods of built-in containers, give back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graphport_code import classes
from graphport_code.containers import constants, content_under, contents, iterate, known_content
from graphport_code.imports_by_name import imported_by_name, may_have, split
from graphport_code.ir import Expr
from graphport_code.values import (
    OUTSIDE,
    Builtin,
    Constant,
    Container,
    Frame,
    Function,
    Instance,
    Module,
    Outside,
    Partial,
    Prefix,
    Super,
    Thunk,
    Value,
    distinct,
)

if TYPE_CHECKING:
    from graphport_code.bounds import Values
    from graphport_code.evaluate import Evaluator

_SAME = frozenset("iter list tuple set frozenset sorted reversed dict copy deepcopy update_wrapper classmethod".split())
_ONE_OF = frozenset({"next", "min", "max"})
_TAKES_OUT = frozenset(
    "get pop setdefault popleft __getitem__ popitem first last next shift at find remove poll peek getOrDefault "
    "orElse orElseThrow findFirst findAny join get_mut first_mut last_mut pop_front pop_back swap_remove".split()
)
_STAYS = frozenset(
    "copy stream filter iter iter_mut into_iter drain cloned copied rev skip take slice concat reverse sorted limit "
    "as_slice to_vec collect clone as_ref as_mut as_mut_slice subList reversed toList unwrap expect enumerate "
    "unwrap_or_default lock read write borrow borrow_mut chain".split()
)


def builtin_result(evaluator: Evaluator, callee: Builtin, call: Expr, frame: Frame) -> Values:
    """What a built-in function, or a method of a built-in container, gives back."""
    args = [arg for arg in call[2] if arg[0] != "*"]
    if isinstance(callee.base, Container):
        return _container_method(evaluator, callee.name, callee.base, args, frame)
    if isinstance(callee.base, Constant):
        return split(callee.base, callee.name, [evaluator.values(arg, frame) for arg in args])
    if callee.base is not None:
        return (callee.base,)
    first = evaluator.values(args[0], frame) if args else ()
    if callee.name == "super":
        of = evaluator.world.enclosing_class(frame)
        return (Super(of, evaluator.receiver(frame)),) if of is not None else ()
    if callee.name == "type" and len(args) == 1:
        return distinct([value.of for value in first if isinstance(value, Instance)]) or (OUTSIDE,)
    if callee.name == "getattr" and len(args) > 1:
        return _got_attribute(evaluator, first, args[1:], frame)
    if callee.name == "partial":
        return tuple(Partial(value) for value in first if not isinstance(value, Outside))
    if callee.name in ("import_module", "__import__"):
        return imported_by_name(evaluator, first, frame) or (OUTSIDE,)
    if callee.name == "staticmethod":
        return tuple(Partial(value) for value in first)  # which is not bound to an object
    if callee.name == "cast" and len(args) == 2:
        typed = evaluator.type_values(args[0], frame)
        return tuple(value for value in typed if isinstance(value, Instance)) or evaluator.values(args[1], frame)
    if callee.name in _SAME:
        return first or (OUTSIDE,)
    if callee.name in _ONE_OF and args:
        return (
            iterate(evaluator, first)
            if len(args) == 1 or callee.name == "next"
            else evaluator.all_of(Thunk(arg, frame) for arg in args)
        )
    if callee.name == "enumerate":
        return (_tuples([(OUTSIDE,), iterate(evaluator, first)]),)
    if callee.name == "zip":
        return (_tuples([iterate(evaluator, evaluator.values(arg, frame)) for arg in args]),)
    if callee.name == "map" and args:
        callees = [value for arg in args for value in evaluator.values(arg, frame)]
        given = [item for value in callees for item in evaluator.result(value, Expr(["c", args[0], [], []], 1), frame)]
        return (Container(((None, known_content(distinct(given))),)),)
    if callee.name == "filter" and len(args) > 1:
        return evaluator.values(args[1], frame)
    return (OUTSIDE,)


def _got_attribute(evaluator: Evaluator, objects: Values, args: list[Expr], frame: Frame) -> Values:
    """``getattr(x, "name", default)``; of a name that only begins like ``"visit_"`` every method that does."""
    found: list[Value] = []
    for name in evaluator.values(args[0], frame):
        for value in objects:
            if isinstance(name, Constant) and isinstance(name.value, str):
                if isinstance(value, Module) and not may_have(evaluator, value, name.value):
                    continue
                found += evaluator.attribute(value, name.value)
            elif isinstance(name, Prefix):
                for text in classes.methods_beginning(evaluator, value, name.text):
                    reached = evaluator.attribute(value, text)
                    found += [replace(item, guessed=True) if isinstance(item, Function) else item for item in reached]
    return distinct([*found, *(evaluator.values(args[1], frame) if len(args) > 1 else ())])


def _container_method(evaluator: Evaluator, text: str, base: Container, args: list[Expr], frame: Frame) -> Values:
    if text in _TAKES_OUT:
        keys = constants(evaluator.values(args[0], frame)) if args and base.mapping else ()
        found = content_under(evaluator, base, keys)
        default = evaluator.values(args[1], frame) if len(args) > 1 else ()
        return distinct([*found, *default])
    if text == "values":
        return (Container(((None, known_content(contents(evaluator, [base]))),)),)
    if text == "items":
        return (_tuples([(OUTSIDE,), contents(evaluator, [base])]),)
    return (base,) if text in _STAYS else (OUTSIDE,)


def _tuples(columns: list[Values]) -> Container:
    """An iterable of tuples with these columns."""
    row = Container(
        tuple((Constant(place), known_content(column)) for place, column in enumerate(columns)), size=len(columns)
    )
    return Container(((None, known_content((row,))),))
