"""Running a user's own Cypher query in AGE, and reading its answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

import psycopg
from psycopg import errors as pg
from psycopg import sql

from graphport.cypher import check_parameters
from graphport.errors import InvalidQueryError, StorageUnavailableError, UnsupportedError
from graphport.model import check_props
from graphport_postgres.connections import Link
from graphport_postgres.cypher_check import check_query, parameters_of
from graphport_postgres.session import GraphAbsentError, Session

_SUFFIX = re.compile(r'("(?:[^"\\]|\\.)*")|::(?:vertex|edge|path|numeric)')
_NOT_THE_QUERY = (pg.UndefinedTable, pg.InvalidSchemaName, pg.InsufficientPrivilege)


def run_cypher(
    session: Session, space: str, query: str, params: Mapping[str, Any] | None, columns: Iterable[str]
) -> list[tuple[Any, ...]]:
    """The rows of ``query``, undone afterwards whatever it did. `GraphStorage.cypher` for AGE.

    A vertex is a dict with ``id``, ``label`` and ``properties``, an edge has ``start_id`` and ``end_id`` too, a
    path is a list of both.
    """
    names = _checked(columns)
    given = check_props(params or {}, "the query's parameters")
    check_parameters(parameters_of(check_query(query)), given)
    text = _statement(space, query, has_params=bool(given), columns=len(names))
    values = [json.dumps(given)] if given else []
    try:
        with session.undone() as connection:
            return _answer(connection, text, values)
    except GraphAbsentError:
        return []


def _answer(connection: Link, text: bytes, values: list[str]) -> list[tuple[Any, ...]]:
    try:
        rows = psycopg.RawCursor(connection).execute(text, values).fetchall()
    except pg.ReadOnlySqlTransaction as error:
        raise UnsupportedError("the query would write; use upsert_nodes, upsert_edges and their like") from error
    except pg.InternalError_ as error:
        if "cypher(cstring)" not in str(error):
            raise
        raise StorageUnavailableError(
            "AGE is not loaded in this session; let a superuser run: "
            "ALTER DATABASE ... SET session_preload_libraries = 'age';"
        ) from error
    except _NOT_THE_QUERY:
        raise
    except (psycopg.ProgrammingError, psycopg.DataError, psycopg.NotSupportedError) as error:
        said = error.diag.message_primary or str(error)
        raise InvalidQueryError(f"the query cannot run: {said}; mind that columns names what it returns") from error
    return [tuple(read_agtype(value) for value in row) for row in rows]


def _checked(columns: Iterable[str]) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or not all(names):
        raise InvalidQueryError(f"columns are {names!r:.80}; name each column that the query returns")
    return names


def _statement(space: str, query: str, *, has_params: bool, columns: int) -> bytes:
    """The SQL around the query, which AGE takes only as a dollar-quoted constant."""
    number = 0
    while f"$q{number}$" in query:
        number += 1
    # The blank before the closing tag keeps a query that ends in "$q0" from closing it early.
    constant = f"$q{number}$ {query} $q{number}$"
    parameter = ", $1" if has_params else ""
    answer = ", ".join(f"c{column} agtype" for column in range(columns))  # the names matter to the caller alone
    call = f"SELECT * FROM cypher({sql.Literal(space).as_string()}, {constant}{parameter}) AS ({answer})"  # noqa: S608 - quoted
    return call.encode()


def read_agtype(text: str | None) -> Any:
    """An agtype value as Python's: JSON, less the suffixes that say vertex, edge, path or numeric."""
    if text is None:
        return None
    plain = _SUFFIX.sub(lambda match: cast("str | None", match.group(1)) or "", text) if "::" in text else text
    return json.loads(plain)
