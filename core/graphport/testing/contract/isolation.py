"""Named graphs in one store: none leaks into another, by any method."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphport.errors import InvalidIdError
from graphport.model import Edge, EdgeKey
from graphport.snapshot import GraphSnapshot
from graphport.storage import DEFAULT_GRAPH, Capability, GraphStorage
from graphport.testing.contract.base import ContractBase, Open
from graphport.testing.contract.exact import assert_holds, exact_edges
from graphport.testing.contract.graphs import node, sample
from graphport.testing.contract.transactions import everything
from graphport.testing.contract.values import REFUSED_TEXTS, TEXTS

WRITES: dict[str, Callable[[GraphStorage], object]] = {
    "upsert_nodes": lambda graph: graph.upsert_nodes([node("a", "changed"), node("new")]),
    "upsert_edges": lambda graph: graph.upsert_edges([Edge("a", "b", "knows", 99.0), Edge("b", "b", "new")]),
    "delete_nodes": lambda graph: graph.delete_nodes(["a", "b", "c", "d", "e"]),
    "delete_edges": lambda graph: graph.delete_edges([("a", "b", "knows"), ("b", "e", "other"), ("c", "d", "near")]),
    "clear": lambda graph: graph.clear(),
    "bulk_load": lambda graph: graph.bulk_load(
        GraphSnapshot.from_rows([node("a"), node("x")], [Edge("a", "x", "knows")])
    ),
    "drop_graph": lambda graph: graph.drop_graph("first"),
}


class IsolationPromises(ContractBase):
    @pytest.fixture
    def pair(self, open_store: Open) -> tuple[GraphStorage, GraphStorage]:
        """Two graphs of one store with the same ids in them, the second with other content."""
        first, second = open_store(graph="first"), open_store(graph="second")
        nodes, edges = sample()
        first.upsert_nodes(nodes)
        first.upsert_edges(edges)
        second.upsert_nodes([node("a", "other"), node("b", "other"), node("e", "other")])
        second.upsert_edges([Edge("a", "b", "knows", 7.0), Edge("b", "e", "other", 8.0)])
        return first, second

    def test_a_handle_knows_its_graph(self, open_store: Open) -> None:
        assert open_store().graph == DEFAULT_GRAPH
        assert open_store(graph="other").graph == "other"

    def test_reads_see_their_own_graph_only(self, pair: tuple[GraphStorage, GraphStorage]) -> None:
        first, second = pair
        assert_holds(first, *sample())
        assert_holds(
            second,
            [node("a", "other"), node("b", "other"), node("e", "other")],
            [Edge("a", "b", "knows", 7.0), Edge("b", "e", "other", 8.0)],
        )
        assert (list(first.get_nodes(["e"])), list(second.get_nodes(["c", "d"]))) == ([], [])
        assert second.get_edges([("a", "b", "knows")])[EdgeKey("a", "b", "knows")].weight == 7.0
        assert first.get_edges([("b", "e", "other")]) == second.get_edges([("b", "c", "visits")]) == {}
        assert list(first.iter_nodes(kind="other")) == list(second.iter_nodes(kind="person")) == []
        assert list(first.iter_nodes(name="e")) == list(second.iter_nodes(entry="entry 1")) == []
        assert list(first.iter_edges(kinds=["other"])) == list(second.iter_edges(kinds=["near"])) == []
        assert exact_edges(second.incident_edges(["b"])["b"]) == exact_edges(second.iter_edges())
        assert list(second.neighborhood(["a"], depth=9).depths) == ["a", "b", "e"]
        assert list(second.snapshot().ids) == ["a", "b", "e"]
        assert second.counts().node_kinds == {"other": 3}

    @pytest.mark.parametrize("method", WRITES)
    def test_a_write_reaches_its_own_graph_only(self, pair: tuple[GraphStorage, GraphStorage], method: str) -> None:
        first, second = pair
        before = everything(second)
        WRITES[method](first)
        assert everything(second) == before

    def test_a_rollback_reaches_its_own_graph_only(self, pair: tuple[GraphStorage, GraphStorage]) -> None:
        first, second = pair
        before = everything(second)
        with pytest.raises(ZeroDivisionError), first.transaction():
            first.clear()
            raise ZeroDivisionError
        assert everything(second) == before
        assert_holds(first, *sample())

    def test_ends_must_be_in_the_same_graph(self, pair: tuple[GraphStorage, GraphStorage]) -> None:
        with pytest.raises(LookupError):
            pair[0].upsert_edges([Edge("a", "e", "e")])

    def test_graph_names_are_any_text_and_all_different(self, open_store: Open) -> None:
        handles = {text: open_store(graph=text) for text in TEXTS if len(text) <= 200}
        for i, (text, handle) in enumerate(handles.items()):
            handle.upsert_nodes([node("a", f"kind {i}"), node(text)])
        for i, (text, handle) in enumerate(handles.items()):
            assert handle.graph == text
            assert_holds(handle, [node("a", f"kind {i}"), node(text)] if text != "a" else [node("a")])
        if Capability.PERSISTENT in self.capabilities:
            assert handles["a,b"].graphs() == sorted(handles)

    def test_a_graph_name_must_be_text(self, open_store: Open) -> None:
        for text in ("", "\0", "a\0b", "\ud800"):
            with pytest.raises(InvalidIdError):
                open_store(graph=text)
        assert None in REFUSED_TEXTS  # a name that is no str is the option model's to refuse

    def test_graphs_lists_what_was_opened_and_not_dropped(self, open_store: Open) -> None:
        handle = open_store(graph="b")
        assert handle.graphs() == ["b"]
        together = Capability.PERSISTENT in self.capabilities
        for name in ("a", "Z"):
            open_store(graph=name)
        assert handle.graphs() == (["Z", "a", "b"] if together else ["b"])
        assert handle.drop_graph("Z") is together
        assert handle.graphs() == (["a", "b"] if together else ["b"])
        assert handle.drop_graph("Z") is handle.drop_graph("never opened") is False

    def test_dropping_the_own_graph_empties_it_until_the_next_write(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        assert storage.drop_graph(storage.graph) is True
        assert_holds(storage, [])
        assert storage.graphs() == []
        assert storage.drop_graph(storage.graph) is False
        storage.upsert_nodes(nodes)
        assert_holds(storage, nodes)
        assert storage.graphs() == [storage.graph]

    def test_a_dropped_graph_is_empty_when_it_is_opened_again(self, open_store: Open) -> None:
        other = open_store(graph="other")
        other.upsert_nodes([node("a")])
        other.upsert_edges([Edge("a", "a", "e")])
        other.close()
        open_store().drop_graph("other")
        assert_holds(open_store(graph="other"), [])
