"""The engine behind the backend's back: raw connections, plain Cypher, one row at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any
from unittest.mock import patch

from graphport import Edge, GraphStorage, Node
from graphport.testing import RoundTrips, Rows
from graphport_kuzu.engine import Engine
from graphport_kuzu.storage import KuzuStorage


def engine_of(storage: GraphStorage) -> Engine:
    assert isinstance(storage, KuzuStorage)
    return storage._engine


@contextmanager
def raw(storage: GraphStorage) -> Iterator[Any]:
    """A connection of the driver onto the database of an open handle."""
    engine = engine_of(storage)
    with closing(engine.settings.driver.load().Connection(engine._open.database)) as connection:
        yield connection


def peek(storage: GraphStorage) -> Rows:
    with raw(storage) as connection:
        nodes = connection.execute("MATCH (n:Node) RETURN n.id, n.kind, n.name, n.entry, n.props").get_all()
        edges = connection.execute(
            "MATCH (a:Node)-[e:Edge]->(b:Node) RETURN a.id, b.id, e.kind, e.weight, e.props"
        ).get_all()
    return Rows(
        [Node(a, kind, name, entry, json.loads(props)) for a, kind, name, entry, props in nodes],
        [Edge(a, b, kind, weight, json.loads(props)) for a, b, kind, weight, props in edges],
    )


def poke(storage: GraphStorage, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
    with raw(storage) as connection:
        connection.execute("BEGIN TRANSACTION").close()
        for node in nodes:
            connection.execute(
                "CREATE (:Node {id: $id, kind: $kind, name: $name, entry: $entry, props: $props})",
                {
                    "id": node.id,
                    "kind": node.kind,
                    "name": node.name,
                    "entry": node.entry,
                    "props": json.dumps(node.props),
                },
            ).close()
        for edge in edges:
            connection.execute(
                "MATCH (a:Node {id: $a}) MATCH (b:Node {id: $b}) "
                "CREATE (a)-[:Edge {kind: $kind, weight: $weight, props: $props}]->(b)",
                {
                    "a": edge.source,
                    "b": edge.target,
                    "kind": edge.kind,
                    "weight": edge.weight,
                    "props": json.dumps(edge.props),
                },
            ).close()
        connection.execute("COMMIT").close()


@contextmanager
def count_round_trips(storage: GraphStorage) -> Iterator[RoundTrips]:
    trips = RoundTrips()
    driver = engine_of(storage).settings.driver.load()
    execute = driver.Connection.execute

    def counting(connection: Any, *arguments: Any, **more: Any) -> Any:
        trips.count += 1
        return execute(connection, *arguments, **more)

    with patch.object(driver.Connection, "execute", counting):
        yield trips
