"""Statements on one connection of the engine, with results as Arrow columns."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from graphport_kuzu.arrow import Schema, Table
from graphport_kuzu.failures import typed

CHUNK_ROWS = 1 << 16
"""Rows per Arrow chunk of a result: a chunk's text must stay under 2 GiB."""

Parameters = Mapping[str, Any]


class Session:
    """One connection; ``revision`` is that of the graph it sees, at least.

    A dropped graph has no database: then ``connection`` is None and every result is empty. For
    ``scan_up_to`` see `Driver`.
    """

    def __init__(self, connection: Any, where: str, *, revision: int = 0, scan_up_to: int = 0) -> None:
        self._connection = connection
        self._where = where
        self.revision = revision
        self.scan_up_to = scan_up_to

    def run(self, statement: str, parameters: Parameters | None = None) -> None:
        with self.result(statement, parameters):
            pass

    def table(self, query: str, schema: Schema, parameters: Parameters | None = None) -> Table:
        """The result in columns of that schema, whatever the query calls them."""
        if self._connection is None:
            return schema.empty_table()
        with self.result(query, parameters) as result, typed(self._where):
            if result.get_num_tuples() == 0:
                return schema.empty_table()
            table: Table = result.get_as_arrow(chunk_size=CHUNK_ROWS)
            return table.rename_columns(schema.names).cast(schema)

    @contextmanager
    def result(self, statement: str, parameters: Parameters | None = None) -> Generator[Any]:
        """The driver's QueryResult, closed at the end of the block."""
        with typed(self._where):
            # A list is for a text of several statements, and ours are single ones.
            result: Any = self._connection.execute(statement, dict(parameters or {}))
        try:
            yield result
        finally:
            result.close()
