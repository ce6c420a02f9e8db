"""Everything that resolving one document may know: its own definitions, and others' through ``lookup``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphport.builders import Lookup
from graphport_code.languages import family_of
from graphport_code.unit import MODULE, join
from graphport_code.values import Class, Frame, Instance, Module, Value

Rows = Sequence[tuple[str, Mapping[str, Any]]]


class World:
    """Definitions by name, each looked up once; scopes and frames of any document."""

    def __init__(self, document: str, lookup: Lookup) -> None:
        self.document = document
        self.family = family_of(document)
        self._lookup = lookup
        self._found: dict[str, Rows] = {}
        self._frames: dict[tuple[Any, ...], Frame] = {}
        self._scopes: dict[tuple[str, str], Mapping[str, Any] | None] = {}
        self._bodies: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._spaces: dict[str, str] = {}
        self._bindings: dict[tuple[str, str, str, str], Rows] = {}
        self.modules: dict[tuple[str, str, int], list[Module]] = {}

    def find(self, name: str) -> Rows:
        """Definitions of that name in all documents, this one too, by path."""
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._lookup(name) or ()
        return found

    def find_few(self, name: str, most: int) -> Rows:
        """As `find`; () where there are more than ``most``, which are not kept. Always the same for one name."""
        found = self._found.get(name)
        if found is None:
            rows = self.look(name)
            found = self._found[name] = rows if len(rows) <= most else ()
        return found

    def look(self, name: str) -> Rows:
        """As `find`, for what is asked once or kept by the caller: millions of kept rows are work for the collector."""
        return self._lookup(name) or ()

    def scope(self, path: str, key: str) -> Mapping[str, Any] | None:
        place = (path, key)
        if place not in self._scopes:
            rows = self.look(scope_name(path, key))
            self._scopes[place] = rows[0][1] if rows else None
        return self._scopes[place]

    def body(self, frame: Frame) -> Mapping[str, Any]:
        """What stands inside the function of a frame; {} for other scopes."""
        return self.body_of(frame.path, frame.key) if "p" in frame.scope else {}

    def body_of(self, path: str, key: str) -> Mapping[str, Any]:
        place = (path, key)
        found = self._bodies.get(place)
        if found is None:
            rows = self.look(body_name(path, key))
            found = self._bodies[place] = rows[0][1] if rows else {}
        return found

    def space_of(self, path: str) -> str:
        """Whose names the top level of a file adds to: its own, or its package's."""
        found = self._spaces.get(path)
        if found is None:
            scope = self.scope(path, MODULE)
            found = self._spaces[path] = str(scope["space"]) if scope is not None and "space" in scope else path
        return found

    def bindings(self, space: str, scope: str, name: str, family: str) -> Rows:
        """Bindings of a name in a module or class; ``space`` as in `graphport_code.unit.Unit`."""
        place = (family, space, scope, name)
        found = self._bindings.get(place)
        if found is None:
            found = self._bindings[place] = self.look(binding_name(family, space, join(scope, name)))
        return found

    def frame(self, path: str, key: str, receiver: Value | None = None) -> Frame | None:
        """The scope as any caller may see it; None if it is not there (any more)."""
        known = (path, key, receiver.identity if receiver is not None else None)
        found = self._frames.get(known)
        if found is None:
            scope = self.scope(path, key)
            if scope is None:
                return None
            above = scope.get("up")
            up = self.frame(path, above) if above is not None and key != MODULE else None
            found = self._frames[known] = Frame(path, key, scope, up, receiver=receiver)
        return found

    def types_of(self, frame: Frame) -> Frame | None:
        """Where a function's annotations are read: around it in Python, else where its type parameters are."""
        return frame.up if self.family == "python" else frame

    def enclosing_class(self, frame: Frame) -> Class | None:
        """The class whose method a frame is in, also from functions nested in the method."""
        inside: Frame | None = frame
        while inside is not None:
            key = inside.scope.get("cls")
            if key is not None:
                scope = self.scope(inside.path, key)
                return Class(inside.path, key, scope) if scope else None
            inside = inside.up
        return None

    def receiver_of(self, frame: Frame) -> Value | None:
        """What the first parameter of a method stands for."""
        if frame.receiver is not None:
            return frame.receiver
        of = self.enclosing_class(frame)
        if of is None:
            return None
        return of if "class" in frame.scope.get("fl", ()) else Instance(of)


def scope_name(path: str, key: str) -> str:
    return f"scope:{path}::{key}"


def body_name(path: str, key: str) -> str:
    return f"body:{path}::{key}"


def binding_name(family: str, space: str, qualified: str) -> str:
    return f"binding:{family}:{space}::{qualified}"


def module_name(family: str, place: str) -> str:
    return f"module:{family}:{place}"


def call_name(family: str, called: str) -> str:
    return f"call:{family}:{called}"


def passed_name(family: str, handed: str) -> str:
    return f"passed:{family}:{handed}"


def methods_name(path: str, key: str) -> str:
    return f"methods:{path}::{key}"


def subclass_name(family: str, base: str) -> str:
    return f"subclass:{family}:{base}"


def member_name(family: str, type_name: str, member: str) -> str:
    return f"member:{family}:{type_name}.{member}"


def attribute_name(family: str, attribute: str) -> str:
    """Classes that have such an attribute, be it a method or set by one."""
    return f"attribute:{family}:{attribute}"


def stored_name(family: str, attribute: str) -> str:
    """Places outside of a class that set or change such an attribute of an object."""
    return f"stored:{family}:{attribute}"


def symbol_name(name: str) -> str:
    """The name under which every builder finds symbols; the same in prose."""
    return f"symbol:{name}"
