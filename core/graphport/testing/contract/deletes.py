"""Deleting."""

from __future__ import annotations

from graphport.model import Edge
from graphport.storage import GraphStorage
from graphport.testing.contract.base import ContractBase
from graphport.testing.contract.exact import assert_holds
from graphport.testing.contract.graphs import node, sample


class DeletePromises(ContractBase):
    def test_delete_nodes_takes_their_edges_along(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        assert storage.delete_nodes(["a", "d"]) == 2
        left = [edge for edge in edges if not {"a", "d"} & {edge.source, edge.target}]
        assert_holds(storage, [node for node in nodes if node.id not in ("a", "d")], left)
        assert storage.get_edges([("a", "a", "knows"), ("b", "a", "knows"), ("d", "d", "near")]) == {}
        assert storage.snapshot().n_edges == len(left) == 1

    def test_a_deleted_node_that_comes_back_has_no_edges(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        storage.delete_nodes(["a"])
        storage.upsert_nodes([node("a")])
        assert storage.incident_edges(["a"]) == {"a": []}
        left = [edge for edge in edges if "a" not in (edge.source, edge.target)]
        assert_holds(storage, [node("a"), *nodes[1:]], left)

    def test_delete_edges_counts_what_was_there(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        gone = [("a", "b", "knows"), ("a", "b", "knows"), ("a", "b", "hates"), ("b", "d", "knows"), ("d", "d", "near")]
        assert storage.delete_edges(gone) == 2
        assert_holds(storage, nodes, [edge for edge in edges if edge.key not in gone])
        assert storage.delete_edges(gone) == 0

    def test_delete_nodes_counts_what_was_there(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a"), node("b"), node("c")])
        assert storage.delete_nodes(["a", "a", "nobody", "c"]) == 2
        assert storage.delete_nodes(["a", "a", "nobody", "c"]) == 0
        assert_holds(storage, [node("b")])

    def test_deleting_one_of_two_parallel_edges_leaves_the_other(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a"), node("b")])
        storage.upsert_edges([Edge("a", "b", "e"), Edge("a", "b", "f"), Edge("b", "a", "e")])
        assert storage.delete_edges([("a", "b", "e")]) == 1
        assert_holds(storage, [node("a"), node("b")], [Edge("a", "b", "f"), Edge("b", "a", "e")])

    def test_a_deleted_edge_can_come_back(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a"), node("b")])
        for weight in (1.0, 2.0):
            storage.upsert_edges([Edge("a", "b", "e", weight)])
            assert_holds(storage, [node("a"), node("b")], [Edge("a", "b", "e", weight)])
            assert storage.delete_edges([("a", "b", "e")]) == 1

    def test_a_deleted_kind_is_no_longer_counted(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a", "rare"), node("b", "common")])
        storage.upsert_edges([Edge("b", "b", "e"), Edge("a", "b", "f")])
        storage.delete_nodes(["a"])
        counts = storage.counts()
        assert (counts.node_kinds, counts.edge_kinds) == ({"common": 1}, {"e": 1})
        assert storage.snapshot().node_kinds == ("common",)
        assert storage.snapshot().edge_kinds == ("e",)

    def test_clear_leaves_an_empty_graph_that_can_be_filled(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        for _ in range(2):
            storage.upsert_nodes(nodes)
            storage.upsert_edges(edges)
            storage.clear()
            assert_holds(storage, [])
            assert storage.snapshot().n_nodes == 0
        storage.upsert_nodes(nodes)
        assert_holds(storage, nodes)
