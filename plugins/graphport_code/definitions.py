"""What other files may look up of a file, by name; `graphport_code.world` spells the names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graphport.builders import Definition
from graphport_code.languages import Language
from graphport_code.modules import module_definitions
from graphport_code.symbols import file_node
from graphport_code.unit import Unit, split_scope
from graphport_code.world import (
    attribute_name,
    binding_name,
    body_name,
    call_name,
    member_name,
    methods_name,
    passed_name,
    scope_name,
    stored_name,
    subclass_name,
    symbol_name,
)


def definitions(unit: Unit, language: Language) -> Iterator[Definition]:
    yield Definition(f"file:{unit.path}", {"node": file_node(unit.path)})
    yield from _symbols(unit, language)
    yield from module_definitions(unit)
    yield from _scopes(unit)
    yield from _classes(unit)
    family = unit.family
    for name, row in unit.names.items():
        yield Definition(binding_name(family, unit.space, name), row)
    for name, of in unit.members.items():
        type_name, _, member = name.rpartition(".")
        yield Definition(member_name(family, type_name, member), {"of": of})
    for called, sites in unit.sites.items():
        yield Definition(call_name(family, called), {"sites": sites})
    for handed, sites in unit.passed.items():
        yield Definition(passed_name(family, handed), {"sites": sites})
    for attribute, sites in unit.stored.items():
        yield Definition(stored_name(family, attribute), {"sites": sites})


def _symbols(unit: Unit, language: Language) -> Iterator[Definition]:
    for symbol in unit.symbols.values():
        yield Definition(
            symbol_name(symbol.name),
            {
                "node": symbol.node_id(unit.path),
                "kind": symbol.kind,
                "language": language.name,
                "qualified": symbol.qualified,
                "key": symbol.key,
            },
        )


def _scopes(unit: Unit) -> Iterator[Definition]:
    for key, scope in unit.scopes.items():
        head, body = split_scope(scope)
        yield Definition(scope_name(unit.path, key), head)
        if body:
            yield Definition(body_name(unit.path, key), body)


def _classes(unit: Unit) -> Iterator[Definition]:
    """Methods by class, classes by what they inherit from, and in Python classes by attribute."""
    methods: dict[str, list[str]] = {}
    for symbol in unit.symbols.values():
        if symbol.kind == "method" and symbol.parent:
            methods.setdefault(symbol.parent, []).append(symbol.name)
    for key, found in methods.items():
        yield Definition(methods_name(unit.path, key), {"names": sorted(set(found))})
    below: dict[str, list[Any]] = {}
    for scope, owner, base, _, _ in unit.bases:
        below.setdefault(last_name(base), []).append([scope, owner])
    for base, classes in below.items():
        if base:
            yield Definition(subclass_name(unit.family, base), {"classes": classes})
    having: dict[str, list[str]] = {}
    for name in unit.names if unit.family == "python" else ():
        key, _, attribute = name.rpartition(".")
        if key and unit.scopes[key]["k"] == "class" and not attribute.startswith("__"):
            having.setdefault(attribute, []).append(key)
    for attribute, keys in having.items():
        yield Definition(attribute_name(unit.family, attribute), {"of": keys})


def last_name(expr: Any) -> str:
    """The name a class is called by where it is named as a base."""
    while expr[0] in ("s", "c", "T"):
        expr = expr[1]
    return str(expr[2] if expr[0] == "a" else expr[1] if expr[0] == "n" else "")
