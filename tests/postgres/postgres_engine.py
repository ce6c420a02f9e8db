"""The engine behind the backend's back: rows read and written by raw psycopg, and requests counted by libpq."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import psycopg
from postgres_servers import connect
from psycopg import sql
from psycopg.pq import Trace
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool

from graphport import Backend, Edge, GraphStorage, Node, open_storage
from graphport.testing import RoundTrips, Rows
from graphport_postgres.layout import index_form
from graphport_postgres.storage import PostgresStorage


@dataclass(frozen=True)
class Engine:
    """A backend on an empty database of its own; opens handles onto it."""

    backend: Backend
    dsn: str
    stack: ExitStack

    def open(self, **options: Any) -> PostgresStorage:
        storage = open_storage(self.backend, **{"dsn": self.dsn, **options})
        assert isinstance(storage, PostgresStorage)
        return self.stack.enter_context(storage)

    def admin(self) -> psycopg.Connection[TupleRow]:
        """A superuser's connection, closed at the end of the test."""
        return self.stack.enter_context(connect(self.dsn))

    def somebody_waits(self) -> bool:
        """Whether a session of this database waits for a lock."""
        with connect(self.dsn) as admin:
            query = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            return admin.execute(query).fetchone() is not None


def space_of(connection: psycopg.Connection[Any], graph: str) -> str:
    """Schema of the graph, from the catalog."""
    row = connection.execute("SELECT space FROM graphport.graphs WHERE name = %s", (graph,)).fetchone()
    assert row is not None
    return str(row[0])


def peek_age(dsn: str) -> Callable[[GraphStorage], Rows]:
    """All rows by Cypher, which knows nothing of our SQL."""

    def peek(storage: GraphStorage) -> Rows:
        with connect(dsn) as connection:
            graph = space_of(connection, storage.graph)
            connection.execute("LOAD 'age'")
            connection.execute("SET search_path = ag_catalog")
            nodes = _cypher(connection, graph, "MATCH (n:Node) RETURN properties(n)", "n agtype")
            edges = _cypher(
                connection,
                graph,
                "MATCH (a:Node)-[r:Edge]->(b:Node) RETURN properties(a), properties(b), properties(r)",
                "a agtype, b agtype, r agtype",
            )
        return Rows([_node(*row) for row in nodes], [_edge(*row) for row in edges])

    return peek


def _cypher(connection: psycopg.Connection[Any], graph: str, query: str, columns: str) -> list[list[Any]]:
    text = f"SELECT * FROM cypher('{graph}', $$ {query} $$) AS ({columns})"
    return [[json.loads(value) for value in row] for row in connection.execute(text.encode()).fetchall()]


def _node(held: dict[str, Any]) -> Node:
    return Node(_id(held), held["kind"], held["name"], held.get("entry"), held.get("props", {}))


def _id(held: dict[str, Any]) -> str:
    return str(held.get("long_id", held["id"]))


def _edge(source: dict[str, Any], target: dict[str, Any], held: dict[str, Any]) -> Edge:
    return Edge(_id(source), _id(target), held.get("long_kind", held["kind"]), held["weight"], held.get("props", {}))


def poke_age(dsn: str) -> Callable[[GraphStorage, Sequence[Node], Sequence[Edge]], None]:
    """Rows by Cypher CREATE, as another AGE tool would."""

    def poke(storage: GraphStorage, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        with psycopg.connect(dsn, cursor_factory=psycopg.RawCursor) as connection:
            graph = space_of_raw(connection, storage.graph)
            connection.execute("LOAD 'age'")
            connection.execute("SET search_path = ag_catalog")
            for node in nodes:
                held = _without_none(
                    id=index_form(node.id), kind=node.kind, name=node.name, entry=node.entry,
                    long_id=None if index_form(node.id) == node.id else node.id,
                )  # fmt: skip
                fields = ", ".join(f"{name}: ${name}" for name in held) + (", props: $props" if node.props else "")
                _create(connection, graph, f"CREATE (:Node {{{fields}}})", {**held, "props": node.props})
            for edge in edges:
                held = _without_none(
                    kind=index_form(edge.kind), weight=edge.weight,
                    long_kind=None if index_form(edge.kind) == edge.kind else edge.kind,
                )  # fmt: skip
                fields = ", ".join(f"{name}: ${name}" for name in held) + (", props: $props" if edge.props else "")
                _create(
                    connection,
                    graph,
                    f"MATCH (a:Node), (b:Node) WHERE a.id = $a AND b.id = $b CREATE (a)-[:Edge {{{fields}}}]->(b)",
                    {**held, "props": edge.props, "a": index_form(edge.source), "b": index_form(edge.target)},
                )

    return poke


def space_of_raw(connection: psycopg.Connection[Any], graph: str) -> str:
    row = connection.execute("SELECT space FROM graphport.graphs WHERE name = $1", (graph,)).fetchone()
    assert row is not None
    return str(row[0])


def _without_none(**held: Any) -> dict[str, Any]:
    return {name: value for name, value in held.items() if value is not None}


def _create(connection: psycopg.Connection[Any], graph: str, query: str, params: Mapping[str, Any]) -> None:
    text = f"SELECT * FROM cypher('{graph}', $$ {query} $$, $1) AS (n agtype)"
    connection.execute(text.encode(), (json.dumps(params),))


def peek_tables(dsn: str) -> Callable[[GraphStorage], Rows]:
    """All rows of the plain tables."""

    def peek(storage: GraphStorage) -> Rows:
        with connect(dsn) as connection:
            space = sql.Identifier(space_of(connection, storage.graph))
            nodes = connection.execute(sql.SQL("SELECT * FROM {}.node").format(space)).fetchall()
            edges = connection.execute(sql.SQL("SELECT * FROM {}.edge").format(space)).fetchall()
        ids = {pk: long_id or node_id for pk, node_id, long_id, *_ in nodes}
        return Rows(
            [
                Node(long_id or node_id, kind, name, entry, props or {})
                for _, node_id, long_id, kind, name, entry, props in nodes
            ],
            [
                Edge(ids[source], ids[target], long_kind or kind, weight, props or {})
                for source, target, kind, long_kind, weight, props in edges
            ],
        )

    return peek


def poke_tables(dsn: str) -> Callable[[GraphStorage, Sequence[Node], Sequence[Edge]], None]:
    """Rows by INSERT."""

    def poke(storage: GraphStorage, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        with psycopg.connect(dsn) as connection:
            space = sql.Identifier(space_of(connection, storage.graph))
            insert_node = sql.SQL(
                "INSERT INTO {}.node (id, long_id, kind, name, entry, props) VALUES (%s, %s, %s, %s, %s, %s)"
            ).format(space)
            insert_edge = sql.SQL(
                "INSERT INTO {0}.edge (source, target, kind, long_kind, weight, props) VALUES ("
                "(SELECT pk FROM {0}.node WHERE id = %s), (SELECT pk FROM {0}.node WHERE id = %s), %s, %s, %s, %s)"
            ).format(space)
            for node in nodes:
                key = index_form(node.id)
                long_id = None if key == node.id else node.id
                props = json.dumps(node.props) if node.props else None
                connection.execute(insert_node, (key, long_id, node.kind, node.name, node.entry, props))
            for edge in edges:
                key = index_form(edge.kind)
                long_kind = None if key == edge.kind else edge.kind
                ends = (index_form(edge.source), index_form(edge.target))
                props = json.dumps(edge.props) if edge.props else None
                connection.execute(insert_edge, (*ends, key, long_kind, edge.weight, props))

    return poke


def count_round_trips(storage: GraphStorage) -> AbstractContextManager[RoundTrips]:
    """Counts how often the client speaks after the server has spoken, in libpq's own trace of the protocol."""
    return _traced()


@contextmanager
def _traced() -> Iterator[RoundTrips]:
    trips = RoundTrips()
    taken: list[psycopg.Connection[Any]] = []
    real = ConnectionPool.getconn

    with tempfile.TemporaryFile("w+") as file:

        def traced(pool: Any, timeout: float | None = None) -> psycopg.Connection[Any]:
            connection: psycopg.Connection[Any] = real(pool, timeout)
            connection.pgconn.trace(file.fileno())
            connection.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
            taken.append(connection)
            return connection

        with patch.object(ConnectionPool, "getconn", traced):
            yield trips
        for connection in taken:
            connection.pgconn.untrace()
        file.seek(0)
        speakers = [line[0] for line in file.read().splitlines() if line[:1] in ("F", "B")]
        trips.count = sum(
            1 for before, now in zip(["B", *speakers], speakers, strict=False) if (before, now) == ("B", "F")
        )
