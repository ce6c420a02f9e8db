"""Source code read by its surface: where there is no parser, or the parser gave up.

Definitions are what follows a word such as ``function`` or ``class``; calls are names followed by ``(``,
which are no definition and no keyword and stand in no comment or string.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Set
from itertools import pairwise

from graphport_code.ir import UNKNOWN, make, name
from graphport_code.languages import Language
from graphport_code.source import Source
from graphport_code.symbols import Symbol, one_line
from graphport_code.unit import MODULE, Unit

_KINDS = {
    **dict.fromkeys(("def", "function", "func", "fn", "fun", "sub", "defp", "proc"), "function"),
    **dict.fromkeys(("class", "struct", "enum", "object", "record", "union"), "class"),
    **dict.fromkeys(("interface", "trait", "protocol"), "interface"),
}
_DEFINITION = re.compile(rf"\b({'|'.join(_KINDS)})[ \t]+(?:self\.)?([^\W\d]\w*)")
_CALL = re.compile(r"(\.\s*|->\s*)?\b([^\W\d]\w*)[!?]?\s*\(")
_KEYWORDS = frozenset(
    "if elif else for foreach while until switch case when match catch except return and or not in is new throw raise "
    "yield await async sizeof typeof with unless do lambda assert print "
    "super this self import from use using let var val const static select where values insert into".split()
)
_HASH_COMMENTS = frozenset({"python", "ruby", "perl", "r", "julia", "elixir", "shell", "php"})
_DASH_COMMENTS = frozenset({"sql", "lua", "haskell"})


def read_plain(source: Source, language: Language) -> Unit:
    """The file as a unit, by the rule above; a definition reaches to the next one."""
    unit = Unit(source.path, language.family, source.path)
    text = _without_comments(source.text, language)
    found = list(_DEFINITION.finditer(text))
    starts = [text.count("\n", 0, match.start()) + 1 for match in found]
    for match, (line, following) in zip(found, pairwise([*starts, len(source.lines) + 1]), strict=True):
        _define(unit, source, match, line, max(line, following - 1))
    owners = sorted(unit.symbols.values(), key=lambda symbol: symbol.line)
    lines = [symbol.line for symbol in owners]
    keywords = _KEYWORDS | (frozenset({"def", "class"}) if language.family == "python" else _KINDS.keys())
    for line, callee, is_method in _calls(text, keywords):
        place = bisect_right(lines, line)
        scope = owners[place - 1].key if place else MODULE
        unit.call(scope, "call", make("a", UNKNOWN, callee) if is_method else name(callee), line)
    return unit


def _define(unit: Unit, source: Source, match: re.Match[str], line: int, end: int) -> Symbol:
    signature = one_line(source.lines[line - 1])
    symbol = unit.add_symbol(
        match[2], _KINDS[match[1]], "", line=line, end_line=end, start=line, signature=signature, docstring=""
    )
    node = symbol.node_id(source.path)
    if symbol.kind == "function":
        unit.add_scope(symbol.key, "function", node, MODULE, b={}, p=[], name=symbol.name)
    else:
        unit.add_scope(symbol.key, "class", node, MODULE, name=symbol.name)
    unit.bind(MODULE, symbol.name, make("f", symbol.key))
    return symbol


def _calls(text: str, keywords: Set[str]) -> Iterator[tuple[int, str, bool]]:
    """(line, name, whether it is called on something)"""
    defined = {match.start(2) for match in _DEFINITION.finditer(text)}
    line, at = 1, 0
    for match in _CALL.finditer(text):
        line += text.count("\n", at, match.start(2))
        at = match.start(2)
        if match[2] not in keywords and at not in defined:
            yield line, match[2], match[1] is not None


def _without_comments(text: str, language: Language) -> str:
    """The text with comments and strings blanked, newlines kept; a quote ends at its line's end."""
    marks = ["//"] if language.family not in _HASH_COMMENTS | _DASH_COMMENTS or language.family == "php" else []
    marks += ["#"] if language.family in _HASH_COMMENTS else []
    marks += ["--"] if language.family in _DASH_COMMENTS else []
    comment = "|".join(rf"{re.escape(mark)}[^\n]*" for mark in marks)
    pattern = re.compile(
        rf'"""[\s\S]*?(?:"""|\Z)|\'\'\'[\s\S]*?(?:\'\'\'|\Z)|/\*[\s\S]*?(?:\*/|\Z)|{comment}'
        r"|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?"
    )
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
