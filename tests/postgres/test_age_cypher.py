"""Users' own Cypher: answers, and what is not let through."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from postgres_engine import Engine

from graphport import Edge, Node
from graphport.errors import InvalidInputError, InvalidQueryError, UnsupportedError
from graphport_postgres.cypher import read_agtype
from graphport_postgres.cypher_check import check_query
from graphport_postgres.storage import PostgresStorage

READING = [
    "MATCH (n) RETURN n",
    "MATCH (n:Node {id: $id})-[r:Edge]->(m) WHERE r.kind = 'calls' RETURN n.name, m.name",
    "MATCH (a)-[:Edge]->()-[:Edge]->(b) RETURN DISTINCT b.id ORDER BY b.id SKIP 1 LIMIT 2",
    "MATCH (n) WHERE n.set = 1 AND n.create.delete = 2 RETURN {set: n, delete: [1], merge : 2}",
    "MATCH (n:Create)-[:DELETE]->(m) RETURN n",
    "RETURN 'CREATE (n)', \"it's DELETE [*]\", `set`, $set // SET\n/* MERGE */",
    "RETURN 2*3, [1, 2][1*1], 5 - 2 * 3",
    "MATCH ()-[r:Edge {weight: 2 * 3, x: [1 * 2]}]->() RETURN r",
    "UNWIND [1, 2] AS x WITH x WHERE x > 1 RETURN count(*)",
    "RETURN 'a\\'b' AS created, 1 AS settings",
]
WRITING = [
    "CREATE (n:Node {id: 'x'})", "MATCH (n) SET n.x = 1", "match (n) set n.x=1 return n", "MATCH (n) DELETE n",
    "MATCH (n) DETACH DELETE n", "MERGE (n:Node {id: 'x'})", "MATCH (n) REMOVE n.x", "MATCH (n)\nSeT\tn.x = 1",
    "MATCH (n)/**/SET/**/n.x = 1", "MATCH (n) WHERE n.x = '\\\\' SET n.y = 'z'", "MATCH (n) WITH n CREATE (m)",
    "CALL pg_sleep(10)", "RETURN pg_catalog.pg_sleep(10)", "RETURN a . b (1)", "RETURN `pg_catalog`.`version`()",
]  # fmt: skip
OF_ANY_LENGTH = [
    "MATCH (a)-[*]->(b) RETURN b", "MATCH (a)-[:Edge*1..2]-(b) RETURN b", "MATCH (a)<-[r:Edge *3]-(b) RETURN b",
    "MATCH (a)-[r:Edge {x: 1}*]->(b) RETURN b", "MATCH (a)- [ * ] ->(b) RETURN b",
    "MATCH (a)-/**/[/**/*]->(b) RETURN b",
]  # fmt: skip
WRONG = [
    "",
    "  ",
    "RETURN 1; RETURN 2",
    "RETURN 'open",
    'RETURN "open',
    "RETURN `open",
    "RETURN 1 /* open",
    "RETURN '\0'",
]


@pytest.mark.parametrize("query", READING)
def test_a_reading_query_passes(query: str) -> None:
    assert check_query(query) == query


@pytest.mark.parametrize("query", WRITING)
def test_a_query_that_would_write_or_call_the_server_is_refused(query: str) -> None:
    with pytest.raises(UnsupportedError):
        check_query(query)


@pytest.mark.parametrize("query", OF_ANY_LENGTH)
def test_a_path_of_variable_length_is_refused_with_what_to_do_instead(query: str) -> None:
    with pytest.raises(UnsupportedError, match=r"variable length.*neighborhood\(\)"):
        check_query(query)


@pytest.mark.parametrize("query", WRONG)
def test_what_is_no_single_query_is_refused(query: str) -> None:
    with pytest.raises(InvalidQueryError):
        check_query(query)


@pytest.mark.parametrize(
    "text,value",
    [
        (None, None), ("1", 1), ("1.0", 1.0), ('"x"', "x"), ("true", True), ("1.50::numeric", 1.5),
        ("[1, 2.5]", [1, 2.5]),
        ('{"id": 1, "properties": {"a": "x::vertex"}}::vertex', {"id": 1, "properties": {"a": "x::vertex"}}),
        ('[{"id": 1}::vertex, {"id": 2}::edge, {"id": 3}::vertex]::path', [{"id": 1}, {"id": 2}, {"id": 3}]),
        ('"a\\"::edge"', 'a"::edge'),
    ],
)  # fmt: skip
def test_agtype_is_read_as_python(text: str | None, value: Any) -> None:
    assert read_agtype(text) == value


@pytest.fixture
def storage(age: Engine) -> PostgresStorage:
    storage = age.open()
    storage.upsert_nodes([Node("a", "person", "Ada", None, {"x": "é::vertex", "n": 1.0}), Node("b", "person", "Bob")])
    storage.upsert_edges([Edge("a", "b", "knows", 2.5)])
    return storage


def test_vertices_edges_and_paths_come_as_dicts_and_lists(storage: PostgresStorage) -> None:
    ((path, weight),) = storage.cypher("MATCH p = (:Node)-[r:Edge]->(:Node) RETURN p, r.weight", columns=["p", "w"])
    ada, knows, bob = path
    assert ada["properties"] == {"id": "a", "kind": "person", "name": "Ada", "props": {"x": "é::vertex", "n": 1.0}}
    assert (knows["start_id"], knows["end_id"]) == (ada["id"], bob["id"])
    assert (knows["label"], knows["properties"], weight) == ("Edge", {"kind": "knows", "weight": 2.5}, 2.5)


def test_parameters_are_data(storage: PostgresStorage) -> None:
    value = ["$$", "$q0$", 1, 1.0, None, {"a": [True, "\\ ' \" 名"]}, -(2**63)]
    assert storage.cypher("RETURN $value", {"value": value}) == [(value,)]
    assert storage.cypher("RETURN '$q0$ $q1' + $x", {"x": "%s"}) == [("$q0$ $q1%s",)]
    assert storage.cypher("MATCH (n:Node) WHERE n.id = $id RETURN n.name", {"id": "a"}) == [("Ada",)]
    with pytest.raises(InvalidInputError):
        storage.cypher("RETURN $x", {"x": float("nan")})


def test_parameters_and_values_must_fit_each_other(storage: PostgresStorage) -> None:
    assert storage.cypher("RETURN '$id' /* $id */", {}) == [("$id",)]
    for params in (None, {}, {"other": "a"}):
        with pytest.raises(InvalidQueryError, match=r"the query has \$id, and params no such key"):
            storage.cypher("MATCH (n:Node) WHERE n.id = $id RETURN n.name", params)
    with pytest.raises(InvalidQueryError, match="params has unused"):
        storage.cypher("RETURN 1", {"unused": 1})


def test_a_query_that_cannot_run_is_the_users_error(storage: PostgresStorage) -> None:
    queries = ["RETURN 1 +", "RETURN nosuchfunction(1)", "RETURN 1, 2", "RETURN 1/0", "MATCH"]
    for query in queries:
        with pytest.raises(InvalidQueryError, match="the query cannot run"):
            storage.cypher(query)
    with storage.transaction():
        for query in queries:
            storage.upsert_nodes([Node(query, "k", "c")])
            with pytest.raises(InvalidQueryError):
                storage.cypher(query)
    assert storage.counts().nodes == 2 + len(queries)


def test_columns_must_be_named(storage: PostgresStorage) -> None:
    for columns in ((), ("",)):
        with pytest.raises(InvalidQueryError, match="columns"):
            storage.cypher("RETURN 1", columns=columns)


def test_even_a_query_that_got_past_the_check_changes_nothing(
    storage: PostgresStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphport_postgres.cypher.check_query", lambda text: text)
    before = list(storage.iter_nodes()), list(storage.iter_edges())
    for query in ("MATCH (n:Node) SET n.name = 'x' RETURN n", "MATCH (n:Node) DETACH DELETE n", "CREATE (:Node)"):
        with suppress(UnsupportedError):  # AGE 1.8 refuses it in a read-only transaction, AGE 1.5 not all of it
            storage.cypher(query)
        with storage.transaction():
            storage.upsert_nodes([Node("c", "k", "c")])
            with suppress(UnsupportedError):
                storage.cypher(query)
            storage.delete_nodes(["c"])
        assert (list(storage.iter_nodes()), list(storage.iter_edges())) == before


def test_it_sees_the_transactions_own_writes(storage: PostgresStorage) -> None:
    with storage.transaction():
        storage.upsert_nodes([Node("c", "k", "c")])
        assert storage.cypher("MATCH (n:Node) RETURN count(n)") == [(3,)]
    assert storage.cypher("MATCH (n:Node) RETURN count(n)") == [(3,)]


def test_a_dropped_graph_has_no_rows(storage: PostgresStorage) -> None:
    storage.drop_graph(storage.graph)
    assert storage.cypher("MATCH (n:Node) RETURN n") == []
