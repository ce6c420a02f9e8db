"""A user's own Cypher: queries that read, with every value a parameter."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from graphport.cypher import check_parameters
from graphport.errors import InvalidQueryError, StorageError, UnsupportedError
from graphport.model import INT64_MAX, INT64_MIN, MAX_PROPS_DEPTH
from graphport_kuzu.engine import Engine
from graphport_kuzu.failures import storage_error

_TOKEN = re.compile(
    r"""(?P<skipped> '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` | //[^\n]* | /\*.*?\*/ | \.\s*\w+)
      | \$(?P<parameter>\w+) | (?P<word>[^\W\d]\w*) | (?P<end>;\s*$) | (?P<semicolon>;)""",
    re.VERBOSE | re.DOTALL,
)
_STARTS = frozenset({"MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN", "EXPLAIN", "PROFILE"})
_REFUSED = {
    "LOAD": "reads files of this machine",
    "COPY": "writes files of this machine",
    "CALL": "changes settings of the engine, and reads files",
}


def run_query(engine: Engine, query: str, params: Mapping[str, Any], columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """The rows of one query that only reads; ``columns`` names what it returns.

    Nodes have the label ``Node`` (id, kind, name, entry, props), edges ``Edge`` (kind, weight, props); props
    are JSON text. A whole node or edge is returned as a dict of these, a path as one of ``nodes`` and ``edges``.
    ``LOAD``, ``COPY``, ``CALL``, several statements, and whatever writes are refused (`UnsupportedError`).
    `InvalidQueryError` for a query that the engine does not take or dies of, a parameter without a value, or a
    value without a parameter.
    """
    _require_types(query, params)
    _require_reading(query)
    check_parameters({token["parameter"] for token in _TOKEN.finditer(query) if token["parameter"]}, params)
    reply = engine.query(query, {name: _bound(value, f"parameter ${name}", 0) for name, value in params.items()})
    if reply[0] == "failure":
        raise _failure(reply[1], reply[2])
    _, names, rows = reply
    if len(names) != len(columns):
        raise InvalidQueryError(
            f"the query returns {len(names)} columns ({', '.join(names)}), and columns names {len(columns)}; name each"
        )
    return [tuple(_shown(value) for value in row) for row in rows]


def _require_types(query: object, params: object) -> None:
    if not isinstance(query, str):
        raise InvalidQueryError(f"the query is {query!r:.80}; it must be Cypher, a str")
    if not isinstance(params, Mapping):
        raise InvalidQueryError(f"the parameters are {params!r:.80}; they must be a dict by name")


def _failure(step: str, said: str) -> Exception:
    known = storage_error(RuntimeError(said), "cypher")
    if "read-only" in said:
        return UnsupportedError(f"cypher only reads ({said}); write with upsert_nodes and upsert_edges")
    if step == "opening" or type(known) is not StorageError:
        return known
    return InvalidQueryError(f"the engine does not take this query: {said[:500]}")


def _require_reading(query: str) -> None:
    """Refuses what a database opened read-only does not: files, settings, and a second statement."""
    tokens = list(_TOKEN.finditer(query))
    words = [token["word"].upper() for token in tokens if token["word"]]
    if any(token["semicolon"] for token in tokens):
        raise UnsupportedError("cypher takes one statement at a time; call it for each")
    if not words or words[0] not in _STARTS:
        raise UnsupportedError(
            f"a query cannot start with {words[0] if words else query!r:.40}; cypher only reads: start with MATCH, "
            "OPTIONAL MATCH, UNWIND, WITH or RETURN"
        )
    for word in words:
        if word in _REFUSED:
            raise UnsupportedError(f"{word} is refused: it {_REFUSED[word]} (put a name that reads so into backticks)")


def _bound(value: Any, what: str, depth: int) -> Any:
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
    if depth > MAX_PROPS_DEPTH:
        raise InvalidQueryError(f"{what} nests deeper than {MAX_PROPS_DEPTH}; flatten it")
    if isinstance(value, list | tuple):
        return _bound_list(cast("Sequence[Any]", value), what, depth)
    if isinstance(value, Mapping):
        items = cast("Mapping[Any, Any]", value)
        if not items or not all(isinstance(key, str) for key in items):
            raise InvalidQueryError(f"{what} is {value!r:.80}; a map needs keys, and they must be str")
        return {key: _bound(items[key], what, depth + 1) for key in sorted(items)}
    raise InvalidQueryError(
        f"{what} is a {type(value).__name__}; it may be str, int, float, bool, None, or a list or dict of these"
    )


def _bound_list(values: Sequence[Any], what: str, depth: int) -> list[Any]:
    bound = [_bound(value, what, depth + 1) for value in values]
    shapes = {_shape(value) for value in bound if value is not None}
    if not shapes:
        raise InvalidQueryError(f"{what} is a list without a value, which has no type for the engine; do not ask then")
    if len(shapes) > 1:
        raise InvalidQueryError(f"{what} is a list of values of different types; make them one")
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
    items = cast("dict[str, Any]", value)
    inner = {key.lower(): item for key, item in items.items() if key.startswith("_")}
    if "_nodes" in inner and "_rels" in inner:
        return {"nodes": _shown(inner["_nodes"]), "edges": _shown(inner["_rels"])}
    if "_label" in inner:
        return {key: item for key, item in items.items() if not key.startswith("_")}
    return {key: _shown(item) for key, item in items.items()}
