"""Statements on a connection, several in one round trip."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg import Cursor
from psycopg.rows import TupleRow

from graphport_postgres.connections import Link

ROWS_A_FETCH = 2_000

Row = Sequence[Any]
Rows = list[Row]


class Statement(NamedTuple):
    """SQL and its parameters."""

    sql: bytes
    params: Mapping[str, Any]


def run(connection: Link, *statements: Statement) -> list[Rows]:
    """The rows of each statement, in one round trip."""
    if len(statements) == 1:
        cursors = [connection.execute(statements[0].sql, statements[0].params)]
    else:
        cursors = _piped(connection, statements)
    return [list[Row](cursor.fetchall()) if cursor.description else [] for cursor in cursors]


def _piped(connection: Link, statements: Sequence[Statement]) -> list[Cursor[TupleRow]]:
    # The first failure alone is told. psycopg 3.3 logs the second, that the pipeline was aborted, as a warning when
    # the first leaves its block: for a graph that was dropped, say, which is no failure at all.
    failure: psycopg.Error | None = None
    cursors: list[Cursor[TupleRow]] = []
    try:
        with connection.pipeline():
            try:
                cursors += [connection.execute(statement.sql, statement.params) for statement in statements]
            except psycopg.Error as error:
                failure = error
    except psycopg.Error as error:
        raise failure or error from None
    if failure is not None:
        raise failure
    return cursors


def fetched(connection: Link, cursor: str, statement: Statement, *, rows_a_fetch: int = ROWS_A_FETCH) -> Iterator[Row]:
    """Rows of a server-side cursor of that name: as they were at the first, some thousand at a time."""
    declare = Statement(f"DECLARE {cursor} NO SCROLL CURSOR FOR ".encode() + statement.sql, statement.params)
    fetch = Statement(f"FETCH FORWARD {rows_a_fetch} FROM {cursor}".encode(), {})
    rows = run(connection, declare, fetch)[1]
    while rows:
        yield from rows
        rows = run(connection, fetch)[0] if len(rows) == rows_a_fetch else []
