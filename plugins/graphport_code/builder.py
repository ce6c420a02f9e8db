"""The graph builder for source code."""

from __future__ import annotations

import re
import time
from typing import Any

from graphport.builders import Document, Extraction, Links, Lookup
from graphport_code import entries
from graphport_code.definitions import definitions
from graphport_code.languages import Language, language_of, missing_packages
from graphport_code.link import link_unit
from graphport_code.reading import read_unit
from graphport_code.source import Source
from graphport_code.symbols import Symbol
from graphport_code.unit import MODULE, Unit

SECONDS_PER_FILE = 10.0
"""A file that takes longer to parse is read by its surface only, and named in the warnings."""

_TOKEN = re.compile(r"[^\W\d]\w*")


class CodeBuilder:
    """Reads source files into symbols, calls and imports (`graphport_code.symbols` names the kinds).

    ``seconds_per_file`` is how long one file may be parsed.
    """

    name = "code"
    priority = 10

    def __init__(self, *, seconds_per_file: float = SECONDS_PER_FILE) -> None:
        self.seconds_per_file = seconds_per_file
        self.version = 0 if missing_packages() else 2  # so that all is read again once the extra is there

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
            definitions=list(definitions(unit, language)),
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
