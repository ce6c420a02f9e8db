"""Snapshots are the same columns on every backend, and load back."""

from __future__ import annotations

import random

import numpy as np
import pytest

from graphport.errors import InvalidInputError
from graphport.model import Edge, Node
from graphport.snapshot import GraphSnapshot
from graphport.storage import GraphStorage
from graphport.testing.contract.base import ContractBase
from graphport.testing.contract.exact import assert_holds, exact_nodes
from graphport.testing.contract.graphs import node, random_graph, sample
from graphport.testing.contract.values import FLOATS, PROPS, TEXTS


def assert_same_columns(found: GraphSnapshot, expected: GraphSnapshot) -> None:
    assert found.same_as(expected)
    for column in ("node_kind", "edge_kind", "source_index", "target_index", "weight"):
        assert getattr(found, column).dtype == getattr(expected, column).dtype
    assert found.weight.tobytes() == expected.weight.tobytes()


class SnapshotPromises(ContractBase):
    def test_a_snapshot_is_the_graph_in_columns(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([Node("b", "y", "B", "e1"), Node("a", "x", "A"), Node("c", "x", "C", "e1")])
        storage.upsert_edges([Edge("c", "a", "q", 3.0), Edge("a", "c", "p", 2.0), Edge("a", "b", "q", 1.0)])
        found = storage.snapshot()
        assert (tuple(found.ids), tuple(found.names)) == (("a", "b", "c"), ("A", "B", "C"))
        assert tuple(found.entries) == (None, "e1", "e1")
        assert (found.node_kinds, found.node_kind.tolist()) == (("x", "y"), [0, 1, 0])
        assert (found.source_index.tolist(), found.target_index.tolist()) == ([0, 0, 2], [1, 2, 0])
        assert (found.edge_kinds, found.edge_kind.tolist()) == (("p", "q"), [1, 0, 1])
        assert found.weight.tolist() == [1.0, 2.0, 3.0]
        assert found.source_index.dtype == found.target_index.dtype == found.edge_kind.dtype == np.int32

    def test_columns_do_not_depend_on_the_order_of_insertion(self, storage: GraphStorage) -> None:
        nodes, edges = random_graph(80, 600)
        expected = GraphSnapshot.from_rows(nodes, edges)
        chance = random.Random(3)  # noqa: S311 - no secret
        for _ in range(3):
            chance.shuffle(nodes)
            chance.shuffle(edges)
            storage.clear()
            storage.upsert_nodes(nodes)
            for start in range(0, len(edges), 170):
                storage.upsert_edges(edges[start : start + 170])
            assert_same_columns(storage.snapshot(), expected)

    def test_columns_do_not_depend_on_what_was_there_before(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes([*(node(row.id, "old kind") for row in nodes), node("old"), node("A")])
        storage.upsert_edges(
            [*(Edge(*edge.key, 99.0) for edge in edges), Edge("old", "a", "old"), Edge("a", "d", "old")]
        )
        storage.delete_nodes(["old", "A"])
        storage.delete_edges([("a", "d", "old")])
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        assert_same_columns(storage.snapshot(), GraphSnapshot.from_rows(nodes, edges))

    def test_a_snapshot_of_some_kinds_has_all_nodes(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        for kinds in (["knows"], ["near", "likes"], ["unheard of"], []):
            expected = GraphSnapshot.from_rows(nodes, [edge for edge in edges if edge.kind in kinds])
            assert_same_columns(storage.snapshot(kinds=kinds), expected)

    def test_props_are_left_out(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        found = storage.snapshot()
        assert (found.node_props, found.edge_props) == ({}, {})

    def test_a_snapshot_stays_as_it_is(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        found = storage.snapshot()
        storage.delete_nodes(["a"])
        storage.upsert_nodes([node("b", "changed"), node("zzz")])
        storage.upsert_edges([Edge("b", "c", "visits", 9.0)])
        assert_same_columns(found, GraphSnapshot.from_rows(nodes, edges))
        with pytest.raises(ValueError, match="read-only"):
            found.weight[0] = 7.0

    def test_bulk_load_brings_everything_back(self, storage: GraphStorage) -> None:
        nodes = [Node(text, TEXTS[-1 - i], text, text, PROPS if i % 7 == 0 else {}) for i, text in enumerate(TEXTS)]
        edges = [
            Edge(text, TEXTS[i - 3], TEXTS[i - 5], FLOATS[i % len(FLOATS)], {"i": i, **PROPS} if i % 5 == 0 else {})
            for i, text in enumerate(TEXTS)
        ]
        storage.bulk_load(GraphSnapshot.from_rows(nodes, edges))
        assert_holds(storage, nodes, edges)
        assert_same_columns(storage.snapshot(), GraphSnapshot.from_rows(nodes, edges))
        assert exact_nodes(storage.get_nodes([TEXTS[7]]).values()) == exact_nodes([nodes[7]])

    def test_bulk_load_replaces_all_there_was(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes([node("old"), node("a", "old")])
        storage.upsert_edges([Edge("old", "a", "old"), Edge("a", "a", "knows", 99.0)])
        storage.bulk_load(GraphSnapshot.from_rows(nodes, edges))
        assert_holds(storage, nodes, edges)
        storage.bulk_load(GraphSnapshot.from_rows([], []))
        assert_holds(storage, [])

    def test_a_bulk_loaded_graph_can_be_changed(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.bulk_load(GraphSnapshot.from_rows(nodes, edges))
        storage.upsert_nodes([node("A"), node("b", "changed")])
        storage.upsert_edges([Edge("A", "b", "e"), Edge("a", "b", "knows", 5.0, {"new": 1})])
        assert storage.delete_nodes(["d"]) == 1
        assert storage.delete_edges([("b", "a", "knows")]) == 1
        rows = {row.id: row for row in nodes} | {"A": node("A"), "b": node("b", "changed")}
        kept = {edge.key: edge for edge in edges} | {("A", "b", "e"): Edge("A", "b", "e")}
        kept[edges[0].key] = Edge("a", "b", "knows", 5.0, {"new": 1})
        expected = [edge for edge in kept.values() if "d" not in edge.key and edge.key != ("b", "a", "knows")]
        assert_holds(storage, [row for row in rows.values() if row.id != "d"], expected)

    def test_bulk_load_refuses_two_edges_with_one_key(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        revision = storage.revision()
        twins = GraphSnapshot.from_arrays(["x", "y"], [0, 1, 0], [1, 0, 1], [1.0, 2.0, 3.0])
        with pytest.raises(InvalidInputError, match="x"):
            storage.bulk_load(twins)
        assert_holds(storage, nodes, edges)
        assert storage.revision() == revision

    def test_bulk_load_refuses_props_that_are_not_json(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a")])
        for props in ({"x": float("nan")}, {"x": "a\0b"}):
            with pytest.raises(InvalidInputError):
                storage.bulk_load(GraphSnapshot.from_arrays(["x"], [0], [0], node_props={0: props}))
            with pytest.raises(InvalidInputError):
                storage.bulk_load(GraphSnapshot.from_arrays(["x"], [0], [0], edge_props={0: props}))
        assert_holds(storage, [node("a")])
