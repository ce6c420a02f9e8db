"""Order, filters, and the difference between absent and empty."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from graphport.model import Direction, Edge
from graphport.storage import GraphStorage
from graphport.testing.contract.base import ContractBase
from graphport.testing.contract.exact import assert_holds, by_id, by_key, exact_edges, exact_nodes
from graphport.testing.contract.graphs import ORDERED_IDS, incident, node, random_graph, sample

WAYS = (Direction.OUT, Direction.IN, Direction.BOTH)


class ReadPromises(ContractBase):
    def test_order_is_by_code_point(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node(node_id) for node_id in reversed(ORDERED_IDS)])
        edges = [
            Edge(source, target, kind)
            for source in ORDERED_IDS[::3]
            for target in ORDERED_IDS
            for kind in ("E", "e", "é")
        ]
        storage.upsert_edges(reversed(edges))
        assert [node.id for node in storage.iter_nodes()] == list(ORDERED_IDS)
        assert [edge.key for edge in storage.iter_edges()] == [edge.key for edge in edges]
        assert list(storage.snapshot().ids) == list(ORDERED_IDS)
        assert storage.incident_edges(["!"], direction="out")["!"] == [edge for edge in edges if edge.source == "!"]
        assert list(storage.neighborhood(["!"]).depths) == list(ORDERED_IDS)

    def test_kinds_in_counts_are_in_code_point_order(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node(f"n{i}", kind) for i, kind in enumerate(reversed(ORDERED_IDS))])
        storage.upsert_edges([Edge("n0", "n1", kind) for kind in reversed(ORDERED_IDS)])
        assert list(storage.counts().node_kinds) == list(ORDERED_IDS)
        assert list(storage.counts().edge_kinds) == list(ORDERED_IDS)

    def test_absent_isolated_and_empty_are_three_answers(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        found = storage.incident_edges(["nobody", "island", "c"], kinds=["near"])
        assert "nobody" not in found
        assert found["island"] == []
        assert len(found["c"]) == 2
        assert storage.incident_edges(["c"], kinds=[]) == {"c": []}
        assert storage.incident_edges([]) == {}
        assert storage.incident_edges(["nobody"]) == {}

    def test_an_empty_graph_answers_everything(self, storage: GraphStorage) -> None:
        assert_holds(storage, [])
        assert storage.counts().node_kinds == storage.counts().edge_kinds == {}
        assert (storage.get_nodes(["a"]), storage.get_edges([("a", "b", "e")]), storage.incident_edges(["a"])) == (
            {},
            {},
            {},
        )
        assert storage.neighborhood(["a"]).nodes == ()
        assert (storage.snapshot().n_nodes, storage.snapshot().n_edges) == (0, 0)
        assert (storage.delete_nodes(["a"]), storage.delete_edges([("a", "b", "e")])) == (0, 0)

    def test_node_filters_are_exact_and_all_must_hold(self, storage: GraphStorage) -> None:
        nodes, _ = sample()
        storage.upsert_nodes(nodes)

        def ids(**filters: str) -> list[str]:
            return [row.id for row in storage.iter_nodes(**filters)]

        assert ids(kind="person") == ["a", "b", "island"]
        assert ids(name="Ada") == ["a", "c"]
        assert ids(entry="entry 1") == ["a", "b"]
        assert ids(kind="person", name="Ada", entry="entry 1") == ["a"]
        assert ids(kind="place", entry="entry 1") == ids(kind="Person") == ids(name="Ad") == ids(entry="entry") == []

    def test_iter_edges_of_some_kinds(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        for kinds in (["knows"], ["near", "likes"], ["near", "unheard of"], []):
            expected = by_key(edge for edge in edges if edge.kind in kinds)
            assert exact_edges(storage.iter_edges(kinds=kinds)) == exact_edges(expected)

    def test_incident_edges_agree_with_looking_at_every_edge(self, storage: GraphStorage) -> None:
        nodes, edges = random_graph(60, 400)
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        ids = [node.id for node in nodes]
        for way in WAYS:
            for kinds in (None, ["calls", "uses"]):
                found = storage.incident_edges(ids, direction=way, kinds=kinds)
                assert {key: exact_edges(row) for key, row in found.items()} == {
                    node_id: exact_edges(incident(edges, node_id, way, kinds)) for node_id in ids
                }

    def test_incident_edges_come_with_their_props(self, storage: GraphStorage) -> None:
        nodes, edges = sample()
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        assert exact_edges(storage.incident_edges(["a"])["a"]) == exact_edges(incident(edges, "a"))

    def test_the_limit_comes_after_the_order(self, storage: GraphStorage) -> None:
        ids = [f"n{number:02d}" for number in range(20)]
        storage.upsert_nodes([node(node_id) for node_id in reversed(ids)])
        edges = [Edge("n10", node_id, "e") for node_id in reversed(ids)] + [
            Edge(node_id, "n10", "f") for node_id in ids
        ]
        storage.upsert_edges(edges)
        for way in WAYS:
            for limit in (0, 1, 7, 1000):
                found = storage.incident_edges(["n10", "n03"], direction=way, limit_per_node=limit)
                assert found == {key: incident(edges, key, way)[:limit] for key in ("n10", "n03")}

    def test_a_limit_may_be_larger_than_any_graph(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a"), node("b")])
        storage.upsert_edges([Edge("a", "b", "e")])
        for large in (2**31, 2**63 - 1, 2**63, 10**30):
            assert len(storage.incident_edges(["a"], limit_per_node=large)["a"]) == 1
            assert list(storage.neighborhood(["a"], depth=large, max_nodes=large).depths) == ["a", "b"]

    def test_a_self_loop_is_listed_once(self, storage: GraphStorage) -> None:
        storage.upsert_nodes([node("a")])
        storage.upsert_edges([Edge("a", "a", "e")])
        for way in WAYS:
            assert storage.incident_edges(["a"], direction=way) == {"a": [Edge("a", "a", "e")]}

    def test_iteration_is_lazy(self, storage: GraphStorage) -> None:
        nodes, edges = random_graph(300, 900)
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        assert isinstance(storage.iter_nodes(), Iterator)
        assert isinstance(storage.iter_edges(), Iterator)
        assert exact_nodes(islice(storage.iter_nodes(), 3)) == exact_nodes(by_id(nodes)[:3])
        assert exact_edges(islice(storage.iter_edges(), 3)) == exact_edges(by_key(edges)[:3])

    def test_iteration_sees_the_graph_as_it_was_when_it_began(self, storage: GraphStorage) -> None:
        nodes, edges = random_graph(400, 3000)
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        node_rows, edge_rows = storage.iter_nodes(), storage.iter_edges()
        seen_nodes, seen_edges = list(islice(node_rows, 3)), list(islice(edge_rows, 3))
        storage.delete_nodes([node.id for node in nodes[::2]])
        storage.upsert_nodes([node("n00009x"), node(nodes[1].id, "changed")])
        storage.upsert_edges([Edge(nodes[1].id, nodes[1].id, "new")])
        assert exact_nodes([*seen_nodes, *node_rows]) == exact_nodes(by_id(nodes))
        assert exact_edges([*seen_edges, *edge_rows]) == exact_edges(by_key(edges))

    def test_an_abandoned_iterator_holds_nothing_up(self, storage: GraphStorage) -> None:
        nodes, edges = random_graph(300, 900)
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        abandoned = [storage.iter_nodes(), storage.iter_edges()]
        for rows in abandoned:
            next(rows)
        storage.clear()
        storage.upsert_nodes([node("a")])
        assert_holds(storage, [node("a")])
        storage.close()

    def test_fifty_thousand_edges(self, storage: GraphStorage) -> None:
        nodes, edges = random_graph(10_000, 50_000)
        storage.upsert_nodes(nodes)
        storage.upsert_edges(edges)
        storage.upsert_edges([Edge(*edge.key, edge.weight + 1.0) for edge in edges[:25_000]])
        expected = by_key([*(Edge(*edge.key, edge.weight + 1.0) for edge in edges[:25_000]), *edges[25_000:]])
        assert exact_edges(storage.iter_edges()) == exact_edges(expected)
        assert storage.delete_nodes([node.id for node in nodes[:5_000]]) == 5_000
        gone = {node.id for node in nodes[:5_000]}
        left = [edge for edge in expected if edge.source not in gone and edge.target not in gone]
        assert exact_edges(storage.iter_edges()) == exact_edges(left)
        assert storage.counts().edges == storage.snapshot().n_edges == len(left)
