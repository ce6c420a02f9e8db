"""What other AGE tools see of our graphs, and we of what they do."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from postgres_engine import Engine

from graphport import Edge, EdgeKey, GraphSnapshot, Node
from graphport.errors import StorageCorruptError
from graphport_postgres.storage import PostgresStorage

GRAPH = [Node("a", "person", "Ada", "e1", {"born": 1815}), Node("b", "person", "Bob")]
EDGES = [Edge("a", "b", "knows", 2.5, {"since": 1}), Edge("a", "b", "likes")]


@pytest.fixture
def storage(age: Engine) -> PostgresStorage:
    storage = age.open()
    storage.upsert_nodes(GRAPH)
    storage.upsert_edges(EDGES)
    return storage


@pytest.fixture
def other_tool(age: Engine, storage: PostgresStorage) -> Any:
    """Runs Cypher on the graph as any AGE tool would."""
    connection = age.admin()
    connection.execute("LOAD 'age'")
    connection.execute("SET search_path = ag_catalog, public")

    def run(query: str, columns: str = "c agtype") -> list[tuple[str, ...]]:
        text = f"SELECT * FROM cypher('{storage.space}', $$ {query} $$) AS ({columns})"
        return connection.execute(text.encode()).fetchall()

    return run


def test_match_finds_nodes_and_edges(other_tool: Any) -> None:
    found = other_tool("MATCH (n:Node) RETURN n.id, n.name, n.props.born ORDER BY n.id", "i agtype, n agtype, b agtype")
    assert found == [('"a"', '"Ada"', "1815"), ('"b"', '"Bob"', None)]
    found = other_tool(
        "MATCH (x:Node)-[r:Edge {kind: 'knows'}]->(y) RETURN x.id, y.id, r.weight, r.props.since",
        "x agtype, y agtype, w agtype, s agtype",
    )
    assert found == [('"a"', '"b"', "2.5", "1")]
    assert other_tool("MATCH ()-[r]->() RETURN count(r)") == [("2",)]


def test_the_graph_is_in_ages_own_catalog(age: Engine, storage: PostgresStorage) -> None:
    labels = age.admin().execute(
        "SELECT l.name, l.kind FROM ag_catalog.ag_label AS l JOIN ag_catalog.ag_graph AS g ON g.graphid = l.graph"
        " WHERE g.name = %s ORDER BY l.name",
        (storage.space,),
    )
    assert {("Edge", "e"), ("Node", "v")} <= set(labels.fetchall())


@pytest.mark.parametrize("way", ["upsert", "bulk_load"])
def test_what_cypher_creates_afterwards_does_not_collide(storage: PostgresStorage, other_tool: Any, way: str) -> None:
    more = [Node(f"more {number}", "k", "n") for number in range(20)]
    loops = [Edge(node.id, node.id, "k") for node in more]
    if way == "bulk_load":
        storage.bulk_load(GraphSnapshot.from_rows([*GRAPH, *more], [*EDGES, *loops]))
    else:
        storage.upsert_nodes(more)
        storage.upsert_edges(loops)
    for number in range(3):
        other_tool(f"CREATE (:Node {{id: 'c{number}', kind: 'k', name: 'n'}})")
        other_tool(f"MATCH (x:Node {{id: 'c{number}'}}), (a:Node {{id: 'a'}}) CREATE (x)-[:Edge {{kind: 'k'}}]->(a)")
    storage.upsert_nodes([Node("d", "k", "d")])
    storage.upsert_edges([Edge("d", "a", "k")])
    ids = [row[0] for row in other_tool("MATCH (n) RETURN id(n)")]
    assert len(set(ids)) == len(ids) == 6 + 20
    edge_ids = [row[0] for row in other_tool("MATCH ()-[r]->() RETURN id(r)")]
    assert len(set(edge_ids)) == len(edge_ids) == 6 + 20
    assert [edge.source for edge in storage.incident_edges(["a"], direction="in")["a"]] == ["c0", "c1", "c2", "d"]
    assert (
        storage.get_edges([("c0", "a", "k")])[EdgeKey("c0", "a", "k")].weight == 1.0
    )  # one without a weight counts once
    assert storage.snapshot().n_edges == 6 + 20


def test_cypher_cannot_create_a_second_node_of_one_id(other_tool: Any) -> None:
    with pytest.raises(psycopg.errors.UniqueViolation):
        other_tool("CREATE (:Node {id: 'a', kind: 'k', name: 'n'})")
    with pytest.raises(psycopg.errors.UniqueViolation):
        other_tool("MATCH (a:Node {id: 'a'}), (b:Node {id: 'b'}) CREATE (a)-[:Edge {kind: 'knows'}]->(b)")


def test_cypher_finds_a_node_by_the_index_on_its_id(storage: PostgresStorage, age: Engine) -> None:
    ids = [f"n{number}" for number in range(5000)]
    storage.bulk_load(GraphSnapshot.from_arrays(ids, range(4999), range(1, 5000)))
    connection = age.admin()
    connection.execute("LOAD 'age'")
    connection.execute("SET search_path = ag_catalog")
    connection.execute("SET age.enable_containment = off")  # as in our own sessions
    for pattern in ("(n:Node) WHERE n.id = 'n7'", "(n:Node {id: 'n7'})"):
        text = f"EXPLAIN SELECT * FROM cypher('{storage.space}', $$ MATCH {pattern} RETURN n $$) AS (n agtype)"
        plan = "\n".join(row[0] for row in connection.execute(text.encode()).fetchall())
        assert "Node_key" in plan


def test_nodes_and_edges_of_other_labels_are_not_ours(storage: PostgresStorage, other_tool: Any) -> None:
    other_tool("CREATE (:Paper {id: 'a', title: 'On Computable Numbers'})")
    other_tool("MATCH (p:Paper), (a:Node {id: 'a'}) CREATE (a)-[:WROTE]->(p)")
    other_tool("MATCH (p:Paper), (b:Node {id: 'b'}) CREATE (b)-[:Edge {kind: 'cites'}]->(p)")
    assert [node.id for node in storage.iter_nodes()] == ["a", "b"]
    assert [edge.key for edge in storage.iter_edges()] == [edge.key for edge in EDGES]
    snapshot = storage.snapshot()
    assert (snapshot.ids, snapshot.n_edges, snapshot.edge_kinds) == (("a", "b"), 2, ("knows", "likes"))
    assert storage.incident_edges(["b"], direction="out") == {"b": []}


def test_deleting_a_node_takes_the_edges_of_other_labels_along(
    age: Engine, storage: PostgresStorage, other_tool: Any
) -> None:
    other_tool("MATCH (a:Node {id: 'a'}), (b:Node {id: 'b'}) CREATE (b)-[:TRUSTS]->(a)")
    storage.delete_nodes(["a"])
    # By SQL: Cypher does not see an edge that has lost an end.
    left = age.admin().execute(f'SELECT count(*) FROM "{storage.space}"._ag_label_edge'.encode())
    assert left.fetchone() == (0,)
    assert other_tool("MATCH (n) RETURN n.id") == [('"b"',)]


@pytest.mark.parametrize("properties", ["{name: 'no id'}", "{id: 1, kind: 'k'}", "{id: 'no kind'}"])
def test_a_vertex_that_is_no_node_is_reported_and_not_skipped(
    storage: PostgresStorage, other_tool: Any, properties: str
) -> None:
    other_tool(f"CREATE (:Node {properties})")
    with pytest.raises(StorageCorruptError):
        list(storage.iter_nodes())
    if "1" not in properties:
        with pytest.raises(StorageCorruptError):
            storage.snapshot()


def test_an_edge_without_a_kind_is_reported_and_not_skipped(storage: PostgresStorage, other_tool: Any) -> None:
    other_tool("MATCH (a:Node {id: 'a'}), (b:Node {id: 'b'}) CREATE (b)-[:Edge]->(a)")
    for read in (lambda: list(storage.iter_edges()), storage.snapshot):
        with pytest.raises(StorageCorruptError):
            read()
