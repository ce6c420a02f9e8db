"""Replacing a whole graph by COPY."""

from __future__ import annotations

from collections.abc import Iterable
from typing import LiteralString

from psycopg import errors as pg
from psycopg import sql

from graphport.model import check_props
from graphport.snapshot import GraphSnapshot, check_loadable
from graphport_postgres.connections import Link
from graphport_postgres.layout import Layout

NO_EXTENSION = (pg.InvalidSchemaName, pg.UndefinedTable)
"""What AGE says of its own catalog in a database that has none, or no longer."""


def require_loadable(graph: GraphSnapshot) -> None:
    """Raises as `check_loadable`, and `InvalidPropsError` where props are not JSON."""
    check_loadable(graph)
    for what, props in (("node", graph.node_props), ("edge", graph.edge_props)):
        for row, held in props.items():
            check_props(held, f"{what} row {row}")


def bulk_load(connection: Link, layout: Layout, space: str, graph: GraphSnapshot) -> None:
    """Puts ``graph`` in the place of what is there, in the caller's transaction, which holds the write lock.

    Where nobody is reading just now, the tables are emptied at once and their indexes built after the
    rows, in a third of the time; who wants to read then waits for the commit. Otherwise the readers go
    on undisturbed.
    """
    parts = layout.fragments(space)

    def do(*templates: LiteralString) -> None:
        for template in templates:
            connection.execute(sql.SQL(template).format(**parts), counts)

    def copy(template: LiteralString, lines: Iterable[str]) -> None:
        with connection.cursor().copy(sql.SQL(template).format(**parts)) as into:
            for piece in lines:
                into.write(piece)

    counts = {"nodes": graph.n_nodes, "edges": graph.n_edges}
    alone = _succeeds(connection, sql.SQL("LOCK TABLE {nodes}, {edges} NOWAIT").format(**parts), pg.LockNotAvailable)
    if alone:
        # AGE, preloaded, lets nobody truncate in a database without its extension.
        _succeeds(connection, sql.SQL("TRUNCATE {nodes}, {edges}").format(**parts), *NO_EXTENSION)
        do(*layout.drop_indexes)
    do("DELETE FROM {every_edge}", "DELETE FROM {nodes}")
    node_base, edge_base = _bases(connection, sql.SQL(layout.load_bases).format(**parts))
    copy(layout.copy_nodes, layout.node_lines(graph, node_base))
    copy(layout.copy_edges, layout.edge_lines(graph, node_base, edge_base))
    if alone:
        do(*layout.indexes)
    # Without statistics of the new rows, the next queries are planned for an empty table. Those of the keys are
    # enough; properties, which AGE compares slowly, would take a third of the whole load.
    do(*layout.restart, "ANALYZE {nodes} ({pk}), {edges} ({start}, {end})")


def _succeeds(connection: Link, statement: sql.Composed, *excuses: type[pg.Error]) -> bool:
    """Runs a statement; False, and as if it had not been tried, where it fails for one of those reasons."""
    connection.execute("SAVEPOINT gp_try")
    try:
        connection.execute(statement)
    except excuses:
        connection.execute("ROLLBACK TO SAVEPOINT gp_try")
        return False
    return True


def _bases(connection: Link, query: sql.Composed) -> tuple[int, int]:
    row = connection.execute(query).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])
