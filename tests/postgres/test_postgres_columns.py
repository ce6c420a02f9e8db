"""Reading and replacing whole graphs: in bounded memory, in one view, beside others who read and write."""

from __future__ import annotations

import gc
import random
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_engine import Engine

from graphport import Edge, GraphSnapshot, Node
from graphport.errors import StorageFullError, TransactionError
from graphport.model import dump_props
from graphport_postgres import columns, wire
from graphport_postgres.columns import Columns, RowOf
from graphport_postgres.storage import PostgresStorage


def _graph(n: int, m: int) -> GraphSnapshot:
    chance = random.Random(3)
    nodes = [Node(f"n{number}", "k", f"name {number}", None, {"text": "x" * 200}) for number in range(n)]
    keys = {(chance.randrange(n), chance.randrange(n), chance.choice("abc")) for _ in range(m)}
    edges = [Edge(f"n{a}", f"n{b}", kind, chance.random()) for a, b, kind in sorted(keys)]
    return GraphSnapshot.from_rows(nodes, edges)


def test_iterating_needs_memory_for_a_few_rows_only(tables: Engine) -> None:
    storage = tables.open()
    storage.bulk_load(_graph(20_000, 40_000))

    def peak(read: Callable[[], object]) -> int:
        gc.collect()
        tracemalloc.start()
        try:
            read()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    everything = peak(lambda: list(storage.iter_nodes()))
    assert peak(lambda: sum(1 for _ in storage.iter_nodes())) < everything / 5
    edges = peak(lambda: list(storage.iter_edges()))
    assert peak(lambda: sum(1 for _ in storage.iter_edges())) < edges / 5


def test_an_iteration_left_unfinished_gives_its_connection_back(engine: Engine) -> None:
    storage = engine.open(pool_max=2, busy_timeout=1.0)
    storage.upsert_nodes([Node("a", "k", "a"), Node("b", "k", "b")])
    for _ in range(5):
        for _node in storage.iter_nodes():
            break
        rows = storage.iter_nodes()
        next(rows)
        rows.close()  # type: ignore[attr-defined]  # what it returns is a generator
    assert storage.counts().nodes == 2


def test_an_iteration_is_of_one_moment_whatever_is_written_meanwhile(engine: Engine) -> None:
    storage = engine.open()
    graph = _graph(wire.ROWS_A_FETCH + 500, 3 * wire.ROWS_A_FETCH)
    storage.bulk_load(graph)
    nodes, edges = storage.iter_nodes(), storage.iter_edges()
    first = next(nodes), next(edges)
    storage.delete_nodes([f"n{number}" for number in range(0, 2000, 2)])
    storage.bulk_load(_graph(10, 10))  # beside readers: they hold the tables
    storage.clear()
    storage.upsert_nodes([Node("new", "k", "new")])
    assert [first[0], *nodes] == list(graph.iter_nodes())
    assert [first[1], *edges] == list(graph.iter_edges())
    assert storage.counts().nodes == 1


def test_an_iteration_ends_with_its_transaction(engine: Engine) -> None:
    storage = engine.open()
    storage.upsert_nodes([Node(f"n{number}", "k", "n") for number in range(5)])
    with storage.transaction():
        rows, closed = storage.iter_nodes(), storage.iter_nodes()
        assert next(rows).id == next(closed).id == "n0"
        closed.close()  # type: ignore[attr-defined]  # what it returns is a generator
        storage.upsert_nodes([Node("x", "k", "n")])
    with pytest.raises(TransactionError, match="has ended"):
        next(rows)
    assert storage.counts().nodes == 6


@pytest.mark.parametrize("reading", [False, True])
def test_a_bulk_load_is_the_same_beside_readers_and_without(engine: Engine, reading: bool) -> None:
    storage = engine.open()
    storage.upsert_nodes([Node("old", "k", "old"), Node("n1", "k", "old")])
    storage.upsert_edges([Edge("old", "n1", "e"), Edge("old", "old", "e")])
    before = _indexes(engine, storage)
    rows = storage.iter_edges()
    if reading:
        next(rows)
    graph = _graph(300, 900)
    storage.bulk_load(graph)
    if reading:
        assert [edge.target for edge in rows] == ["old"]
    assert storage.snapshot().same_as(graph)
    assert list(storage.iter_nodes()) == list(graph.iter_nodes())
    assert list(storage.iter_edges()) == list(graph.iter_edges())
    assert _indexes(engine, storage) == before
    storage.upsert_nodes([Node("after", "k", "after")])
    storage.upsert_edges([Edge("after", "n1", "e"), Edge("n1", "after", "e")])
    assert storage.counts().edges == graph.n_edges + 2


def _indexes(engine: Engine, storage: PostgresStorage) -> set[str]:
    rows = engine.admin().execute("SELECT indexdef FROM pg_indexes WHERE schemaname = %s", (storage.space,))
    return {str(row[0]) for row in rows.fetchall()}


def test_a_bulk_load_that_fails_leaves_everything_as_it_was(engine: Engine) -> None:
    storage = engine.open()
    storage.upsert_nodes([Node("old", "k", "old")])
    before, revision = _indexes(engine, storage), storage.revision()
    graph = _graph(300, 900)
    graph = GraphSnapshot.from_rows(graph.iter_nodes(), graph.iter_edges())
    graph.weight = graph.weight.astype(object)
    graph.weight[100] = "no number"  # COPY refuses it in the midst of the rows
    with pytest.raises(Exception, match="invalid input"):
        storage.bulk_load(graph)
    assert [node.id for node in storage.iter_nodes()] == ["old"]
    assert (_indexes(engine, storage), storage.revision()) == (before, revision)


def test_a_snapshot_of_many_blocks_is_put_together(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "BLOCKS_A_QUERY", 3)
    storage = engine.open()
    graph = _graph(500, 4000)
    storage.bulk_load(graph)
    storage.delete_edges(edge.key for edge in list(graph.iter_edges())[::7])
    left = [edge for row, edge in enumerate(graph.iter_edges()) if row % 7]
    assert storage.snapshot().same_as(GraphSnapshot.from_rows(graph.iter_nodes(), left))
    some = storage.snapshot(kinds=["b", "absent"])
    assert some.same_as(GraphSnapshot.from_rows(graph.iter_nodes(), [edge for edge in left if edge.kind == "b"]))


@pytest.mark.parametrize("when", ["read", "_packed"])
def test_a_snapshot_is_of_one_moment_even_if_the_graph_is_replaced_meanwhile(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    storage, other = engine.open(), engine.open()
    graph = _graph(50, 100)
    storage.bulk_load(graph)
    revision = storage.revision()
    read = getattr(Columns, when)

    def replaced(*given: Any) -> Any:
        other.bulk_load(_graph(5, 5))
        return read(*given)

    with monkeypatch.context() as patched:
        patched.setattr(Columns, when, replaced)
        snapshot = storage.snapshot()
    assert snapshot.same_as(graph)
    assert snapshot.revision == revision
    assert storage.snapshot().same_as(_graph(5, 5))


@pytest.mark.parametrize("known", [[5, 3, 9], [2**50, 1, 2**61], [7], []])
def test_keys_find_their_rows(known: list[int]) -> None:
    keys = [*known, 4, 2**40, 0]
    rows = RowOf(np.array(known, dtype=np.int64))(np.array(keys, dtype=">i8").tobytes())
    assert rows.tolist() == [known.index(key) if key in known else -1 for key in keys]


def test_a_server_without_room_is_full(tables: Engine) -> None:
    storage = tables.open()
    for number, (table, state) in enumerate([("node", "53100"), ("edge", "53200")]):
        tables.admin().execute(
            f'CREATE FUNCTION "{storage.space}".full{number}() RETURNS trigger LANGUAGE plpgsql AS'
            f" $$BEGIN RAISE EXCEPTION USING ERRCODE = '{state}', MESSAGE = 'no room'; END$$".encode()
        )
        tables.admin().execute(
            f'CREATE TRIGGER full{number} BEFORE INSERT ON "{storage.space}".{table}'
            f' EXECUTE FUNCTION "{storage.space}".full{number}()'.encode()
        )
    with pytest.raises(StorageFullError, match="no room; nothing was written"):
        storage.upsert_nodes([Node("a", "k", "a")])
    with pytest.raises(StorageFullError):
        storage.bulk_load(_graph(3, 3))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), inner, max_size=4)
    ),
    max_leaves=12,
)


def test_props_and_weights_come_back_to_the_letter(engine: Engine) -> None:
    storage = engine.open()

    @settings(deadline=None, max_examples=60, database=None)
    @given(
        st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), JSON, max_size=5),
        st.floats(min_value=0, allow_infinity=False),
    )
    def round_trip(props: dict[str, Any], weight: float) -> None:
        node, edge = Node("a", "k", "a", None, props), Edge("a", "a", "e", weight, props)
        storage.upsert_nodes([node])
        storage.upsert_edges([edge])
        rows = [storage.get_nodes(["a"])["a"].props, *(held.props for held in storage.iter_edges())]
        assert [dump_props(row) for row in rows] == [dump_props(props)] * 2
        assert [repr(held.weight) for held in storage.iter_edges()] == [repr(weight)]
        storage.bulk_load(GraphSnapshot.from_rows([node], [edge]))
        assert dump_props(storage.get_nodes(["a"])["a"].props) == dump_props(props)
        assert repr(storage.snapshot().weight.tolist()) == repr([weight])

    round_trip()


def test_plain_tables_are_loaded_where_age_is_preloaded_and_not_installed(tables: Engine) -> None:
    tables.admin().execute("DROP EXTENSION age CASCADE")
    storage = tables.open()
    storage.bulk_load(_graph(20, 40))
    graph = _graph(10, 20)
    storage.bulk_load(graph)
    assert storage.snapshot().same_as(graph)
