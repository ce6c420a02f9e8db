"""The ring of the last commits: what is in it, what is not, and that a hole is noticed."""

from __future__ import annotations

from contextlib import suppress

import pytest
from postgres_engine import Engine
from psycopg import sql

from graphport import Edge, EdgeKey, GraphSnapshot, Node
from graphport.errors import MissingNodeError
from graphport_postgres import feed
from graphport_postgres.feed import Touched, Touches, read_touched
from graphport_postgres.storage import PostgresStorage


def node(node_id: str) -> Node:
    return Node(node_id, "k", node_id)


def rows_of(tables: Engine, storage: PostgresStorage) -> list[tuple[int, str | None]]:
    table = sql.Identifier(storage.space, "graphport_changes")
    return tables.admin().execute(sql.SQL("SELECT revision, touched FROM {} ORDER BY 1").format(table)).fetchall()


def test_the_ring_keeps_the_last_commits_and_no_more(tables: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphport_postgres.statements.COMMITS", 4)
    storage = tables.open()
    for number in range(10):
        storage.upsert_nodes([node(f"n{number}")])
    assert [revision for revision, _ in rows_of(tables, storage)] == [7, 8, 9, 10]
    assert [since for since in range(11) if storage.changes_since(since) is not None] == [6, 7, 8, 9, 10]
    changes = storage.changes_since(7)
    assert changes is not None
    assert sorted(changes.nodes) == ["n7", "n8", "n9"]


def test_a_transaction_is_one_row_and_a_rolled_back_one_none(tables: Engine) -> None:
    storage = tables.open()
    with storage.transaction():
        storage.upsert_nodes([node("a"), node("b")])
        storage.upsert_edges([Edge("a", "b", "e")])
    with suppress(ZeroDivisionError), storage.transaction():
        storage.delete_nodes(["a"])
        raise ZeroDivisionError
    assert rows_of(tables, storage) == [(1, '[["a","b"],[],[["a","b","e"]]]')]


def test_a_delete_of_nothing_is_not_in_the_feed(tables: Engine) -> None:
    storage = tables.open()
    storage.upsert_nodes([node("a")])
    storage.delete_nodes(["nobody"])
    storage.delete_edges([("a", "a", "e")])
    assert len(rows_of(tables, storage)) == storage.revision() == 1


def test_a_commit_that_touches_too_much_ends_the_feed(tables: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "MOST_KEYS", 3)
    storage = tables.open()
    storage.upsert_nodes([node(text) for text in "abc"])
    assert storage.changes_since(0) is not None
    with storage.transaction():
        storage.upsert_nodes([node("a"), node("d")])
        storage.upsert_nodes([node("e"), node("f")])
    assert rows_of(tables, storage)[-1] == (2, None)
    assert storage.changes_since(1) is None
    assert storage.changes_since(2) is not None


def test_a_commit_that_takes_too_much_text_ends_the_feed(tables: Engine) -> None:
    storage = tables.open()
    storage.upsert_nodes([node("x" * feed.MOST_TEXT)])
    assert storage.changes_since(0) is None
    assert storage.snapshot().n_nodes == 1


def test_a_revision_that_another_tool_moved_is_a_hole(tables: Engine) -> None:
    storage = tables.open()
    storage.upsert_nodes([node("a")])
    tables.admin().execute("UPDATE graphport.graphs SET revision = revision + 1")
    storage.upsert_nodes([node("b")])
    assert storage.changes_since(1) is None
    assert storage.changes_since(2) is not None


def test_a_batch_that_is_undone_within_a_transaction_touched_nothing(
    tables: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphport_postgres.storage.ROWS_A_STATEMENT", 2)
    storage = tables.open()
    storage.upsert_nodes([node("a"), node("b")])
    with storage.transaction():
        storage.upsert_nodes([node("c")])
        with pytest.raises(MissingNodeError):
            storage.upsert_edges([Edge("a", "b", "x"), Edge("a", "b", "y"), Edge("a", "nobody", "z")])
    changes = storage.changes_since(1)
    assert changes is not None
    assert (list(changes.nodes), dict(changes.edges), changes.deleted_edges) == (["c"], {}, ())


def test_long_and_strange_texts_come_through_the_feed(engine: Engine) -> None:
    storage = engine.open()
    ids = ["é" * 1500, "\x01sha256:" + "0" * 64, "it's \\ $$ \" \n名前", "a"]
    kind = "k" * 2000
    storage.upsert_nodes([node(node_id) for node_id in ids])
    storage.upsert_edges([Edge(ids[0], ids[1], kind, 0.1, {"x": 1.0}), Edge(ids[2], ids[3], kind)])
    storage.delete_edges([(ids[2], ids[3], kind)])
    changes = storage.changes_since(0)
    assert changes is not None
    assert sorted(changes.nodes) == sorted(ids)
    assert changes.edges == {EdgeKey(ids[0], ids[1], kind): Edge(ids[0], ids[1], kind, 0.1, {"x": 1.0})}
    assert changes.deleted_edges == (EdgeKey(ids[2], ids[3], kind),)


def test_a_dropped_graph_has_no_feed(tables: Engine) -> None:
    storage, other = tables.open(), tables.open(graph="other")
    storage.upsert_nodes([node("a")])
    other.drop_graph(storage.graph)
    assert storage.changes_since(1) is None
    revision = storage.revision()
    changes = storage.changes_since(revision)
    assert changes is not None
    assert len(changes) == 0
    storage.bulk_load(GraphSnapshot.from_arrays(["b"], [], []))
    assert storage.changes_since(revision) is None


def test_touches_add_up_until_they_are_too_many() -> None:
    touches = Touches()
    touches.add(Touched(nodes=["a"], edges=[EdgeKey("a", "b", "e")]))
    touches.add(Touched(gone=["b"]))
    text = touches.text()
    assert text == '[["a"],["b"],[["a","b","e"]]]'
    assert read_touched(4, 5, [(5, text)]) == Touched(["a"], ["b"], [EdgeKey("a", "b", "e")])
    assert read_touched(3, 5, [(5, text)]) is None
    assert read_touched(4, 5, [(5, None)]) is None
    assert read_touched(6, 5, []) is None
    touches.add(Touched(nodes=[str(number) for number in range(feed.MOST_KEYS)]))
    assert touches.text() is None
