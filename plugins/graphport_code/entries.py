"""A source file as entries: one for each class, function and method, one for what is left of the file."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from graphport.builders import Entry
from graphport_code.source import Source
from graphport_code.symbols import Symbol
from graphport_code.unit import MODULE

MAX_CHARS = 2000
"""Longer pieces are cut at lines: what an embedding of 256 tokens can still tell apart, and a screenful."""
MIN_CHARS = 400
"""A last piece shorter than this stays with the one before it."""
MAX_IMPORTS = 100

_OWN_ENTRY = frozenset({"class", "interface", "module", "function", "method"})


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of one owner (a symbol's key, "" for the file) that become an entry; lines from 1."""

    entry: str
    owner: str
    lines: tuple[int, ...]


@dataclass(slots=True)
class Layout:
    """Which entry each line of a file is in, and which owner each entry belongs to."""

    pieces: list[Piece] = field(default_factory=list[Piece])
    by_line: dict[int, str] = field(default_factory=dict[int, str])
    first_of: dict[str, str] = field(default_factory=dict[str, str])


def lay_out(source: Source, symbols: Sequence[Symbol]) -> Layout:
    """Cut a file into pieces: every line belongs to the innermost symbol that has an entry of its own."""
    owners = _owners(source, symbols)
    lines_of: dict[str, list[int]] = {MODULE: []}
    for line, owner in enumerate(owners, start=1):
        lines_of.setdefault(owner, []).append(line)
    layout = Layout()
    taken: set[str] = set()
    for owner, lines in lines_of.items():
        for number, part in enumerate(_cut(source, lines, is_file=owner == MODULE), start=1):
            entry = entry_id(source.path, owner, number)
            taken.add(entry)
            layout.pieces.append(Piece(entry, owner, tuple(part)))
            layout.by_line.update(dict.fromkeys(part, entry))
            layout.first_of.setdefault(owner, entry)
    return layout


def entry_id(path: str, owner: str, number: int) -> str:
    """``{path}#{qualified name}``, with ``~2`` on the second piece and later."""
    return f"{path}#{owner}" + (f"~{number}" if number > 1 else "")


def _owners(source: Source, symbols: Sequence[Symbol]) -> list[str]:
    owners = [MODULE] * len(source.lines)
    with_entry = {symbol.key for symbol in symbols if symbol.kind in _OWN_ENTRY}
    by_key = {symbol.key: symbol for symbol in symbols}
    for symbol in symbols:  # outer before inner, so that the inner one wins
        if symbol.key in with_entry and not _inside_function(symbol, by_key):
            for line in range(symbol.start, min(symbol.end_line, len(owners)) + 1):
                owners[line - 1] = symbol.key
    return owners


def _inside_function(symbol: Symbol, by_key: dict[str, Symbol]) -> bool:
    parent = by_key.get(symbol.parent)
    while parent is not None:
        if parent.kind in ("function", "method"):
            return True
        parent = by_key.get(parent.parent)
    return False


def _cut(source: Source, lines: Sequence[int], *, is_file: bool) -> Iterator[list[int]]:
    """Runs of lines of at most `MAX_CHARS`, without blank ends; the file always has one."""
    part: list[int] = []
    size = 0
    parts: list[list[int]] = []
    for line in lines:
        length = len(source.lines[line - 1]) + 1
        if part and size + length > MAX_CHARS:
            parts.append(part)
            part, size = [], 0
        part.append(line)
        size += length
    if parts and size < MIN_CHARS:
        parts[-1] += part
    else:
        parts.append(part)
    kept = [trimmed for trimmed in (_trim(source, part) for part in parts) if trimmed]
    yield from kept or ([[]] if is_file else [])


def _trim(source: Source, lines: Sequence[int]) -> list[int]:
    """Without blank lines at both ends; of blank lines in a row (where something was cut out) one is left."""
    kept: list[int] = []
    for line in lines:
        if source.lines[line - 1].strip() or (kept and source.lines[kept[-1] - 1].strip()):
            kept.append(line)
    while kept and not source.lines[kept[-1] - 1].strip():
        kept.pop()
    return kept


def make_entries(
    source: Source, layout: Layout, symbols: Iterable[Symbol], language: str, docstring: str, imports: Sequence[str]
) -> list[Entry]:
    """The entries of a file, in order; the file's first one carries its imports and, if it has no text, its outline."""
    by_key = {symbol.key: symbol for symbol in symbols}
    made: list[Entry] = []
    for piece in layout.pieces:
        symbol = by_key.get(piece.owner)
        is_first = layout.first_of[piece.owner] == piece.entry
        text = "\n".join(_clipped(source.lines[line - 1]) for line in piece.lines)
        first, last = (piece.lines[0], piece.lines[-1]) if piece.lines else (1, max(1, len(source.lines)))
        if symbol is None:
            text = text or docstring or _outline(by_key.values()) or posixpath.basename(source.path)
            made.append(
                Entry(
                    piece.entry,
                    text,
                    title=source.path,
                    kind="file",
                    document=source.path,
                    start_line=first,
                    end_line=last,
                    names=(posixpath.basename(source.path),) if is_first else (),
                    meta={"language": language, "imports": list(imports[:MAX_IMPORTS])},
                )
            )
        else:
            made.append(
                Entry(
                    piece.entry,
                    text,
                    title=symbol.qualified,
                    kind="symbol",
                    document=source.path,
                    start_line=first,
                    end_line=last,
                    names=telling_names(symbol) if is_first else (),
                    meta={"language": language, "symbol": symbol.node_id(source.path), "symbol_kind": symbol.kind},
                )
            )
    return made


def telling_names(symbol: Symbol) -> tuple[str, ...]:
    """Names that mean the symbol wherever they are read: ``parse_date`` and ``Cart.total``, not ``run``."""
    name = symbol.name
    is_telling = "_" in name.strip("_") or (name[1:] != name[1:].lower() and name != name.upper())
    spelled = [name] if is_telling else []
    return tuple(dict.fromkeys([*spelled, *([symbol.qualified] if "." in symbol.qualified else [])]))


def _clipped(line: str) -> str:
    """No line is longer than an entry: what follows would be data in one literal."""
    return line if len(line) <= MAX_CHARS else line[:MAX_CHARS]


def _outline(symbols: Iterable[Symbol]) -> str:
    return "\n".join(symbol.signature or symbol.qualified for symbol in symbols if not symbol.parent)[:MAX_CHARS]
