"""Transactions: all or nothing, seen by their own thread alone until they are committed."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count, pairwise
from typing import Any, TypeVar

import pytest

from graphport.errors import InvalidIdError, MissingNodeError, TransactionError
from graphport.model import Edge, EdgeKey, Node
from graphport.snapshot import GraphSnapshot
from graphport.storage import GraphStorage
from graphport.testing.contract.base import ContractBase
from graphport.testing.contract.exact import assert_holds, exact_edges, exact_nodes
from graphport.testing.contract.graphs import node, sample

T = TypeVar("T")


def elsewhere(call: Callable[[], T]) -> T:
    """The result of ``call`` in another thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result(timeout=60)


def everything(storage: GraphStorage) -> Any:
    """Answers of every read method."""
    ids = ["a", "b", "c", "new"]
    found = storage.neighborhood(["a"], depth=3)
    snapshot = storage.snapshot()
    return (
        exact_nodes(storage.get_nodes(ids).values()),
        exact_edges(storage.get_edges((a, b, kind) for a in ids for b in ids for kind in ("knows", "new")).values()),
        exact_nodes(storage.iter_nodes()),
        exact_nodes(storage.iter_nodes(kind="person")),
        exact_edges(storage.iter_edges()),
        exact_edges(storage.iter_edges(kinds=["knows"])),
        {key: exact_edges(row) for key, row in storage.incident_edges(ids).items()},
        (exact_nodes(found.nodes), exact_edges(found.edges), dict(found.depths)),
        (tuple(snapshot.ids), [snapshot.edge_key(row) for row in range(snapshot.n_edges)], snapshot.weight.tolist()),
        storage.counts(),
        storage.revision(),
    )


class TransactionPromises(ContractBase):
    def _change(self, storage: GraphStorage) -> tuple[list[Node], list[Edge]]:
        """One of each write, on the sample graph; the rows it leaves."""
        nodes, edges = sample()
        storage.upsert_nodes([node("new", "person"), node("b", "changed")])
        storage.upsert_edges([Edge("a", "new", "new"), Edge("a", "b", "knows", 9.0), Edge("new", "new", "knows")])
        assert storage.delete_nodes(["d"]) == 1
        assert storage.delete_edges([("a", "b", "likes")]) == 1
        left = [edge for edge in edges if edge.kind in ("knows", "visits") and edge.key != ("a", "b", "knows")]
        changed = [Edge("a", "new", "new"), Edge("a", "b", "knows", 9.0), Edge("new", "new", "knows")]
        rows = {row.id: row for row in nodes} | {"new": node("new", "person"), "b": node("b", "changed")}
        del rows["d"]
        return list(rows.values()), [*left, *changed]

    @pytest.fixture
    def filled(self, storage: GraphStorage) -> GraphStorage:
        """A handle onto the sample graph."""
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        return storage

    def test_all_writes_of_a_transaction_are_committed(self, filled: GraphStorage) -> None:
        with filled.transaction():
            rows = self._change(filled)
        assert_holds(filled, *rows)

    def test_a_transaction_sees_its_own_writes(self, filled: GraphStorage) -> None:
        with filled.transaction():
            nodes, edges = self._change(filled)
            assert_holds(filled, nodes, edges)
            assert list(filled.get_nodes(["new", "d", "b"]).values()) == [node("new", "person"), node("b", "changed")]
            assert filled.get_edges([("a", "b", "knows")])[EdgeKey("a", "b", "knows")].weight == 9.0
            assert filled.get_edges([("a", "b", "likes"), ("c", "d", "near")]) == {}
            assert [row.id for row in filled.iter_nodes(kind="changed")] == ["b"]
            assert [edge.key for edge in filled.iter_edges(kinds=["new"])] == [("a", "new", "new")]
            assert [edge.target for edge in filled.incident_edges(["a"], direction="out")["a"]] == ["a", "b", "new"]
            assert filled.incident_edges(["d"]) == {}
            assert list(filled.neighborhood(["new"], depth=2).depths.items()) == [("new", 0), ("a", 1), ("b", 2)]
            assert filled.snapshot().same_as(GraphSnapshot.from_rows(nodes, edges))
            assert filled.counts().node_kinds == {"changed": 1, "person": 3, "place": 1}
            with pytest.raises(MissingNodeError):
                filled.upsert_edges([Edge("a", "d", "e")])

    def test_nothing_is_left_of_a_transaction_that_failed(self, filled: GraphStorage) -> None:
        before = everything(filled)
        with pytest.raises(ZeroDivisionError), filled.transaction():
            self._change(filled)
            raise ZeroDivisionError
        assert everything(filled) == before
        assert_holds(filled, *sample())

    def test_any_exception_rolls_back(self, filled: GraphStorage) -> None:
        for kind in (KeyboardInterrupt, SystemExit, MemoryError):
            with pytest.raises(kind), filled.transaction():
                self._change(filled)
                raise kind
            assert_holds(filled, *sample())

    def test_clear_can_be_rolled_back_and_filled_again(self, filled: GraphStorage) -> None:
        with pytest.raises(ZeroDivisionError), filled.transaction():
            filled.clear()
            filled.upsert_nodes([node("new")])
            assert_holds(filled, [node("new")])
            raise ZeroDivisionError
        assert_holds(filled, *sample())
        with filled.transaction():
            filled.clear()
            filled.upsert_nodes([node("b")])
            filled.upsert_edges([Edge("b", "b", "e")])
        assert_holds(filled, [node("b")], [Edge("b", "b", "e")])

    def test_the_handle_works_after_a_rollback(self, filled: GraphStorage) -> None:
        for _ in range(3):
            with pytest.raises(ZeroDivisionError), filled.transaction():
                filled.delete_nodes(["a"])
                filled.upsert_nodes([node("a")])
                raise ZeroDivisionError
        nodes, edges = sample()
        assert_holds(filled, nodes, edges)
        filled.upsert_edges([Edge("a", "island", "e")])
        assert_holds(filled, nodes, [*edges, Edge("a", "island", "e")])

    def test_other_threads_see_nothing_before_the_commit(self, filled: GraphStorage) -> None:
        before = elsewhere(lambda: everything(filled))
        with filled.transaction():
            self._change(filled)
            assert elsewhere(lambda: everything(filled)) == before
        assert elsewhere(lambda: everything(filled)) == everything(filled) != before

    def test_other_threads_writes_wait_for_it(self, filled: GraphStorage) -> None:
        started, threads = threading.Event(), ThreadPoolExecutor(1)

        def write() -> None:
            started.set()
            filled.upsert_nodes([node("late", "thread")])

        with threads:
            with filled.transaction():
                filled.upsert_nodes([node("late", "transaction")])
                waiting = threads.submit(write)
                assert started.wait(60)
                assert not waiting.done()
            waiting.result(timeout=60)
        assert filled.get_nodes(["late"])["late"].kind == "thread"

    def test_a_transaction_does_not_nest(self, filled: GraphStorage) -> None:
        with filled.transaction():
            filled.upsert_nodes([node("new")])
            with pytest.raises(TransactionError), filled.transaction():
                pytest.fail("it nested")
            filled.upsert_nodes([node("newer")])
        assert sorted(filled.get_nodes(["new", "newer"])) == ["new", "newer"]

    def test_bulk_load_is_refused_inside(self, filled: GraphStorage) -> None:
        with filled.transaction():
            filled.upsert_nodes([node("new")])
            with pytest.raises(TransactionError):
                filled.bulk_load(GraphSnapshot.from_rows(*sample()))
        assert "new" in filled.get_nodes(["new"])

    def test_a_refused_batch_leaves_the_rest_of_the_transaction(self, filled: GraphStorage) -> None:
        nodes, edges = sample()
        with filled.transaction():
            filled.upsert_nodes([node("new")])
            with pytest.raises(MissingNodeError):
                filled.upsert_edges([Edge("a", "new", "e"), Edge("a", "ghost", "e")])
            with pytest.raises(InvalidIdError):
                filled.upsert_nodes([node("newer"), node("")])
            filled.upsert_edges([Edge("new", "a", "e")])
        assert_holds(filled, [*nodes, node("new")], [*edges, Edge("new", "a", "e")])

    def test_an_edge_may_end_in_a_node_of_the_same_transaction(self, storage: GraphStorage) -> None:
        with storage.transaction():
            storage.upsert_nodes([node("a"), node("b")])
            storage.upsert_edges([Edge("a", "b", "e")])
        assert_holds(storage, [node("a"), node("b")], [Edge("a", "b", "e")])

    def test_what_is_inserted_and_deleted_again_leaves_no_trace(self, filled: GraphStorage) -> None:
        with filled.transaction():
            filled.upsert_nodes([node("new")])
            filled.upsert_edges([Edge("new", "a", "e"), Edge("a", "new", "e"), Edge("a", "b", "e")])
            assert filled.delete_edges([("a", "b", "e"), ("a", "b", "hates")]) == 1
            assert filled.delete_nodes(["new", "nobody"]) == 1
        assert_holds(filled, *sample())

    def test_a_node_deleted_and_inserted_in_one_transaction_has_only_its_new_edges(self, filled: GraphStorage) -> None:
        nodes, edges = sample()
        with filled.transaction():
            filled.delete_nodes(["a"])
            filled.upsert_nodes([node("a", "reborn")])
            assert filled.incident_edges(["a"]) == {"a": []}
            filled.upsert_edges([Edge("a", "b", "knows", 7.0)])
        left = [edge for edge in edges if "a" not in (edge.source, edge.target)]
        assert_holds(filled, [node("a", "reborn"), *nodes[1:]], [*left, Edge("a", "b", "knows", 7.0)])

    def test_iteration_in_a_transaction_sees_its_writes_and_no_later_ones(self, filled: GraphStorage) -> None:
        with filled.transaction():
            nodes, edges = self._change(filled)
            node_rows, edge_rows = filled.iter_nodes(), filled.iter_edges()
            first = next(node_rows), next(edge_rows)
            filled.delete_nodes(["a", "b"])
            filled.upsert_nodes([node("b", "later"), node("zzz")])
            assert exact_nodes([first[0], *node_rows]) == exact_nodes(sorted(nodes, key=lambda row: row.id))
            assert exact_edges([first[1], *edge_rows]) == exact_edges(sorted(edges, key=lambda edge: edge.key))

    @pytest.mark.parametrize("ends_in", ["commit", "rollback"])
    def test_an_iteration_that_began_in_a_transaction_ends_with_it(self, filled: GraphStorage, ends_in: str) -> None:
        iterations: list[Iterator[Any]] = []
        with suppress(ZeroDivisionError), filled.transaction():
            filled.upsert_nodes([node("new"), node("newer")])
            iterations = [filled.iter_nodes(), filled.iter_edges()]
            for rows in iterations:
                next(rows)
            if ends_in == "rollback":
                raise ZeroDivisionError
        for rows in iterations:
            with pytest.raises(TransactionError, match="iterate inside"):
                next(rows)
        assert len(list(filled.iter_nodes())) == (7 if ends_in == "commit" else 5)

    def test_an_empty_transaction_is_harmless(self, filled: GraphStorage) -> None:
        revision = filled.revision()
        with filled.transaction():
            pass
        with filled.transaction():
            assert filled.counts().nodes == 5
        assert filled.revision() == revision
        assert_holds(filled, *sample())

    def test_threads_that_write_through_one_handle_lose_nothing(self, storage: GraphStorage) -> None:
        def write(worker: int) -> None:
            for step in range(10):
                storage.upsert_nodes([node(f"{worker}-{step}"), node(f"{worker}-{step}'")])
                storage.upsert_edges([Edge(f"{worker}-{step}", f"{worker}-{step}'", "e")])

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(4)))
        ids = [f"{worker}-{step}{end}" for worker in range(4) for step in range(10) for end in ("", "'")]
        edges = [Edge(node_id, f"{node_id}'", "e") for node_id in ids if not node_id.endswith("'")]
        assert_holds(storage, [node(node_id) for node_id in ids], edges)

    def test_readers_never_see_half_a_batch(self, storage: GraphStorage) -> None:
        batch, done = [node(f"n{number:03d}") for number in range(200)], threading.Event()

        def read() -> set[int]:
            seen: set[int] = set()
            while not done.is_set():
                seen.add(len(storage.get_nodes(row.id for row in batch)))
                seen.add(len(list(storage.iter_nodes())))
            return seen

        with ThreadPoolExecutor(2) as pool:
            readers = [pool.submit(read) for _ in range(2)]
            for _ in range(8):
                storage.upsert_nodes(batch)
                storage.delete_nodes(row.id for row in batch)
            done.set()
            assert all(reader.result(timeout=60) <= {0, len(batch)} for reader in readers)

    def test_a_neighborhood_is_of_one_state(self, storage: GraphStorage) -> None:
        """Each commit replaces the chain that begins at a by another one, so that a walk over two states breaks off."""
        done = threading.Event()

        def chain(number: int) -> list[str]:
            return ["a", *(f"{number % 2} {step:02d}" for step in range(12))]

        def write() -> None:
            for number in count():
                with storage.transaction():
                    storage.delete_nodes(chain(number + 1))
                    storage.upsert_nodes(Node(node_id, f"{number}", "n") for node_id in chain(number))
                    storage.upsert_edges(Edge(*ends, f"{number}") for ends in pairwise(chain(number)))
                if done.is_set():
                    return

        storage.upsert_nodes(Node(node_id, "start", "n") for node_id in chain(1))
        storage.upsert_edges(Edge(*ends, "start") for ends in pairwise(chain(1)))
        walks, enough = 0, storage.revision() + 20
        with short_turns(), ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            try:
                while not writing.done() and (walks < 60 or storage.revision() < enough):
                    found = storage.neighborhood(["a"], depth=20)
                    assert [row.id for row in found.nodes] in (chain(0), chain(1))
                    assert len({row.kind for row in found.nodes} | {edge.kind for edge in found.edges}) == 1
                    assert len(found.edges) == 12
                    walks += 1
            finally:
                done.set()
            writing.result()


@contextmanager
def short_turns() -> Generator[None]:
    """Threads of Python take turns a hundred times as often, so that what can come between two calls does."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 100)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)
