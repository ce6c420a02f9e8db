"""What an expression can stand for while names are resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graphport_code.ir import Expr

Scope = Mapping[str, Any]


@dataclass(eq=False, slots=True)
class Frame:
    """A scope as one evaluation sees it.

    ``arguments`` binds parameters to what one call handed over; None: whatever any caller may.
    ``receiver`` is the object ``self`` stands for, if it is known.
    """

    path: str
    key: str
    scope: Scope
    up: Frame | None
    arguments: dict[str, tuple[Thunk, ...]] | None = None
    receiver: Value | None = None
    calls: int = 0
    memo: dict[Any, tuple[Expr, tuple[Value, ...], bool]] = field(
        default_factory=dict[Any, "tuple[Expr, tuple[Value, ...], bool]"]
    )  # by id of the expression, which is kept so that no other one gets that id


@dataclass(frozen=True, slots=True)
class Thunk:
    """An expression and the frame to evaluate it in."""

    expr: Expr
    frame: Frame


@dataclass(eq=False, slots=True)
class Function:
    """A function or lambda.

    ``receiver`` when it was taken from an object, ``wraps`` when it replaced another, ``guessed`` when it is
    one of several that may be meant.
    """

    path: str
    key: str
    scope: Scope
    receiver: Value | None = None
    closure: Frame | None = None
    wraps: Function | None = None
    guessed: bool = False

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("f", self.path, self.key, self.receiver.identity if self.receiver else None, id(self.closure))


@dataclass(eq=False, slots=True)
class Class:
    path: str
    key: str
    scope: Scope
    identity: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.identity = ("c", self.path, self.key)


@dataclass(eq=False, slots=True)
class Instance:
    """An object of a class; ``exact`` if it was made by calling that class, else of it or a subclass.

    ``inferred`` if that is only what its use tells.
    """

    of: Class
    exact: bool = False
    inferred: bool = False

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("i", self.of.path, self.of.key, self.exact, self.inferred)


@dataclass(eq=False, slots=True)
class Super:
    """``super()`` in a method of ``of``."""

    of: Class
    receiver: Value | None

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("s", self.of.path, self.of.key)


@dataclass(eq=False, slots=True)
class Module:
    """A file, a folder of files or a package, as ``graphport_code.modules`` names places.

    ``path`` is its document if it has one; ``space`` is where its top-level names are defined.
    """

    place: str
    path: str | None
    space: str = ""

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("m", self.place, self.path, self.space)


@dataclass(eq=False, slots=True)
class Container:
    """Something that holds things: pairs of a key (None: any) and what is there.

    ``base`` is what it held before; a known key hides what stood there. ``size`` when the keys are the
    places of a sequence. Iterating a ``mapping`` gives its keys. Two of one ``origin`` are the same one.
    """

    items: tuple[tuple[Constant | None, Thunk], ...]
    base: Thunk | None = None
    size: int | None = None
    mapping: bool = False
    generator: bool = False
    origin: tuple[Any, ...] = ()

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("t", *self.origin) if self.origin else ("t", id(self))


@dataclass(eq=False, slots=True)
class Overlay:
    """An attribute that was set on some object: ``(attr, content)``."""

    attr: str
    content: Thunk

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("o", id(self))


@dataclass(eq=False, slots=True)
class Constant:
    value: str | int | bool | None

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("k", type(self.value), self.value)


@dataclass(eq=False, slots=True)
class Prefix:
    """Any text that begins so: ``f"visit_{name}"``."""

    text: str

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("pre", self.text)


@dataclass(eq=False, slots=True)
class Builtin:
    """A name of the language itself, or a method of what the language brings, bound to ``base``."""

    name: str
    base: Value | None = None

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("b", self.name, self.base.identity if self.base else None)


@dataclass(eq=False, slots=True)
class Partial:
    """``functools.partial(function, ...)``."""

    function: Value

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("p", self.function.identity)


@dataclass(eq=False, slots=True)
class Outside:
    """Something that is certainly not from the project."""

    @property
    def identity(self) -> tuple[Any, ...]:
        return ("x",)


Value = (
    Function | Class | Instance | Super | Module | Container | Overlay | Constant | Prefix | Builtin | Partial | Outside
)
OUTSIDE = Outside()


def reached_from(origin: Value | None, value: Value) -> Value:
    """A value that was read from another one: what that is only by inference, this is too."""
    if isinstance(value, Instance) and isinstance(origin, Instance) and origin.inferred and not value.inferred:
        return replace(value, inferred=True)
    return value


def distinct(values: Sequence[Value]) -> tuple[Value, ...]:
    """Each value once, in order."""
    if len(values) < 2:
        return tuple(values)
    if len(values) == 2:
        return tuple(values) if values[0].identity != values[1].identity else (values[0],)
    kept = {value.identity: value for value in reversed(values)}
    return tuple(reversed(kept.values()))
