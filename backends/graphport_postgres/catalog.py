"""The schema ``graphport`` of a database: which graphs there are, where they lie, and their revisions."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from psycopg import errors as pg
from psycopg import sql

from graphport.errors import StorageCorruptError, StorageFormatError, StorageUnavailableError
from graphport_postgres.connections import Link
from graphport_postgres.layout import Layout, space_name

FORMAT = 2
_SETUP_LOCK = 0x67726170_0000
"""Of the advisory lock under which schemas and graphs are made: `CREATE ... IF NOT EXISTS` alone can race."""

# The row of a dropped graph stays, so that its revision never falls back to one that was seen before.
_SETUP = (
    b"CREATE SCHEMA IF NOT EXISTS graphport",
    b"CREATE TABLE graphport.format (version integer NOT NULL)",
    (
        b"CREATE TABLE graphport.graphs (space text PRIMARY KEY, backend text NOT NULL, name text NOT NULL,"
        b" present boolean NOT NULL, revision bigint NOT NULL DEFAULT 0,"
        b" identity uuid NOT NULL DEFAULT gen_random_uuid())"
    ),
)
_FEED = "CREATE TABLE {changes} (slot integer PRIMARY KEY, revision bigint NOT NULL, touched text)"


class Catalog:
    """The catalog as one handle uses it."""

    def __init__(self, layout: Layout, graph: str) -> None:
        self._layout = layout
        self._graph = graph
        self.space = space_name(layout.prefix, graph)
        self._parts = layout.fragments(self.space)

    def open(self, connection: Link, *, read_only: bool) -> None:
        """Checks the format; makes the schema and the graph if they are not there yet."""
        version = format_version(connection)
        if version is None and read_only:
            raise StorageUnavailableError("the database holds no graphs yet; open it once without read_only")
        with self._with_advice(connection):
            if version is None:
                version = _set_up(connection)
            if version == FORMAT and not read_only and not self.is_present(connection):
                self.register(connection)
        if version != FORMAT:
            raise StorageFormatError(
                f"the database's graphs have format {version}, this graphport reads {FORMAT}; "
                "use the version that wrote them"
            )

    @contextmanager
    def _with_advice(self, connection: Link) -> Generator[None]:
        try:
            yield
        except pg.InsufficientPrivilege as error:
            connection.execute("ROLLBACK")
            row = connection.execute("SELECT current_user, current_database()").fetchone()
            assert row is not None
            raise StorageUnavailableError(
                f"role {row[0]!r} may not make graphs in database {row[1]!r} ({error.diag.message_primary}); "
                f"let its owner, for AGE a superuser, run there: {' '.join(self._layout.grants(*row))}"
            ) from error

    def is_present(self, connection: Link) -> bool:
        row = connection.execute(
            "SELECT name, present FROM graphport.graphs WHERE space = %s", (self.space,)
        ).fetchone()
        if row is not None and row[0] != self._graph:
            raise StorageCorruptError(
                f"graph {self._graph!r:.80} would lie where {row[0]!r:.80} is; rename one of them"
            )
        return row is not None and bool(row[1])

    def register(self, connection: Link) -> None:
        """Makes the graph, unless somebody else just did."""
        connection.execute("BEGIN")
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SETUP_LOCK,))
        if not self.is_present(connection):
            for template in (*self._layout.create, *self._layout.indexes, _FEED):
                connection.execute(sql.SQL(template).format(**self._parts))
            connection.execute(
                "INSERT INTO graphport.graphs (space, backend, name, present) VALUES (%s, %s, %s, true)"
                " ON CONFLICT (space) DO UPDATE SET present = true",
                (self.space, self._layout.backend, self._graph),
            )
        connection.execute("COMMIT")

    def names(self, connection: Link) -> list[str]:
        rows = connection.execute(
            "SELECT name FROM graphport.graphs WHERE backend = %s AND present", (self._layout.backend,)
        ).fetchall()
        return sorted(name for (name,) in rows)

    def drop(self, connection: Link, graph: str) -> bool:
        """Deletes the graph of that name; False if there is none."""
        space = space_name(self._layout.prefix, graph)
        connection.execute("BEGIN")
        row = connection.execute(
            "SELECT present FROM graphport.graphs WHERE space = %s FOR NO KEY UPDATE", (space,)
        ).fetchone()
        there = row is not None and bool(row[0])
        if there:
            connection.execute(sql.SQL(self._layout.drop).format(**self._layout.fragments(space)))
            connection.execute(
                "UPDATE graphport.graphs SET present = false, revision = revision + 1 WHERE space = %s", (space,)
            )
        connection.execute("COMMIT")
        return there


def format_version(connection: Link) -> int | None:
    """Format of the graphs in this database; None where none were ever made."""
    # Not to_regclass: it may answer from what the session knew before somebody else made the table.
    found = connection.execute(
        "SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'graphport' AND c.relname = 'format'"
    ).fetchone()
    if found is None:
        return None
    row = connection.execute("SELECT version FROM graphport.format").fetchone()
    return None if row is None else int(row[0])


def _set_up(connection: Link) -> int:
    connection.execute("BEGIN")
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SETUP_LOCK,))
    version = format_version(connection)
    if version is None:
        for statement in _SETUP:
            connection.execute(statement)
        connection.execute("INSERT INTO graphport.format VALUES (%s)", (FORMAT,))
        version = FORMAT
    connection.execute("COMMIT")
    return version
