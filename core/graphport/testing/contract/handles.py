"""Handles: declaring, opening, sharing, reopening, closing."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from graphport.errors import InvalidInputError, StorageBusyError, StorageClosedError, UnsupportedError
from graphport.model import Edge
from graphport.registry import backend_options
from graphport.snapshot import GraphSnapshot
from graphport.storage import Capability, GraphStorage
from graphport.testing.contract.base import ContractBase, Open, OpenStore
from graphport.testing.contract.exact import assert_holds
from graphport.testing.contract.graphs import node, sample
from graphport.testing.contract.processes import Outcome, in_new_process

METHODS = sorted(name for name in vars(GraphStorage) if not name.startswith("_") and name != "graph")


def calls(storage: GraphStorage) -> dict[str, Callable[[], Any]]:
    """Every method but close, with arguments that work."""
    return {**reads(storage), **writes(storage)}


def reads(storage: GraphStorage) -> dict[str, Callable[[], Any]]:
    return {
        "get_nodes": lambda: storage.get_nodes(["a"]),
        "get_edges": lambda: storage.get_edges([("a", "a", "e")]),
        "iter_nodes": lambda: list(storage.iter_nodes()),
        "iter_edges": lambda: list(storage.iter_edges()),
        "incident_edges": lambda: storage.incident_edges(["a"]),
        "neighborhood": lambda: storage.neighborhood(["a"]),
        "snapshot": storage.snapshot,
        "revision": storage.revision,
        "identity": storage.identity,
        "counts": storage.counts,
        "graphs": storage.graphs,
    }


def writes(storage: GraphStorage) -> dict[str, Callable[[], Any]]:
    def transaction() -> None:
        with storage.transaction():
            storage.upsert_nodes([node("a")])

    return {
        "upsert_nodes": lambda: storage.upsert_nodes([node("a")]),
        "upsert_edges": lambda: storage.upsert_edges([Edge("a", "a", "e")]),
        "delete_nodes": lambda: storage.delete_nodes(["a"]),
        "delete_edges": lambda: storage.delete_edges([("a", "a", "e")]),
        "clear": storage.clear,
        "bulk_load": lambda: storage.bulk_load(GraphSnapshot.from_rows(*sample())),
        "transaction": transaction,
        "drop_graph": lambda: storage.drop_graph(storage.graph),
    }


class HandlePromises(ContractBase):
    def test_the_declared_capabilities_are_those_of_the_test(self) -> None:
        assert self.capabilities == self.backend.capabilities, (
            "left: `capabilities` of the test class, right: those of its `backend`; both are what works, and no more"
        )

    def test_it_is_a_graph_storage_with_the_same_signatures(self, storage: GraphStorage) -> None:
        assert isinstance(storage, GraphStorage)
        for name in METHODS:
            promised = inspect.signature(getattr(GraphStorage, name)).parameters
            given = inspect.signature(getattr(type(storage), name)).parameters
            if any(parameter.kind is parameter.VAR_KEYWORD for parameter in given.values()):
                continue
            for parameter in promised.values():
                assert parameter.name in given, f"{name} lacks {parameter.name}"
                assert given[parameter.name].default == parameter.default, f"{name}({parameter.name})"
            more = [key for key in given if key not in promised and given[key].default is inspect.Parameter.empty]
            assert not more, f"{name} asks for {more} too"

    def test_every_call_after_close_is_refused(self, storage: GraphStorage) -> None:
        assert {*calls(storage), "close", "cypher", "changes_since"} == set(METHODS)
        for call in writes(storage).values():
            call()
        storage.close()
        storage.close()
        for name, call in calls(storage).items():
            with pytest.raises(StorageClosedError):
                call()
                pytest.fail(f"{name} still works")

    def test_a_handle_closes_at_the_end_of_its_with_block(self, opener: OpenStore) -> None:
        with opener() as storage:
            storage.upsert_nodes([node("a")])
        with pytest.raises(StorageClosedError):
            storage.counts()

    def test_reopening_sees_everything(self, open_store: Open) -> None:
        nodes, edges = sample()
        storage = open_store()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        storage.upsert_nodes([node("late")])
        storage.delete_nodes(["d"])
        revision, snapshot = storage.revision(), storage.snapshot()
        storage.close()
        again = open_store()
        if Capability.PERSISTENT not in self.capabilities:
            assert_holds(again, [])
            return
        left = [edge for edge in edges if "d" not in (edge.source, edge.target)]
        assert_holds(again, [*(row for row in nodes if row.id != "d"), node("late")], left)
        assert again.snapshot().same_as(snapshot)
        assert again.revision() == revision
        again.upsert_nodes([node("later")])
        assert again.revision() > revision

    def test_a_graph_that_outlives_its_handles_has_an_identity_of_its_own(self, open_store: Open) -> None:
        storage, other = open_store(), open_store(graph="other")
        identity = storage.identity()
        if Capability.PERSISTENT not in self.capabilities:
            assert identity is None
            return
        assert isinstance(identity, str)
        assert other.identity() not in (None, identity)
        storage.upsert_nodes([node("a")])
        storage.bulk_load(GraphSnapshot.from_rows(*sample()))
        assert storage.identity() == identity
        storage.close()
        assert open_store().identity() == identity

    def test_a_bulk_load_is_there_after_reopening(self, open_store: Open) -> None:
        nodes, edges = sample()
        storage = open_store()
        storage.bulk_load(GraphSnapshot.from_rows(nodes, edges))
        storage.upsert_nodes([node("late")])
        storage.close()
        kept = Capability.PERSISTENT in self.capabilities
        assert_holds(open_store(), [*nodes, node("late")] if kept else [], edges if kept else [])

    def test_a_rollback_is_not_there_after_reopening(self, open_store: Open) -> None:
        storage = open_store()
        storage.upsert_nodes([node("a")])
        with pytest.raises(ZeroDivisionError), storage.transaction():
            storage.upsert_nodes([node("b")])
            raise ZeroDivisionError
        storage.close()
        assert_holds(open_store(), [node("a")] if Capability.PERSISTENT in self.capabilities else [])

    def test_a_path_is_refused_unless_the_graph_outlives_the_process(self, opener: OpenStore) -> None:
        if Capability.PERSISTENT in self.capabilities:
            assert opener.options, "a store that persists is named by its options"
            return
        with pytest.raises(UnsupportedError, match="path"):
            backend_options(self.backend, {"path": "somewhere"})

    def test_a_read_only_handle_reads_and_refuses_to_write(self, open_store: Open) -> None:
        if Capability.READ_ONLY not in self.capabilities:
            with pytest.raises(UnsupportedError, match="read-only"):
                open_store(read_only=True)
            return
        nodes, edges = sample()
        storage = open_store()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        storage.close()
        reader = open_store(read_only=True)
        for call in reads(reader).values():
            call()
        for name, call in writes(reader).items():
            with pytest.raises(UnsupportedError):
                call()
                pytest.fail(f"{name} wrote")
        assert_holds(reader, nodes, edges)

    def test_cypher_answers_or_is_refused(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a"), node("b")])
        if Capability.CYPHER not in self.capabilities:
            with pytest.raises(UnsupportedError):
                storage.cypher("MATCH (n) RETURN n.id")
            return
        assert storage.cypher("MATCH (n) RETURN count(n)", columns=["n"]) == [(2,)]
        text = "it's $$ \\ \" 名前"
        assert storage.cypher("RETURN $text, $n", {"text": text, "n": 7}, columns=["text", "n"]) == [(text, 7)]
        assert storage.cypher("RETURN 1", columns="number") == [(1,)]
        query = "MATCH (n) WHERE n.id = $id RETURN n.id"
        wrong: list[Any] = [None, {}, {"di": "a"}, {"id": "a", "di": "b"}, ["id"], {"id": object()}]
        for params in wrong:  # one without a value is null to an engine, and finds nothing
            with pytest.raises(InvalidInputError):
                storage.cypher(query, params)
        storage.close()
        with pytest.raises(StorageClosedError):
            storage.cypher("RETURN 1")

    def test_two_handles_of_one_process(self, open_store: Open, impatient: dict[str, Any]) -> None:
        first = open_store()
        first.upsert_nodes([node("a")])
        if Capability.PERSISTENT not in self.capabilities:
            assert_holds(open_store(), [])
            return
        try:
            second = open_store(**impatient)
            second.upsert_nodes([node("b")])
        except StorageBusyError:
            assert Capability.CONCURRENT_WRITERS not in self.capabilities
            return
        assert_holds(first, [node("a"), node("b")])
        first.upsert_edges([Edge("a", "b", "e")])
        assert_holds(second, [node("a"), node("b")], [Edge("a", "b", "e")])
        assert first.revision() == second.revision()
        second.delete_nodes(["a"])
        assert_holds(first, [node("b")])
        with first.transaction():
            first.upsert_nodes([node("c")])
            assert_holds(second, [node("b")])
        assert_holds(second, [node("b"), node("c")])
        second.drop_graph(second.graph)
        assert_holds(first, [])

    def test_a_second_writer_waits_and_is_then_told_so(self, open_store: Open, impatient: dict[str, Any]) -> None:
        if Capability.CONCURRENT_WRITERS not in self.capabilities:
            return  # what it gets instead: test_two_processes
        first, second = open_store(), open_store(**impatient)
        first.upsert_nodes([node("a")])
        with first.transaction():
            first.upsert_nodes([node("a", "first")])
            with pytest.raises(StorageBusyError):
                second.upsert_nodes([node("a", "second")])
            assert second.get_nodes(["a"])["a"].kind == "k"
        second.upsert_nodes([node("b", "second")])
        assert_holds(first, [node("a", "first"), node("b", "second")])

    def test_a_handle_opens_and_reads_while_another_one_writes(
        self, open_store: Open, impatient: dict[str, Any]
    ) -> None:
        first = open_store()
        first.upsert_nodes([node("a")])
        with first.transaction():
            first.upsert_nodes([node("b")])
            if Capability.CONCURRENT_WRITERS in self.capabilities:
                assert_holds(open_store(**impatient), [node("a")])

    def test_two_processes(self, open_store: Open, opener: OpenStore, impatient: dict[str, Any]) -> None:
        if Capability.PERSISTENT not in self.capabilities:
            return  # every handle is a universe of its own: test_two_handles_of_one_process
        storage = open_store()
        storage.upsert_nodes([node("counter", props={"n": 0})])
        if Capability.CONCURRENT_WRITERS not in self.capabilities:
            (outcome,) = in_new_process("write_once", opener, [dict(impatient)])
            assert outcome == Outcome("StorageBusyError")
            storage.close()
            assert in_new_process("write_once", opener, [{}]) == [Outcome("done")]
            return
        outcomes = in_new_process("count_up", opener, [{"worker": worker, "workers": 2} for worker in (0, 1)])
        assert outcomes == [Outcome("done"), Outcome("done")]
        assert storage.get_nodes(["counter"])["counter"].props == {"n": 40}
        assert [row.id for row in storage.iter_nodes(kind="step")] == [
            f"{w}-{s:02d}" for w in (0, 1) for s in range(20)
        ]

    def test_a_process_that_dies_leaves_what_it_committed(self, open_store: Open, opener: OpenStore) -> None:
        if Capability.PERSISTENT not in self.capabilities:
            return  # nothing outlives the process
        assert in_new_process("commit_and_die", opener, [{}]) == [Outcome("died")]
        assert_holds(open_store(), [node("committed")], [Edge("committed", "committed", "e")])
