"""A user's own Cypher: queries that read, with every value a parameter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from graphport.errors import InvalidQueryError, StorageError, UnsupportedError
from graphport.model import INT64_MAX, INT64_MIN
from graphport_kuzu.session import Session

_TOKEN = re.compile(
    r"""(?P<skipped> '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` | //[^\n]* | /\*.*?\*/ | \.\s*\w+)
      | \$(?P<parameter>\w+) | (?P<word>[^\W\d]\w*) | (?P<end>;\s*$) | (?P<semicolon>;)""",
    re.VERBOSE | re.DOTALL,
)
_STARTS = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "EXPLAIN", "PROFILE"})
_REFUSED = {
    "LOAD": "reads files of this machine",
    "CALL": "changes settings of the engine, and reads files",
    "COPY": "writes files of this machine",
}
_OF_THE_QUERY = (
    "Parser exception", "Binder exception", "Catalog exception", "Runtime exception",
    "Conversion exception",
                 "Overflow exception", "Function exception")  # fmt: skip


def run_query(
    session: Session, query: str, params: Mapping[str, Any], columns: tuple[str, ...]
) -> list[tuple[Any, ...]]:
    """The rows of one query that only reads; ``columns`` are as many as it returns.

    Nodes have the label ``Node`` (id, kind, name, entry, props), edges ``Edge`` (kind, weight, props); props
    are JSON text. A whole node or edge is returned as a dict of these. ``LOAD``, ``CALL``, several
    statements, and whatever writes are refused (`UnsupportedError`). Raises `InvalidQueryError` for a query the
    engine does not take, a parameter that has no value, or a value that has no parameter.
    """
    _require_reading(query)
    _require_parameters(query, params)
    values = {name: _bound(value, f"parameter ${name}") for name, value in params.items()}
    try:
        with session.result(query, values) as result:
            returned = result.get_column_names()
            if len(returned) != len(columns):
                raise InvalidQueryError(
                    f"the query returns {len(returned)} columns ({', '.join(returned)}), "
                    f"and columns names {len(columns)}; name each of them"
                )
            return [tuple(_shown(value) for value in row) for row in result.get_all()]
    except StorageError as error:
        said = str(error)
        if "read-only transaction" in said:
            raise UnsupportedError(f"cypher only reads; write with upsert_nodes and upsert_edges ({said})") from error
        if any(kind in said for kind in _OF_THE_QUERY):
            raise InvalidQueryError(said) from error
        raise


def _require_reading(query: str) -> None:
    """Refuses what a read-only transaction does not: an end to it, files, and settings of the engine."""
    words = [match["word"].upper() for match in _TOKEN.finditer(query) if match["word"]]
    if any(match["semicolon"] for match in _TOKEN.finditer(query)):
        raise UnsupportedError("cypher takes one statement; call it for each")
    if not words or words[0] not in _STARTS:
        raise UnsupportedError(
            f"a query cannot start with {words[0] if words else query!r:.40}; cypher only reads: start with MATCH, "
            "OPTIONAL MATCH, UNWIND, WITH or RETURN"
        )
    for word in words:
        if word in _REFUSED:
            raise UnsupportedError(f"{word} is refused: it {_REFUSED[word]} (put a name that reads so into backticks)")


def _require_parameters(query: str, params: Mapping[str, Any]) -> None:
    """A parameter without a value would be null to the engine, and match nothing without a word."""
    named = {match["parameter"] for match in _TOKEN.finditer(query) if match["parameter"]}
    unbound, unused = sorted(named - params.keys()), sorted(params.keys() - named)
    if unbound:
        raise InvalidQueryError(f"the query has ${', $'.join(unbound)}, and params no such key; give each a value")
    if unused:
        raise InvalidQueryError(f"params has {', '.join(unused)}, and the query no such parameter; leave them out")


def _bound(value: Any, what: str) -> Any:
    """``value`` in a form that the drivers bind as it is meant; else `InvalidQueryError`.

    They bind a list of dicts by the first one's order of keys, and swap the values of others.
    """
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, str):
        if any("\ud800" <= char <= "\udfff" for char in value):
            raise InvalidQueryError(f"{what} holds a lone surrogate; decode the text properly")
        return value
    if isinstance(value, int):
        if not INT64_MIN <= value <= INT64_MAX:
            raise InvalidQueryError(f"{what} is {value}; it must fit in 64 bits")
        return value
    if isinstance(value, list | tuple):
        return _bound_list(cast("Sequence[Any]", value), what)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value)
        if not items or not all(isinstance(key, str) for key in items):
            raise InvalidQueryError(f"{what} is {value!r:.80}; a map needs keys, and they must be str")
        return {key: _bound(items[key], what) for key in sorted(items)}
    raise InvalidQueryError(
        f"{what} is a {type(value).__name__}; it may be str, int, float, bool, None, or a list or dict of these"
    )


def _bound_list(values: Sequence[Any], what: str) -> list[Any]:
    bound = [_bound(value, what) for value in values]
    shapes = {_shape(value) for value in bound if value is not None}
    if not shapes:
        raise InvalidQueryError(f"{what} is a list without a value, which the engine cannot type; do not ask")
    if len(shapes) > 1:
        raise InvalidQueryError(f"{what} is a list of different types of values; make them one")
    return bound


def _shape(value: Any) -> str:
    if isinstance(value, dict):
        return f"dict of {', '.join(cast('dict[str, Any]', value))}"
    if isinstance(value, bool | str | list):
        return type(cast("Any", value)).__name__
    return "number"


def _shown(value: Any) -> Any:
    """A value without what the drivers add to it, each under names of its own."""
    if isinstance(value, list):
        return [_shown(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    items = {key.lower() if key.startswith("_") else key: item for key, item in cast("dict[str, Any]", value).items()}
    if "_nodes" in items and "_rels" in items:
        return {"nodes": _shown(items["_nodes"]), "edges": _shown(items["_rels"])}
    if "_label" in items:
        return {key: item for key, item in items.items() if not key.startswith("_")}
    return {key: _shown(item) for key, item in cast("dict[str, Any]", value).items()}
