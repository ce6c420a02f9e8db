"""What a user's Cypher may hold: reading, by patterns of a fixed length.

The query runs in a transaction that is read-only and rolled back, so nothing it does can last. This check
comes before, for a clear answer, and for what rolling back would not help against: AGE's variable-length
paths (1.8 answers from a cache that can be stale, 1.5 loads the whole graph) and functions of the server.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple, NoReturn

from graphport.errors import InvalidQueryError, UnsupportedError

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`)
      | (?P<word>[^\W\d]\w*)
      | (?P<other>\d[\w.]*|.)""",
    re.VERBOSE | re.DOTALL,
)
_WRITING = frozenset({"create", "merge", "set", "remove", "delete", "detach", "drop"})
_UNTERMINATED = {"'", '"', "`"}


class _Token(NamedTuple):
    kind: str
    text: str


def check_query(query: object) -> str:
    """``query`` if it may run; else `InvalidQueryError`, or `UnsupportedError` for what we do not let through."""
    if not isinstance(query, str) or not query.strip() or "\0" in query:
        raise InvalidQueryError(f"the query is {query!r:.80}; it must be Cypher, a text without NUL")
    tokens = _tokens(query)
    for place, token in enumerate(tokens):
        before = tokens[place - 1].text if place else ""
        after = tokens[place + 1].text if place + 1 < len(tokens) else ""
        if token.kind == "word":
            _check_word(token.text, before, after)
        elif token.text == "." and after and place + 2 < len(tokens) and tokens[place + 2].text == "(":
            raise UnsupportedError(
                f"{before}.{after}(...) calls a function of the server; only Cypher's own may be called"
            )
        elif token.text == "[" and before == "-":
            _check_relationship(tokens[place + 1 :])
        elif token.text == ";":
            raise InvalidQueryError("the query holds a ';'; give one statement, without it")
    return query


def parameters_of(query: str) -> set[str]:
    """The names after each ``$`` of a query that `check_query` let through."""
    return {after.text for token, after in pairwise(_tokens(query)) if token.text == "$"}


def _tokens(query: str) -> list[_Token]:
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(query):
        kind, text = match.lastgroup or "", match.group()
        if kind == "other" and (text in _UNTERMINATED or query.startswith("/*", match.start())):
            raise InvalidQueryError(f"the query's {query[match.start() : match.start() + 20]!r} has no end; close it")
        if kind != "space":
            tokens.append(_Token(kind, text))
    return tokens


def _check_word(word: str, before: str, after: str) -> None:
    if before in {".", ":", "$", "|"} or after == ":":  # a property, label, parameter or key that is called so
        return
    lowered = word.lower()
    if lowered in _WRITING:
        _refuse(word, "it would write; use upsert_nodes, upsert_edges and their like")
    if lowered == "call":
        _refuse(word, "it would run a function of the server")


def _refuse(word: str, why: str) -> NoReturn:
    raise UnsupportedError(f"{word} in a query: {why} (a name that is spelt so must stand in `backticks`)")


def _check_relationship(rest: list[_Token]) -> None:
    depth = 0
    for token in rest:
        if token.text in "{[(" and token.kind == "other":
            depth += 1
        elif token.text in "}])" and token.kind == "other":
            depth -= 1
            if depth < 0:
                return
        elif token.text == "*" and depth == 0:
            raise UnsupportedError(
                "a path of variable length ([*], [:Edge*1..2]) can be answered wrongly by AGE; "
                "write the steps out, or use neighborhood()"
            )
