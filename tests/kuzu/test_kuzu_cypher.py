"""Users' own queries: they read, their values are parameters, and they cannot take the process along."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kuzu_child import DRIVER, Child

from graphport import Edge, GraphStorage, Node
from graphport.errors import InvalidQueryError, TransactionError, UnsupportedError

Open = Callable[..., GraphStorage]


@pytest.fixture
def graph(open_graph: Open) -> Iterator[GraphStorage]:
    with open_graph() as graph:
        graph.upsert_nodes([Node("a", "person", "Ada", "entry", {"x": 1}), Node("b", "person", "Bob")])
        graph.upsert_edges([Edge("a", "b", "knows", 2.0)])
        yield graph


def test_a_pattern_over_nodes_and_edges(graph: GraphStorage) -> None:
    found = graph.cypher(
        "MATCH (a:Node)-[e:Edge]->(b:Node) WHERE e.weight > $least AND a.kind IN $kinds RETURN a.id, e.kind, b.name",
        {"least": 1, "kinds": ["person", "place"]},
        columns=["a", "kind", "b"],
    )
    assert found == [("a", "knows", "Bob")]


def test_whole_nodes_edges_and_paths_are_plain_and_the_same_on_both_drivers(graph: GraphStorage) -> None:
    a = {"id": "a", "kind": "person", "name": "Ada", "entry": "entry", "props": '{"x":1}'}
    b = {"id": "b", "kind": "person", "name": "Bob", "entry": None, "props": "{}"}
    e = {"kind": "knows", "weight": 2.0, "props": "{}"}
    query = "MATCH p = (a)-[e]->(b) RETURN a, e, p, [a, b], {map: e}"
    assert graph.cypher(query, columns=list("aepnm")) == [(a, e, {"nodes": [a, b], "edges": [e]}, [a, b], {"map": e})]


def test_a_query_sees_each_commit(graph: GraphStorage) -> None:
    for number in range(3):
        graph.upsert_nodes([Node(f"new{number}", "k", "n")])
        assert graph.cypher("MATCH (n) RETURN count(n)") == [(3 + number,)]
    graph.clear()
    assert graph.cypher("MATCH (n) RETURN count(n)") == [(0,)]
    graph.drop_graph(graph.graph)
    assert graph.cypher("MATCH (n) RETURN count(n)") == [(0,)]


def test_a_reader_may_ask_too(graph: GraphStorage, open_graph: Open) -> None:
    graph.close()
    with open_graph(read_only=True) as reader:
        assert reader.cypher("MATCH (n) RETURN count(n)") == [(2,)]


def test_a_transaction_with_writes_is_told_that_they_would_not_be_seen(graph: GraphStorage) -> None:
    with graph.transaction():
        assert graph.cypher("MATCH (n) RETURN count(n)") == [(2,)]
        graph.upsert_nodes([Node("c", "k", "c")])
        with pytest.raises(TransactionError):
            graph.cypher("MATCH (n) RETURN count(n)")


@pytest.mark.parametrize(
    "query",
    [
        "CREATE (:Node {id: 'x'})",
        "MATCH (n:Node) SET n.kind = 'x' RETURN n.id",
        "MATCH (n:Node) DETACH DELETE n RETURN 1",
        "MATCH (a:Node), (b:Node) MERGE (a)-[:Edge {kind: 'x'}]->(b) RETURN 1",
        "COMMIT; MATCH (n) DETACH DELETE n",
        "MATCH (n) RETURN n.id; MATCH (n) DETACH DELETE n",
        "COMMIT",
        "CHECKPOINT",
        "DROP TABLE Edge",
        "CALL force_checkpoint_on_close=true",
        "COPY (MATCH (n:Node) RETURN n.id) TO '{path}'",
        "EXPORT DATABASE '{path}'",
        "LOAD FROM '/etc/passwd' (file_format='csv', delim=':', header=false) RETURN *",
        "MATCH (n) LOAD FROM '/etc/passwd' (file_format='csv') RETURN *",
        "MATCH (n) call show_tables() RETURN *",
        "INSTALL json",
        "/* RETURN */ CREATE (:Node {id: 'x'})",
        "",
        ";",
    ],
)
def test_whatever_is_no_reading_query_is_refused(graph: GraphStorage, query: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError):
        graph.cypher(query.replace("{path}", str(tmp_path / "written")))
    assert not (tmp_path / "written").exists()
    assert (graph.counts().nodes, graph.counts().edges, graph.revision()) == (2, 1, 2)


def test_words_in_texts_names_and_comments_are_not_statements(graph: GraphStorage) -> None:
    query = """
        // CALL it; as you like
        MATCH (n:Node {id: $load}) /* LOAD; COPY */
        RETURN 'it; CALL \\' LOAD', "COPY; x", n.id AS `LOAD`;
    """
    assert graph.cypher(query, {"load": "a"}, columns=list("xyz")) == [("it; CALL ' LOAD", "COPY; x", "a")]


@pytest.mark.parametrize(
    "query, params",
    [
        ("MATCH (n:Node {id: $id}) RETURN n.id", {}),
        ("MATCH (n:Node {id: $id}) RETURN n.id", {"other": "a"}),
        ("MATCH (n:Node {id: $id}) RETURN n.id", {"id": "a", "other": "a"}),
        ("RETURN $x", {"x": 2**63}),
        ("RETURN $x", {"x": "\ud800"}),
        ("RETURN $x", {"x": []}),
        ("RETURN $x", {"x": [None]}),
        ("RETURN $x", {"x": [1, "a"]}),
        ("RETURN $x", {"x": [{"a": 1}, {"b": 1}]}),
        ("RETURN $x", {"x": {}}),
        ("RETURN $x", {"x": {1: 1}}),
        ("RETURN $x", {"x": b"bytes"}),
        ("RETURN $x", {"x": {1, 2}}),
    ],
)
def test_a_parameter_that_could_not_be_meant_is_refused(
    graph: GraphStorage, query: str, params: dict[str, Any]
) -> None:
    with pytest.raises(InvalidQueryError):
        graph.cypher(query, params)


def test_values_come_back_as_they_were_given(graph: GraphStorage) -> None:
    for value in (
        True,
        0,
        -(2**63),
        2**63 - 1,
        0.1,
        -math.inf,
        "",
        "it's \\ \" $$ 😀",
        [1, None, 3],
        [1.5, 2],
        {"a": [1]},
    ):
        assert graph.cypher("RETURN $x", {"x": value}) == [(value,)]
    assert graph.cypher("RETURN $x", {"x": (1, 2)}) == [([1, 2],)]
    assert graph.cypher("RETURN $x IS NULL", {"x": None}) == [(True,)]


def test_dicts_in_a_list_are_bound_by_name(graph: GraphStorage) -> None:
    rows = [{"a": 1, "b": 2}, {"b": 20, "a": 10}]
    assert graph.cypher("UNWIND $rows AS r RETURN r.a, r.b", {"rows": rows}, columns=list("ab")) == [(1, 2), (10, 20)]


@pytest.mark.parametrize("query", ["RETRUN 1", "MATCH (n:Nope) RETURN n.id", "RETURN 1 / 0", "MATCH (n) RETURN m.id"])
def test_a_query_the_engine_does_not_take_says_so(graph: GraphStorage, query: str) -> None:
    with pytest.raises((InvalidQueryError, UnsupportedError)):
        graph.cypher(query)


@pytest.mark.parametrize("query, params", [(3, None), ("RETURN 1", [1])], ids=["query", "params"])
def test_what_is_no_query_or_no_dict_is_refused_by_type(graph: GraphStorage, query: Any, params: Any) -> None:
    with pytest.raises(InvalidQueryError, match="must be"):
        graph.cypher(query, params)


def test_one_string_is_the_name_of_one_column(graph: GraphStorage) -> None:
    assert graph.cypher("RETURN 1", columns="number") == [(1,)]


def test_columns_must_name_what_is_returned(graph: GraphStorage) -> None:
    with pytest.raises(InvalidQueryError, match="returns 2 columns"):
        graph.cypher("MATCH (n) RETURN n.id, n.kind")


@pytest.mark.parametrize(
    "query", ["RETURN nodes(null)", "RETURN id(null)", "MATCH p = (:Node)-[:Edge]->(:Node) RETURN cost(p)"]
)
def test_a_query_the_engine_dies_of_leaves_the_process_and_the_graph(graph: GraphStorage, query: str) -> None:
    with pytest.raises(InvalidQueryError, match="SIGSEGV"):
        graph.cypher(query)
    assert graph.cypher("MATCH (n) RETURN count(n)") == [(2,)]
    graph.upsert_nodes([Node("c", "k", "c")])
    assert graph.counts().nodes == 3


def test_an_endless_query_can_be_interrupted(options: dict[str, Any], open_graph: Open) -> None:
    endless = "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN count(a + b)"
    # A shell that runs tests in the background has SIGINT ignored, and so would its children.
    code = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += f"graph = open_graph()\nsay('asks')\ntry:\n    graph.cypher({endless!r})\nexcept KeyboardInterrupt:\n"
    with Child(options, f"{code}    say('interrupted', graph.cypher('RETURN 1'))\n    graph.close()") as child:
        assert child.hear() == "asks"
        time.sleep(1)
        os.kill(child.pid, signal.SIGINT)
        assert child.end(timeout=90) == "interrupted [(1,)]"  # on a loaded machine a new process takes its time
    open_graph().close()


def test_threads_may_ask_while_another_writes(graph: GraphStorage) -> None:
    seen: list[int] = []

    def ask() -> None:
        seen.extend(graph.cypher("MATCH (n) RETURN count(n)")[0][0] for _ in range(15))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(15):
        graph.upsert_nodes([Node(f"new{number}", "k", "n")])
    for thread in threads:
        thread.join()
    assert len(seen) == 30
    assert set(seen) <= set(range(2, 18))


def test_nothing_is_left_of_the_copy_that_kuzu_needs(graph: GraphStorage, options: dict[str, Any]) -> None:
    graph.cypher("RETURN 1")
    assert len(list(Path(options["path"]).glob("graph/query-*"))) == (DRIVER == "kuzu")
    graph.upsert_nodes([Node("c", "k", "c")])
    graph.cypher("RETURN 1")
    assert len(list(Path(options["path"]).glob("graph/query-*"))) == (DRIVER == "kuzu")
    graph.clear()
    assert not list(Path(options["path"]).glob("graph/query-*"))
