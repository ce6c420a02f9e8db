"""The graph builder for source code."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

from graphport.builders import Definition, Document, Extraction, Links, Lookup
from graphport_code import entries
from graphport_code.languages import Language, language_of
from graphport_code.link import link_unit
from graphport_code.modules import module_definitions
from graphport_code.reading import read_unit
from graphport_code.source import Source
from graphport_code.symbols import Symbol, file_node
from graphport_code.unit import MODULE, Unit, split_scope
from graphport_code.world import (
    binding_name,
    body_name,
    call_name,
    member_name,
    methods_name,
    passed_name,
    scope_name,
    subclass_name,
    symbol_name,
)

SECONDS_PER_FILE = 10.0
"""A file that takes longer to parse is read by its surface only, and named in the warnings."""

_TOKEN = re.compile(r"[^\W\d]\w*")


class CodeBuilder:
    """Reads source files into symbols, calls and imports (`graphport_code.symbols` names the kinds).

    ``seconds_per_file`` is how long one file may be parsed.
    """

    name = "code"
    version = 1
    priority = 10

    def __init__(self, *, seconds_per_file: float = SECONDS_PER_FILE) -> None:
        self.seconds_per_file = seconds_per_file

    def accepts(self, path: str) -> bool:
        return language_of(path) is not None

    def extract(self, document: Document) -> Extraction:
        language = language_of(document.path)
        if language is None:
            raise ValueError(f"{document.path!r} is no source file that is known; ask accepts() first")
        source = Source(document.path, document.text)
        if not source.text.strip():
            return Extraction()
        unit = read_unit(source, language, time.monotonic() + self.seconds_per_file)
        symbols = sorted(unit.symbols.values(), key=lambda symbol: (symbol.start, -symbol.end_line))
        layout = entries.lay_out(source, symbols)
        made = entries.make_entries(source, layout, symbols, language.name, unit.docstring, imported_names(unit))
        return Extraction(
            entries=made,
            definitions=list(_definitions(unit, language)),
            data=_data(unit, language, symbols, layout, {entry.id: entry.text for entry in made}),
            warnings=unit.warnings,
        )

    def link(self, document: str, extraction: Extraction, lookup: Lookup) -> Links:
        return link_unit(document, extraction, lookup) if extraction.data else Links()


def imported_names(unit: Unit) -> list[str]:
    """What the file's top level imports, as it is called where it comes from."""
    between = _BETWEEN.get(unit.family, ".")
    names = [_spelled(expr, between) for scope, expr, _ in unit.imports if scope == MODULE]
    return [name for name in dict.fromkeys(names) if name]


_BETWEEN = {"js": "#", "rust": "::"}


def _spelled(expr: Any, between: str) -> str:
    if expr[0] == "a":
        above = _spelled(expr[1], between)
        return f"{above}{between}{expr[2]}" if above else ""
    if expr[0] == "f":
        return str(expr[1])
    if expr[0] not in ("m", "p"):
        return ""
    module = f"{'.' * expr[2]}{expr[1]}"
    joint = "" if module.endswith(".") else between
    return module if expr[0] == "m" else f"{module}{joint}{expr[3]}"


def _data(
    unit: Unit, language: Language, symbols: list[Symbol], layout: entries.Layout, texts: dict[str, str]
) -> dict[str, Any]:
    """What linking needs beside the definitions; see `graphport_code.link`."""
    return {
        "language": language.name,
        "symbols": [{**symbol.to_json(), "entry": _entry_of(symbol, layout)} for symbol in symbols],
        "pieces": [
            [piece.entry, piece.owner, sorted(set(_TOKEN.findall(texts[piece.entry]))) if piece.lines else []]
            for piece in layout.pieces
        ],
        "calls": [[scope, kind, expr, line, layout.by_line.get(line)] for scope, kind, expr, line in unit.calls],
        "imports": [[scope, expr, line, layout.by_line.get(line)] for scope, expr, line in unit.imports],
        "bases": [[*row, layout.by_line.get(row[-1])] for row in unit.bases],
    }


def _entry_of(symbol: Symbol, layout: entries.Layout) -> str:
    """The entry a symbol is in: its own, or the one its line is in."""
    own = layout.first_of.get(symbol.key)
    return own or layout.by_line.get(symbol.line) or layout.pieces[0].entry


def _definitions(unit: Unit, language: Language) -> Iterator[Definition]:
    family = unit.family
    node = file_node(unit.path)
    yield Definition(f"file:{unit.path}", {"node": node})
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
    yield from module_definitions(unit)
    for key, scope in unit.scopes.items():
        head, body = split_scope(scope)
        yield Definition(scope_name(unit.path, key), head)
        if body:
            yield Definition(body_name(unit.path, key), body)
    for name, row in unit.names.items():
        yield Definition(binding_name(family, unit.space, name), row)
    for name, of in unit.members.items():
        type_name, _, member = name.rpartition(".")
        yield Definition(member_name(family, type_name, member), {"of": of})
    for called, sites in unit.sites.items():
        yield Definition(call_name(family, called), {"sites": sites})
    for handed, sites in unit.passed.items():
        yield Definition(passed_name(family, handed), {"sites": sites})
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
            yield Definition(subclass_name(family, base), {"classes": classes})


def last_name(expr: Any) -> str:
    """The name a class is called by where it is named as a base."""
    while expr[0] in ("s", "c", "T"):
        expr = expr[1]
    return str(expr[2] if expr[0] == "a" else expr[1] if expr[0] == "n" else "")
